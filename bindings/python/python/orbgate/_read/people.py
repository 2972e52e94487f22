"""Reads accounts, statements and totals of a ledger of orbs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._extras import needs
from .entries import rows

if TYPE_CHECKING:
    import os
    from typing import BinaryIO

STATEMENT = "orbgate orbs account --json"
SUMS = ("granted", "captured", "refunded", "expired", "revoked", "outstanding", "available", "held")


def accounts(source: str | os.PathLike[str] | BinaryIO) -> Any:
    """The accounts that `orbgate orbs accounts --json` has written, as a table of pyarrow: one row for each.

    `source` is a file, also compressed with gzip, or an open binary file. `last_used` is null if it isn't known. Raises `TableError`
    if it isn't such a file, and `OSError` if it can't be read.
    """
    pa = needs("pyarrow", "logs")
    orbs = {name: pa.int64() for name in ("posted", "held", "available", "paid", "bonus")}
    schema = pa.schema({"account": pa.string(), **orbs, "frozen": pa.bool_(), "last_used": pa.int64()})
    return timed(rows(source, schema, "accounts", "orbgate orbs accounts --json", ("last_used",))[0])


def movements(source: str | os.PathLike[str] | BinaryIO) -> Any:
    """The movements of a statement that `orbgate orbs account ACCOUNT --json` has written, as a table of pyarrow: one row for each.

    `route` and `policy` are null unless a gate charged the call. `paid_change` and `bonus_change` are what a movement changed,
    `captured` is what a call cost, `expired` what left because its grant had expired, and `posted`, `held`, `available`, `paid` and `bonus`
    are the account's orbs after it. `source` is that of `accounts`, and so are the
    errors.
    """
    pa = needs("pyarrow", "logs")
    texts = {name: pa.string() for name in ("cause", "id", "hold", "route", "policy", "note", "author")}
    changes = ("paid_change", "bonus_change", "held_change", "captured", "expired", "posted", "held", "available", "paid", "bonus", "shortfall")
    movement = {"seq": pa.int64(), "at": pa.int64(), **texts, **{name: pa.int64() for name in changes}, "written": pa.bool_()}
    return timed(parts(source, "movements", movement))


def grants(source: str | os.PathLike[str] | BinaryIO) -> Any:
    """The grants of such a statement that have available or held orbs, as a table of pyarrow: one row for each.

    `expires_at` is null if the orbs don't expire. `source` is that of `accounts`, and so are the errors.
    """
    pa = needs("pyarrow", "logs")
    orbs = {name: pa.int64() for name in ("amount", "expires_at", "at", "available", "held")}
    return timed(parts(source, "grants", {"grant": pa.string(), "seq": pa.int64(), "bucket": pa.string(), **orbs}))


def totals(source: str | os.PathLike[str] | BinaryIO) -> Any:
    """The totals that `orbgate orbs totals --json` has written, as a table of pyarrow: one row for each bucket, `paid` and `bonus`.

    Totals of several times can be in one file, one after the other. `source` is that of `accounts`, and so are the errors.
    """
    pa = needs("pyarrow", "logs")
    sums = pa.struct({name: pa.int64() for name in SUMS})
    read, _ = rows(source, pa.schema({"at": pa.int64(), "paid": sums, "bonus": sums}), "totals", "orbgate orbs totals --json")
    told = [{"at": row["at"], "bucket": bucket, **row[bucket]} for row in read.to_pylist() for bucket in ("paid", "bonus")]
    schema = pa.schema({"at": pa.int64(), "bucket": pa.string(), **{name: pa.int64() for name in SUMS}})
    return timed(pa.Table.from_pylist(told, schema))


def parts(source: str | os.PathLike[str] | BinaryIO, name: str, columns: dict[str, Any]) -> Any:
    """The parts of the pages of a statement, each with its account."""
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    schema = pa.schema({"balance": pa.struct({"account": pa.string()}), name: pa.list_(pa.struct(columns))})
    pages, _ = rows(source, schema, "statement", STATEMENT)
    listed = pages[name].combine_chunks()
    account = pc.struct_field(pages["balance"].combine_chunks(), "account").take(pc.list_parent_indices(listed))
    flat = pc.list_flatten(listed)
    return pa.table({"account": account, **{column: pc.struct_field(flat, column) for column in columns}})


def timed(table: Any) -> Any:
    """The table with times instead of milliseconds."""
    pa = needs("pyarrow", "logs")
    for column in ("at", "expires_at", "last_used"):
        if column in table.column_names:
            index = table.column_names.index(column)
            table = table.set_column(index, column, table[column].cast(pa.timestamp("ms", "UTC")))
    return table
