"""DataFrames of pandas that keep whole numbers and flags where some are missing: pandas alone makes floats and objects of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas

    from ._native import DecisionTable

# The nullable types of pandas, for those of Arrow.
NULLABLE = {"bool": "boolean", "int16": "Int16", "int64": "Int64"}


def of_decisions(table: DecisionTable) -> pandas.DataFrame:
    """Decisions, with codes as categories."""
    import pandas

    types = {name: pandas.api.types.pandas_dtype(nullable) for name, nullable in NULLABLE.items()}
    frame: pandas.DataFrame = table.to_pyarrow().to_pandas(types_mapper=lambda type: types.get(str(type)))
    return frame


def of_rows(rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> pandas.DataFrame:
    """Named tuples, column by column."""
    import pandas

    found = zip(*rows) if rows else ((),) * len(columns)
    return pandas.DataFrame({name: _column(pandas, values) for name, values in zip(columns, found)}, columns=list(columns))


def _column(pandas: Any, values: Sequence[Any]) -> Any:
    there = {type(value) for value in values if value is not None}
    nullable = {frozenset({int}): "Int64", frozenset({bool}): "boolean"}.get(frozenset(there))
    return pandas.Series(values, dtype=nullable) if nullable else list(values)
