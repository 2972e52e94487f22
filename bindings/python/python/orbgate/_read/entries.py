"""Reads the entries of a ledger of orbs."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from .._errors import TableError
from .._extras import needs

if TYPE_CHECKING:
    from collections.abc import Container
    from typing import BinaryIO

# A line has a part for each grant that it touches.
MOST_BYTES = 64 << 20


def rows(source: str | os.PathLike[str] | BinaryIO, schema: Any, what: str, command: str, optional: Container[str] = ()) -> tuple[Any, bytes]:
    """The lines of JSON that a command has written, as a table with these columns, and their text."""
    pa = needs("pyarrow", "logs")
    from pyarrow import json  # type: ignore[import-untyped]

    options = json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
    try:
        with pa.input_stream(source if name is None else name) as stream:
            data: bytes = stream.read()
            whole = json.read_json(pa.BufferReader(data), json.ReadOptions(block_size=MOST_BYTES), options) if data else None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TableError(f"{name or f'the {what}'}: no {what} of a ledger, as `{command}` writes them: {error}") from None
    table = schema.empty_table() if whole is None else whole.select(schema.names)
    if lacking := [column for column in schema.names if column not in optional and table[column].null_count]:
        raise TableError(f"{name or f'the {what}'}: no {what} of a ledger: `{lacking[0]}` is missing in a line")
    return table, data


def entries(source: str | os.PathLike[str] | BinaryIO) -> Any:
    """The entries that `orbgate orbs entries --format json` has written, as a table of pyarrow: one row for each, in their order.

    `source` is a file, also compressed with gzip, or an open binary file. `lines` has the changes of each grant, and `captured` is
    their sum. `paid`, `bonus` and `held` are the account's orbs after the entry. Raises `TableError` if it isn't such a file, and
    `OSError` if it can't be read.
    """
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    orbs = {name: pa.int64() for name in ("available", "held", "captured")}
    line = pa.struct({"grant": pa.string(), "bucket": pa.string(), **orbs})
    texts = {name: pa.string() for name in ("cursor", "account", "cause", "id", "note")}
    numbers = {name: pa.int64() for name in ("seq", "at", "paid", "bonus", "held", "shortfall")}
    schema = pa.schema({**texts, **numbers, "lines": pa.list_(line)})
    table, data = rows(source, schema, "entries", "orbgate orbs entries --format json")
    lines = table["lines"].combine_chunks()
    sums = pa.table({"row": pc.list_parent_indices(lines), "orbs": pc.struct_field(pc.list_flatten(lines), "captured")}).group_by("row").aggregate([("orbs", "sum")])
    # An entry without lines has no sum.
    every = pa.table({"row": pa.array(range(table.num_rows), pa.int64())}).join(sums, "row").sort_by("row")
    table = table.append_column("captured", every["orbs_sum"].fill_null(0))
    table = table.set_column(table.column_names.index("at"), "at", table["at"].cast(pa.timestamp("ms", "UTC")))
    return table.replace_schema_metadata({DIGEST: sha256(data).hexdigest()})


# Where a table of entries keeps the SHA-256 of the text that it was read from.
DIGEST = b"orbgate_sha256"


def digest_of(entries: Any) -> str | None:
    """The SHA-256 of the text of entries; None for those that `entries` hasn't read."""
    found: bytes | None = None if entries is None else (entries.schema.metadata or {}).get(DIGEST)
    return None if found is None else found.decode()


def balance(entries: Any) -> Any:
    """The balance of each account after its last entry, as a table of pyarrow, in the order of accounts: `account`, `posted` (what is
    available and held), `held`, `available`, `paid`, `bonus`, `frozen`, and `at`, the time of the entry.
    """
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")

    def last_of(rows: Any, columns: list[str]) -> Any:
        last = rows.group_by("account").aggregate([("seq", "max")])
        return rows.select(["account", "seq", *columns]).join(last, ["account", "seq"], ["account", "seq_max"], "inner").sort_by("account")

    latest = last_of(entries, ["paid", "bonus", "held", "at"])
    changed = last_of(entries.filter(pc.is_in(entries["cause"], pa.array(["freeze", "unfreeze"]))), ["cause"])
    frozen = pc.is_in(latest["account"], changed.filter(pc.equal(changed["cause"], "freeze"))["account"].combine_chunks())
    available = pc.add(latest["paid"], latest["bonus"])
    columns = {"account": latest["account"], "posted": pc.add(available, latest["held"]), "held": latest["held"], "available": available}
    return pa.table({**columns, "paid": latest["paid"], "bonus": latest["bonus"], "frozen": frozen, "at": latest["at"]})
