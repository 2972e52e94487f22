"""How far counting a log has come, in a file: another run goes on from there, and makes the same page."""

from __future__ import annotations

import io
import json
import os
import pickle
import time
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .._errors import TableError
from .._native import VERSION
from .._whole import whole
from .counts import Counts
from .heavy import Heavy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .._policy import Policy
    from .._read.reader import Reader

T = TypeVar("T")

FORMAT = "orbgate resume 16"
# How many seconds of work a run that is killed, or interrupted when all is counted, loses at most.
EVERY = 60.0
# A file may come from anywhere, and nothing in it is run: it has plain data and these.
KNOWN = {
    ("collections", "Counter"),
    ("datetime", "datetime"),
    ("orbgate._count.heavy", "Heavy"),
    ("orbgate._count.heavy", "Entry"),
    ("orbgate._report.denials", "Evidence"),
}


class Counting(Protocol):
    """A log that is being counted: how many rows there were, and whether another run can go on here."""

    @property
    def rows(self) -> int: ...

    @property
    def is_between_blocks(self) -> bool: ...


class Resume:
    """The file. What it says of the log, its arguments and the policies must be so again.

    Raises `ValueError` where the log cannot be read again.
    """

    def __init__(self, path: str | os.PathLike[str], log: Reader, policy: Policy, base: Policy | None, command: str = "report") -> None:
        if not log.is_of_files:
            raise ValueError("only files can be read again: a log of tables, or of standard input, cannot be resumed")
        self.path = os.fspath(path)
        # How many rows it is about.
        self.rows = 0
        self._saved = time.monotonic()
        self._is_counting = self._is_interrupted = False
        self._about = {
            "the command": command,
            "the version of orbgate": VERSION,
            "the version of pyarrow": version("pyarrow"),
            "the policy": policy.digest,
            "the policy to compare with": base and base.digest,
            "what was said of the log": log.arguments,
            "the files' names": [name for name, _ in log.digests()],
        }

    def over(self, parts: Iterable[T], log: Counting, state: Callable[[], Any]) -> Iterator[T]:
        """The parts of a log. What was counted of them is written every minute, and before an interruption."""
        try:
            for part in parts:
                self._is_counting = True
                yield part
                if log.is_between_blocks and (self._is_interrupted or time.monotonic() - self._saved >= EVERY):
                    self.save(state(), log.rows)
                    if self._is_interrupted:
                        break
        finally:
            self._is_counting = False
        if self._is_interrupted:
            raise KeyboardInterrupt

    def interrupt(self) -> None:
        """Ends counting behind the block that is being counted; a second time, or while nothing is counted, at once."""
        if self._is_interrupted or not self._is_counting:
            raise KeyboardInterrupt
        self._is_interrupted = True

    def save(self, state: Any, rows: int) -> None:
        """Writes what was counted."""
        body = pickle.dumps(state, protocol=5)
        head = {"format": FORMAT, "rows": rows, "sha256": sha256(body).hexdigest(), "about": self._about}
        with whole(self.path) as part, open(part, "wb") as file:
            file.write(json.dumps(head).encode() + b"\n")
            file.write(body)
        self.rows, self._saved = rows, time.monotonic()

    def load(self) -> Any:
        """What was counted; None without a file. Raises `TableError` where it is about something else."""
        try:
            with open(self.path, "rb") as file:
                first, body = file.readline(), file.read()
        except FileNotFoundError:
            return None
        try:
            head = json.loads(first)
            is_whole = head["format"] == FORMAT and head["sha256"] == sha256(body).hexdigest()
            about, self.rows = head["about"], head["rows"]
            is_whole = is_whole and isinstance(about, dict) and isinstance(self.rows, int)
        except (ValueError, KeyError, TypeError):
            is_whole = False
        if not is_whole:
            raise TableError(f"`{self.path}` is no file that --resume wrote, or not a whole one")
        for name, now in self._about.items():
            if about.get(name) != now:
                raise TableError(f"`{self.path}` cannot be resumed: {name} was not the same; without the file, counting begins anew")
        return _Plain(io.BytesIO(body)).load()

    def remove(self) -> None:
        """There is nothing to resume any more."""
        if os.path.exists(self.path):
            os.unlink(self.path)


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in KNOWN:
            raise TableError(f"a file to resume has no `{module}.{name}`")
        return super().find_class(module, name)


def state_of(counter: object) -> dict[str, Any]:
    """What a counter has counted, as plain data: all that it has but what it was made with."""
    kept: dict[str, Any] = {}
    for name, value in vars(counter).items():
        if isinstance(value, Counts):
            kept[name] = value.state()
        elif isinstance(value, (Heavy, dict, list, int)):
            kept[name] = value
    return kept


def restore(counter: object, state: dict[str, Any]) -> None:
    """Has a new counter go on from there."""
    for name, value in state.items():
        there = getattr(counter, name)
        if isinstance(there, Counts):
            there.restore(value)
        elif isinstance(there, Heavy):
            # Others know it.
            vars(there).update(vars(value))
        else:
            setattr(counter, name, value)
