"""Follows a policy's file in a thread of the process that serves. The library decides which versions count."""

from __future__ import annotations

import os
import threading
import time
import weakref

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Watched(Protocol):
        """What a watch uses of a gate."""

        _watch: Watch | None

        def _look(self, file: str, follower: _native.Follower) -> None: ...
        def warn(self, message: str, *, exc_info: bool) -> None: ...


class Watch:
    """A file that is followed in each process that asks for it, until its gate has another one."""

    def __init__(self, gate: Watched, file: str, interval: float) -> None:
        # Says whether the interval can be one.
        _native.Follower(interval)
        # The gate owns this object, which must not keep the gate alive.
        self._gate = weakref.ref(gate)
        self._file, self._interval = file, interval
        self._lock = threading.Lock()
        self._process: int | None = None

    def start(self) -> None:
        """Starts the thread unless this process has it. A fork has none of the threads, and any lock might be held in it."""
        if self._process == os.getpid():
            return
        with self._lock:
            if self._process != os.getpid():
                self._process = os.getpid()
                threading.Thread(target=self._follow, name="orbgate-watch", daemon=True).start()

    def _follow(self) -> None:
        follower = _native.Follower(self._interval)
        while (gate := self._gate()) is not None and gate._watch is self:
            try:
                gate._look(self._file, follower)
            except (ValueError, OSError):
                pass  # it was logged
            except Exception:
                gate.warn("the policy's file isn't followed as it should be", exc_info=True)
            del gate
            time.sleep(follower.pause())
