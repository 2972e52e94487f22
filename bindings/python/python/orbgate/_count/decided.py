"""Decides the log of a report, and collects the errors of unreadable rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._errors import TableError
from .._read.decide import Decider
from .._read.input import ROWS_AT_ONCE
from .._read.notes import NoColumnError, ResumeError, breaks_off
from .._terms import Reason
from .long import names, targets
from .matches import Matches, Warned
from .resume import restore, state_of
from .tally import Changes
from .unread import Kinds, count, first_rows

if TYPE_CHECKING:
    from .._policy import Policy
    from .._read.reader import Reader

TOKENLESS = pa.array([Reason.NO_TOKEN.value, Reason.INVALID_TOKEN.value])
# The most unreadable rows that are shown.
FIRST_UNREAD = 5


class Part(NamedTuple):
    """Calls of a log and their decisions, row by row, and those of the other policy, if there is one.

    For a call without a valid token, `decided` has details that the decision hides from the caller: `about` is the path if
    the policy has it only with other methods, and `sought` is `no_route` if the policy doesn't have it. For any other call,
    `sought` is the reason. `at_end` states whether rare items can be dropped after this part.
    """

    calls: Any
    decided: Any
    before: Any
    at_end: bool


class Decided:
    """A log with its decisions, part by part."""

    def __init__(self, log: Reader, policy: Policy, watch: Callable[[], None] | None = None, base: Policy | None = None, unused: Collection[str] = ()) -> None:
        """Nothing is warned about `unused` columns."""
        self.unread = 0
        self.unread_kinds: Kinds = {}
        # Of the first unreadable row for each reason, the time of the last readable row before it, in microseconds since 1970.
        self.near: dict[int, int | None] = {}
        self.last_time: list[int] = []
        self.broken: str | None = None
        self.matches = Matches()
        self._log = log
        self._unused = unused
        self._policy = policy
        self._decider = Decider(policy, log.public)
        self._base = None if base is None else Decider(base, log.public)
        self.changes = None if base is None else Changes(examples=1)
        self._watch = watch
        self._any_rows = False
        log.digest_files()

    @property
    def first_unread(self) -> list[tuple[int, str]]:
        """The first unreadable rows, including the first for each reason."""
        return first_rows(self.unread_kinds, FIRST_UNREAD)

    @property
    def unread_times(self) -> int:
        """The number of unreadable times."""
        return self._log.unread_times

    @property
    def has_days_alone(self) -> bool:
        """Whether some times are dates without a time of day."""
        return self._log.days_alone > 0

    @property
    def format(self) -> str:
        """The formats of the files."""
        return self._log.format

    @property
    def warnings(self) -> list[str]:
        """Warnings about how the log was read."""
        return self._log.warnings_without(self._unused)

    @property
    def lacks(self) -> list[str]:
        """A warning if the log breaks off."""
        return [] if self.broken is None else [breaks_off(self._log.rows, self.broken)]

    @property
    def other_policy(self) -> Warned | None:
        """A warning if the log and the policy don't belong together."""
        return self.matches.warning(self._policy)

    @property
    def arguments(self) -> dict[str, object]:
        """The arguments for reading the log."""
        return self._log.arguments

    def where(self, row: int) -> str:
        """The location of a row, for display."""
        return self._log.where(row)

    @property
    def names(self) -> Sequence[str]:
        """The names of the log's columns that are read."""
        names: Sequence[str] = self._log.schema.names
        return names

    @property
    def begun(self) -> list[int]:
        """The number of rows before each file so far."""
        return self._log.begun

    @property
    def file_count(self) -> int:
        """The number of files."""
        return len(self._log.paths)

    @property
    def rows(self) -> int:
        """The number of rows that have been read."""
        return self._log.rows

    @property
    def is_between_blocks(self) -> bool:
        """Whether another run can continue after the last part."""
        return self._log.is_between_blocks

    def state(self) -> list[Any]:
        """The progress as plain data."""
        return [self._log.location(), state_of(self), state_of(self.matches), self.changes and state_of(self.changes)]

    def restore(self, state: list[Any]) -> None:
        """Restores the progress. The rows before it are read again, but not decided."""
        location, own, matches, changes = state
        self._log.go_to(location, self._watch)
        restore(self, own)
        restore(self.matches, matches)
        if self.changes is not None:
            restore(self.changes, changes)

    def files(self) -> list[tuple[str, str | None]]:
        """The files, and the SHA-256 of each that was read to its end."""
        return self._log.digests()

    def file_rows(self) -> list[tuple[int | None, int | None]]:
        """The first and the last row of each file."""
        return self._log.file_rows()

    def parts(self) -> Iterator[Part]:
        """The log, part by part."""
        try:
            for batch in self._log.exact():
                self._any_rows = True
                calls, decided, before = pa.table(batch), self._decider.plain(self._decider.decide(batch)), None
                if self._base is not None and self.changes is not None:
                    before = self._base.plain(self._base.decide(batch))
                    self.changes.count(batch, before, decided)
                self.matches.add(calls, decided)
                decided = self._sought(calls, decided)
                is_read = pc.is_null(calls["error"])
                # Without a zone, because the machine might have no time zone data, not even UTC.
                time = calls["time"].cast(pa.timestamp("us"))
                self._set_aside(calls, pc.invert(is_read), time)
                for name, column in (
                    ("time", time),
                    ("caller", names(calls["caller"])),
                    ("method", names(calls["method"])),
                    ("target", targets(calls["target"])),
                ):
                    calls = calls.set_column(calls.column_names.index(name), name, column)
                at_end = batch["row"][-1].as_py() % ROWS_AT_ONCE == 0
                yield Part(calls.filter(is_read), decided.filter(is_read), before and before.filter(is_read), at_end)
                if self._watch is not None:
                    self._watch()
        except TableError as error:
            # The rows before that are still reported.
            if not self._any_rows or isinstance(error, (NoColumnError, ResumeError)):
                raise
            self.broken = str(error)

    def _sought(self, calls: Any, decided: Any) -> Any:
        """Adds to the decisions which routes calls without a valid token asked for."""
        reason = decided["reason"].combine_chunks()
        is_path = pc.and_(pc.is_null(calls["by_scope"]), pc.is_valid(calls["target"]))
        is_asked = pc.and_(pc.and_(pc.is_in(reason, TOKENLESS), pc.is_null(decided["about"])), is_path).fill_null(False).combine_chunks()
        if not pc.any(is_asked).as_py():
            return decided.append_column("sought", reason)
        tokenless = calls.filter(is_asked)
        kind = pa.repeat(pa.scalar(b"user", pa.binary()), tokenless.num_rows).cast(tokenless.schema.field("kind").type)
        decisions = self._decider.plain(self._policy.decide_table(tokenless.set_column(tokenless.column_names.index("kind"), "kind", kind)).to_pyarrow())
        is_nowhere, is_method = (pc.equal(decisions["reason"], of.value) for of in (Reason.NO_ROUTE, Reason.METHOD_NOT_DECLARED))
        sought = pc.if_else(is_nowhere, Reason.NO_ROUTE.value, reason.filter(is_asked))
        about = pc.replace_with_mask(decided["about"].combine_chunks(), is_asked, pc.if_else(is_method, decisions["route"], None).combine_chunks())
        decided = decided.append_column("sought", pc.replace_with_mask(reason, is_asked, sought.combine_chunks()))
        return decided.set_column(decided.column_names.index("about"), "about", about)

    def _set_aside(self, calls: Any, is_unread: Any, time: Any) -> None:
        rows = calls.filter(is_unread)
        micros = pc.if_else(is_unread, None, time.cast(pa.int64())).combine_chunks()
        if rows.num_rows:
            self.unread += rows.num_rows
            count(self.unread_kinds, rows["row"], rows["error"])
            before = pc.fill_null_forward(pa.concat_arrays([pa.array(self.last_time, pa.int64()), micros]))[len(self.last_time) :]
            for _, first in self.unread_kinds.values():
                row = first[0][0]
                if row not in self.near:
                    self.near[row] = before[row - calls["row"][0].as_py()].as_py()
        if len(known := micros.drop_null()):
            self.last_time = [known[-1].as_py()]
