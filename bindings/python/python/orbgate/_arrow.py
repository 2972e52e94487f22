"""The Arrow PyCapsule interface, for type checkers."""

from __future__ import annotations

from typing import Protocol


class ArrowStream(Protocol):
    """A table of pyarrow, polars, pandas, duckdb and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class ArrowArray(Protocol):
    """A batch of rows."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
