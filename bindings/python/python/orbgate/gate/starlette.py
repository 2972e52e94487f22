"""Starlette and FastAPI: their routes against the policy, and FastAPI's documentation of scopes."""

from __future__ import annotations

from . import Gate
from ._routes import served, template_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["check", "document", "protect"]


def protect(app: Any, gate: Gate) -> None:
    """Puts the gate around a Starlette or FastAPI application, outside every other middleware, and compares their routes.

    Call it when all routes are there. Raises `RoutesDiffer` where the application has a route that the policy lacks. FastAPI's documentation
    says which scope each route needs.
    """
    from .asgi import GateMiddleware

    check(app, gate)
    if hasattr(app, "openapi"):
        document(app, gate)
    app.add_middleware(GateMiddleware, gate=gate)


def check(app: Any, gate: Gate) -> None:
    """Raises `RoutesDiffer` where the application has a route that the policy lacks; the policy may have more."""
    from . import RoutesDiffer

    try:
        gate.check_routes(served(app.routes))
    except RoutesDiffer as differ:
        if differ.undeclared:
            raise


def document(app: Any, gate: Gate) -> None:
    """Has a FastAPI application's OpenAPI document say which scope each route needs, from the policy in force."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        schema: dict[str, Any] = made()
        scopes = {(route.method, template_of(route.template)): route.scope for route in gate.policy.routes()}
        schemes = schema.setdefault("components", {}).setdefault("securitySchemes", {})
        schemes["bearer"] = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
        shapes = {(method, _shape(template)): scope for (method, template), scope in scopes.items()}
        for path, operations in schema.get("paths", {}).items():
            for method, operation in operations.items():
                scope = shapes.get((method.upper(), _shape(path)))
                if scope is not None:
                    operation["security"] = [{"bearer": [scope]}]
        return schema

    app.openapi = openapi


def _shape(template: str) -> str:
    """A template without the names of its parameters."""
    return "/".join("{}" if segment.startswith("{") else segment for segment in template.split("/"))
