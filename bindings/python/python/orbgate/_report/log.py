"""The log of a report, decided: tables that are small enough, and have the columns that are counted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .. import logs
from .._errors import TableError
from ..logs._decide import Decider

if TYPE_CHECKING:
    from .._policy import Policy

# How many rows are decided at once: what is held of a log is no more, however long it is.
BATCH_ROWS = 1 << 18
# So many of the rows that could not be read are shown.
FIRST_UNREAD = 5
# The years that Python's calendar has; microseconds since 1970.
EARLIEST, LATEST = -62_135_596_800_000_000, 253_402_300_799_999_999


class Columns(NamedTuple):
    """What the log calls its columns."""

    method: str
    target: str
    kind: str
    scopes: str
    allow_bonus_orbs_use: str
    time: str
    caller: str


class Log:
    """A log with its decisions, part by part, and what is wrong with the rest of it."""

    def __init__(self, log: Any, policy: Policy, names: Columns, watch: Callable[[], None] | None = None) -> None:
        self.unread = 0
        self.first_unread: list[tuple[int, str]] = []
        self.broken: str | None = None
        self._log = logs.read(log) if isinstance(log, (str, os.PathLike)) else log
        self._policy = policy
        self._names = names
        self._watch = watch

    def parts(self) -> Iterator[tuple[Any, Any]]:
        """Calls and their decisions, row by row."""
        if isinstance(self._log, logs.Reader):
            yield from self._of_reader(self._log)
            return
        for calls in _batches(self._log, self._names):
            yield calls, self._policy.decide_table(calls).to_pyarrow()

    def _of_reader(self, reader: logs.Reader) -> Iterator[tuple[Any, Any]]:
        decider = Decider(self._policy)
        any_rows = False
        try:
            for batch in reader.exact():
                calls, decided = pa.table(batch), decider.plain(decider.decide(batch))
                is_read = pc.is_null(calls["error"])
                self._set_aside(calls.filter(pc.invert(is_read)))
                calls = calls.set_column(calls.column_names.index("time"), "time", _time(calls["time"]))
                yield calls.filter(is_read), decided.filter(is_read)
                if self._watch is not None:
                    self._watch()
                any_rows = True
        except TableError as error:
            # Of the rows before, something can be said.
            if not any_rows:
                raise
            self.broken = str(error)

    def _set_aside(self, rows: Any) -> None:
        self.unread += rows.num_rows
        first = rows.slice(0, max(0, FIRST_UNREAD - len(self.first_unread)))
        self.first_unread += zip(first["row"].to_pylist(), first["error"].to_pylist())


def _batches(log: Any, names: Columns) -> Iterator[Any]:
    """Tables of at most `BATCH_ROWS` rows, with the columns of `Columns` and no others."""
    if hasattr(log, "__arrow_c_stream__"):
        log = pa.RecordBatchReader.from_stream(log)
    elif hasattr(log, "__arrow_c_array__"):
        log = [pa.record_batch(log)]
    for batch in log:
        table = pa.table(batch)
        for start in range(0, table.num_rows, BATCH_ROWS):
            yield _columns(table.slice(start, BATCH_ROWS), names)


def plain(column: Any) -> Any:
    """A column without dictionaries: those of two batches may differ."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def names_as_bytes(column: Any) -> Any:
    """A column of names, of one type whatever they are: text, other bytes, numbers."""
    names = plain(column)
    is_text = pa.types.is_string(names.type) or pa.types.is_large_string(names.type)
    is_bytes = pa.types.is_binary(names.type) or pa.types.is_large_binary(names.type)
    if not (is_text or is_bytes):
        names = names.cast(pa.large_string())
    return names.cast(pa.large_binary())


def _columns(table: Any, names: Columns) -> Any:
    columns = {}
    for name, theirs in names._asdict().items():
        if theirs in table.column_names:
            columns[name] = table[theirs]
        elif name in ("method", "target", "kind", "scopes"):
            raise TableError(f"the log has no column `{theirs}`, only {', '.join(table.column_names)}")
        else:
            columns[name] = pa.nulls(table.num_rows)
    for name, read in READ.items():
        try:
            columns[name] = read(columns[name])
        except pa.ArrowException as error:
            raise TableError(f"the column `{getattr(names, name)}` cannot be read: {error}") from error
    return pa.table(columns)


def _time(column: Any) -> Any:
    """Times in UTC; text must have ISO 8601's form."""
    time = plain(column)
    if pa.types.is_string(time.type) or pa.types.is_large_string(time.type):
        time = time.cast(pa.timestamp("us", "UTC"))
    time = time.cast(pa.timestamp("us"), safe=False)
    ticks = time.cast(pa.int64())
    known = pc.and_(pc.greater_equal(ticks, EARLIEST), pc.less_equal(ticks, LATEST))
    return pc.if_else(known, time, pa.scalar(None, time.type))


def _bonus(column: Any) -> Any:
    return column.cast(pa.bool_())


READ = {"allow_bonus_orbs_use": _bonus, "time": _time, "caller": names_as_bytes}
