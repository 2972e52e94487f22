"""Converts named tuples to an Arrow table. The annotations determine the types, even for a table without rows."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from ._extras import needs

MOST_INT64 = 2**63 - 1
# More digits than any sum of 64-bit amounts in a log.
DIGITS = 38


def of_rows(rows: Sequence[tuple[Any, ...]], type: type[tuple[Any, ...]]) -> Any:
    """A table with a column for each field."""
    pa = needs("pyarrow", "logs")
    hints = {name: getattr(hint, "__forward_arg__", hint) for name, hint in type.__annotations__.items()}
    columns = {name: _column(pa, [row[at] for row in rows], str(hint)) for at, (name, hint) in enumerate(hints.items())}
    return pa.table(columns)


def _column(pa: Any, values: list[Any], hint: str) -> Any:
    hint = hint.removesuffix(" | None")
    if hint == "int" and any(value is not None and abs(value) > MOST_INT64 for value in values):
        return pa.array([None if value is None else _decimal(value) for value in values], pa.decimal128(DIGITS, 0))
    # All times in results are in UTC.
    time = pa.timestamp("us", "UTC")
    known = {
        "int": pa.int64(),
        "float": pa.float64(),
        "bool": pa.bool_(),
        "datetime": time,
        "tuple[int, ...]": pa.list_(pa.int64()),
        "dict[str, int]": pa.map_(pa.string(), pa.int64()),
        "dict[str, datetime | None]": pa.map_(pa.string(), time),
    }
    if hint in known:
        return pa.array([list(value.items()) if isinstance(value, dict) else value for value in values], known[hint])
    if hint.endswith(", ...]"):
        return pa.array([None if value is None else list(map(_text, value)) for value in values], pa.list_(pa.string()))
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _decimal(value: int) -> Any:
    from decimal import Decimal

    return Decimal(value)


def _text(value: Any) -> str:
    return str(value.value if isinstance(value, Enum) else value)
