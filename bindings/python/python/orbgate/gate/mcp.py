"""MCP servers of the official SDK: each tool has its own scope, and sessions belong to their callers."""

from __future__ import annotations

from . import Gate, starlette
from .asgi import allowed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import BearerToken

__all__ = ["protect"]


def protect(app: Any, gate: Gate) -> None:
    """Puts the gate around the application that `streamable_http_app` returns, as `orbgate.gate.starlette.protect` does.

    The SDK also learns who calls. It then lets nobody use another caller's session of an older version, and
    `get_access_token` works in tools. Its `token` is only the fingerprint. The server must not have `auth` of its own.
    """
    from mcp.server.auth.middleware.auth_context import AuthContextMiddleware

    app.add_middleware(AuthContextMiddleware)
    app.add_middleware(_Caller)
    starlette.protect(app, gate)


class _Caller:
    """Tells the SDK whose token the gate has verified."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            decided = allowed(scope)
            if decided.public_template is None:
                scope = {**scope, "user": _user(decided.token)}
        await self.app(scope, receive, send)


def _user(token: BearerToken) -> Any:
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    known = AccessToken(
        token=token.fingerprint,
        client_id=token.client or "",
        scopes=token.scopes.split(),
        expires_at=int(token.expires),
        subject=token.subject,
        claims={"iss": token.issuer},
    )
    return AuthenticatedUser(known)
