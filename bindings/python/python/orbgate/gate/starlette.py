"""Starlette and FastAPI: compares their routes with the policy, and documents scopes in FastAPI."""

from __future__ import annotations

from . import Gate, RoutesDiffer
from ._routes import guard, served, template_of
from .asgi import GateMiddleware, allowed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["allowed", "check", "document", "protect"]


def protect(app: Any, gate: Gate, *, root_path: str = "") -> None:
    """Puts the gate around a Starlette or FastAPI application, outside its middlewares, and compares their routes.

    Call it after adding all routes. Raises `RoutesDiffer` if the application has a route that the policy lacks.
    Routes that are added later are compared when the server starts. After that, a router, even a mounted or included
    one, runs only the decided route, whatever a middleware has rewritten, even a route's own. FastAPI's documentation shows which scope
    each route needs.

    `root_path` is the server's, such as uvicorn's `--root-path`, if the policy's templates begin with it.
    """
    check(app, gate, root_path=root_path)
    guard(app.router)
    if hasattr(app, "openapi"):
        document(app, gate, root_path=root_path)
    app.add_middleware(GateMiddleware, gate=gate, root_path=root_path, check=lambda: check(app, gate, root_path=root_path))


def check(app: Any, gate: Gate, *, root_path: str = "") -> None:
    """Raises `RoutesDiffer` if the application has a route that the policy lacks. The policy can have more routes."""
    names = "openapi_url", "docs_url", "redoc_url", "swagger_ui_oauth2_redirect_url"
    documentation = {getattr(app, name, None) for name in names}
    routes: list[tuple[str, str]] = []
    pages: list[tuple[str, str]] = []
    for method, template, is_documented in served(app.routes):
        # The gate denies any `OPTIONS` that isn't declared, except for preflights.
        if method != "OPTIONS":
            of = routes if is_documented or template not in documentation else pages
            of.append((method, root_path + template))
    try:
        gate.check_routes(routes)
        return
    except RoutesDiffer as differ:
        if not differ.undeclared:
            return
        unserved = set(differ.unserved)
    # FastAPI's own pages need no declaration, but the error must not call a declared one unserved.
    gate.check_routes([*routes, *(page for page in pages if " ".join(page) in unserved)])


def document(app: Any, gate: Gate, *, root_path: str = "") -> None:
    """Adds the scope of each route, from the active policy, to a FastAPI application's OpenAPI document."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        # FastAPI keeps its document, so the scopes go into a copy: a reload can change or drop a route.
        schema: dict[str, Any] = made()
        scopes = {(route.method, _shape(template_of(route.template))): route.scope for route in gate.policy.routes()}

        def documented(method: str, path: str, operation: Any) -> Any:
            scope = scopes.get((method.upper(), _shape(root_path + path)))
            return operation if scope is None else {**operation, "security": [{"bearer": [scope]}]}

        components = schema.get("components", {})
        schemes = {**components.get("securitySchemes", {}), "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}
        paths = {
            path: {method: documented(method, path, operation) for method, operation in operations.items()}
            for path, operations in schema.get("paths", {}).items()
        }
        return {**schema, "components": {**components, "securitySchemes": schemes}, "paths": paths}

    app.openapi = openapi


def _shape(template: str) -> str:
    """A template without the names of its parameters."""
    return "/".join("{}" if segment.startswith("{") else segment for segment in template.split("/"))
