"""Logs of requests, from the files that they are in: Parquet, CSV, JSON Lines, access logs.

>>> import io, pathlib, tempfile
>>> from orbgate import Policy, logs
>>> with tempfile.TemporaryDirectory() as folder:
...     log = pathlib.Path(folder, "access.log")
...     line = '::1 - - [20/Nov/2026:13:05:00 +0000] "GET /api/v1/external/orbs HTTP/1.1" 200 17\\n'
...     _ = log.write_text(line)
...     decided = Policy.external().decide_table(logs.read(log, kind="user", scopes="read:orbs"))
>>> decided.to_pyarrow()["decision"].to_pylist()
['allow']

It needs pyarrow: ``pip install 'orbgate[logs]'``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .._errors import TableError
from .._extras import needs
from .._terms import TokenKind
from . import _lines, _tables
from ._columns import Layout, Normaliser
from ._input import STANDARD_INPUT, Input
from ._replay import Summary, replay

__all__ = ["FORMATS", "Reader", "Summary", "read", "replay"]

FORMATS = {
    "parquet": "Parquet",
    "csv": "comma-separated values with a header",
    "tsv": "the same, separated by tabs",
    "requests": "JSON Lines: requests as `orbgate replay` reads them",
    "json": "JSON Lines: flat objects with a member for each column",
    "access": "access log in the common or combined format",
}

SUFFIXES = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "requests",
    ".ndjson": "requests",
    ".json": "requests",
    ".log": "access",
}


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    kind: TokenKind | str | None = None,
    scopes: str | None = None,
    allow_bonus_orbs_use: bool | None = None,
    time_unit: str | None = None,
) -> Reader:
    """Reads a log: batches of pyarrow with the same columns whatever its format, in constant memory.

    `path` is a file, of text also with gzip or zstd around it, or `-` for standard input. `format` is one of `FORMATS`,
    by default what the file's name says. `columns` are the names that the log has for `method`, `target`, `kind`,
    `scopes`, `allow_bonus_orbs_use`, `time`, `caller` and `by_scope`, by default these names; `token.kind` is a member of
    a structure. An access log has the fields `host`, `identity`, `user`, `time`, `status`, `size`, `referer`, `agent`,
    and after them `extra1`, `extra2` and so on; `caller` is its `host` unless it is said otherwise. `kind`, `scopes` and
    `allow_bonus_orbs_use` are one value for all requests, for logs that do not say. `time_unit`, `s`, `ms`, `us` or
    `ns`, is what times count that are numbers.

    The columns are those above, `time` an instant in UTC, and `row`, which counts from 1, and `error`: a row that cannot
    be read is there, and `error` says why. Without a kind, a request has no token. A request that asks by scope has neither
    method nor target: `replay` decides it, `Policy.decide_table` denies it.

    Raises `OSError` where there is no such file, `ValueError` where the arguments do not fit, and `TableError` where a
    column is missing and, after all rows before it, where the log breaks off.
    """
    layout = Layout(columns or {}, kind, scopes, allow_bonus_orbs_use, time_unit)
    return Reader(path, format, layout)


class Reader(Iterator[Any]):
    """The batches of a log, one after the other; a table for whatever has the Arrow C interface."""

    def __init__(self, path: str | os.PathLike[str], format: str | None, layout: Layout) -> None:
        self.format: str = format or _format_of(os.fspath(path), layout)
        if self.format not in FORMATS:
            raise ValueError(f"`{self.format}` is no format of a log; those are {', '.join(FORMATS)}")
        if self.format == "requests" and layout.is_given:
            raise ValueError("requests say all that there is to say: columns and values are for `json`, flat objects")
        if self.format == "parquet" and path == STANDARD_INPUT:
            raise ValueError("Parquet says at its end what is in it, and cannot be read from standard input")
        self._input = Input(path)
        self._normaliser = Normaliser(layout)
        self._batches = self._read(layout)

    @property
    def schema(self) -> Any:
        """The columns, as pyarrow has them."""
        return self._normaliser.schema()

    @property
    def exact_schema(self) -> Any:
        """The same with bytes instead of text."""
        return self._normaliser.schema(needs("pyarrow", "logs").binary())

    @property
    def path(self) -> str:
        """The log's file; `-` is standard input."""
        return self._input.path

    @property
    def size(self) -> int | None:
        """How many bytes the log has, where that is known."""
        return self._input.size

    @property
    def position(self) -> int:
        """How many bytes of it have been read."""
        return self._input.position

    @property
    def unread_times(self) -> int:
        """How many times could not be read so far."""
        return self._normaliser.times.unread

    def exact(self) -> Iterator[Any]:
        """The batches with the very bytes of the log for the engine, where others show what is not UTF-8 as U+FFFD."""
        return self._batches

    def shown(self, batch: Any) -> Any:
        """A batch as others show it."""
        return self._normaliser.shown(batch)

    def __next__(self) -> Any:
        return self.shown(next(self._batches))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        reader = needs("pyarrow", "logs").RecordBatchReader.from_batches(self.schema, self)
        return reader.__arrow_c_stream__(requested_schema)

    def _read(self, layout: Layout) -> Iterator[Any]:
        with self._input as log:
            for columns in self._columns(log, layout):
                rows = len(next(iter(columns.values())))
                if rows:
                    yield self._normaliser.batch(columns, rows)

    def _columns(self, log: Input, layout: Layout) -> Iterator[dict[str, Any]]:
        if self.format == "parquet":
            return _tables.parquet(log, layout)
        if self.format in ("csv", "tsv"):
            return _tables.delimited(log, layout, "," if self.format == "csv" else "\t")
        if self.format == "access":
            return _lines.access(log, layout)
        return _lines.requests(log) if self.format == "requests" else _lines.flat(log, layout)


def _format_of(path: str, layout: Layout) -> str:
    """The format that a file's name says; JSON Lines are flat where columns or values are named."""
    name = path.lower()
    for compressed in (".gz", ".zst"):
        name = name.removesuffix(compressed)
    # As logrotate leaves them: `access.log.1`, `access.log-20261120`.
    name = re.sub(r"[.-]\d+$", "", name)
    found = SUFFIXES.get(os.path.splitext(name)[1])
    if found is None:
        raise ValueError(f"the format of `{path}` is not clear from its name; say one of {', '.join(FORMATS)}")
    return "json" if found == "requests" and layout.is_given else found
