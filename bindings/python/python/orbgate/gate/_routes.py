"""The routes of Starlette and FastAPI in the syntax of a policy, and their comparison where a router chooses one."""

from __future__ import annotations

import re

from . import Allowed
from ._deny import deny

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
    from typing import Any

    from ._deny import Send

    _Scope = MutableMapping[str, Any]

_FULL = 2
"""Starlette's `Match.FULL`."""


class _Compared:
    """Replaces the part of a router that chooses a route, which runs after every middleware that might rewrite the
    request.
    """

    def __init__(self, router: Any, app: Callable[..., Awaitable[None]]) -> None:
        self.router = router
        self.app = app

    async def __call__(self, scope: _Scope, receive: Any, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            found = scope.get("orbgate")
            if not isinstance(found, Allowed):
                raise RuntimeError("these routes are protected, but the gate hasn't decided this request: is it installed around all of them?")
            template, is_last = self._template(found, scope)
            answer = found.compare(scope.get("method", "GET"), scope["path"], template, is_last=is_last)
            if not answer:
                await deny(answer, answer.status, scope["type"], send)
                return
        await self.app(scope, receive, send)

    def _template(self, found: Allowed, scope: _Scope) -> tuple[str, bool]:
        """The whole template of the route that this router chooses, and whether no other router chooses after it."""
        prefix, root_path = found._routers.get(id(self.router), ("", None))
        if root_path != scope.get("root_path", ""):
            # Something changed which part of the path is compared with the routes, or called this router in an unknown
            # way.
            return "", True
        return _taken(self.router.routes, {**scope}, prefix, found)


def find(app: Any) -> tuple[Any, Any]:
    """The Starlette or FastAPI application inside these middlewares, and its router. For a bare router, the router
    twice; for anything else, None twice.
    """
    for _ in range(100):
        router = getattr(app, "router", app)
        if hasattr(router, "routes") and hasattr(router, "middleware_stack") and callable(getattr(router, "app", None)):
            return app, router
        app = getattr(app, "app", None)
    return None, None


def guard(router: Any) -> None:
    """Makes a router compare its choice, if it doesn't yet. Raises RuntimeError if one of its own middlewares hides
    where it chooses.
    """
    holder, name = router, "middleware_stack"
    while (app := getattr(holder, name)) != router.app:
        if isinstance(app, _Compared):
            return
        if not hasattr(app, "app"):
            raise RuntimeError(f"{app!r} hides the router inside it: give this middleware to the application instead of the router")
        holder, name = app, "app"
    setattr(holder, name, _Compared(router, app))


def _taken(routes: Iterable[Any], scope: _Scope, prefix: str, found: Allowed) -> tuple[str, bool]:
    """The template of the chosen route, "" if there is none or it is unknown, and whether that is the last choice."""
    for route in routes:
        match, child = route.matches(scope)
        if match.value != _FULL:
            continue
        context = None
        while hasattr(route, "effective_route_contexts"):
            # FastAPI's included router, which shares its routes. Only it knows their prefix.
            match, child, route, context = route._match(scope)
        of_path = route if context is None or context.starlette_route is not None else context
        template = prefix + template_of(getattr(of_path, "path", ""))
        if hasattr(route, "endpoint"):
            return template, True
        # A mounted application. Only Starlette's choices are known.
        _, inner = find(getattr(route, "_base_app", getattr(route, "app", None)))
        if inner is None:
            return "", True
        guard(inner)
        scope = {**scope, **child}
        found._routers[id(inner)] = template, scope.get("root_path", "")
        return _taken(inner.routes, scope, template, found)[0], False
    return "", True


def template_of(path: str) -> str:
    """Converts Starlette's `/users/{id:int}` to `/users/{id}`, and `{rest:path}` to `{*rest}`."""
    path = re.sub(r"\{(\w+):path\}", r"{*\1}", path)
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", path)


def served(routes: Iterable[Any], prefix: str = "") -> Iterator[tuple[str, str, bool]]:
    """The method and template of every route of an application, and whether its OpenAPI document includes it."""
    for route in _each(routes):
        template = prefix + template_of(getattr(route, "path", ""))
        endpoint = getattr(route, "endpoint", None)
        if endpoint is None:
            yield from served(getattr(route, "routes", None) or (), template)
            continue
        # A WebSocket starts with GET. A class can have a method for each HTTP method.
        named = [method.upper() for method in ("get", "post", "put", "patch", "delete", "options") if isinstance(endpoint, type) and hasattr(endpoint, method)]
        for method in sorted(getattr(route, "methods", None) or named or ["GET"]):
            if method != "HEAD":
                yield method, template, getattr(route, "include_in_schema", True)


def _each(routes: Iterable[Any]) -> Iterator[Any]:
    """Routes, including those of routers that FastAPI includes, each with its whole path."""
    for route in routes:
        if hasattr(route, "effective_route_contexts"):
            for context in route.effective_route_contexts():
                yield context.starlette_route or context
        else:
            yield route
