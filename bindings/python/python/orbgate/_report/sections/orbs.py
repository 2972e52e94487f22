"""Orbs: what calls consume, and what another policy would have charged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._count.served import REDIRECTED, REFUSED, SERVED, UNCLEAR
from ..._number import number
from ..charts import MOST_BARS, Bar, timeline
from ..numbers import bound, short_routes, shown
from . import parts
from .parts import CODE, CONSUMING, NAME, NUMBER, Chart, Section, Table

if TYPE_CHECKING:
    from ..figures import Figures
    from ..orbs import AnsweredOrbs, Charged, Orbs
    from ..spans import Unit

# The numbers of a row, and its columns. Orbs and unstated calls that are zero in all have none.
COLUMNS = {
    "orbs": "orbs stated", "calls": "calls", "unstated": "calls unstated",
    # For an invoice: the same orbs and calls by what the server did.
    "served_orbs": "orbs served", "refused_orbs": "orbs refused", "unknown_orbs": "orbs unknown", "served_calls": "calls served", "served_unstated": "unstated served",
    "base_orbs": "other policy: orbs stated", "base_calls": "its calls", "base_unstated": "its calls unstated",
}
STATED = "Stated orbs are the amounts in the policy. An unstated call consumes orbs, but the policy has no amount for it."
BY_RESPONSE = (
    "Served, refused and unknown follow from the server's status: below 300 and 304 is served, 401, 403 and 405 are refused, and any other, or none, is unknown. "
    "An invoice for served calls has the orbs served, and an amount of the service's own for each unstated call that was served."
)
ALWAYS = "orbs", "served_orbs", "base_orbs"


def orbs(found: Figures, top: int) -> Section:
    name, of, unit = "Orbs", found.orbs, found.times.unit
    finding = f"{_sum(of.total, found.served.calls > 0)} {_most(of, unit)}".strip() if of.total.calls else "No call consumed orbs."
    if of.total.base_calls is not None:
        finding += f" {_base(of.total)}"
    if found.bonus_allowed:
        finding += f" Bonus orbs might be used by {number(found.bonus_allowed, 'call')}."
    if of.total.calls:
        finding += f" {_answered(found)}"
    if unit is not None:
        finding += _left_out(of)
    if not (of.total.calls or of.total.base_calls):
        return Section(name, finding, [], [])
    definitions = f"{STATED}{f' {BY_RESPONSE}' if found.served.calls else ''}"
    return Section(name, finding, _charts(of, unit), _tables(of, unit, found.served.calls > 0, top), definitions=definitions)


def _sum(of: Charged, has_statuses: bool) -> str:
    """What would be charged. A sum of orbs never goes without the calls that are not in it."""
    calls, stated = number(of.calls, "call"), of.calls - of.unstated
    if not stated:
        of_these = f", of which the server served {number(of.served_calls)}" if has_statuses else ""
        return f"Consume orbs: {calls}{of_these}; the policy states no amount for any."
    rest = f"; {number(of.unstated, 'call')} more, for which it states none" if of.unstated else ""
    served = f", of which served {number(of.served_orbs)}, refused {number(of.refused_orbs)}, unknown {number(of.unknown_orbs)}" if has_statuses else ""
    return f"Would be charged: {number(of.orbs, 'orb')}{served}, by {number(stated, 'call')} for which the policy states an amount{rest}."


def _base(of: Charged) -> str:
    calls, orbs, unstated = of.base_calls or 0, of.base_orbs or 0, of.base_unstated or 0
    if not calls:
        return "The other policy would have charged nothing."
    rest = f", and for {number(unstated, 'call')} more an amount that it does not state" if unstated else ""
    return f"The other policy would have charged {number(orbs, 'orb')} for {number(calls - unstated, 'call')}{rest}."


def _answered(found: Figures) -> str:
    """That a decision is no answer of the server, which may have refused what the policy allows."""
    said = "Orbs follow from the decisions, even for a call that the server did not serve"
    if not found.served.calls:
        return f"{said}; the log has no status that would say so."
    others = [row for row in found.orbs.answered if row.served != SERVED]
    if not others:
        return f"{said}; of these there are none among calls with a status."
    which = {REFUSED: "with a status that refuses it", REDIRECTED: "redirected", UNCLEAR: "with a status that says neither"}
    stated = (f"{number(row.calls)} {which[row.served]} ({_amount(row)})" for row in others)
    return f"{said}: {', '.join(stated)}."


def _amount(row: AnsweredOrbs) -> str:
    """The orbs of calls, and for how many the policy states none."""
    unstated = f"{number(row.unstated)} unstated" if row.unstated else ""
    return unstated if row.unstated == row.calls else f"{number(row.orbs, 'orb')}{', ' if unstated else ''}{unstated}"


def _left_out(of: Orbs) -> str:
    """The calls that consume orbs and are in no span of time."""
    nowhere = of.total.calls - sum(span.calls for span in of.times)
    if not nowhere:
        return ""
    far = nowhere - of.without_time
    why = [f"{number(count)} because {which}" for count, which in ((of.without_time, "they have no time"), (far, "their times are far from all others")) if count]
    return f" Left out over time: {number(nowhere)} of the {number(of.total.calls, 'call')} that consume orbs, {' and '.join(why)}."


def _most(of: Orbs, unit: Unit | None) -> str:
    """When most orbs were consumed; nothing where that was at several times."""
    most = max(of.times, key=lambda span: (span.orbs, span.calls), default=None)
    if most is None or unit is None or not most.calls:
        return ""
    if sum(span.orbs == most.orbs and bool(span.orbs or span.calls == most.calls) for span in of.times) > 1:
        return ""
    span = f"in the {unit.name} from {unit.label(most.start)} on"
    if not most.orbs:
        return f"Most such calls were made {span}: {number(most.calls)}."
    rest = f", without {number(most.unstated, 'call')} for which the policy states no amount" if most.unstated else ""
    return f"Most orbs would be charged {span}: {number(most.orbs, 'orb')}{rest}."


def _charts(of: Orbs, unit: Unit | None) -> list[Chart]:
    """Orbs, or calls where the policy states no amount at all."""
    what = "Orbs" if of.total.orbs else "Calls that consume orbs"
    consuming = of.routes.where(lambda row: row.calls)
    routes = consuming[:MOST_BARS]
    names = short_routes([parts.location(row) for row in routes])
    drawn = [Bar(name, _said(row), (row.orbs if of.total.orbs else row.calls,)) for name, row in zip(names, routes)]
    charts = parts.bars(f"{what}, by route", drawn, CONSUMING, count=len(consuming))
    if unit is not None and len(of.times) > 1 and any(span.calls for span in of.times):
        over_time = timeline(of.times, [(span.orbs if of.total.orbs else span.calls,) for span in of.times], [CONSUMING], unit.ticks)
        charts.append(parts.chart(f"{what}, over time", over_time, CONSUMING))
    return charts


def _said(row: Any) -> str:
    if row.unstated == row.calls:
        return f"{number(row.calls, 'call')} unstated"
    return number(row.orbs, "orb") + (f", {number(row.unstated, 'call')} unstated" if row.unstated else "")


def _tables(of: Orbs, unit: Unit | None, has_statuses: bool, top: int) -> list[Table]:
    names = [name for name in COLUMNS if _is_shown(name, of.total, has_statuses)]
    columns = {COLUMNS[name]: NUMBER for name in names}

    def numbers(row: Any, is_exact: bool = True) -> Sequence[str]:
        return [bound(getattr(row, name), is_exact) for name in names]

    routes = [(parts.location(row), shown(row.scope), *numbers(row)) for row in of.routes]
    scopes = [(shown(row.scope), *numbers(row)) for row in of.scopes]
    callers = [(parts.caller(row.caller), *numbers(row, row.is_exact)) for row in of.callers[:top]]
    tables = [
        parts.table("Orbs by route", {"route": CODE, "scope": CODE, **columns}, routes, top, source="orbs_routes"),
        # A scope's orbs are the sum of those of its routes.
        parts.table("Orbs by scope", {"scope": CODE, **columns}, scopes, top, source="orbs_scopes")._replace(is_folded=True),
        parts.table("Orbs by caller", {"caller": CODE, **columns}, callers, top, len(of.callers), "orbs_callers"),
    ]
    if unit is not None:
        times = [(unit.label(row.start), *numbers(row)) for row in of.times if row.calls or row.base_calls]
        tables.append(parts.table("Orbs over time", {"from (UTC)": NAME, **columns}, times, len(times))._replace(is_folded=len(of.times) > 1))
    return tables


def _is_shown(name: str, total: Charged, has_statuses: bool) -> bool:
    """Whether a number has a column: a column of zeros says no more than the sentence above it."""
    if name in ("base_calls", "base_unstated") and total.base_orbs:
        # The sentence has their sums, and a bundle all of them.
        return False
    of_policy = {"base": bool(total.base_calls), "served": has_statuses, "refused": has_statuses, "unknown": has_statuses}
    # Without any amount, all calls are unstated.
    is_of_amounts = name.endswith(("orbs", "unstated"))
    if not total.orbs and not total.base_orbs and is_of_amounts:
        return False
    return of_policy.get(name.split("_")[0], True) and (not is_of_amounts or name in ALWAYS or bool(getattr(total, name)))
