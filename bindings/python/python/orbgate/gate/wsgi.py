"""A gate around a WSGI application: Flask, Django, or any other."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import unquote_to_bytes

from . import Allowed, Gate, decided

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
    """What let this request through: of Flask's `request`, of Django's, or of an environment.

    Raises RuntimeError, so that the request gets a 500, if no gate has decided it, or if it was another request when the gate decided.
    """
    environ = getattr(request, "environ", request)
    method = getattr(request, "method", None) or environ["REQUEST_METHOD"]
    return decided(environ.get("orbgate"), method, _path(environ))


class GateMiddleware:
    """Lets a request through to an application only where its token may make the call.

    It decides on the target as it came: `RAW_URI` of gunicorn and Werkzeug, `REQUEST_URI` of waitress, uWSGI and mod_wsgi. `PATH_INFO` is
    decoded, so no decision could be made on it: where a server gives neither, every request gets a 500, and the log says why, once. A server
    shows what it gives with its first request, and not before.

    With `is_compared`, the application compares the route that it takes with the decision, as `orbgate.gate.flask` and `orbgate.gate.django` have
    it do. Around any other application only the request as it came is decided: call `allowed(environ).compare(…)` where that application
    dispatches, and `gate.check_routes` when it starts.
    """

    def __init__(self, app: Callable[..., Iterable[bytes]], gate: Gate, *, is_compared: bool = False) -> None:
        self.app = app
        self.gate = gate
        self.is_compared = is_compared

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        target = self._target(environ)
        answer = self.gate._ask(method, target or "", _headers(environ))
        if not answer:
            self.gate._note(answer)
            status = HTTPStatus(answer.status or 403)
            if target is None and status != 403:
                # Not the caller's error. Where every denial is a bare 403, this one is, too.
                status = HTTPStatus.INTERNAL_SERVER_ERROR
            start_response(f"{status.value} {status.phrase}", [*answer.headers, ("Content-Length", "0")])
            return [b""]
        found = environ["orbgate"] = self.gate.allowed(answer, method, target or "")
        if not self.is_compared:
            found._note()
        try:
            return self.app(environ, start_response)
        finally:
            # Something else than a route has answered.
            found._note()

    def _target(self, environ: dict[str, Any]) -> str | None:
        """The target of the request line; None where the server does not give it, "" where something has changed it: both are denied."""
        raw = {environ[name] for name in ("RAW_URI", "REQUEST_URI") if name in environ}
        if len(raw) != 1:
            server = environ.get("SERVER_SOFTWARE", "the server")
            self.gate.warn(_NO_TARGET if not raw else _TWO_TARGETS, server)
            return None
        target: str = raw.pop()
        # The application sees this one; a target in another form is refused anyway.
        if target.startswith("/") and unquote_to_bytes(target.partition("?")[0]) != _path(environ).encode("latin-1"):
            self.gate.warn("requests are refused: something outside the gate has changed the path")
            return ""
        return target


def _path(environ: dict[str, Any]) -> str:
    path: str = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    return path


def _headers(environ: dict[str, Any]) -> list[tuple[bytes, bytes]]:
    """The headers, with one name for `-` and `_`, which servers do not tell apart."""
    return [
        (name[5:].replace("_", "-").encode("latin-1"), value.encode("latin-1"))
        for name, value in environ.items()
        if name.startswith("HTTP_")
    ]
