"""What a section of the page is made of: a sentence, its charts and the tables with their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from .. import charts
from ..charts import Bar, Series
from ..numbers import share, shown
from ..._number import number

if TYPE_CHECKING:
    from ..figures import Outcome, RouteCount
    from ..orbs import RouteOrbs

NO_ROUTE = "(no route)"
# What a column has: words, names that are not broken, code of any length, numbers.
WORDS, NAME, CODE, NUMBER = "words", "name", "code", "number"
ALLOWED, DENIED = Series("allowed", "allow"), Series("denied", "deny")
CONSUMING, UNUSED = Series("consume orbs", "orbs"), Series("granted, never used", "idle")
UNKNOWN = Series("carried, and not of the policy", "idle")


class Chart(NamedTuple):
    """A chart: what it shows, in its widths, and what its colours mean."""

    about: str
    drawings: Sequence[Markup]
    series: Sequence[Series]


class Table(NamedTuple):
    """A table of columns, each with what it has; `more` is how many rows it leaves out."""

    caption: str
    columns: dict[str, str]
    rows: Sequence[Sequence[str]]
    more: int


class Section(NamedTuple):
    """A part of the page; without anything to draw or list it is its sentence, or several with their names."""

    name: str
    finding: str
    charts: Sequence[Chart]
    tables: Sequence[Table]
    sentences: Sequence[tuple[str, str]] = ()


def place(row: RouteCount | RouteOrbs | Outcome) -> str:
    """The route; or, without one, the scope that was asked for."""
    return row.route or (f"{row.scope} (by scope)" if row.scope is not None else NO_ROUTE)


def call(method: str | None, target: str | None) -> str:
    return "asked by scope" if method is None and target is None else f"{shown(method)} {shown(target)}"


def bars(about: str, rows: Sequence[Bar], *series: Series) -> Chart:
    return chart(about, charts.bars(rows, series), *series)


def chart(about: str, drawings: Sequence[str], *series: Series) -> Chart:
    # vl-convert escapes what it writes.
    return Chart(about, [Markup(drawing) for drawing in drawings], series)


def table(
    caption: str, columns: dict[str, str], rows: Sequence[Sequence[str]], top: int, count: int | None = None
) -> Table:
    return Table(caption, columns, rows[:top], max(0, (len(rows) if count is None else count) - top))


def denied(allowed: int, denied: int) -> str:
    return f"{number(allowed + denied)} · {share(denied, allowed + denied)} denied"


def some(names: Sequence[str], most: int = 4) -> str:
    more = [f"and {number(len(names) - most)} more"] if len(names) > most else []
    return "\n".join([*names[:most], *more])
