"""The parts of a section: its text, charts and tables."""

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
# The kinds of columns: words, names that are never broken, code of any length, numbers.
WORDS, NAME, CODE, NUMBER = "words", "name", "code", "number"
ALLOWED, DENIED = Series("allowed", "allow"), Series("denied", "deny")
CONSUMING, UNUSED, USED = Series("consume orbs", "orbs"), Series("granted, never used", "idle"), Series("used", "allow")
UNKNOWN = Series("in tokens, not in the policy", "idle")


# The server might have responded differently.
BY_POLICY = "“Denied” means denied by this policy, which decided each call again, regardless of the server's response."

# A table with more rows states their number, and folds all but the first ones.
FEW_ROWS, SEEN = 8, 5
# Widths in characters: half of a page, the gap between columns, the widest cell, and a cell of words with two or three lines.
HALF_A_PAGE, GAP, WIDEST_CELL, FEW_WORDS = 71, 2, 40, 20


class Chart(NamedTuple):
    """A chart: its title, its drawings in each width, the meaning of its colours, the number of marks that it leaves out, a
    value that has no mark, and the table of a bundle that has its numbers, if it isn't next to the chart.
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
        """A note about values without a mark."""
        more = [f"and {number(self.more)} more without a {self.mark}"] if self.more else []
        return "; ".join([*more, *([f"{self.also} has no {self.mark}"] if self.also else [])])


class Table(NamedTuple):
    """A table. `columns` maps names to kinds, `more` is the number of omitted rows, and `source` is the table of a bundle that
    has all rows.

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
        # A column name can break into lines, but a name in a cell can't.
        heads = (max(map(len, name.split())) for name in self.columns)
        rows = self.rows[: len(self.rows) - self.folded]
        columns = zip(heads, *(map(_width, row, self.columns.values()) for row in rows))
        width: int = sum(max(column) for column in columns)
        return width > HALF_A_PAGE - GAP * len(self.columns)

    @property
    def folded(self) -> int:
        """The number of folded rows."""
        return len(self.rows) - SEEN if len(self.rows) > FEW_ROWS else 0

    @property
    def said(self) -> str:
        """A note about the number of rows, if some are left out."""
        if not self.more:
            return ""
        rows = "" if self.folded else f"{number(len(self.rows), 'row')}, and "
        return f"{rows}{number(self.more)} more{f' in the table {self.source} of a bundle' if self.source else ''}"


class Section(NamedTuple):
    """A section of the page. Without charts and tables, it has only its text, or several named sentences. Definitions are folded."""

    name: str
    finding: str
    charts: Sequence[Chart]
    tables: Sequence[Table]
    sentences: Sequence[tuple[str, str]] = ()
    definitions: str = ""

    @property
    def anchor(self) -> str:
        """The target of links to the section."""
        return anchor(self.name)


def _width(cell: str, kind: str) -> int:
    """The width of a cell in characters."""
    return FEW_WORDS if kind == WORDS and FEW_WORDS < len(cell) <= 3 * FEW_WORDS else min(len(cell), WIDEST_CELL)


def anchor(name: str) -> str:
    """The location of a section on the page.

    >>> anchor("Server responses and policy decisions")
    'server-responses-and-policy-decisions'
    """
    return re.sub("[^a-z]+", "-", name.lower())


def location(row: RouteCount | RouteOrbs | Outcome) -> str:
    """The route, or the requested route of a call without a valid token; otherwise the requested scope."""
    return row.route or getattr(row, "about", None) or (f"{row.scope} (by scope)" if row.scope is not None else NO_ROUTE)


def caller(name: str | None) -> str:
    """The name of a caller, or the placeholder for calls without one."""
    return NO_CALLER if name is None else shown(name)


def call(method: str | None, target: str | None, detail: Detail | None = None) -> str:
    """A call as an example. Pass `detail` if no column shows the rule that the call breaks."""
    text = "decided by scope" if method is None and target is None and detail is None else f"{shown(method)} {shown(target)}"
    return text if detail is None else f"{text} (malformed: {detail})"


def reason(reason: Reason, detail: Detail | None) -> str:
    """The reason of denials, with the rule that malformed calls break."""
    return str(reason) if detail is None else f"{reason}: {detail}"


def bars(about: str, rows: Sequence[Bar], *series: Series, count: int | None = None, also: str = "") -> list[Chart]:
    """A chart of the first rows; none for a single row. `count` is the number of all rows if more exist, and `also` names a value
    without a bar.
    """
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
    """A table of the first rows. `count` is the number of all rows if more exist."""
    return Table(caption, columns, rows[:top], max(0, (len(rows) if count is None else count) - top), source)


def denied(allowed: int, denied: int) -> str:
    return f"{number(allowed + denied)} · {share(denied, allowed + denied)} denied"


def served_column(figures: Figures) -> dict[str, str]:
    """The column with the number of denied calls that the server served, in a log with statuses."""
    return {"served anyway": NUMBER} if figures.served.calls else {}


def served(row: CallerCount | Denied) -> list[str]:
    """The value of that column."""
    return [] if row.served_though_denied is None else [bound(row.served_though_denied, row.is_exact)]


def some(names: Sequence[str], most: int = 4) -> str:
    more = [f"and {number(len(names) - most)} more"] if len(names) > most else []
    return "\n".join([*names[:most], *more])
