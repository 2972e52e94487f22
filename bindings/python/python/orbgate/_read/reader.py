"""A log of any format, as batches with the same columns."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from .._columns import is_table
from .._errors import TableError
from .._extras import needs
from .._frames import ArrowArray, ArrowStream
from .._number import number
from .._terms import TokenKind
from . import lines, private, tables
from .columns import Layout, Normaliser
from .files import FORMATS, files, format_of, labels
from .input import ROWS_AT_ONCE, STANDARD_INPUT, Input
from .notes import ResumeError
from .times import FIRST_MONTH

if TYPE_CHECKING:
    import pyarrow as _pa  # type: ignore[import-untyped,unused-ignore]

# Files, or tables.
Log = Union[
    str,
    os.PathLike[str],
    ArrowStream,
    ArrowArray,
    Iterable[Union[str, os.PathLike[str]]],
    Iterable[Union[ArrowStream, ArrowArray]],
]


def read(
    log: Log,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    kind: TokenKind | str | None = None,
    scopes: str | None = None,
    allow_bonus_orbs_use: bool | None = None,
    time_unit: str | None = None,
    time_zone: str | None = None,
    public: Sequence[str] | None = None,
) -> Reader:
    """Reads a log of any format, in constant memory, as pyarrow batches with the same columns.

    `log` is a file (text can be compressed with gzip or zstd), or `-` for standard input. It can also be several
    files: a list, a pattern such as `logs/*.gz`, or a folder. Or it is a table as for `Policy.decide_table`, or
    batches of one. `format` is one of `FORMATS`; by default, it follows from a file's name.

    `columns` maps `method`, `target`, `kind`, `scopes`, `allow_bonus_orbs_use`, `time`, `caller`, `by_scope` and
    `served_status` to the log's names, which are the same by default; also, for a report, `token` (a fingerprint; any
    other value is replaced by its fingerprint), `token_expires` and `address`, which are read only if named; `token.kind` is a member of a structure. An
    access log has the fields `vhost`, `host`, `identity`, `user`, `time`, `status`, `size`, `referer`, `agent`, and
    after them, or captured by HAProxy, `extra1`, `extra2` and so on; a W3C log also has the names in `#Fields:`, such
    as `cs(X-Scopes)`. By default, `caller` is its `host`, and `served_status` its `status`.

    `kind`, `scopes` and `allow_bonus_orbs_use` set one value for all requests, for logs without these columns.
    `time_unit` is the unit of numeric times: `s`, `ms`, `us` or `ns`. `time_zone` is the zone of times without a
    zone: an offset such as `+02:00`, or a name such as `Europe/Berlin`; by default UTC. A time that occurred twice or
    never, because clocks were changed, is absent and counted. `public` are the routes that need no token at the
    server, such as `GET /healthz`: `replay`, `report` and `privileges` allow calls to them, as a gate does.

    The batches have the columns above, with `time` as an instant in UTC, and `served_status` (the HTTP status of the
    response) as a number. They also have `row`, which counts from 1, and `error`, which explains why a row can't be
    read; such rows are kept. Without a kind, a request has no token. A decision by scope has neither method nor
    target: `replay` decides it, and `Policy.decide_table` denies it.

    Raises `OSError` if there is no such file, and `ValueError` if the arguments are inconsistent. Raises `TableError`
    if a column is missing or occurs twice and, after all rows, if the log is incomplete or if no row has a named
    column.
    """
    return Reader(log, format, Layout(columns or {}, kind, scopes, allow_bonus_orbs_use, time_unit, time_zone, public))


# The most characters of a value in a warning.
MOST_OF_A_VALUE = 40
# The most files that a warning names, and the most copies of each.
MOST_FILES = 3


class Reader(Iterator["_pa.RecordBatch"]):
    """The batches of a log, in order. Through the Arrow C interface, it is a table.

    A batch never crosses a row whose number is a multiple of `ROWS_AT_ONCE`, however the log is split.
    """

    def __init__(self, log: Log, format: str | None, layout: Layout, names: list[str] | None = None) -> None:
        self._normaliser = Normaliser(layout)
        self._inputs: list[Input] = []
        self._is_read = False
        # The blocks and rows that have been read.
        self._blocks = self._block_rows = 0
        # The files that were started, each with the number of rows before it.
        self._begun: list[tuple[int, str]] = []
        self._location: dict[str, Any] = {"blocks": 0}
        self._skipped: Callable[[], None] | None = None
        self.is_between_blocks: bool = False
        self._layout = layout
        self._said_format = format
        # Other arguments, for display.
        self.also: dict[str, object] = {}
        if is_table(log) or not (isinstance(log, (str, os.PathLike)) or _are_paths(log)):
            if format is not None:
                raise ValueError(f"a table has no format, so `format` cannot be `{format}`")
            self.format: str = "table"
            self._batches = self._read(self._of_tables(log, layout))
            return
        paths: Any = log
        file_paths = files(paths)
        # A log that is read again keeps its names.
        named = zip(file_paths, labels(file_paths) if names is None else names)
        self._inputs = [Input(path, _format(path if names is None else name, format, layout), name) for path, name in named]
        self.format = ", ".join(dict.fromkeys(log.format for log in self._inputs))
        self._batches = self._read(self._of_files(layout))

    @property
    def schema(self) -> _pa.Schema:
        """The columns, as a pyarrow schema."""
        return self._normaliser.schema()

    @property
    def exact_schema(self) -> _pa.Schema:
        """The same with bytes in place of strings."""
        return self._normaliser.schema(needs("pyarrow", "logs").binary())

    @property
    def paths(self) -> list[str]:
        """The log's files. Standard input is `-`, and a table has none."""
        return [log.path for log in self._inputs]

    @property
    def path(self) -> str:
        """The log's files, for display."""
        return ", ".join(self.paths) or "a table"

    @property
    def size(self) -> int | None:
        """The size of the log in bytes, if known."""
        sizes = [log.size for log in self._inputs]
        return None if not sizes or None in sizes else sum(size or 0 for size in sizes)

    @property
    def position(self) -> int:
        """The number of bytes that have been read."""
        return sum(log.position for log in self._inputs)

    @property
    def rows(self) -> int:
        """The number of rows that have been read."""
        return self._normaliser.rows

    @property
    def unread_times(self) -> int:
        """The number of unreadable times so far, in otherwise readable rows."""
        return self._normaliser.times.unread

    @property
    def zoneless_times(self) -> int:
        """The number of times without a zone so far."""
        return self._normaliser.times.zoneless

    @property
    def days_alone(self) -> int:
        """The number of times so far that contain only a day."""
        return self._normaliser.times.days

    @property
    def torn_rows(self) -> int:
        """The number of rows so far with a quote that isn't closed properly. The rows after them might be part of a
        value.
        """
        return self._layout.notes.torn

    @property
    def arguments(self) -> dict[str, object]:
        """The arguments of `read` that were given; None for the others."""
        return {"format": self._said_format, **self._layout.arguments, **self.also}

    @property
    def public(self) -> Sequence[str]:
        """The routes that need no token."""
        return self._layout.public or ()

    @property
    def warnings(self) -> list[str]:
        """Warnings about the log, as far as it was read, one sentence each. Read them before you rely on its numbers."""
        return self.warnings_without(())

    def warnings_without(self, columns: Collection[str]) -> list[str]:
        """The same, without warnings about columns that don't matter for your numbers."""
        warnings = self._layout.notes.warnings(self.rows, columns) if self._is_read else []
        if self.unread_times:
            values = f"{number(self.unread_times, 'value')} in `{self._layout.name('time')}` could not be read as {'a time' if self.unread_times == 1 else 'times'}."
            advice = " Set `time_unit` to the unit of numeric times." if self._normaliser.times.any_number and not self._layout.time_unit else ""
            if self._normaliser.times.any_changed:
                advice += f" Some local times in {self._layout.time_zone} occurred twice or never, because clocks were changed."
            warnings.append(f"{values}{self._first(self._normaliser.times.first_unread)}{advice}")
        latest = self._normaliser.times.latest_number
        if latest is not None and abs(latest) < FIRST_MONTH:
            warnings.append(f"All numeric times are in January 1970, so their unit might be larger than `{self._layout.time_unit}`, the given `time_unit`.")
        if (first := self._normaliser.times.first_day) is not None:
            warnings.append(
                f"{number(self.days_alone, 'call')} {'has' if self.days_alone == 1 else 'have'} a date without a time of day. First: {self.where(first)}. "
                "Numbers within an hour are therefore not reported."
            )
        if (unread := self._normaliser.unread_statuses) and "served_status" not in columns:
            wrong = "is not an HTTP status" if unread == 1 else "are not HTTP statuses"
            warnings.append(f"{number(unread, 'value')} in `{self._layout.name('served_status')}` {wrong}.{self._first(self._normaliser.first_status)}")
        if unread := self._normaliser.expiries.unread:
            warnings.append(f"{number(unread, 'value')} in `{self._layout.name('token_expires')}` could not be read as {'a time' if unread == 1 else 'times'}.{self._first(self._normaliser.expiries.first_unread)}")
        if repeated := self._repeated():
            copies = [f"`{first}` {_times(1 + len(again))}, also as {_some([f'`{name}`' for name in again])}" for first, *again in repeated]
            warnings.append(f"Files with the same content are counted more than once: {_some(copies, '; ')}.")
        if self.zoneless_times:
            zone, were = self._layout.time_zone, "has no zone, so it was" if self.zoneless_times == 1 else "have no zone, so they were"
            warnings.append(f"{number(self.zoneless_times, 'time')} {were} read as {zone or 'UTC, the default for `time_zone`'}.")
        return warnings

    def _repeated(self) -> list[list[str]]:
        """The names of files that have the same content, for each such content. Empty files are equal but harmless."""
        by_content: dict[object, list[str]] = {}
        for log in self._inputs:
            if (same := log.identity) is not None:
                by_content.setdefault(same, []).append(log.label)
        return [names for names in by_content.values() if len(names) > 1]

    def _first(self, example: tuple[int, str] | None) -> str:
        if example is None:
            return ""
        row, text = example[0], private.token(example[1])
        return f" First: `{text if len(text) <= MOST_OF_A_VALUE else f'{text[:MOST_OF_A_VALUE]}…'}` ({self.where(row)})."

    @property
    def begun(self) -> list[int]:
        """The number of rows before each file so far."""
        return [before for before, _ in self._begun]

    def where(self, row: int) -> str:
        """The location of a row that was read, for display."""
        if len(self._inputs) < 2:
            return f"row {row:,}"
        before, name = next(begun for begun in reversed(self._begun) if begun[0] < row)
        return f"{name}, row {row - before:,} of it"

    def file_rows(self) -> list[tuple[int | None, int | None]]:
        """The first and the last row of each file so far, numbered across all files; None for a file without rows."""
        ends = [before for before, _ in self._begun[1:]]
        ranges = [(before + 1, end) if end > before else (None, None) for (before, _), end in zip(self._begun, [*ends, self.rows])]
        return [*ranges, *[(None, None)] * (len(self._inputs) - len(ranges))]

    def keep_others(self) -> None:
        """Includes the log's other columns in the batches, each named `log_` and its name. `schema` doesn't include
        them.
        """
        self._layout.keeps_others = True

    def digest_files(self) -> None:
        """Computes the SHA-256 of each file while it is read."""
        for log in self._inputs:
            log.sha256 = hashlib.sha256()
            # One of several files might be a compressed copy of another.
            log.text_sha256 = hashlib.sha256() if len(self._inputs) > 1 else None

    def digests(self) -> list[tuple[str, str | None]]:
        """The names of the files, without common folders, and their SHA-256; None for a file that wasn't read to its
        end.
        """
        return [(log.label, log.digest) for log in self._inputs]

    @property
    def is_of_files(self) -> bool:
        """Whether it can be read again."""
        return bool(self._inputs) and STANDARD_INPUT not in self.paths

    def location(self) -> dict[str, Any]:
        """The position between two blocks, for a reader of the same log to continue there. Needs the digests of the
        files.
        """
        return {"blocks": self._blocks, "read": self._read_so_far(), "counted": self._normaliser.counted}

    def go_to(self, location: dict[str, Any], watch: Callable[[], None] | None = None) -> None:
        """Reads the batches before a location without yielding them; `watch` is called after each. If that part of the log has
        changed, reading raises `TableError`.
        """
        self._location, self._skipped = location, watch

    def _read_so_far(self) -> list[object]:
        return [self._block_rows, *([log.label, log.sha256 and log.sha256.hexdigest()] for log in self._inputs)]

    def _skip(self) -> None:
        if self._blocks == self._location["blocks"]:
            if self._read_so_far() != self._location["read"]:
                raise ResumeError("the log cannot be resumed, because its content has changed")
            self._normaliser.counted = self._location["counted"]
        if self._skipped:
            self._skipped()

    def exact(self) -> Iterator[_pa.RecordBatch]:
        """The batches for the engine, with the exact bytes of the log. In other batches, bytes that aren't UTF-8 become
        U+FFFD.

        Raises `TableError` if some were already read, because a result for the rest would look like a result for
        everything.
        """
        if self._is_read:
            raise TableError("the log has been read before, and can be read only once")
        self._is_read = True
        return self._batches

    def shown(self, batch: _pa.RecordBatch) -> _pa.RecordBatch:
        """A batch for display."""
        return self._normaliser.shown(batch)

    def __next__(self) -> _pa.RecordBatch:
        self._is_read = True
        return self.shown(next(self._batches))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        batches = map(self.shown, self.exact())
        reader = needs("pyarrow", "logs").RecordBatchReader.from_batches(self.schema, batches)
        return reader.__arrow_c_stream__(requested_schema)

    def _read(self, parts: Iterator[lines.Columns]) -> Iterator[Any]:
        for columns in parts:
            rows = len(next(iter(columns.values())))
            self._blocks += 1
            self._block_rows += rows
            if self._blocks <= self._location["blocks"]:
                self._skip()
                continue
            batch = self._normaliser.batch(columns, rows)
            start = 0
            while start < rows:
                # Rare items are dropped only after such rows, so the result doesn't depend on how a log is split.
                stop = min(rows, start + ROWS_AT_ONCE - (batch["row"][start].as_py() - 1) % ROWS_AT_ONCE)
                self.is_between_blocks = stop == rows
                yield batch.slice(start, stop - start)
                start = stop
        if self._blocks < self._location["blocks"]:
            raise ResumeError("the log cannot be resumed, because it is shorter than before")
        self._layout.notes.check()

    def _of_files(self, layout: Layout) -> Iterator[lines.Columns]:
        any_rows, before = False, 0
        for log in self._inputs:
            row = 0
            self._begun.append((before, log.name))
            with log:
                if log.format == "parquet":
                    # Parquet is read in any order, so the digest is computed first.
                    log.read_on()
                try:
                    for columns in _columns(log, layout):
                        yield columns if len(self._inputs) == 1 else _placed(columns, log, row)
                        row += len(next(iter(columns.values())))
                except TableError:
                    # If a log breaks off, the digest also covers the whole file. Without any row, it is not shown.
                    if any_rows or row:
                        log.read_on()
                    raise
                any_rows, before = any_rows or bool(row), before + row
                log.read_on()

    def _of_tables(self, log: Any, layout: Layout) -> Iterator[lines.Columns]:
        return tables.of_tables(log, layout)


def _columns(log: Input, layout: Layout) -> Iterator[lines.Columns]:
    if log.format == "parquet":
        return tables.parquet(log, layout)
    if log.format in ("csv", "tsv"):
        return tables.delimited(log, layout, "," if log.format == "csv" else "\t")
    if log.format == "access":
        return lines.access(log, layout)
    return lines.requests(log) if log.format == "requests" else lines.flat(log, layout)


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{number(count)} times"


def _some(names: list[str], separator: str = ", ") -> str:
    return separator.join([*names[:MOST_FILES], *(["…"] if len(names) > MOST_FILES else [])])


def _placed(columns: lines.Columns, log: Input, before: int) -> lines.Columns:
    """Adds the file and the row in it to errors."""
    error = columns.get("error")
    if error is None or error.null_count == len(error):
        return columns
    placed = (
        None if why is None else f"{log.name}, row {before + at:,} of it: {why}" for at, why in enumerate(error.to_pylist(), start=1)
    )
    return {**columns, "error": needs("pyarrow", "logs").array(placed, error.type)}


def _format(path: str, format: str | None, layout: Layout) -> str:
    """The format of a file. JSON Lines are flat objects if columns or values are given."""
    chosen = format or format_of(path)
    if chosen is None:
        raise ValueError(f"the name of `{path}` does not show its format; set `format` to one of {', '.join(FORMATS)}")
    if chosen not in FORMATS:
        raise ValueError(f"`{chosen}` is not a log format; use one of {', '.join(FORMATS)}")
    if chosen == "requests" and layout.is_given:
        if format is not None:
            raise ValueError("the format `requests` takes no columns or values; use `json` for flat objects")
        return "json"
    if chosen == "parquet" and path == STANDARD_INPUT:
        raise ValueError("Parquet cannot be read from standard input, because its metadata is at the end of the file")
    return chosen


def _are_paths(log: object) -> bool:
    """Whether a log consists of paths instead of batches of a table."""
    return isinstance(log, (list, tuple)) and bool(log) and all(isinstance(part, (str, os.PathLike)) for part in log)
