"""Flask: its routes against the policy."""

from __future__ import annotations

import re

from . import Gate, RoutesDiffer
from .wsgi import GateMiddleware, allowed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["allowed", "protect", "router"]


def protect(app: Any, gate: Gate) -> None:
    """Puts the gate around a Flask application and compares their routes. Call it when all routes are there.

    Raises `RoutesDiffer` where the application has a route that the policy lacks. Flask adds `HEAD` and `OPTIONS` to its routes, and `static`:
    the gate denies what the policy lacks.
    """
    rules = [rule for rule in app.url_map.iter_rules() if rule.endpoint != "static"]
    routes = [(method, _template(rule.rule)) for rule in rules for method in sorted(rule.methods - {"HEAD", "OPTIONS"})]
    try:
        gate.check_routes(routes)
    except RoutesDiffer as differ:
        if differ.undeclared:
            raise
    app.wsgi_app = GateMiddleware(app.wsgi_app, gate, router(app))


def router(app: Any) -> Callable[[dict[str, Any]], str]:
    """What says which template a Flask application takes, "" where it takes none."""

    def taken(environ: dict[str, Any]) -> str:
        from werkzeug.exceptions import HTTPException

        try:
            rule, _ = app.url_map.bind_to_environ(environ).match(return_rule=True)
        except HTTPException:
            return ""
        return _template(rule.rule)

    return taken


def _template(rule: str) -> str:
    """Werkzeug's `/users/<int:id>` as `/users/{id}`, and `<path:rest>` as `{*rest}`."""
    rule = re.sub(r"<path(?:\([^)]*\))?:(\w+)>", r"{*\1}", rule)
    return re.sub(r"<(?:[^<>:]+:)?(\w+)>", r"{\1}", rule)
