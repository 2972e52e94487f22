"""Reads a request's body before the service does, and gives the service the same bytes."""

from __future__ import annotations

import io

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping
    from typing import Any, Literal

    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


async def whole(receive: Receive, limit: int) -> tuple[bytes | Literal["too_large", "unreadable"], Receive]:
    """The body of an ASGI request, and what the service receives: the same bytes, in one message, and then what follows them.
    For a longer body, or one that isn't whole, says so.
    """
    came, is_whole = bytearray(), False
    rest: list[MutableMapping[str, Any]] = []
    while not is_whole and not rest and len(came) <= limit:
        message = await receive()
        if message["type"] != "http.request":
            rest.append(message)
        else:
            came += message.get("body", b"")
            is_whole = not message.get("more_body", False)
    body = bytes(came)
    rest.insert(0, {"type": "http.request", "body": body, "more_body": not is_whole})

    async def again() -> MutableMapping[str, Any]:
        return rest.pop(0) if rest else await receive()

    if rest[1:]:
        return "unreadable", again
    return "too_large" if len(body) > limit else body, again


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
