"""Django: compares its routes with the policy, for ASGI and WSGI."""

from __future__ import annotations

import re

from . import Allowed, Answer, Gate, RoutesDiffer, asgi, wsgi
from ._preflight import has_own_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["allowed", "around", "check", "protect"]


def allowed(request: Any) -> Allowed:
    """The decision that allowed this request, over ASGI or WSGI.

    Raises RuntimeError, so that the request gets a 500, if no gate has decided it, or if it was changed since.
    """
    return asgi.allowed(request) if hasattr(request, "scope") else wsgi.allowed(request)


def protect(app: Any, gate: Gate) -> Any:
    """Puts the gate around the application of `get_asgi_application()` or `get_wsgi_application()`, and compares their
    routes.

    The gate decides before all middlewares. A view runs only if it belongs to the decided route and the method is the
    decided one. That is compared after the `process_view` of all middlewares, whatever they have rewritten; if it
    differs, the request gets a 404 and is counted. Raises `RoutesDiffer` if the application has a route that the
    policy lacks.
    """
    check(gate)
    return around(app, gate)


def around(app: Any, gate: Gate) -> Any:
    """The same, without comparing the routes at startup."""
    from django.core.handlers.asgi import ASGIHandler  # type: ignore[import-untyped]
    from django.core.handlers.base import BaseHandler  # type: ignore[import-untyped]

    if not isinstance(app, BaseHandler):
        raise TypeError(f"not what `get_asgi_application()` or `get_wsgi_application()` returns: {app!r}")
    resolve = app.resolve_request

    def resolve_request(request: Any) -> Any:
        from django.urls import Resolver404  # type: ignore[import-untyped]

        try:
            return resolve(request)
        except Resolver404:
            # `_process_view` also denies and counts this, before this view would run.
            return _no_view, (), {}

    app.resolve_request = resolve_request
    if isinstance(app, ASGIHandler):
        app._view_middleware.append(_process_view_async)
        middleware: Any = asgi.GateMiddleware(app, gate, is_compared=True)
        # Django raises an exception for a WebSocket. Channels serves them outside this application.
        middleware._is_http_only = True
    else:
        app._view_middleware.append(_process_view)
        middleware = wsgi.GateMiddleware(app, gate, is_compared=True)
    middleware._holds_later = True
    return middleware


def _process_view(request: Any, *_: Any) -> Any:
    """None if the view that is about to run is the decided one, and its orbs are held; otherwise the denial."""
    allowed, answer = _compare(request)
    return _denial(allowed._hold() if answer else answer)


async def _process_view_async(request: Any, *_: Any) -> Any:
    allowed, answer = _compare(request)
    return _denial(await allowed._hold_async() if answer else answer)


def _compare(request: Any) -> tuple[Allowed, Answer]:
    from django.conf import settings  # type: ignore[import-untyped]

    allowed = getattr(request, "scope", request.META).get("orbgate")
    if not isinstance(allowed, Allowed):
        raise RuntimeError("this application is protected, but the gate hasn't decided this request: serve what `protect` returns")
    # Below a prefix, which can come from a header, `path_info` is only a part of the path.
    match = request.resolver_match
    # Other URLs, such as those of one host, weren't decided, even if a template is the same.
    is_known = match is not None and getattr(request, "urlconf", None) in (None, settings.ROOT_URLCONF)
    template = f"/{_template(match.route)}" if is_known else ""
    only_options = is_known and allowed._answer.preflight and _is_for_options(match.func)
    return allowed, allowed.compare(request.method, request.path_info, template, only_options=only_options, is_last=False)


def _denial(answer: Answer) -> Any:
    """The response; None for an allow."""
    from django.http import HttpResponse  # type: ignore[import-untyped]

    if answer:
        return None
    response = HttpResponse(answer.body, status=answer.status, headers=dict(answer.headers))
    if not answer.body:
        del response["Content-Type"]
    return response


def _is_for_options(view: Any) -> bool:
    """Whether an `OPTIONS` of this view runs nothing that also takes another method. A function takes all of them."""
    from django.views.generic import RedirectView, View  # type: ignore[import-untyped]

    actions = getattr(view, "actions", None) or {}
    # Django REST framework has a base of its own, whose functions also become such classes.
    of = getattr(view, "view_class", None) or getattr(view, "cls", None)
    framework = next((base for base in getattr(of, "__mro__", ()) if base is View or (base.__module__, base.__name__) == _API_VIEW), None)
    is_taken = list(actions.values()).count(actions.get("options")) > 1 or getattr(of, "options", None) is RedirectView.options
    return framework is not None and not is_taken and has_own_options(of, framework, "dispatch")


def _no_view(request: Any) -> Any:
    raise RuntimeError("no view was chosen")


_API_VIEW = "rest_framework.views", "APIView"


def check(gate: Gate) -> None:
    """Raises `RoutesDiffer` if the application has a route that the policy lacks. The policy can have more routes."""
    from django.urls import get_resolver

    declared: dict[str, list[str]] = {}
    for route in gate.policy.routes():
        declared.setdefault(_shape(route.template), []).append(route.method)
    served = []
    for template, methods in _served(get_resolver().url_patterns):
        # A function doesn't declare its methods: use those of the policy, or any.
        served += [(method, template) for method in methods or declared.get(_shape(template), ["GET"])]
    try:
        gate.check_routes(served)
    except RoutesDiffer as differ:
        if any(_FORMAT.search(route) for route, _ in differ.undeclared):
            hint = "Format suffixes are other spellings of a route: set `include_format_suffixes = False` on the router, or use `SimpleRouter`."
            raise RoutesDiffer(differ.undeclared, differ.unserved, f"{differ}\n{hint}") from None
        if differ.undeclared:
            raise


# A group of a regular expression that matches one segment, as routers of Django REST framework write it. It can't match
# a slash.
_SEGMENT = re.compile(
    r"""\(\?P<(\w+)>
    (?: \[\^[^\]\\]*/[^\]\\]*\] | \[-?(?:[A-Za-z0-9]-[A-Za-z0-9]|\\[wd]|[A-Za-z0-9_.])+-?\] | \\[wd] )
    (?: \+ | \{\d+(?:,\d*)?\} )\)""",
    re.VERBOSE,
)
# The suffix that Django REST framework adds to routes, which gives each another spelling.
_FORMAT = re.compile(r"\.\{\w+\}/\?$|[^/]\{\w+\}$")


def _template(route: str) -> str:
    """Converts Django's `users/<int:id>` to `users/{id}`, and `<path:rest>` to `{*rest}`. In regular expressions, groups
    that match one segment are converted.
    """
    if _SEGMENT.search(route) or re.search(r"(?:^|/)\^|\$$", route):
        route = re.sub(r"(^|/)\^", r"\1", _SEGMENT.sub(r"{\1}", route))
        route = re.sub(r"\\([-._~])", r"\1", re.sub(r"(?:\$|\\Z)$", "", route))
    route = re.sub(r"<path:(\w+)>", r"{*\1}", route)
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route)


def _served(patterns: Any, prefix: str = "/") -> Iterator[tuple[str, list[str]]]:
    """Every template with the methods of its view; None if the view doesn't declare them."""
    for pattern in patterns:
        route = prefix + _template(str(pattern.pattern))
        if hasattr(pattern, "url_patterns"):
            yield from _served(pattern.url_patterns, route)
        else:
            view = getattr(pattern.callback, "view_class", None)
            # The methods that a router of Django REST framework has bound.
            actions = getattr(pattern.callback, "actions", None)
            names = list(actions) if actions else [] if view is None else [name for name in view.http_method_names if hasattr(view, name)]
            yield route, [name.upper() for name in names if name not in ("head", "options")]


def _shape(template: str) -> str:
    """A template without the names of its parameters."""
    return re.sub(r"\{\w+\}", "{}", template)
