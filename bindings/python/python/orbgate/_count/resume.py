"""Stores the progress of counting a log in a file, so that another run can continue and make the same page."""

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
from .._whole import whole_file
from .counts import Counts
from .heavy import Heavy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .._policy import Policy
    from .._read.reader import Reader

T = TypeVar("T")

FORMAT = "orbgate resume 24"
# The most seconds of work that are lost if a run is killed, or interrupted after counting.
EVERY = 60.0
# The file might come from anywhere, so it can contain only plain data and these classes.
KNOWN = {
    ("collections", "Counter"),
    ("datetime", "datetime"),
    ("orbgate._count.heavy", "Heavy"),
    ("orbgate._count.heavy", "Entry"),
    ("orbgate._report.denials", "Evidence"),
}


class Counting(Protocol):
    """A log that is being counted: the number of rows so far, and whether another run can continue here."""

    @property
    def rows(self) -> int: ...

    @property
    def is_between_blocks(self) -> bool: ...


class Resume:
    """The file. It can be resumed only with the same log, arguments and policies.

    Raises `ValueError` if the log can't be read again.
    """

    def __init__(self, path: str | os.PathLike[str], log: Reader, policy: Policy, base: Policy | None, command: str = "report") -> None:
        if not log.is_of_files:
            raise ValueError("only a log of files can be resumed, because tables and standard input cannot be read again")
        self.path = os.fspath(path)
        # The number of rows that were counted.
        self.rows = 0
        self._saved = time.monotonic()
        self._is_counting = self._is_interrupted = False
        self._about = {
            "the command": command,
            "the version of orbgate": VERSION,
            "the version of pyarrow": version("pyarrow"),
            "the policy": policy.digest,
            "the policy to compare with": base and base.digest,
            "the arguments for the log": log.arguments,
            "the files' names": [name for name, _ in log.digests()],
        }

    def over(self, parts: Iterable[T], log: Counting, state: Callable[[], Any]) -> Iterator[T]:
        """Yields the parts of a log. Saves the counts every minute, and before an interruption."""
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
        """Stops counting after the current block; if called again, or while nothing is counted, immediately."""
        if self._is_interrupted or not self._is_counting:
            raise KeyboardInterrupt
        self._is_interrupted = True

    def save(self, state: Any, rows: int) -> None:
        """Writes the counts."""
        body = pickle.dumps(state, protocol=5)
        head = {"format": FORMAT, "rows": rows, "sha256": sha256(body).hexdigest(), "about": self._about}
        with whole_file(self.path) as file:
            file.write(json.dumps(head).encode() + b"\n")
            file.write(body)
        self.rows, self._saved = rows, time.monotonic()

    def load(self) -> Any:
        """The counts; None without a file. Raises `TableError` if the file belongs to another run."""
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
            raise TableError(f"`{self.path}` was not written by --resume, or is damaged")
        for name, now in self._about.items():
            if about.get(name) != now:
                raise TableError(f"`{self.path}` cannot be resumed, because {name} changed; delete the file to start again")
        return _Plain(io.BytesIO(body)).load()

    def remove(self) -> None:
        """Removes the file, because the run has finished."""
        if os.path.exists(self.path):
            os.unlink(self.path)


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in KNOWN:
            raise TableError(f"a file to resume cannot contain `{module}.{name}`")
        return super().find_class(module, name)


def state_of(counter: object) -> dict[str, Any]:
    """The counts of a counter as plain data, without its configuration."""
    kept: dict[str, Any] = {}
    for name, value in vars(counter).items():
        if isinstance(value, Counts):
            kept[name] = value.state()
        elif isinstance(value, (Heavy, dict, list, int)):
            kept[name] = value
    return kept


def restore(counter: object, state: dict[str, Any]) -> None:
    """Restores the counts of a new counter."""
    for name, value in state.items():
        there = getattr(counter, name)
        if isinstance(there, Counts):
            there.restore(value)
        elif isinstance(there, Heavy):
            # Updated in place, because other objects refer to it.
            vars(there).update(vars(value))
        else:
            setattr(counter, name, value)
