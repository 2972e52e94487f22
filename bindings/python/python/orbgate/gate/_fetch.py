"""Fetches keys, and asks about opaque tokens, with the standard library."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from urllib.parse import urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._native import Post


@dataclass(frozen=True, slots=True)
class Fetched:
    """The result of a fetch: the status, the body up to the limit, and `Cache-Control`."""

    status: int
    body: bytes
    cache_control: str | None = None


class _Stay(urllib.request.HTTPRedirectHandler):
    """Redirects aren't followed: an issuer states where its keys are."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


_outside = urllib.request.build_opener(_Stay)
# No proxy is used for an address on this machine.
_here = urllib.request.build_opener(_Stay, urllib.request.ProxyHandler({}))


def fetch(url: str, timeout: float, max_bytes: int, post: Post | None = None) -> Fetched:
    """Fetches a URL within a time limit; with `post`, sends its headers and body by POST. One byte more than `max_bytes`
    shows that the body is too long. Raises OSError.
    """
    end = time.monotonic() + timeout
    opener = _here if urlsplit(url).hostname in ("127.0.0.1", "::1", "localhost") else _outside
    headers, body = ({}, None) if post is None else (post.headers, post.body)
    request = urllib.request.Request(url, data=body, headers={"Accept": "application/json", **headers})
    try:
        response = opener.open(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        # Also a response.
        error.close()
        return Fetched(error.code, b"")
    with response:
        came = bytearray()
        while len(came) <= max_bytes and (piece := response.read1(65_536)):
            came += piece
            if time.monotonic() > end:
                raise TimeoutError(f"it took more than {timeout} s")
        return Fetched(response.status, bytes(came[: max_bytes + 1]), response.headers.get("Cache-Control"))
