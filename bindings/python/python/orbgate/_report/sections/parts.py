"""What a section of the page is made of: a sentence, its charts and the tables with their numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from ..._count.text import NO_CALLER
from ..._number import number
from .. import charts
from ..charts import Bar, Series
from ..numbers import bound, share, shown

if TYPE_CHECKING:
    from ..._terms import Detail, Reason
    from ..denials import Denied
    from ..figures import CallerCount, Figures, Outcome, RouteCount
    from ..orbs import RouteOrbs

NO_ROUTE = "(no route)"
# What a column has: words, names that are not broken, code of any length, numbers.
WORDS, NAME, CODE, NUMBER = "words", "name", "code", "number"
ALLOWED, DENIED = Series("allowed", "allow"), Series("denied", "deny")
CONSUMING, UNUSED, USED = Series("consume orbs", "orbs"), Series("granted, never used", "idle"), Series("used", "allow")
UNKNOWN = Series("carried, and not of the policy", "idle")


# What the word means on the page: the server may have done otherwise.
BY_POLICY = "Denied means denied by this policy, decided anew for each call, whatever the server did."

# From more rows on a table says how many it has, and folds in all but the first ones.
FEW_ROWS, SEEN = 8, 5
# In characters: how wide half of a page is, what lies between two columns, and from where on a cell is broken, and how wide a
# cell of words is that has two or three lines.
HALF_A_PAGE, GAP, WIDEST_CELL, FEW_WORDS = 71, 2, 40, 20


class Chart(NamedTuple):
    """A chart: what it shows, in its widths, what its colours mean, how many of its marks it leaves out, what else has none, and the table of
    a bundle that has its numbers, if it isn't beside the chart.
    """

    about: str
    drawings: Sequence[Markup]
    series: Sequence[Series]
    more: int = 0
    also: str = ""
    mark: str = "bar"
    source: str = ""

    @property
    def said(self) -> str:
        """What has no mark."""
        more = [f"and {number(self.more)} more without a {self.mark}"] if self.more else []
        return "; ".join([*more, *([f"{self.also} has no {self.mark}"] if self.also else [])])


class Table(NamedTuple):
    """A table of columns, each with what it has; `more` is how many rows it leaves out, and `source` the table of a bundle that has all of them.

    It is folded if a chart or another table of the section shows the same numbers.
    """

    caption: str
    columns: dict[str, str]
    rows: Sequence[Sequence[str]]
    more: int
    source: str = ""
    is_folded: bool = False

    @property
    def is_broad(self) -> bool:
        """Whether half of a wide page is too narrow for it."""
        # A name of a column may be broken, a name in a cell may not.
        heads = (max(map(len, name.split())) for name in self.columns)
        rows = self.rows[: len(self.rows) - self.folded]
        columns = zip(heads, *(map(_width, row, self.columns.values()) for row in rows))
        width: int = sum(max(column) for column in columns)
        return width > HALF_A_PAGE - GAP * len(self.columns)

    @property
    def folded(self) -> int:
        """How many rows are folded in."""
        return len(self.rows) - SEEN if len(self.rows) > FEW_ROWS else 0

    @property
    def said(self) -> str:
        """How many rows there are, where that cannot be seen at once."""
        if not self.more:
            return ""
        rows = "" if self.folded else f"{number(len(self.rows), 'row')}, and "
        return f"{rows}{number(self.more)} more{f' in the table {self.source} of a bundle' if self.source else ''}"


class Section(NamedTuple):
    """A part of the page; without anything to draw or list it is its sentence, or several with their names. Its definitions are folded in."""

    name: str
    finding: str
    charts: Sequence[Chart]
    tables: Sequence[Table]
    sentences: Sequence[tuple[str, str]] = ()
    definitions: str = ""

    @property
    def anchor(self) -> str:
        """Where links to it go."""
        return anchor(self.name)


def _width(cell: str, kind: str) -> int:
    """How wide a cell of a column is, in characters."""
    return FEW_WORDS if kind == WORDS and FEW_WORDS < len(cell) <= 3 * FEW_WORDS else min(len(cell), WIDEST_CELL)


def anchor(name: str) -> str:
    """The location of a section on the page.

    >>> anchor("Server responses and policy decisions")
    'server-responses-and-policy-decisions'
    """
    return re.sub("[^a-z]+", "-", name.lower())


def location(row: RouteCount | RouteOrbs | Outcome) -> str:
    """The route, or the one that a call without a valid token asks for; or, without any, the scope that was asked for."""
    return row.route or getattr(row, "about", None) or (f"{row.scope} (by scope)" if row.scope is not None else NO_ROUTE)


def caller(name: str | None) -> str:
    """Who made calls; one word for those that name nobody."""
    return NO_CALLER if name is None else shown(name)


def call(method: str | None, target: str | None, detail: Detail | None = None) -> str:
    """A call as an example; `detail` says which rule it breaks, where no column has it."""
    said = "asked by scope" if method is None and target is None and detail is None else f"{shown(method)} {shown(target)}"
    return said if detail is None else f"{said} (malformed: {detail})"


def reason(reason: Reason, detail: Detail | None) -> str:
    """Why calls were denied; of malformed ones, which rule they break."""
    return str(reason) if detail is None else f"{reason}: {detail}"


def bars(about: str, rows: Sequence[Bar], *series: Series, count: int | None = None, also: str = "") -> list[Chart]:
    """A chart of the first rows, or none: one bar says no more than its number. `count` is how many rows there are, if that is more than are given, `also` what is none of them."""
    if len(rows) < 2:
        return []
    more = (len(rows) if count is None else count) - charts.MOST_BARS
    return [chart(about, charts.bars(rows, series), *series)._replace(more=max(0, more), also=also)]


def chart(about: str, drawings: Sequence[str], *series: Series) -> Chart:
    # vl-convert escapes what it writes.
    return Chart(about, [Markup(drawing) for drawing in drawings], series)


def table(
    caption: str, columns: dict[str, str], rows: Sequence[Sequence[str]], top: int, count: int | None = None, source: str = ""
) -> Table:
    """A table of the first rows; `count` is how many there are, if that is more than are given."""
    return Table(caption, columns, rows[:top], max(0, (len(rows) if count is None else count) - top), source)


def denied(allowed: int, denied: int) -> str:
    return f"{number(allowed + denied)} · {share(denied, allowed + denied)} denied"


def served_column(found: Figures) -> dict[str, str]:
    """The column with how many denied calls the server served, in a log with statuses."""
    return {"served all the same": NUMBER} if found.served.calls else {}


def served(row: CallerCount | Denied) -> list[str]:
    """Its value."""
    return [] if row.served_though_denied is None else [bound(row.served_though_denied, row.is_exact)]


def some(names: Sequence[str], most: int = 4) -> str:
    more = [f"and {number(len(names) - most)} more"] if len(names) > most else []
    return "\n".join([*names[:most], *more])
