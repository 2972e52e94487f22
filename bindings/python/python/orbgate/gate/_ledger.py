"""A ledger service: holds the orbs of calls before their handlers run, and settles them afterwards."""

from __future__ import annotations

import asyncio
import atexit
import http.client
import logging
import os
import socket
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

from .. import _native
from . import _names
from ._hooks import logger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any, Literal

    from .._native import Answer, Call, Hold

    _Costs = Literal["capture", "void", "stated"]
    _Reply = tuple[int, bytes] | None
    _Steps = Generator[Call | float, _Reply, None]

# Calls to the service at once; more wait for their turn, at most for their time limit.
_MOST_CALLS = 32


class Ledger:
    """The ledger service in which gates hold orbs. Make one for each process and service, because one heartbeat extends
    the holds of all running calls.

    `url` is `https://…`, `unix:` and a path, or `http://` and a loopback address. The secret is given, or read from
    `secret_file`: again at each reload of a gate's policy, and when the service refuses the old one. `on_cancelled` is what
    a call costs whose caller left before its answer was complete: "capture", "void", or "stated", which charges what the handler
    has stated so far. `on_broken` is the same if the service broke the answer off after its first byte; by default,
    `on_cancelled` counts. For gates with an MCP endpoint, `on_tool_error` says it of a result with `isError`, and
    `on_input_required` of one that asks for input. A call costs at most its hold times `ceiling`, whatever its handler
    states. Times are in seconds.
    """

    def __init__(
        self,
        url: str,
        *,
        on_cancelled: _Costs,
        on_broken: _Costs | None = None,
        secret: str | None = None,
        secret_file: str | os.PathLike[str] | None = None,
        on_tool_error: _Costs | None = None,
        on_input_required: _Costs | None = None,
        ttl: float = 60.0,
        timeout: float = 2.0,
        queue: int = 4096,
        ceiling: int = 1,
    ) -> None:
        if (secret is None) == (secret_file is None):
            raise ValueError("a ledger needs either `secret` or `secret_file`")
        self.url = url
        self._service = _Service(url)
        self._file = secret_file
        self._secret = _native.ledger_secret(secret) if secret_file is None and secret is not None else ""
        self.read_secret()
        self._rules = on_cancelled, on_broken, on_tool_error, on_input_required, ttl, timeout, queue, ceiling
        # Counts settlements, with the gate's hook; the last gate's, if several share the ledger.
        self._add: Callable[[str, dict[str, str]], None] = lambda name, labels: None
        self._start()
        atexit.register(self.flush, 5.0)

    def __repr__(self) -> str:
        return f"<Ledger {self.url}>"

    def read_secret(self) -> None:
        """Reads the secret's file again. Raises OSError or ValueError; then the old secret stays."""
        if self._file is not None:
            with open(self._file, encoding="ascii") as file:
                self._secret = _native.ledger_secret(file.read(1024))

    def counts(self) -> dict[str, int]:
        """How many settlements wait for the service, and how many were captured, voided or lost; how many handlers stated more
        than the ceiling; the orbs that were charged, those that accounts lacked when more was charged than held, and those over
        the ceiling, which weren't charged.
        """
        names = "waiting", "captured", "voided", "lost", "over", "orbs", "shortfall", "excess"
        return dict(zip(names, self._orbs.counts(), strict=True))

    def flush(self, timeout: float = 60.0) -> bool:
        """Waits until no settlement waits for the service. Call it before the program ends; gates over ASGI do so when the
        server stops. Returns false if the time is over.
        """
        end = time.monotonic() + timeout
        while self.counts()["waiting"] and self._pid == os.getpid():
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def _start(self) -> None:
        self._pid = os.getpid()
        self._orbs = _native.Orbs(*self._rules)
        self._reported = 0, 0, 0, 0
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._pool = ThreadPoolExecutor(_MOST_CALLS, thread_name_prefix="orbgate-ledger")

    def _running(self) -> _native.Orbs:
        """The holds of this process. A fork doesn't continue those of its parent, and has none of its threads."""
        with _LOCK:
            if self._pid != os.getpid():
                self._service.forget()
                self._start()
            if self._thread is None:
                self._thread = threading.Thread(target=self._settle, args=(self._orbs,), name="orbgate-ledger", daemon=True)
                self._thread.start()
        return self._orbs

    def look(self) -> None:
        """Sends a first message, so that the log shows a wrong secret at the start. In this thread, because a fork would have no
        other. Does nothing once the service has answered.
        """
        if (call := self._orbs.next_call(time.monotonic())) is not None:
            self._send(self._orbs, call)

    def begin(self, gate: _native.Gate, answer: Answer, method: Any, target: Any, bonus: bool, amount: Callable[[str], int | None]) -> Answer | Hold | None:
        """The first step of an allowed request: None if it consumes nothing, a denial, or a hold."""
        random = list(os.urandom(16))
        return self._running().hold(gate, answer, method, target, bonus, amount, random, time.monotonic())

    def hold(self, hold: Hold) -> None:
        """Does the steps of a hold, one after another."""
        steps = self._steps(hold)
        try:
            step = next(steps, None)
            while step is not None:
                if isinstance(step, float):
                    time.sleep(max(0.0, step - time.monotonic()))
                    step = next(steps, None)
                else:
                    step = _sent(steps, self._reply(self._sent(step), step.timeout))
        except BaseException:
            self.not_run(hold)
            raise

    async def hold_async(self, hold: Hold) -> None:
        """The same, without blocking the event loop."""
        steps = self._steps(hold)
        try:
            step = next(steps, None)
            while step is not None:
                if isinstance(step, float):
                    await asyncio.sleep(max(0.0, step - time.monotonic()))
                    step = next(steps, None)
                    continue
                try:
                    reply = await asyncio.wait_for(asyncio.wrap_future(self._sent(step)), step.timeout)
                except asyncio.TimeoutError:
                    reply = None
                step = _sent(steps, reply)
        except BaseException:
            # The caller has left.
            self.not_run(hold)
            raise

    def ended(self, hold: Hold, outcome: str, status: int, stated: int | None) -> None:
        if (notice := hold.ended(outcome, status, stated, time.monotonic())) is not None:
            logger.warning("%s", notice)
        self._wake.set()

    def not_run(self, hold: Hold) -> None:
        hold.not_run(time.monotonic())
        self._wake.set()

    def _steps(self, hold: Hold) -> _Steps:
        while True:
            if (call := hold.call) is not None:
                reply = yield call
                hold.held(reply, time.monotonic(), time.time())
            elif (until := hold.until) is not None:
                yield until
                hold.waited(time.monotonic())
            else:
                # A denied hold is voided, and a held one has a heartbeat.
                self._wake.set()
                return

    def _sent(self, call: Call) -> Future[_Reply]:
        return self._pool.submit(self._ask, call, time.monotonic() + call.timeout)

    def _reply(self, sent: Future[_Reply], timeout: float) -> _Reply:
        try:
            return sent.result(timeout)
        except Exception:
            # Late; in Python 3.10 that isn't a TimeoutError.
            return None

    def _ask(self, call: Call, end: float) -> _Reply:
        """Sends a message. None without an answer."""
        if time.monotonic() >= end:
            return None
        secret = self._secret
        try:
            reply = self._service.post(call.path, call.body, secret, end)
            if reply[0] == 401 and self._file is not None:
                self.read_secret()
                if self._secret != secret:
                    reply = self._service.post(call.path, call.body, self._secret, end)
        except (OSError, ValueError, http.client.HTTPException) as error:
            self._tell(None, type(error).__name__)
            return None
        self._tell(reply)
        return reply

    def _tell(self, reply: _Reply, failure: str = "") -> None:
        """Logs what has changed about the service."""
        if (notice := self._orbs.notice(self.url, reply, failure)) is not None:
            level, sentence = notice
            logger.log(getattr(logging, level.upper()), "%s", sentence)

    def _send(self, orbs: _native.Orbs, call: Call) -> None:
        orbs.called(call.number, self._ask(call, time.monotonic() + call.timeout), time.monotonic())

    def _settle(self, orbs: _native.Orbs) -> None:
        """The thread that settles and extends."""
        while True:
            try:
                while (call := orbs.next_call(time.monotonic())) is not None:
                    self._send(orbs, call)
                self._report(orbs)
                until = orbs.wake()
                self._wake.wait(None if until is None else max(0.0, until - time.monotonic()))
                self._wake.clear()
            except Exception:
                # Without this thread, nothing would be charged.
                logger.exception("settling orbs failed")
                time.sleep(1)

    def _report(self, orbs: _native.Orbs) -> None:
        _, *counted = orbs.counts()[:5]
        for _ in range(counted[3] - self._reported[3]):
            self._add(_names.OVER_CEILING_TOTAL, {})
        for result, now, before in zip(("captured", "voided", "lost"), counted, self._reported, strict=False):
            for _ in range(now - before):
                self._add(_names.SETTLEMENTS_TOTAL, {_names.LABEL_RESULT: result})
            if result == "lost" and now > before:
                logger.error("%d settlements are lost: the ledger didn't take them before their holds expired", now - before)
        self._reported = counted[0], counted[1], counted[2], counted[3]


_LOCK = threading.Lock()


def _sent(steps: _Steps, reply: _Reply) -> Call | float | None:
    try:
        return steps.send(reply)
    except StopIteration:
        return None


class _Service:
    """Connections to a ledger service."""

    def __init__(self, url: str) -> None:
        self._is_tls, self._host, self._port, self._prefix, self._socket = _native.ledger_address(url)
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []

    def forget(self) -> None:
        """Forgets the connections, which belong to the parent of this process."""
        self._lock, self._idle = threading.Lock(), []

    def post(self, path: str, body: bytes, secret: str, end: float) -> tuple[int, bytes]:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            try:
                return self._over(connection, path, body, secret, end)
            except (ConnectionError, http.client.BadStatusLine):
                # The service has closed it meanwhile. Each command can be sent again.
                pass
        return self._over(self._connect(), path, body, secret, end)

    def _connect(self) -> http.client.HTTPConnection:
        if self._socket is not None:
            return _OverSocket(self._socket)
        kind = http.client.HTTPSConnection if self._is_tls else http.client.HTTPConnection
        return kind(self._host, self._port)

    def _over(self, connection: http.client.HTTPConnection, path: str, body: bytes, secret: str, end: float) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        is_whole = False
        try:
            _limit(connection, end)
            connection.request("POST", self._prefix + path, body, headers)
            _limit(connection, end)
            response = connection.getresponse()
            came = bytearray()
            while len(came) <= _native.LEDGER_REPLY_LIMIT and (piece := response.read1(65_536)):
                came += piece
                _limit(connection, end)
            is_whole = response.isclosed() and not response.will_close
            return response.status, bytes(came)
        finally:
            if is_whole:
                with self._lock:
                    self._idle.append(connection)
            else:
                connection.close()


def _limit(connection: http.client.HTTPConnection, end: float) -> None:
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError("the ledger takes too long")
    connection.timeout = left
    if connection.sock is not None:
        connection.sock.settimeout(left)


class _OverSocket(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
