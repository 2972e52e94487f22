"""The routes of Starlette and FastAPI in the syntax of a policy, and their comparison where a router chooses one."""

from __future__ import annotations

import re

from . import Allowed
from ._deny import deny
from ._preflight import has_own_options

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
            allowed = scope.get("orbgate")
            if not isinstance(allowed, Allowed):
                raise RuntimeError("these routes are protected, but the gate hasn't decided this request: is it installed around all of them?")
            template, only_options, is_last = self._chosen(allowed, scope)
            answer = allowed.compare(scope.get("method", "GET"), scope["path"], template, only_options=only_options, is_last=False)
            if answer and is_last:
                answer = await allowed._hold_async()
            if not answer:
                await deny(answer, answer.status, scope, send)
                return
        await self.app(scope, receive, send)

    def _chosen(self, allowed: Allowed, scope: _Scope) -> tuple[str, bool, bool]:
        """The whole template of the route that this router chooses, whether a preflight can run it, and whether no other
        router chooses after it.
        """
        prefix, root_path = allowed._routers.get(id(self.router), ("", None))
        if root_path != scope.get("root_path", ""):
            # Something changed which part of the path is compared with the routes, or called this router in an unknown
            # way.
            return _UNKNOWN
        return _taken(self.router.routes, {**scope}, prefix, allowed)


class _Same:
    """Replaces the endpoint inside a route's own middlewares, which run after the comparison and might rewrite the
    request.
    """

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: _Scope, receive: Any, send: Send) -> None:
        allowed = scope.get("orbgate")
        if not isinstance(allowed, Allowed):
            raise RuntimeError("this route is protected, but the gate hasn't decided this request: has a middleware of the route replaced the scope?")
        method, path = scope.get("method", "GET"), scope["path"]
        if not allowed._is_for(method, path):
            answer = allowed.compare(method, path, "")
            await deny(answer, answer.status, scope, send)
            return
        answer = await allowed._hold_async()
        if not answer:
            await deny(answer, answer.status, scope, send)
            return
        await self.app(scope, receive, send)


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


def _guard_endpoint(route: Any) -> bool:
    """Makes a route with middlewares of its own compare again inside them. Whether it does: other routes needn't."""
    holder, app = route, getattr(route, "app", None)
    while app is not None and app is not route.endpoint:
        if isinstance(app, _Same):
            return True
        if not hasattr(app, "app"):
            # How Starlette and FastAPI call a function.
            if getattr(app, "__module__", "").split(".")[0] not in ("starlette", "fastapi"):
                raise RuntimeError(f"{app!r} hides the endpoint of {route!r}: give this middleware an attribute `app`, or add it to the application")
            break
        holder, app = app, app.app
    if holder is route or app is None:
        return False
    holder.app = _Same(app)
    return True


_UNKNOWN = "", False, True


def _taken(routes: Iterable[Any], scope: _Scope, prefix: str, allowed: Allowed) -> tuple[str, bool, bool]:
    """The template of the chosen route, "" without one or if it is unknown, whether a preflight can run it, and whether
    that is the last choice.
    """
    for route in routes:
        match, child = route.matches(scope)
        if match.value != _FULL:
            continue
        context = None
        while hasattr(route, "effective_route_contexts"):
            # FastAPI's included router, which shares its routes. Only it knows their prefix.
            match, child, route, context = route._match(scope)
        of_path = route if context is None or context.starlette_route is not None else context
        template = prefix + _path_of(of_path)
        # An application can be mounted, or be a route's endpoint, which changes no prefix.
        is_endpoint = hasattr(route, "endpoint")
        _, inner = find(getattr(route, "_base_app", getattr(route, "app", None)))
        if inner is None:
            if not is_endpoint:
                return _UNKNOWN
            return template, allowed._answer.preflight and _is_for_options(route), not _guard_endpoint(route)
        guard(inner)
        scope = {**scope, **child}
        prefix = prefix if is_endpoint else template
        allowed._routers[id(inner)] = prefix, scope.get("root_path", "")
        return (*_taken(inner.routes, scope, prefix, allowed)[:2], False)
    return _UNKNOWN


def _is_for_options(route: Any) -> bool:
    """Whether an `OPTIONS` of this route runs nothing that also takes another method."""
    from starlette.endpoints import HTTPEndpoint

    if methods := getattr(route, "methods", None):
        return set(methods) == {"OPTIONS"}
    return has_own_options(route.endpoint, HTTPEndpoint, "dispatch") and route.endpoint.__await__ is HTTPEndpoint.__await__


def _path_of(route: Any) -> str:
    """The template of a route below its router. That of a `Host` becomes `//host`, which no policy has: the same path can
    have another route on another host.
    """
    return f"//{route.host}" if hasattr(route, "host_regex") else template_of(getattr(route, "path", ""))


def template_of(path: str) -> str:
    """Converts Starlette's `/users/{id:int}` to `/users/{id}`, and `{rest:path}` to `{*rest}`."""
    path = re.sub(r"\{(\w+):path\}", r"{*\1}", path)
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", path)


def served(routes: Iterable[Any], prefix: str = "") -> Iterator[tuple[str, str, bool]]:
    """The method and template of every route of an application, and whether its OpenAPI document includes it."""
    for route in _each(routes):
        template = prefix + _path_of(route)
        endpoint = getattr(route, "endpoint", None)
        if endpoint is None:
            yield from served(getattr(route, "routes", None) or (), template)
            continue
        _, inner = find(getattr(route, "app", None))
        if inner is not None:
            yield from served(inner.routes, prefix)
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
