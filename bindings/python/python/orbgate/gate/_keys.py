"""Fetches the issuers' keys in separate threads, and wakes the requests that wait for them."""

from __future__ import annotations

import asyncio
import threading
import time
import weakref

from ._log import logger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .. import _native
    from ._fetch import Fetched


class Keys:
    """The running fetches of a gate. Each issuer has one attempt at a time, so there are few threads."""

    def __init__(self, gate: _native.Gate, fetch: Callable[[str, float, int], Fetched]) -> None:
        # The gate owns this object, which must not keep the gate alive.
        self._gate = weakref.ref(gate)
        self._fetch = fetch
        self._ended = threading.Condition()
        self._tasks: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def start(self) -> None:
        """Starts the pending fetches without waiting for them."""
        gate = self._gate()
        while gate is not None and (fetch := gate.next_fetch(time.monotonic())) is not None:
            threading.Thread(target=self._run, args=(gate, fetch), name="orbgate-keys", daemon=True).start()

    def wait(self, waiting: _native.Waiting) -> None:
        """Waits until an attempt is over."""
        gate = self._gate()
        with self._ended:
            while gate is not None and not gate.is_over(waiting, time.monotonic()):
                self._ended.wait(max(0.0, waiting.until - time.monotonic()))

    async def wait_async(self, waiting: _native.Waiting) -> None:
        """The same, for an asyncio task."""
        gate = self._gate()
        task = asyncio.get_running_loop(), asyncio.Event()
        with self._ended:
            self._tasks.add(task)
        try:
            while gate is not None and not gate.is_over(waiting, time.monotonic()):
                try:
                    await asyncio.wait_for(task[1].wait(), max(0.0, waiting.until - time.monotonic()))
                except asyncio.TimeoutError:
                    continue
                task[1].clear()
        finally:
            with self._ended:
                self._tasks.discard(task)

    def _run(self, gate: _native.Gate, first: _native.Fetch) -> None:
        """Runs an attempt to its end."""
        fetch: _native.Fetch | None = first
        while fetch is not None:
            fetch = self._once(gate, fetch)
        with self._ended:
            self._ended.notify_all()
            for loop, event in self._tasks:
                try:
                    loop.call_soon_threadsafe(event.set)
                except RuntimeError:
                    # That loop is closed, and nothing waits in it.
                    continue

    def _once(self, gate: _native.Gate, fetch: _native.Fetch) -> _native.Fetch | None:
        try:
            came = self._fetch(fetch.url, fetch.timeout, fetch.max_bytes)
        except Exception as error:
            # A fetch function comes from the user. If it raises, the attempt fails, so that no request waits for ever.
            logger.warning("keys: %s: %s", fetch.url, error)
            timed_out = isinstance(error, TimeoutError) or isinstance(getattr(error, "reason", None), TimeoutError)
            gate.failed(fetch, "timeout" if timed_out else "unreachable", time.monotonic())
            return None
        if len(came.body) > fetch.max_bytes:
            logger.warning("keys: %s: more than %d bytes", fetch.url, fetch.max_bytes)
            gate.failed(fetch, "too_large", time.monotonic())
            return None
        then = gate.fetched(fetch, came.status, came.body, came.cache_control, time.monotonic())
        if then is None:
            for issuer, keys, failure in gate.keys():
                if failure is not None:
                    logger.warning("keys of %s: %s; %d keys are in use", issuer, failure, keys)
        return then
