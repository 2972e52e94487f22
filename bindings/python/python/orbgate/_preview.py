"""Iterates the rows of a decided table, and previews them in a prompt or a notebook."""

from __future__ import annotations

from ._html import table as in_html

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._native import Decision, DecisionTable

IN_TEXT = 5
IN_HTML = 20
COLUMNS = ("decision", "status", "reason", "detail", "route", "scope", "consumes")


def rows(table: DecisionTable) -> Iterator[Decision]:
    """The decisions, one by one."""
    return (table[at] for at in range(len(table)))


def text(table: DecisionTable) -> str:
    """A line about the table, and one for each of its first rows."""
    lines = [f"<orbgate.DecisionTable: {len(table):,} rows>"]
    for row in table[:IN_TEXT]:
        route = "" if row.route is None else f" {row.route}"
        detail = "" if row.detail is None else f", {row.detail}"
        lines.append(f"  {row.decision}: {row.reason}{detail}{route}")
    return "\n".join([*lines, "  …"] if len(table) > IN_TEXT else lines)


def html(table: DecisionTable) -> str:
    """The first rows as a table."""
    shown = []
    for row in table[:IN_HTML]:
        consumes = None if row.orbs is None else row.orbs.consumes
        cells = (row.decision, row.status, row.reason, row.detail, row.route, row.scope, consumes)
        shown.append(["" if cell is None else str(cell) for cell in cells])
    more = len(table) - len(shown)
    return in_html(COLUMNS, shown) + (f"<p>and {more:,} more rows</p>" if more else "")
