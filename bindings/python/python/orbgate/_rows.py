"""Results that are tables: lists of named tuples, convertible to DataFrames, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, overload

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow as _pa  # type: ignore[import-untyped,unused-ignore]

# The number of rows that a prompt or a notebook shows.
SHOWN = 10
SHOWN_IN_HTML = 60

Row = TypeVar("Row", bound=tuple[Any, ...])


class Rows(list[Row]):
    """A list of named tuples of the same type.

    >>> from orbgate import Policy, Token
    >>> reach = Policy.external().reach(Token("user", "read:orbs"))
    >>> print(reach.to_markdown(["route", "scope", "consumes"]))
    | route | scope | consumes |
    |---|---|---|
    | GET /api/v1/external/orbs | read:orbs | yes |
    | GET /api/v1/external/orbs/offers | read:orbs | yes |
    """

    def __init__(self, type: type[Row], rows: Iterable[Row] = ()) -> None:
        super().__init__(rows)
        self._type = type

    @overload
    def __getitem__(self, at: SupportsIndex) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> Rows[Row]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> Row | Rows[Row]:
        """A row or, for a slice, a table of the same type."""
        if isinstance(at, slice):
            return Rows(self._type, super().__getitem__(at))
        return super().__getitem__(at)

    def where(self, wanted: Callable[[Row], object]) -> Rows[Row]:
        """The rows for which the predicate is true, as a table of the same type."""
        return Rows(self._type, filter(wanted, self))

    def sorted(self, key: Callable[[Row], Any] | None = None, *, reverse: bool = False) -> Rows[Row]:
        """The sorted rows, as a table of the same type. Python's own `sorted` returns a list."""
        return Rows(self._type, sorted(self, key=key or tuple, reverse=reverse))

    def copy(self) -> Rows[Row]:
        """A copy of the table that can be changed independently."""
        return Rows(self._type, self)

    def __repr__(self) -> str:
        more = len(self) - SHOWN
        shown = ", ".join(map(repr, self if more <= 0 else list.__getitem__(self, slice(SHOWN))))
        return f"[{shown}]" if more <= 0 else f"[{shown}, … and {more:,} more]"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(getattr(self._type, "_fields"))

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        return [dict(zip(self.columns, row)) for row in self]

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame. pandas must be installed. Integers and flags keep their types even if values
        are missing.
        """
        from ._frames import to_pandas

        return to_pandas(self, self.columns)

    def to_polars(self) -> polars.DataFrame:
        """The rows as a polars DataFrame. polars must be installed."""
        import polars

        return polars.DataFrame(list(self), schema=list(self.columns), orient="row", infer_schema_length=None)

    def to_pyarrow(self) -> _pa.Table:
        """The rows as a pyarrow table. pyarrow must be installed. Integers of more than 64 bits become decimals, and
        codes become strings.
        """
        from ._frames import to_arrow

        return to_arrow(self, self._type)

    def to_markdown(self, columns: Iterable[str] | None = None) -> str:
        """The rows as a Markdown table, with all columns or only these."""
        names, rows = self._cells(columns)
        lines = [names, ["---"] * len(names), *([_markdown(cell) for cell in row] for row in rows)]
        head, rule, *body = lines
        text = [f"| {' | '.join(cells)} |" for cells in [head, *body]]
        return "\n".join([text[0], f"|{'|'.join(rule)}|", *text[1:]])

    def to_html(self, columns: Iterable[str] | None = None) -> str:
        """The rows as an HTML table, with all columns or only these."""
        from ._preview import html_table

        names, rows = self._cells(columns)
        return html_table(names, rows)

    def _repr_html_(self) -> str:
        more = len(self) - SHOWN_IN_HTML
        return self[:SHOWN_IN_HTML].to_html() + (f"<p>and {more:,} more rows</p>" if more > 0 else "")

    def __reduce__(self) -> tuple[Any, ...]:
        return Rows, (self._type, list(self))

    def _cells(self, columns: Iterable[str] | None) -> tuple[list[str], list[list[str]]]:
        names = list(self.columns if columns is None else columns)
        positions = [self.columns.index(name) for name in names]
        return names, [[_cell(row[position]) for position in positions] for row in self]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        # The scopes of an alternative are separated by spaces, as in a policy.
        return ", ".join(" ".join(map(_cell, item)) if isinstance(item, tuple) else _cell(item) for item in value)
    return str(value)


def _markdown(cell: str) -> str:
    return cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
