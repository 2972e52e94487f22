"""A gate around an ASGI application: Starlette, FastAPI, Django's, or any other."""

from __future__ import annotations

from urllib.parse import unquote

from . import Allowed, Answer, Gate
from ._routes import router_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping
    from typing import Any

    _Scope = MutableMapping[str, Any]
    _Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    _Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    _App = Callable[[_Scope, _Receive, _Send], Awaitable[None]]

__all__ = ["GateMiddleware", "allowed"]


def allowed(request: Any) -> Allowed:
    """What let this request through: of Starlette's or FastAPI's `Request`, of Django's, or of a scope."""
    scope = getattr(request, "scope", request)
    return scope["orbgate"]  # type: ignore[no-any-return]


class GateMiddleware:
    """Lets a request through to an application only where its token may make the call.

    It decides on `raw_path` and `query_string`, the bytes of the request line. Where the server gives no `raw_path`, every request gets a 500; where a
    middleware outside has changed the path, a 400; and the log says why, once. WebSockets are decided as the `GET` that they begin with.

    Around Starlette and FastAPI an allowed request goes on only if their router takes the decided route. `router` says, of a scope, which template
    another router takes: `orbgate.gate.django.asgi_router`.
    """

    def __init__(self, app: _App, gate: Gate, router: Callable[[_Scope], str] | None = None) -> None:
        self.app = app
        self.gate = gate
        self.router = router

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        method = scope.get("method", "GET")
        target = self._target(scope)
        router = router_of(scope.get("app", self.app), scope) if self.router is None else lambda: self.router(scope)  # type: ignore[misc]
        answer = await self.gate.answer_async(method, target or b"", scope["headers"], router)
        if answer:
            scope["orbgate"] = self.gate.allowed(answer, method, target or b"")
            await self.app(scope, receive, send)
        else:
            # Not the caller's fault. Where every denial is a bare 403, this one is, too.
            status = 500 if target is None and answer.status != 403 else answer.status
            await _deny(answer, status, scope["type"], send)

    def _target(self, scope: _Scope) -> bytes | None:
        """The target of the request line; None where the server does not give it, b"" where something has changed it: both are denied."""
        path: bytes | None = scope.get("raw_path")
        if path is None:
            self.gate.warn(
                "every request is answered with 500: the server gives no `raw_path`, and `path` is decoded, so nothing can be decided. "
                "Serve with uvicorn, hypercorn or daphne"
            )
            return None
        # Some servers' has the query, too.
        path = path.partition(b"?")[0]
        if unquote(path.decode("latin-1")) != scope["path"]:
            self.gate.warn("requests are refused: a middleware outside the gate has changed the path")
            return b""
        query: bytes = scope["query_string"]
        return b"%b?%b" % (path, query) if query else path


async def _deny(answer: Answer, status: int | None, kind: str, send: _Send) -> None:
    headers = [(name.lower().encode(), value.encode()) for name, value in answer.headers]
    if kind == "websocket":
        # Before it is accepted, this is a 403 of the handshake, with any server.
        await send({"type": "websocket.close", "code": 1008})
        return
    headers.append((b"content-length", b"0"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
