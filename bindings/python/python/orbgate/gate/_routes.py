"""Which route a framework takes, written as a policy has it."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, MutableMapping
    from typing import Any

_FULL = 2
"""Starlette's `Match.FULL`."""


def router_of(app: Any, scope: MutableMapping[str, Any]) -> Callable[[], str] | None:
    """What says which template the router of this application takes; None where it has no routes as Starlette's."""
    routes = getattr(app, "routes", None)
    if not isinstance(routes, list):
        return None
    return lambda: _taken(routes, scope)


def _taken(routes: Iterable[Any], scope: MutableMapping[str, Any], prefix: str = "") -> str:
    """The template of the route that is taken, "" where none is or it cannot be told."""
    for route in routes:
        match, child = route.matches(scope)
        if match.value == _FULL:
            template = prefix + template_of(getattr(route, "path", ""))
            if hasattr(route, "endpoint"):
                return template
            # A mounted application: what routes further in may be its own.
            return _taken(getattr(route, "routes", None) or (), {**scope, **child}, template)
    return ""


def template_of(path: str) -> str:
    """Starlette's `/users/{id:int}` as `/users/{id}`, and `{rest:path}` as `{*rest}`."""
    path = re.sub(r"\{(\w+):path\}", r"{*\1}", path)
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", path)


def served(routes: Iterable[Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every route of a Starlette or FastAPI application: for `Gate.check_routes`. Those that serve the documentation are left out."""
    for route in routes:
        template = prefix + template_of(getattr(route, "path", ""))
        if hasattr(route, "endpoint"):
            if getattr(route, "include_in_schema", True):
                yield from ((method, template) for method in sorted(route.methods or ["GET"]) if method != "HEAD")
        else:
            yield from served(getattr(route, "routes", None) or (), template)
