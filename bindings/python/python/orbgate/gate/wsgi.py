"""A gate around a WSGI application: Flask, Django, or any other."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import unquote_to_bytes

from . import Allowed, Gate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

__all__ = ["GateMiddleware", "allowed"]

_NO_TARGET = (
    "every request is answered with 500: %s gives neither `RAW_URI` nor `REQUEST_URI`, and `PATH_INFO` is decoded, so nothing can be decided. "
    "Serve with gunicorn, uWSGI, waitress or mod_wsgi; or, with Django, over ASGI"
)
_TWO_TARGETS = "requests are answered with 500: %s gives a `RAW_URI` and another `REQUEST_URI`, so nothing can be decided"


def allowed(request: Any) -> Allowed:
    """What let this request through: of Flask's `request`, of Django's, or of an environment."""
    environ = getattr(request, "environ", request)
    return environ["orbgate"]  # type: ignore[no-any-return]


class GateMiddleware:
    """Lets a request through to an application only where its token may make the call.

    It decides on the target as it came: `RAW_URI` of gunicorn and Werkzeug, `REQUEST_URI` of waitress, uWSGI and mod_wsgi. `PATH_INFO` is
    decoded, so no decision could be made on it: where a server gives neither, every request gets a 500, and the log says why, once. A server
    shows what it gives with its first request, and not before.

    `router` says, of an environment, which template the application's router takes: `orbgate.gate.flask.router(app)`.
    """

    def __init__(self, app: Callable[..., Iterable[bytes]], gate: Gate, router: Callable[[dict[str, Any]], str] | None = None) -> None:
        self.app = app
        self.gate = gate
        self.router = router

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        target = self._target(environ)
        router = None if self.router is None else lambda: self.router(environ)  # type: ignore[misc]
        answer = self.gate.answer(method, target or "", _headers(environ), router)
        if answer:
            environ["orbgate"] = self.gate.allowed(answer, method, target or "")
            return self.app(environ, start_response)
        status = HTTPStatus(answer.status or 403)
        if target is None and status != 403:
            # Not the caller's fault. Where every denial is a bare 403, this one is, too.
            status = HTTPStatus.INTERNAL_SERVER_ERROR
        start_response(f"{status.value} {status.phrase}", [*answer.headers, ("Content-Length", "0")])
        return [b""]

    def _target(self, environ: dict[str, Any]) -> str | None:
        """The target of the request line; None where the server does not give it, "" where something has changed it: both are denied."""
        raw = {environ[name] for name in ("RAW_URI", "REQUEST_URI") if name in environ}
        if len(raw) != 1:
            server = environ.get("SERVER_SOFTWARE", "the server")
            self.gate.warn(_NO_TARGET if not raw else _TWO_TARGETS, server)
            return None
        target: str = raw.pop()
        path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        # The application sees this one; a target in another form is refused anyway.
        if target.startswith("/") and unquote_to_bytes(target.partition("?")[0]) != path.encode("latin-1"):
            self.gate.warn("requests are refused: something outside the gate has changed the path")
            return ""
        return target


def _headers(environ: dict[str, Any]) -> list[tuple[bytes, bytes]]:
    """The headers, with one name for `-` and `_`, which servers do not tell apart."""
    return [
        (name[5:].replace("_", "-").encode("latin-1"), value.encode("latin-1"))
        for name, value in environ.items()
        if name.startswith("HTTP_")
    ]
