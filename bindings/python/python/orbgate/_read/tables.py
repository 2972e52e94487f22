"""Reads logs that are tables: CSV, Parquet and Arrow."""

from __future__ import annotations

import csv
import functools
import itertools
from collections.abc import Iterator
from typing import Any

from .._columns import is_frame, is_table, select
from .._errors import TableError
from .._extras import needs
from .._native import read_delimited
from .columns import OTHER, Layout
from .input import ROWS_AT_ONCE, Input
from .lines import Columns, from_capsule


def delimited(log: Input, layout: Layout, delimiter: str) -> Iterator[Columns]:
    """Reads delimited rows with a header (RFC 4180). A row with too many or too few values, or with an unclosed quote, becomes
    an error in its place.
    """
    blocks = log.blocks()
    first = next(blocks, b"")
    if not first:
        raise TableError(f"cannot read {log.name}: it has no header")
    # A byte order mark, or an ASCII character in two bytes.
    if first.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in first[:2]:
        raise TableError(f"cannot read {log.name}: it looks like UTF-16 but must be UTF-8")
    header = _header(first, delimiter)
    try:
        chosen = layout.find(header, log.name)
    except TableError as error:
        if len(header) == 1 and ";" in header[0]:
            raise TableError(f"{error}: it seems to be separated by `;`, but only commas and tabs are supported") from None
        raise
    for name, column in chosen.items():
        if column not in header:
            raise TableError(f"there is no column `{column}` for `{name}` in {log.name}: a delimited file has no nested columns")
    fields = [(name, header.index(column)) for name, column in {**chosen, **layout.others(header, chosen)}.items()]
    line, kept, broken = 2, first.partition(b"\n")[2], None
    while True:
        # A quoted value can span several lines.
        capsule, taken, line, torn = read_delimited(kept, ord(delimiter), fields, len(header), line, is_end=False)
        layout.notes.torn += torn
        yield _present(from_capsule(capsule))
        try:
            more = next(blocks, None)
        except TableError as error:
            more, broken = None, error
        kept = kept[taken:] + (more or b"")
        if more is None:
            break
    capsule, _, _, torn = read_delimited(kept, ord(delimiter), fields, len(header), line, is_end=True)
    layout.notes.torn += torn
    yield _present(from_capsule(capsule))
    if broken is not None:
        raise broken


def _header(block: bytes, delimiter: str) -> list[str]:
    """The names of the columns."""
    line = block.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")
    if line.count('"') % 2:
        raise TableError("the header spans more than one line")
    try:
        names = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error as error:
        raise TableError(f"cannot read the header: {error}") from None
    for name in names:
        if names.count(name) > 1:
            raise TableError(f"the header has column `{name}` twice")
    return names


def _present(columns: Columns) -> Columns:
    """Replaces empty strings with null where empty means absent. A method and a target can be empty."""
    error = columns.pop("error")
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    null = pa.scalar(None, pa.binary())
    empty = {name: pc.equal(pc.binary_length(column), 0) for name, column in columns.items()}
    for name in empty.keys() - {"method", "target"}:
        columns[name] = pc.if_else(empty[name], null, columns[name])
    nothing = functools.reduce(pc.and_, (is_empty for name, is_empty in empty.items() if not name.startswith(OTHER)))
    for name in empty.keys() & {"method", "target"}:
        absent = pc.and_(empty[name], pc.is_valid(columns["by_scope"])) if "by_scope" in columns else nothing
        columns[name] = pc.if_else(pc.or_(absent, nothing), null, columns[name])
    return {**columns, "error": error}


def of_tables(log: Any, layout: Layout) -> Iterator[Columns]:
    """Reads the columns of a table with the Arrow C interface, or of its batches."""
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    empty, any_table = True, False
    for schema, batches in _arrow(log, layout):
        any_table = True
        chosen = layout.find(schema.names)
        try:
            # A table without rows also has columns.
            read = {**chosen, **layout.others(schema.names, chosen)}
            needed = {name if name in schema.names else name.partition(".")[0] for name in read.values()}
            needed_schema = pa.schema([schema.field(name) for name in sorted(needed)])
            nothing = pa.RecordBatch.from_arrays([pa.nulls(0, type) for type in needed_schema.types], schema=needed_schema)
            for batch in itertools.chain([nothing], batches):
                yield {name: _inside(pc, batch, path) for name, path in read.items()}
                empty = empty and not batch.num_rows
        except pa.ArrowException as error:
            raise TableError(f"cannot read the table: {error}") from error
    # An exhausted reader looks like an empty one, and reporting no calls would be wrong.
    if empty and hasattr(log, "__next__"):
        raise TableError("the reader has no batch: it has been read before, or never had one")
    if not any_table:
        raise TableError("there is nothing to read: neither a file nor a table")


def _arrow(log: Any, layout: Layout) -> Iterator[tuple[Any, Iterator[Any]]]:
    """The schema and batches of each object with the Arrow C interface."""
    pa = needs("pyarrow", "logs")
    if is_frame(log) and not layout.keeps_others:
        names = layout.find(log.columns).values()
        log = select(log, [name if name in log.columns else name.partition(".")[0] for name in names])
    elif not is_table(log):
        if isinstance(log, (str, bytes)) or not hasattr(log, "__iter__"):
            raise TypeError(f"a log must be a file, a table or batches of a table, not {type(log).__name__}")
        for part in log:
            yield from _arrow(part, layout)
        return
    try:
        if hasattr(log, "__arrow_c_stream__"):
            reader = pa.RecordBatchReader.from_stream(log)
            yield reader.schema, reader
        else:
            batch = pa.record_batch(log)
            yield batch.schema, iter([batch])
    except pa.ArrowException as error:
        raise TableError(f"cannot read the table: {error}") from error


def parquet(log: Input, layout: Layout) -> Iterator[Columns]:
    """Reads the columns of a Parquet file, including those inside structures."""
    pa, pc, pq = (needs(module, "logs") for module in ("pyarrow", "pyarrow.compute", "pyarrow.parquet"))
    try:
        file = pq.ParquetFile(log.path)
        names = file.schema_arrow.names
        chosen = layout.find(names, log.name)
        read = {**chosen, **layout.others(names, chosen)}
        columns = sorted({name if name in names else name.partition(".")[0] for name in read.values()})
        for batch in file.iter_batches(batch_size=ROWS_AT_ONCE, columns=columns):
            log.position += round(batch.num_rows / file.metadata.num_rows * (log.size or 0))
            yield {name: _inside(pc, batch, path) for name, path in read.items()}
    except (pa.ArrowInvalid, OSError) as error:
        raise TableError(f"cannot read {log.name}: {error}") from error


def _inside(pc: Any, batch: Any, path: str) -> Any:
    """A column, or a column inside a structure such as `token.kind`."""
    if path in batch.schema.names:
        return batch.column(path)
    name, *members = path.split(".")
    column = batch.column(name)
    for member in members:
        type = column.type
        if not hasattr(type, "get_field_index") or type.get_field_index(member) < 0:
            raise TableError(f"there is no column `{path}`: `{name}` is {column.type}")
        column = pc.struct_field(column, member)
    return column
