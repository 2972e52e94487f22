"""Django: its routes against the policy, over ASGI and WSGI."""

from __future__ import annotations

import re

from . import Gate, RoutesDiffer, asgi, wsgi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping
    from typing import Any

__all__ = ["asgi_router", "check", "protect", "wsgi_router"]


def protect(app: Any, gate: Gate) -> Any:
    """The application of `get_asgi_application()` or `get_wsgi_application()` with the gate around it, and their routes compared.

    An allowed request goes on only if `ROOT_URLCONF` resolves its path to the decided route; otherwise it is 404 and counted. Raises
    `RoutesDiffer` where the application has a route that the policy lacks.
    """
    from django.core.handlers.asgi import ASGIHandler  # type: ignore[import-untyped]

    check(gate)
    if isinstance(app, ASGIHandler):
        return asgi.GateMiddleware(app, gate, asgi_router)
    return wsgi.GateMiddleware(app, gate, wsgi_router)


def check(gate: Gate) -> None:
    """Raises `RoutesDiffer` where the application has a route that the policy lacks; the policy may have more."""
    from django.urls import get_resolver  # type: ignore[import-untyped]

    declared: dict[str, list[str]] = {}
    for route in gate.policy.routes():
        declared.setdefault(_shape(route.template), []).append(route.method)
    served = []
    for template, methods in _served(get_resolver().url_patterns):
        # A function does not say which methods it answers: those of the policy, or any.
        served += [(method, template) for method in methods or declared.get(_shape(template), ["GET"])]
    try:
        gate.check_routes(served)
    except RoutesDiffer as differ:
        if differ.undeclared:
            raise


def asgi_router(scope: MutableMapping[str, Any]) -> str:
    """Which template Django takes for a request over ASGI, "" where it takes none, or is below a prefix."""
    return "" if scope.get("root_path") else _taken(scope["path"])


def wsgi_router(environ: dict[str, Any]) -> str:
    """Which template Django takes for a request over WSGI, "" where it takes none, or is below a prefix."""
    from django.core.handlers.wsgi import get_path_info  # type: ignore[import-untyped]

    # A prefix may be a header's, which gunicorn takes from a proxy: it could make another route look like the decided one.
    return "" if environ.get("SCRIPT_NAME") else _taken(get_path_info(environ))


def _taken(path: str) -> str:
    from django.urls import Resolver404, resolve

    try:
        return f"/{_template(resolve(path).route)}"
    except Resolver404:
        return ""


def _template(route: str) -> str:
    """Django's `users/<int:id>` as `users/{id}`, and `<path:rest>` as `{*rest}`. A regular expression is not what a policy has."""
    route = re.sub(r"<path:(\w+)>", r"{*\1}", route)
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route)


def _served(patterns: Any, prefix: str = "/") -> Iterator[tuple[str, list[str]]]:
    """Every template and the methods of its view; none where the view does not say."""
    for pattern in patterns:
        route = prefix + _template(str(pattern.pattern))
        if hasattr(pattern, "url_patterns"):
            yield from _served(pattern.url_patterns, route)
        else:
            view = getattr(pattern.callback, "view_class", None)
            names = [] if view is None else [name for name in view.http_method_names if hasattr(view, name)]
            yield route, [name.upper() for name in names if name not in ("head", "options")]


def _shape(template: str) -> str:
    """A template without the names of its parameters."""
    return re.sub(r"\{\w+\}", "{}", template)
