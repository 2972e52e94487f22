"""What a gate responds over ASGI, or has a service respond."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping
    from typing import Any

    from . import Answer

    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


async def deny(answer: Answer, status: int | None, scope: MutableMapping[str, Any], send: Send) -> None:
    """Sends the status, headers and body of a result."""
    headers = [(name.lower().encode(), value.encode()) for name, value in answer.headers]
    prefix = ""
    if scope["type"] == "websocket":
        prefix = "websocket."
        if f"{prefix}http.response" not in (scope.get("extensions") or {}):
            # Before the WebSocket is accepted, such a server turns this into a bare 403 of the handshake.
            await send({"type": "websocket.close", "code": 1008})
            return
    headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": f"{prefix}http.response.start", "status": status, "headers": headers})
    await send({"type": f"{prefix}http.response.body", "body": b"" if scope.get("method") == "HEAD" else answer.body})


def stating(answer: Answer, send: Send) -> Send:
    """Sends what a service responds, with what the gate states for browsers in place of the service's own."""
    stated = [(name.encode(), value.encode()) for name, value in answer.headers]
    if not stated:
        return send

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            lines = [(name, value) for name, value in message.get("headers", ()) if not bytes(name).lower().startswith(b"access-control-")]
            message = {**message, "headers": lines + stated}
        await send(message)

    return sending
