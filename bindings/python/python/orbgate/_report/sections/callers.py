"""Callers who were denied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..charts import MOST_BARS, Bar
from ..numbers import bound, share, shown
from ..._number import number
from . import parts
from .parts import CODE, DENIED, NAME, NO_ROUTE, NUMBER, Section

if TYPE_CHECKING:
    from ..figures import CallerCount, Figures


def callers(found: Figures, top: int) -> Section:
    name = "Denied callers"
    if not found.callers.counts:
        return Section(name, "The log does not say who called.", [], [])
    denied = [row for row in found.callers.counts if row.denied]
    callers = bound(found.callers.different, found.callers.is_exact, "caller")
    if not denied:
        return Section(name, f"No caller was denied; the log names {callers}.", [], [])
    finding = f"Denied at least once: {bound(len(denied), found.callers.is_exact)} of {callers}. {parts.BY_POLICY}"
    if len(denied) > MOST_BARS and found.callers.is_exact:
        first = sum(row.denied for row in denied[:MOST_BARS])
        finding += f" The first {MOST_BARS} have {share(first, sum(row.denied for row in denied))} of these denials."
    if not found.callers.is_exact:
        finding += " There are too many to tell all of them apart: here are those with most denials."
    if found.callers.without:
        lost = sum(row.calls for row in found.denials.groups if row.caller is None)
        finding += f" Left out, because they name no caller: {number(found.callers.without, 'call')}, {bound(lost, found.denials.is_exact)} of them denied."
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
    columns = {"caller": CODE, "denied": NUMBER, "calls": NUMBER, "share denied": NUMBER, **parts.served_column(found), "mostly for": NAME}
    chart = parts.bars("Callers denied most: denied calls", drawn, DENIED, count=len(denied))
    by_route = [
        (shown(row.caller), row.route or NO_ROUTE, row.scope or "–", bound(row.denied, row.is_exact), str(row.reason))
        for row in found.callers.denials[:top]
    ]
    what = {"caller": CODE, "route": CODE, "scope": CODE, "denied": NUMBER, "for": NAME}
    tables = [
        parts.table("Callers denied most", columns, rows, top, len(denied)),
        parts.table("Callers denied most, by route and scope", what, by_route, top, len(found.callers.denials)),
    ]
    return Section(name, finding, [chart], tables)


def _counts(row: CallerCount) -> tuple[str, str]:
    """A caller's denied calls and all of them."""
    return bound(row.denied, row.is_exact), bound(row.allowed + row.denied, row.is_exact)
