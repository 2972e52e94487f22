"""Hands Arrow data to the native module and takes its answers back, in every way that moves memory between the two: `cargo
xtask test python` runs it under valgrind. A program, not a test: a memory checker is slow, and says itself what is wrong."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from orbgate import Policy, TableError, Token

pa: Any = importlib.import_module("pyarrow")

POLICY = Policy.external()

ROWS: list[dict[str, str | None]] = [
    {"method": "GET", "target": "/api/v1/external/orbs", "kind": "user", "scopes": "read:orbs"},
    {"method": "POST", "target": "/api/v1/external/voxies", "kind": "organisation", "scopes": "write:voxies read:orbs"},
    {"method": None, "target": "//", "kind": None, "scopes": None},
    {"method": "GET", "target": f"/api/v1/external/models/{'m' * 200}", "kind": "user", "scopes": ""},
] * 20


def table(kind: Any, chunk: int) -> Any:
    """The rows, in columns of this type, cut into chunks."""
    chunks = [ROWS[at : at + chunk] for at in range(0, len(ROWS), chunk)]
    columns = {
        name: pa.chunked_array([pa.array([row[name] for row in rows], pa.string()).cast(kind) for rows in chunks])
        for name in ROWS[0]
    }
    return pa.table(columns)


def tables() -> Iterator[Any]:
    dictionary = pa.dictionary(pa.int32(), pa.string())
    for kind in pa.string(), pa.large_string(), pa.string_view(), dictionary:
        for chunk in 80, 7:
            whole = table(kind, chunk)
            yield whole
            yield whole.slice(3, 50)
            yield whole.to_reader()
        batch = table(kind, 80).combine_chunks().to_batches()[0]
        yield batch
        yield batch.to_struct_array().slice(5, 20)
    # A column that the decision does not need, and rows that are null as a whole.
    beside = table(pa.string(), 7).append_column("beside", pa.array([[name] for name in "ab" * 40]))
    yield beside.set_column(3, "scopes", pa.nulls(len(ROWS)))
    columns = [column.combine_chunks() for column in beside.columns]
    yield pa.StructArray.from_arrays(columns, beside.column_names, mask=pa.array([True, False] * 40)).slice(3, 50)


def main() -> None:
    rows = 0
    for data in tables():
        answer = POLICY.decide_table(data, threads=2)
        rows += len(answer)
        # Taken twice, in part, and not at all.
        assert pa.table(answer).num_rows == len(answer) == pa.table(answer).num_rows
        reader = pa.RecordBatchReader.from_stream(answer)
        reader.read_next_batch()
        reader.close()
        del reader
        answer.__arrow_c_stream__()
    whole = table(pa.string(), 80)
    POLICY.decide_table(whole.select(["method", "target"]), token=Token("user", "read:orbs"))
    reader = whole.to_reader()
    POLICY.decide_table(reader)
    for bad in reader, whole.select(["method"]), whole.set_column(0, "method", pa.array(range(len(ROWS)))):
        try:
            POLICY.decide_table(bad)
        except TableError:
            continue
        raise AssertionError("decided")
    print(f"decided {rows} rows")


if __name__ == "__main__":
    main()
