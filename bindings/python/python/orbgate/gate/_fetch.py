"""Fetches keys with the standard library."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from urllib.parse import urlsplit


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


def fetch(url: str, timeout: float, max_bytes: int) -> Fetched:
    """Fetches a URL within a time limit. One byte more than `max_bytes` shows that the body is too long. Raises OSError."""
    end = time.monotonic() + timeout
    opener = _here if urlsplit(url).hostname in ("127.0.0.1", "::1", "localhost") else _outside
    try:
        response = opener.open(url, timeout=timeout)
    except urllib.error.HTTPError as error:
        # Also a response.
        error.close()
        return Fetched(error.code, b"")
    with response:
        body = bytearray()
        while len(body) <= max_bytes and (piece := response.read1(65_536)):
            body += piece
            if time.monotonic() > end:
                raise TimeoutError(f"it took more than {timeout} s")
        return Fetched(response.status, bytes(body[: max_bytes + 1]), response.headers.get("Cache-Control"))
