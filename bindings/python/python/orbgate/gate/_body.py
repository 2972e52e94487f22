"""Reads a request's body before the service does, and gives the service the same bytes."""

from __future__ import annotations

import io

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping
    from typing import Any

    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


async def whole(receive: Receive, limit: int) -> tuple[bytes | None, Receive]:
    """The body of an ASGI request, and what the service receives. None if it is longer, or isn't whole."""
    messages: list[MutableMapping[str, Any]] = []
    body, is_whole = bytearray(), False
    while not is_whole and len(body) <= limit:
        message = await receive()
        messages.append(message)
        if message["type"] != "http.request":
            break
        body += message.get("body", b"")
        is_whole = not message.get("more_body", False)
    waiting = iter(messages)

    async def again() -> MutableMapping[str, Any]:
        message = next(waiting, None)
        return await receive() if message is None else message

    return bytes(body) if is_whole and len(body) <= limit else None, again


def whole_of_wsgi(environ: dict[str, Any], limit: int) -> bytes | None:
    """The same of a WSGI request; the service reads `wsgi.input` again."""
    stated: str = environ.get("CONTENT_LENGTH") or ""
    length = int(stated) if stated.isascii() and stated.isdigit() else None
    if length is not None and length > limit:
        return None
    if length is None and not environ.get("wsgi.input_terminated"):
        # Nothing says where the body ends.
        return None
    rest = environ["wsgi.input"]
    body: bytes = _read(rest, limit + 1 if length is None else length)
    environ["wsgi.input"] = io.BufferedReader(_Again(body, rest)) if length is None else io.BytesIO(body)
    is_whole = len(body) <= limit if length is None else len(body) == length
    return body if is_whole else None


def _read(source: Any, size: int) -> bytes:
    came = bytearray()
    while len(came) < size and (piece := source.read(size - len(came))):
        came += piece
    return bytes(came)


class _Again(io.RawIOBase):
    """Bytes that were read, and then the rest."""

    def __init__(self, came: bytes, rest: Any) -> None:
        super().__init__()
        self._came = io.BytesIO(came)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece: bytes = self._came.read(len(buffer)) or self._rest.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)
