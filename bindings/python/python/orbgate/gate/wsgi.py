"""A gate around a WSGI application: Flask, Django, or any other."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import unquote_to_bytes

from .. import _native
from . import Allowed, Answer, Gate, decided
from ._body import whole_of_wsgi
from ._certificate import of_environ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

__all__ = ["GateMiddleware", "allowed"]

_NO_TARGET = (
    "every request gets a 500 because %s provides neither `RAW_URI` nor `REQUEST_URI`, and `PATH_INFO` is already decoded. "
    "Serve with gunicorn, uWSGI, waitress or mod_wsgi; or, with Django, over ASGI"
)
_TWO_TARGETS = "requests get a 500 because %s provides a `RAW_URI` and a different `REQUEST_URI`"


def allowed(request: Any) -> Allowed:
    """The decision that allowed this request: Flask's `request`, a Django request, or a WSGI environment.

    Raises RuntimeError, so that the request gets a 500, if no gate has decided it, or if it was changed since.
    """
    environ = getattr(request, "environ", request)
    method = getattr(request, "method", None) or environ["REQUEST_METHOD"]
    return decided(environ.get("orbgate"), method, _path(environ))


class GateMiddleware:
    """Passes a request to an application only if its token allows the call.

    It decides on the target as received: `RAW_URI` of gunicorn and Werkzeug, `REQUEST_URI` of waitress, uWSGI and
    mod_wsgi. `PATH_INFO` can't be used, because it is decoded. If a server provides neither, every request gets a
    500, and the log explains why, once. This can't be detected before a server's first request.

    With `is_compared`, the application compares its route with the decision, as `orbgate.gate.flask` and
    `orbgate.gate.django` make it do. Around any other application, only the request as received is decided: call
    `allowed(environ).compare(…)` where that application dispatches, and `gate.check_routes` when it starts.

    `script_name` is the server's, if the policy's templates begin with it. A request with any other `SCRIPT_NAME` gets a
    404, because an application that reads only `PATH_INFO` would handle another path than the decided one.
    """

    def __init__(self, app: Callable[..., Iterable[bytes]], gate: Gate, *, script_name: str = "", is_compared: bool = False) -> None:
        if gate.mcp is not None:
            raise ValueError("a gate with an MCP endpoint needs an ASGI server: see `orbgate.gate.asgi`")
        self.app = app
        self.gate = gate
        self.script_name = script_name
        self.is_compared = is_compared
        # Something in this package holds the orbs where it compares.
        self._holds_later = False

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        target = self._target(environ)
        headers = _headers(environ)
        answer = self.gate._ask(method, target or "", headers, of_environ(environ))
        if not answer:
            self.gate._note(answer, method, target or "")
            # Not the caller's error. If every denial is a bare 403, so is this one.
            status = 500 if target is None and answer.status != 403 else answer.status
            return _deny(answer, status, start_response, method)
        limit = self.gate._bonus_limit(answer)
        body = None if limit is None else whole_of_wsgi(environ, limit)
        bonus = body is not None and _native.allows_bonus_orbs(body)
        allowed = Allowed(self.gate, answer, method, target or "", headers, bonus=bonus)._within(environ.get("orbgate"))
        environ["orbgate"] = allowed
        script_name: str = environ.get("SCRIPT_NAME", "")
        if script_name != self.script_name:
            self.gate.warn(
                "requests are denied because their `SCRIPT_NAME` is `%s`, but the gate's `script_name` is `%s`", script_name, self.script_name
            )
            answer = allowed.compare(method, _path(environ), "")
            return _deny(answer, answer.status, start_response)
        if not self._holds_later:
            answer = allowed._hold(is_last=not self.is_compared)
            if not answer:
                return _deny(answer, answer.status, start_response)
        response: Iterable[bytes] | None = None
        try:
            if self.gate._ledger is None:
                response = self.app(environ, start_response)
            else:
                response = _Charged(allowed, method, start_response).run(self.app, environ)
        finally:
            is_over = response is None or isinstance(response, (list, tuple))
            if is_over:
                # Something other than a route has responded.
                allowed._note()
        return response if is_over or allowed._noted is not None else _Later(response, allowed)

    def _target(self, environ: dict[str, Any]) -> str | None:
        """The target of the request line; None if the server doesn't provide it, and "" if something has changed it.
        Both are denied.
        """
        raw = {environ[name] for name in ("RAW_URI", "REQUEST_URI") if name in environ}
        if len(raw) != 1:
            server = environ.get("SERVER_SOFTWARE", "the server")
            self.gate.warn(_NO_TARGET if not raw else _TWO_TARGETS, server)
            return None
        target: str = raw.pop()
        # The application uses this one; a target in another form is rejected anyway.
        if target.startswith("/") and unquote_to_bytes(target.partition("?")[0]) != _path(environ).encode("latin-1"):
            self.gate.warn("requests are denied because something outside the gate changed the path")
            return ""
        return target


class _Later:
    """A response of an application that might compare only when the response is read, as a generator does."""

    def __init__(self, response: Iterable[bytes], allowed: Allowed) -> None:
        self._response = response
        self._allowed = allowed

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._response)

    def close(self) -> None:
        try:
            close = getattr(self._response, "close", None)
            if close is not None:
                close()
        finally:
            self._allowed._note()


class _Charged:
    """A response, which settles the orbs that its route holds, if any: success counts when the answer is complete, even if
    nobody reads it.
    """

    def __init__(self, allowed: Allowed, method: str, start_response: Callable[..., Any]) -> None:
        self._allowed = allowed
        self._method = method
        self._start_response = start_response
        self._status: int | None = None
        self._length: int | None = None
        self._sent = 0
        self._has_left = False
        self._response: Iterable[bytes] = ()

    def run(self, app: Callable[..., Iterable[bytes]], environ: dict[str, Any]) -> Iterable[bytes]:
        try:
            self._response = app(environ, self._started)
        except BaseException:
            self._fail()
            raise
        if self._is_whole() or self._status in (204, 304) or (self._method == "HEAD" and self._status is not None):
            self._allowed._settle("status", self._status or 500)
        return self._response if isinstance(self._response, (list, tuple)) else self

    def _is_whole(self) -> bool:
        # Django tells its streams apart.
        return isinstance(self._response, (list, tuple)) or getattr(self._response, "streaming", True) is False

    def _started(self, status: str, headers: list[tuple[str, str]], *rest: Any) -> Callable[[bytes], Any]:
        self._status = int(status[:3])
        lengths = [value for name, value in headers if name.lower() == "content-length" and value.isdigit()]
        self._length = int(lengths[0]) if lengths else None
        if self._status >= 400:
            self._allowed._settle("status", self._status)
        write: Callable[[bytes], Any] = self._start_response(status, headers, *rest)

        def written(data: bytes) -> Any:
            self._sent += len(data)
            try:
                return write(data)
            except OSError:
                self._has_left = True
                raise

        return written

    def __iter__(self) -> Iterator[bytes]:
        try:
            for piece in self._response:
                self._sent += len(piece)
                if self._length is not None and self._sent >= self._length:
                    self._allowed._settle("status", self._status or 500)
                yield piece
        except GeneratorExit:
            self._allowed._settle("cancelled")
            raise
        except BaseException:
            self._fail()
            raise
        self._allowed._settle("status", self._status or 500)

    def _fail(self) -> None:
        self._allowed._settle("cancelled" if self._has_left else "broken" if self._sent else "failed")

    def close(self) -> None:
        try:
            close = getattr(self._response, "close", None)
            if close is not None:
                close()
        finally:
            # It wasn't read to its end.
            self._allowed._settle("cancelled")

    def __del__(self) -> None:
        self._allowed._settle("cancelled")


def _deny(answer: Answer, status: int | None, start_response: Callable[..., Any], method: str = "") -> list[bytes]:
    line = HTTPStatus(status or 403)
    start_response(f"{line.value} {line.phrase}", [*answer.headers, ("Content-Length", str(len(answer.body)))])
    return [b"" if method == "HEAD" else answer.body]


def _path(environ: dict[str, Any]) -> str:
    path: str = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    return path


def _headers(environ: dict[str, Any]) -> list[tuple[bytes, bytes]]:
    """The headers, with `-` and `_` in names treated alike, because servers don't distinguish them."""
    return [
        (name[5:].replace("_", "-").encode("latin-1"), value.encode("latin-1"))
        for name, value in environ.items()
        if name.startswith("HTTP_")
    ]
