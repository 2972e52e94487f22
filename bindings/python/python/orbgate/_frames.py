"""Tables of other packages: what the package takes, and results as tables of Arrow and pandas."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from ._extras import needs

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas

    from ._native import DecisionTable

MOST_INT64 = 2**63 - 1
# More digits than any sum of 64-bit amounts in a log.
DIGITS = 38
# The nullable pandas types for Arrow types, which keep integers and flags if values are missing.
NULLABLE = {"bool": "boolean", "int16": "Int16", "int64": "Int64"}


class ArrowStream(Protocol):
    """A table of pyarrow, polars, pandas, duckdb and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class ArrowArray(Protocol):
    """A batch of rows."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


def to_arrow(rows: Sequence[tuple[Any, ...]], type: type[tuple[Any, ...]]) -> Any:
    """Converts named tuples to an Arrow table. Their annotations determine the types, even without rows."""
    pa = needs("pyarrow", "logs")
    hints = {name: getattr(hint, "__forward_arg__", hint) for name, hint in type.__annotations__.items()}
    columns = {name: _array(pa, [row[at] for row in rows], str(hint)) for at, (name, hint) in enumerate(hints.items())}
    return pa.table(columns)


def _array(pa: Any, values: list[Any], hint: str) -> Any:
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
        "tuple[tuple[str, ...], ...]": pa.list_(pa.list_(pa.string())),
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


def of_decisions(table: DecisionTable) -> pandas.DataFrame:
    """Converts decisions to a DataFrame, with codes as categories."""
    import pandas

    types = {name: pandas.api.types.pandas_dtype(nullable) for name, nullable in NULLABLE.items()}
    frame: pandas.DataFrame = table.to_pyarrow().to_pandas(types_mapper=lambda type: types.get(str(type)))
    return frame


def to_pandas(rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> pandas.DataFrame:
    """Converts named tuples to a DataFrame."""
    import pandas

    transposed = zip(*rows) if rows else ((),) * len(columns)
    return pandas.DataFrame({name: _series(pandas, values) for name, values in zip(columns, transposed)}, columns=list(columns))


def _series(pandas: Any, values: Sequence[Any]) -> Any:
    there = {type(value) for value in values if value is not None}
    nullable = {frozenset({int}): "Int64", frozenset({bool}): "boolean"}.get(frozenset(there))
    return pandas.Series(values, dtype=nullable) if nullable else list(values)
