"""A gate around an ASGI application: Starlette, FastAPI, Django's, or any other."""

from __future__ import annotations

import asyncio
from urllib.parse import unquote

from .. import _native
from . import Allowed, Gate, RoutesDiffer, decided
from ._body import whole
from ._certificate import of_scope
from ._deny import deny, stating
from ._routes import find, guard, served

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping
    from typing import Any

    from ._deny import Send

    _Scope = MutableMapping[str, Any]
    _Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    _App = Callable[[_Scope, _Receive, Send], Awaitable[None]]

__all__ = ["GateMiddleware", "allowed"]


def allowed(request: Any) -> Allowed:
    """The decision that allowed this request: a `Request` or `WebSocket` of Starlette or FastAPI, a Django request, or a
    scope.

    Raises RuntimeError, so that the request gets a 500, if no gate has decided it, or if it was changed since.
    """
    scope = getattr(request, "scope", request)
    method = getattr(request, "method", None) or scope.get("method", "GET")
    return decided(scope.get("orbgate"), method, scope["path"])


class GateMiddleware:
    """Passes a request to an application only if its token allows the call.

    It decides on `raw_path` and `query_string`, the bytes of the request line. If the server provides no `raw_path`,
    every request gets a 500; if an outer middleware has changed the path, a 400. The log explains why, once.
    WebSockets are decided as the `GET` that they start with.

    Inside Starlette and FastAPI, each router compares its route with the decision. With `is_compared`, something else
    does that, such as `orbgate.gate.django`. Around any other application, only the request as received is decided:
    call `allowed(scope).compare(…)` where that application dispatches, and `gate.check_routes` when it starts.

    `root_path` is the server's, such as uvicorn's `--root-path`, if the policy's templates begin with it. A request with
    any other gets a 404. `check` is called when the server starts.
    """

    def __init__(
        self, app: _App, gate: Gate, *, root_path: str = "", is_compared: bool = False, check: Callable[[], None] | None = None
    ) -> None:
        self.app = app
        self.gate = gate
        self.root_path = root_path
        self.is_compared = is_compared
        self.check = check
        # Something in this package holds the orbs where it compares.
        self._holds_later = False
        # The application serves no WebSockets.
        self._is_http_only = False
        self._is_reported = False

    async def __call__(self, scope: _Scope, receive: _Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._other(scope, receive, send)
            return
        if "router" in scope and not self._is_reported:
            self._is_reported = True
            self._report_unseen(scope["router"])
        method = scope.get("method", "GET")
        target = self._target(scope)
        step = await self.gate._ask_async(method, target or b"", scope["headers"], of_scope(scope))
        if isinstance(step, _native.Reading) and scope["type"] == "http":
            answer, receive = await self.gate._ask_body(step, receive, scope["headers"])
        else:
            answer = self.gate._unread(step)
        if answer and scope["type"] == "websocket" and (answer.is_mcp or self._is_http_only):
            # Nothing would decide its messages, or nothing serves it.
            answer = self.gate.again(answer, method, target or b"", "")
        if not answer:
            self.gate._note(answer, method, target or b"")
            # Not the caller's error. If every denial is a bare 403, so is this one.
            status = 500 if target is None and answer.status != 403 else answer.status
            await deny(answer, status, scope, send)
            return
        limit, bonus = self.gate._bonus_limit(answer), False
        if limit is not None and scope["type"] == "http":
            body, receive = await whole(receive, limit)
            bonus = isinstance(body, bytes) and _native.allows_bonus_orbs(body)
        allowed = Allowed(self.gate, answer, method, target or b"", scope["headers"], bonus=bonus)._within(scope.get("orbgate"))
        scope["orbgate"] = allowed
        app, router = find(self.app)
        if router is None:
            app, router = find(scope.get("app"))
        # FastAPI sets its own, which isn't the caller's.
        own: str = "" if router is None else getattr(scope.get("app", app), "root_path", "")
        root_path: str = own or scope.get("root_path", "")
        if root_path != (own or self.root_path):
            self.gate.warn("requests are denied because the server's root path is `%s`, but the gate's `root_path` is `%s`", root_path, self.root_path)
            answer = allowed.compare(method, scope["path"], "")
            await deny(answer, answer.status, scope, send)
            return
        if router is not None:
            guard(router)
            is_part = root_path and f"{scope['path']}/".startswith(f"{root_path}/")
            allowed._routers[id(router)] = root_path if is_part else "", root_path
        elif not self._holds_later:
            answer = await allowed._hold_async(is_last=not self.is_compared)
            if not answer:
                await deny(answer, answer.status, scope, send)
                return
        try:
            sends = stating(answer, send)
            if self.gate._ledger is None:
                await self.app(scope, receive, sends)
            else:
                await _Charged(allowed, receive, sends).run(self.app, scope)
        finally:
            # Something other than a route has responded.
            allowed._note()

    def _report_unseen(self, outer: Any) -> None:
        """A Starlette router called this middleware, so nothing protects the router's own routes."""
        own = [route for route in getattr(outer, "routes", ()) if not hasattr(route, "app") or hasattr(route, "endpoint")]
        unseen = ", ".join(f"{method} {template}" for method, template, _ in served(own))
        if unseen:
            self.gate.warn("the gate is inside a router, so it doesn't protect these routes: %s", unseen)

    async def _other(self, scope: _Scope, receive: _Receive, send: Send) -> None:
        """Handles startup and shutdown of the server. Any other type might be that of a request, in a protocol that the gate
        doesn't know.
        """
        if scope["type"] != "lifespan":
            raise RuntimeError(f"the gate can't decide the scope type {scope['type']!r}")
        if self.check is not None:
            try:
                self.check()
            except RoutesDiffer as differ:
                await receive()
                await send({"type": "lifespan.startup.failed", "message": str(differ)})
                return
        ledger = self.gate._ledger

        async def flushing(message: MutableMapping[str, Any]) -> None:
            if ledger is not None and message["type"].startswith("lifespan.shutdown."):
                await asyncio.get_running_loop().run_in_executor(None, ledger.flush)
            await send(message)

        await self.app(scope, receive, flushing)

    def _target(self, scope: _Scope) -> bytes | None:
        """The target of the request line; None if the server doesn't provide it, and b"" if something has changed it.
        Both are denied.
        """
        path: bytes | None = scope.get("raw_path")
        if path is None:
            self.gate.warn(
                "every request gets a 500 because the server provides no `raw_path`, and `path` is already decoded. "
                "Serve with uvicorn, hypercorn or daphne"
            )
            return None
        # Some servers also include the query.
        path = path.partition(b"?")[0]
        if unquote(path.decode("latin-1")) != scope["path"]:
            self.gate.warn("requests are denied because a middleware outside the gate changed the path")
            return b""
        query: bytes = scope["query_string"]
        return b"%b?%b" % (path, query) if query else path


class _Charged:
    """What an application receives and sends. It settles the orbs that its route holds, if any: success counts when the
    answer is complete, even if nobody reads it.
    """

    def __init__(self, allowed: Allowed, receive: _Receive, send: Send) -> None:
        self._allowed = allowed
        self._receive = receive
        self._send = send
        self._status: int | None = None
        self._has_begun = False
        self._has_left = False
        self._is_read = False

    async def run(self, app: _App, scope: _Scope) -> None:
        try:
            await app(scope, self._received, self._sent)
        except BaseException as error:
            self._stop(self._has_begun, self._has_left or isinstance(error, asyncio.CancelledError))
            raise
        # An answer that isn't complete was dropped.
        self._stop(self._status is not None, self._has_left)

    def _stop(self, has_begun: bool, has_left: bool) -> None:
        self._allowed._settle("cancelled" if has_left else "broken" if has_begun else "failed")

    async def _received(self) -> MutableMapping[str, Any]:
        message = await self._receive()
        self._has_left |= message["type"] == "http.disconnect"
        return message

    async def _sent(self, message: MutableMapping[str, Any]) -> None:
        kind: str = message["type"].removeprefix("websocket.")
        if kind == "http.response.start":
            self._status = message["status"]
            if self._status >= 400:
                self._allowed._settle("status", self._status)
            else:
                self._is_read = self._allowed._begins(message.get("headers", ()))
        elif kind in ("http.response.body", "http.response.zerocopysend", "http.response.pathsend"):
            self._has_begun |= kind != "http.response.body" or bool(message.get("body"))
            if self._is_read:
                piece = message.get("body", b"") if kind == "http.response.body" else None
                self._is_read = self._allowed._reads(None if piece is None else bytes(piece))
            if not message.get("more_body", False):
                self._allowed._settle("status", self._status or 500)
        elif kind == "accept":
            # A WebSocket is charged at its handshake.
            self._allowed._settle("status", 101)
        elif kind == "close":
            self._allowed._settle("status", 403)
        try:
            await self._send(message)
        except OSError:
            self._has_left = True
            raise
