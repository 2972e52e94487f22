"""The log of a report, decided: the rows that were read, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._errors import TableError
from .._read.decide import Decider
from .._read.input import ROWS_AT_ONCE
from .._read.notes import NoColumnError, ResumeError, breaks_off
from .._terms import Reason
from .long import names, targets
from .resume import restore, state_of
from .tally import Changes
from .unread import Kinds, count, first_rows

if TYPE_CHECKING:
    from .._policy import Policy
    from .._read.reader import Reader

TOKENLESS = pa.array([Reason.NO_TOKEN.value, Reason.INVALID_TOKEN.value])
# How many of the rows that could not be read are shown.
FIRST_UNREAD = 5


class Part(NamedTuple):
    """Calls of a log and their decisions, row by row, and those of the other policy, if there is one.

    Of a call without a valid token, `decided` also has the path in `about` where the policy has it with other methods alone, and in `sought` whether
    there is none: such a caller must not learn it, so the decision does not say it. Of any other call, `sought` is the reason.
    `at_end` says whether rare things may be dropped after them.
    """

    calls: Any
    decided: Any
    before: Any
    at_end: bool


class Decided:
    """A log with its decisions, part by part."""

    def __init__(
        self, log: Reader, policy: Policy, watch: Callable[[], None] | None = None, base: Policy | None = None, unused: Collection[str] = ()
    ) -> None:
        """Nothing is warned about `unused` columns."""
        self.unread = 0
        self.unread_kinds: Kinds = {}
        self.broken: str | None = None
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
        """The first rows that could not be read, and of each reason the first."""
        return first_rows(self.unread_kinds, FIRST_UNREAD)

    @property
    def unread_times(self) -> int:
        """How many times could not be read."""
        return self._log.unread_times

    @property
    def has_days_alone(self) -> bool:
        """Whether some times name a day and no time of day."""
        return self._log.days_alone > 0

    @property
    def format(self) -> str:
        """The formats of the files."""
        return self._log.format

    @property
    def warnings(self) -> list[str]:
        """What is to be known of the log before its numbers are believed."""
        lacks = [] if self.broken is None else [breaks_off(self._log.rows, self.broken)]
        return [*lacks, *self._log.warnings_without(self._unused)]

    @property
    def arguments(self) -> dict[str, object]:
        """How the log was said to be read."""
        return self._log.arguments

    def where(self, row: int) -> str:
        """The location of a row, for people."""
        return self._log.where(row)

    @property
    def rows(self) -> int:
        """How many rows have been read."""
        return self._log.rows

    @property
    def is_between_blocks(self) -> bool:
        """Whether another log can go on after the last part."""
        return self._log.is_between_blocks

    def state(self) -> list[Any]:
        """How far it has come, as plain data."""
        return [self._log.location(), state_of(self), self.changes and state_of(self.changes)]

    def restore(self, state: list[Any]) -> None:
        """Goes on from there: the rows before are read again, and not decided."""
        location, own, changes = state
        self._log.go_to(location, self._watch)
        restore(self, own)
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
                decided = self._sought(calls, decided)
                is_read = pc.is_null(calls["error"])
                self._set_aside(calls.filter(pc.invert(is_read)))
                # As numbers of a calendar: there may be no time zones on the machine, not even UTC.
                time = calls["time"].cast(pa.timestamp("us"))
                for name, column in (("time", time), ("caller", names(calls["caller"])), ("method", names(calls["method"])), ("target", targets(calls["target"]))):
                    calls = calls.set_column(calls.column_names.index(name), name, column)
                at_end = batch["row"][-1].as_py() % ROWS_AT_ONCE == 0
                yield Part(calls.filter(is_read), decided.filter(is_read), before and before.filter(is_read), at_end)
                if self._watch is not None:
                    self._watch()
        except TableError as error:
            # Of the rows before, something can be said.
            if not self._any_rows or isinstance(error, (NoColumnError, ResumeError)):
                raise
            self.broken = str(error)

    def _sought(self, calls: Any, decided: Any) -> Any:
        """Decisions with what calls without a valid token asked for: with a token, the decision says it."""
        reason = decided["reason"].combine_chunks()
        is_path = pc.and_(pc.is_null(calls["by_scope"]), pc.is_valid(calls["target"]))
        is_asked = pc.and_(pc.and_(pc.is_in(reason, TOKENLESS), pc.is_null(decided["about"])), is_path).fill_null(False).combine_chunks()
        if not pc.any(is_asked).as_py():
            return decided.append_column("sought", reason)
        asked = calls.filter(is_asked)
        kind = pa.repeat(pa.scalar(b"user", pa.binary()), asked.num_rows).cast(asked.schema.field("kind").type)
        found = self._decider.plain(self._policy.decide_table(asked.set_column(asked.column_names.index("kind"), "kind", kind)).to_pyarrow())
        is_nowhere, is_method = (pc.equal(found["reason"], of.value) for of in (Reason.NO_ROUTE, Reason.METHOD_NOT_DECLARED))
        sought = pc.if_else(is_nowhere, Reason.NO_ROUTE.value, reason.filter(is_asked))
        about = pc.replace_with_mask(decided["about"].combine_chunks(), is_asked, pc.if_else(is_method, found["route"], None).combine_chunks())
        decided = decided.append_column("sought", pc.replace_with_mask(reason, is_asked, sought.combine_chunks()))
        return decided.set_column(decided.column_names.index("about"), "about", about)

    def _set_aside(self, rows: Any) -> None:
        if rows.num_rows:
            self.unread += rows.num_rows
            count(self.unread_kinds, rows["row"], rows["error"])
