"""Flask: compares its routes with the policy."""

from __future__ import annotations

import re

from . import Allowed, Gate, RoutesDiffer
from ._preflight import has_own_options
from .wsgi import GateMiddleware, allowed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["allowed", "check", "protect"]


def protect(app: Any, gate: Gate) -> None:
    """Puts the gate around a Flask application, and compares their routes. Call it after adding all routes.

    Raises `RoutesDiffer` if the application has a route that the policy lacks. Flask adds `HEAD` and `OPTIONS` to its
    routes, and `static`; the gate denies those that the policy lacks. A request reaches only the decided route with
    the decided method, even if something inside the gate has rewritten it. That is compared before the
    `before_request` functions, and again before the view.
    """
    check(app, gate)
    app.wsgi_app = middleware = GateMiddleware(app.wsgi_app, gate, is_compared=True)
    middleware._holds_later = True
    app.before_request_funcs.setdefault(None, []).insert(0, lambda: _compare(is_last=False))
    dispatch = app.dispatch_request

    def dispatch_request(*context: Any) -> Any:
        denial = _compare()
        return dispatch(*context) if denial is None else denial

    app.dispatch_request = dispatch_request


def check(app: Any, gate: Gate) -> None:
    """Raises `RoutesDiffer` if the application has a route that the policy lacks. The policy can have more routes."""
    rules = [rule for rule in app.url_map.iter_rules() if rule.endpoint != "static"]
    # A rule for WebSockets has no methods.
    routes = [(method, _template(rule)) for rule in rules for method in sorted((rule.methods or {"GET"}) - {"HEAD", "OPTIONS"})]
    try:
        gate.check_routes(routes)
    except RoutesDiffer as differ:
        if differ.undeclared:
            raise


def _compare(*, is_last: bool = True) -> Any:
    """None if the view that is about to run is the decided one; otherwise the denial."""
    from flask import Response, request

    allowed = request.environ.get("orbgate")
    if not isinstance(allowed, Allowed):
        raise RuntimeError("this application is protected, but the gate hasn't decided this request: has `wsgi_app` been replaced?")
    rule = request.url_rule
    template = "" if rule is None else _template(rule)
    only_options = allowed._answer.preflight and rule is not None and _is_for_options(rule)
    answer = allowed.compare(request.method, request.path, template, only_options=only_options, is_last=False)
    if answer and is_last:
        answer = allowed._hold()
    if answer:
        return None
    response = Response(b"", answer.status, answer.headers)
    del response.headers["Content-Type"]
    return response


def _is_for_options(rule: Any) -> bool:
    """Whether an `OPTIONS` of this rule runs nothing that also takes another method."""
    from flask import current_app
    from flask.views import MethodView

    view = getattr(current_app.view_functions.get(rule.endpoint), "view_class", None)
    # Flask itself answers the `OPTIONS` that it adds to a rule.
    is_added = getattr(rule, "provide_automatic_options", False)
    return is_added or rule.methods == {"OPTIONS"} or has_own_options(view, MethodView, "dispatch_request")


def _template(rule: Any) -> str:
    """Converts Werkzeug's `/users/<int:id>` to `/users/{id}`, and `<path:rest>` to `{*rest}`. A rule for one host becomes
    `//host/users/{id}`, which no policy has.
    """
    host = rule.host or rule.subdomain
    path = re.sub(r"<path(?:\([^)]*\))?:(\w+)>", r"{*\1}", rule.rule)
    path = re.sub(r"<(?:[^<>:]+:)?(\w+)>", r"{\1}", path)
    return f"//{host}{path}" if host else path
