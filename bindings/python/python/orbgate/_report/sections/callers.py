"""Callers who were denied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..charts import MOST_BARS, Bar, lanes
from ..numbers import bound, share, shown
from ..._number import number
from . import parts
from .parts import CODE, DENIED, NAME, NO_ROUTE, NUMBER, Chart, Section

if TYPE_CHECKING:
    from datetime import datetime

    from ..figures import CallerCount, Figures


def callers(figures: Figures, top: int) -> Section:
    name = "Denied callers"
    if not figures.callers.counts:
        return Section(name, "The log names no callers.", [], [])
    denied = [row for row in figures.callers.counts if row.denied]
    callers = bound(figures.callers.different, figures.callers.is_exact, "caller")
    if not denied:
        return Section(name, f"No call of a named caller was denied. The log names {callers}.", [], [])
    finding = f"{bound(len(denied), figures.callers.is_exact)} of {callers} had denied calls. {parts.BY_POLICY}"
    if len(denied) > MOST_BARS and figures.callers.is_exact:
        first = sum(row.denied for row in denied[:MOST_BARS])
        finding += f" The first {MOST_BARS} account for {share(first, sum(row.denied for row in denied))} of these denials."
    if not figures.callers.is_exact:
        finding += " There are too many callers to count each, so only those with the most denials are listed."
    if figures.callers.without:
        lost = sum(row.calls for row in figures.denials.groups if row.caller is None)
        finding += (
            f" {number(figures.callers.without, 'call')} without a caller {'is' if figures.callers.without == 1 else 'are'} left out; "
            f"{bound(lost, figures.denials.is_exact)} of them {'was' if lost == 1 else 'were'} denied."
        )
    drawn = [Bar(shown(row.caller), " of ".join(_counts(row)), (row.denied,)) for row in denied[:MOST_BARS]]
    rows = [
        (
            shown(row.caller),
            *_counts(row),
            share(row.denied, row.allowed + row.denied) if row.is_exact else "–",
            *parts.served(row),
            str(row.denied_for),
        )
        for row in denied[:top]
    ]
    columns = {"caller": CODE, "denied": NUMBER, "calls": NUMBER, "share denied": NUMBER, **parts.served_column(figures), "main reason": NAME}
    by_route = [
        (shown(row.caller), row.route or NO_ROUTE, row.scope or "–", bound(row.denied, row.is_exact), str(row.reason))
        for row in figures.callers.denials[:top]
    ]
    what = {"caller": CODE, "route": CODE, "scope": CODE, "denied": NUMBER, "reason": NAME}
    tables = [
        parts.table("Callers denied most", columns, rows, top, len(denied), "callers_counts"),
        parts.table("Callers denied most, by route and scope", what, by_route, top, len(figures.callers.denials), "callers_denials")._replace(is_folded=True),
    ]
    charts = _over_time(figures) or parts.bars("Callers denied most: denied calls", drawn, DENIED, count=len(denied))
    return Section(name, finding, charts, tables)


def _over_time(figures: Figures) -> list[Chart]:
    """A chart of the denials of the most denied callers over time."""
    unit, spans = figures.times.unit, figures.times.spans
    of_caller: dict[str | None, dict[datetime, int]] = {}
    for row in figures.denials.times:
        of_caller.setdefault(row.caller, {})[row.start] = row.denied
    if unit is None or len(spans) < 2 or len(of_caller) < 2:
        return []
    exact = {row.caller for row in figures.denials.times if row.is_exact}
    rows = [
        Bar(parts.caller(caller), f"{bound(sum(denied.values()), caller in exact)} denied", [denied.get(span.start, 0) for span in spans])
        for caller, denied in of_caller.items()
    ]
    drawn = lanes(rows, spans, DENIED, unit.ticks)
    return [parts.chart("Callers denied most, over time, each on its own scale", drawn, DENIED)._replace(source="denials_times")]


def _counts(row: CallerCount) -> tuple[str, str]:
    """The number of a caller's denied calls, and of all its calls."""
    return bound(row.denied, row.is_exact), bound(row.allowed + row.denied, row.is_exact)
