"""pandas DataFrames that keep integers and flags if values are missing, instead of converting them to floats and objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas

    from ._native import DecisionTable

# The nullable pandas types for Arrow types.
NULLABLE = {"bool": "boolean", "int16": "Int16", "int64": "Int64"}


def of_decisions(table: DecisionTable) -> pandas.DataFrame:
    """Converts decisions to a DataFrame, with codes as categories."""
    import pandas

    types = {name: pandas.api.types.pandas_dtype(nullable) for name, nullable in NULLABLE.items()}
    frame: pandas.DataFrame = table.to_pyarrow().to_pandas(types_mapper=lambda type: types.get(str(type)))
    return frame


def of_rows(rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> pandas.DataFrame:
    """Converts named tuples to a DataFrame."""
    import pandas

    found = zip(*rows) if rows else ((),) * len(columns)
    return pandas.DataFrame({name: _column(pandas, values) for name, values in zip(columns, found)}, columns=list(columns))


def _column(pandas: Any, values: Sequence[Any]) -> Any:
    there = {type(value) for value in values if value is not None}
    nullable = {frozenset({int}): "Int64", frozenset({bool}): "boolean"}.get(frozenset(there))
    return pandas.Series(values, dtype=nullable) if nullable else list(values)
