"""Fetches the issuers' keys, and asks about opaque tokens, in separate threads. Wakes the requests that wait for them."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import weakref
from contextlib import contextmanager

from ._hooks import called, logger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .. import _native
    from ._fetch import Fetched


class Keys:
    """The running fetches of a gate. Each issuer has one attempt at a time; one whose tokens are opaque, 32."""

    def __init__(self, gate: _native.Gate, fetch: Callable[[str, float, int, _native.Post | None], Fetched]) -> None:
        # The gate owns this object, which must not keep the gate alive.
        self._gate = weakref.ref(gate)
        self._fetch = fetch
        self._lock = threading.Lock()
        self._waiters: dict[_native.Waiting, Callable[[], object]] = {}

    def start(self) -> None:
        """Starts the pending fetches without waiting for them."""
        gate = self._gate()
        while gate is not None and (fetch := gate.next_fetch(time.monotonic())) is not None:
            threading.Thread(target=self._run, args=(gate, fetch), name="orbgate-keys", daemon=True).start()

    def wait(self, waiting: _native.Waiting) -> None:
        """Waits until an attempt is over."""
        gate, ended = self._gate(), threading.Event()
        with self._waking(waiting, ended.set):
            while gate is not None and not gate.is_over(waiting, time.monotonic()):
                ended.wait(max(0.0, waiting.until - time.monotonic()))

    async def wait_async(self, waiting: _native.Waiting) -> None:
        """The same, for an asyncio task."""
        gate, ended, loop = self._gate(), asyncio.Event(), asyncio.get_running_loop()
        with self._waking(waiting, lambda: loop.call_soon_threadsafe(ended.set)):
            while gate is not None and not gate.is_over(waiting, time.monotonic()):
                try:
                    await asyncio.wait_for(ended.wait(), max(0.0, waiting.until - time.monotonic()))
                except asyncio.TimeoutError:
                    continue

    @contextmanager
    def _waking(self, waiting: _native.Waiting, wake: Callable[[], object]) -> Iterator[None]:
        with self._lock:
            self._waiters[waiting] = wake
        try:
            yield
        finally:
            with self._lock:
                del self._waiters[waiting]

    def _run(self, gate: _native.Gate, first: _native.Fetch) -> None:
        """Runs an attempt to its end, and then those that waited for their turn."""
        fetch: _native.Fetch | None = first
        while fetch is not None:
            while fetch is not None:
                fetch = self._once(gate, fetch)
            self.tell(gate)
            self._wake(gate)
            fetch = gate.next_fetch(time.monotonic())

    def _wake(self, gate: _native.Gate) -> None:
        """Wakes those whose wait is over. Waking everyone would let callers with invented tokens keep a service busy."""
        with self._lock:
            for waiting, wake in self._waiters.items():
                try:
                    if gate.is_over(waiting, time.monotonic()):
                        wake()
                except RuntimeError:
                    # That loop is closed, and nothing waits in it.
                    continue

    def _once(self, gate: _native.Gate, fetch: _native.Fetch) -> _native.Fetch | None:
        try:
            came = called(self._fetch, fetch.url, fetch.timeout, fetch.max_bytes, fetch.post)
            return gate.fetched(fetch, came.status, came.body, came.cache_control, time.monotonic())
        except BaseException as error:
            # A fetch function comes from the user. Whatever it raises or returns, the attempt ends, so that no request waits for ever.
            # An error of a question could quote its secret or its token.
            logger.warning("fetching %s: %s", fetch.url, error if fetch.post is None else type(error).__name__)
            timed_out = isinstance(error, TimeoutError) or isinstance(getattr(error, "reason", None), TimeoutError)
            gate.failed(fetch, "timeout" if timed_out else "unreachable", time.monotonic())
            return None

    def tell(self, gate: _native.Gate) -> None:
        """Logs what has changed about the issuers and their keys."""
        for level, notice in gate.notices(time.monotonic()):
            logger.log(getattr(logging, level.upper()), "%s", notice)
