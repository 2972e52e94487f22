"""The section about orbs: the orbs that calls consume, and those that another policy would have charged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._count.served import REDIRECTED, REFUSED, SERVED, SERVED_THOUGH_DENIED, UNCLEAR
from ..._number import number
from ..charts import MOST_BARS, Bar, timeline
from ..numbers import bound, short_routes, shown
from . import parts
from .parts import CODE, CONSUMING, NAME, NUMBER, WORDS, Chart, Section, Table

if TYPE_CHECKING:
    from ..figures import Figures
    from ..orbs import Charged, Orbs
    from ..reconciled import Reconciled
    from ..spans import Unit

# The fields of a row, and their column names. A column whose total is zero is left out.
COLUMNS = {
    "orbs": "orbs stated",
    "calls": "calls",
    "unstated": "calls with no price stated",
    # For an invoice: the same orbs and calls by server response.
    "served_orbs": "orbs served",
    "refused_orbs": "orbs refused",
    "unknown_orbs": "orbs unknown",
    "served_calls": "calls served",
    "refused_calls": "calls refused",
    "unknown_calls": "calls unknown",
    "served_unstated": "served with no price stated",
    "refused_unstated": "refused with no price stated",
    "unknown_unstated": "unknown with no price stated",
    "base_orbs": "other policy: orbs stated",
    "base_calls": "its calls",
    "base_unstated": "its calls with no price stated",
}
STATED = "Stated orbs are the amounts in the policy. A call with no price stated consumes orbs, but the policy states no amount."
BY_RESPONSE = (
    "Served, refused and unknown depend on the server's status: below 300 or 304 means served, 401, 403 or 405 means "
    "refused, and any other status, or none, means unknown. "
    "To invoice served calls, charge the orbs served, and the service's own amount for each call served with no price stated."
)
# Unknown responses are split in one table, whose rows add up to the total.
RESPONSES = {SERVED: "served", REFUSED: "refused", REDIRECTED: "unknown: redirected", UNCLEAR: "unknown: unclear status"}
ALWAYS = "orbs", "served_orbs", "base_orbs"


def orbs(figures: Figures, top: int) -> Section:
    name, of, unit = "Orbs", figures.orbs, figures.times.unit
    finding = f"{_sum(of.total, figures.served.calls > 0)} {_most(of, unit)}".strip() if of.total.calls else "No call consumed orbs."
    if of.total.base_calls is not None:
        finding += f" {_base(of.total)}"
    if figures.bonus_allowed:
        finding += f" {number(figures.bonus_allowed, 'call')} might use bonus orbs."
    if of.total.calls:
        finding += f" {_answered(figures)}"
    if unit is not None:
        finding += _left_out(of)
    if of.without_charge:
        finding += (
            f" {number(of.without_charge, 'call')} by scope {'is' if of.without_charge == 1 else 'are'} not counted, because the policy "
            f"states no charge for a call by {'its' if of.without_charge == 1 else 'their'} scope: it depends on the route."
        )
    compared = _compared(figures, top)
    if figures.reconciled is not None:
        finding += f" {_reconciled(figures.reconciled)}"
    if not (of.total.calls or of.total.base_calls):
        return Section(name, finding, [], compared)
    definitions = f"{STATED}{f' {BY_RESPONSE}' if figures.served.calls else ''}"
    return Section(name, finding, _charts(of, unit), [*compared, *_tables(of, unit, figures.served.calls > 0, top)], definitions=definitions)


def _reconciled(of: Reconciled) -> str:
    outside = f" {number(of.outside)} more {'was' if of.outside == 1 else 'were'} made before or after that." if of.outside else ""
    same = "" if of.differences else " Each call that consumes orbs has its hold, and was charged as the policy states."
    return (
        f"The ledger has {number(of.holds, 'hold')} in the time of the log, of which {number(of.matched)} "
        f"{'has its' if of.matched == 1 else 'have their'} call in it.{outside}{same}"
    )


def _compared(figures: Figures, top: int) -> list[Table]:
    if figures.reconciled is None or not figures.reconciled.differences:
        return []
    every = figures.reconciled.differences
    rows = [
        (
            row.what,
            shown(row.route) if row.route else parts.NO_ROUTE,
            number(row.calls),
            number(row.orbs),
            number(row.captured),
            shown(row.hold) if row.hold else "–",
            "–" if row.row is None else number(row.row),
        )
        for row in every[:top]
    ]
    columns = {
        "difference": WORDS,
        "route": CODE,
        "calls or holds": NUMBER,
        "orbs stated": NUMBER,
        "orbs captured": NUMBER,
        "first hold": CODE,
        "first row": NUMBER,
    }
    return [parts.table("Differences from the ledger", columns, rows, top, len(every), "reconciled_differences")]


def _sum(of: Charged, has_statuses: bool) -> str:
    """The charged orbs, always with the number of calls without a stated amount."""
    calls, stated = number(of.calls, "call"), of.calls - of.unstated
    if not stated:
        of_these = f", of which the server served {number(of.served_calls)}" if has_statuses else ""
        return f"{calls} {'consumes' if of.calls == 1 else 'consume'} orbs{of_these}. The policy states no amounts for {'it' if of.calls == 1 else 'them'}."
    rest = f" {number(of.unstated, 'more call')} {'consumes' if of.unstated == 1 else 'consume'} orbs without a stated amount." if of.unstated else ""
    served = f" ({number(of.served_orbs)} served, {number(of.refused_orbs)} refused, {number(of.unknown_orbs)} unknown)" if has_statuses else ""
    return f"{number(of.orbs, 'orb')}{served} would be charged for {number(stated, 'call')} with a stated amount.{rest}"


def _base(of: Charged) -> str:
    calls, orbs, unstated = of.base_calls or 0, of.base_orbs or 0, of.base_unstated or 0
    if not calls:
        return "The other policy would have charged nothing."
    if calls == unstated:
        return f"The other policy would have charged for {number(calls, 'call')}, but states no amounts."
    rest = f", and an amount that it does not state for {number(unstated, 'more call')}" if unstated else ""
    return f"The other policy would have charged {number(orbs, 'orb')} for {number(calls - unstated, 'call')}{rest}."


def _answered(figures: Figures) -> str:
    """A note that orbs follow from decisions, although the server might have refused allowed calls."""
    sentence = "Orbs follow from the decisions, even if the server did not serve a call"
    if not figures.served.calls:
        return f"{sentence}. The log has no statuses that show this."
    denied = figures.served.of(SERVED_THOUGH_DENIED)
    apart = f" {number(denied, 'call')} served though denied {'is' if denied == 1 else 'are'} not counted." if denied else ""
    return f"{sentence}. The table “Orbs by server response” shows the difference.{apart}"


def _by_response(of: Orbs) -> Table:
    """The same orbs by server response. The rows, including calls without a status, add up to the total."""
    known = sorted(of.answered, key=lambda row: [*RESPONSES].index(row.served))
    total = of.total.calls, of.total.orbs, of.total.unstated
    every: list[tuple[str, Sequence[int]]] = [(RESPONSES[row.served], (row.calls, row.orbs, row.unstated)) for row in known]
    rest = [whole - sum(counts[at] for _, counts in every) for at, whole in enumerate(total)]
    every += [("unknown: no status", rest)] if rest[0] else []
    every.append(("total", total))
    names = ["calls", *(["orbs"] if of.total.orbs else []), *(["unstated"] if of.total.orbs and of.total.unstated else [])]
    columns = {"server": NAME, **{COLUMNS[name]: NUMBER for name in names}}
    rows = [(name, *map(number, counts[: len(names)])) for name, counts in every]
    return parts.table("Orbs by server response", columns, rows, len(rows))


def _left_out(of: Orbs) -> str:
    """A note about calls that consume orbs but are in no span of time."""
    nowhere = of.total.calls - sum(span.calls for span in of.times)
    if not nowhere:
        return ""
    far = nowhere - of.without_time
    why = []
    if of.without_time:
        why.append(f"{number(of.without_time)} because {'it has' if of.without_time == 1 else 'they have'} no time")
    if far:
        why.append(f"{number(far)} because {'its time is' if far == 1 else 'their times are'} far from all others")
    return (
        f" Over time, {number(nowhere)} of the {number(of.total.calls, 'call')} that "
        f"{'consumes' if of.total.calls == 1 else 'consume'} orbs {'is' if nowhere == 1 else 'are'} left out: {' and '.join(why)}."
    )


def _most(of: Orbs, unit: Unit | None) -> str:
    """The span in which most orbs were consumed; empty if several have the most."""
    most = max(of.times, key=lambda span: (span.orbs, span.calls), default=None)
    if most is None or unit is None or not most.calls:
        return ""
    if sum(span.orbs == most.orbs and bool(span.orbs or span.calls == most.calls) for span in of.times) > 1:
        return ""
    span = f"in the {unit.name} from {unit.label(most.start)} on"
    if not most.orbs:
        return f"Most such calls were made {span}: {number(most.calls)}."
    rest = f", not counting {number(most.unstated, 'call')} without a stated amount" if most.unstated else ""
    return f"Most orbs would be charged {span}: {number(most.orbs, 'orb')}{rest}."


def _charts(of: Orbs, unit: Unit | None) -> list[Chart]:
    """Charts of orbs, or of calls if the policy states no amounts."""
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
    """A short value for a chart. The table next to it has the full terms."""
    if row.unstated == row.calls:
        return f"{number(row.calls)} without a price"
    return number(row.orbs, "orb") + (f", {number(row.unstated)} without a price" if row.unstated else "")


def _tables(of: Orbs, unit: Unit | None, has_statuses: bool, top: int) -> list[Table]:
    names = [name for name in COLUMNS if _is_shown(name, of.total, has_statuses)]
    columns = {COLUMNS[name]: NUMBER for name in names}

    def numbers(row: Any, is_exact: bool = True) -> Sequence[str]:
        return [bound(getattr(row, name), is_exact) for name in names]

    routes = [(parts.location(row), shown(row.scope), *numbers(row)) for row in of.routes]
    scopes = [(shown(row.scope), *numbers(row)) for row in of.scopes]
    callers = [(parts.caller(row.caller), *numbers(row, row.is_exact)) for row in of.callers[:top]]
    tables = [
        *([_by_response(of)] if has_statuses and of.total.calls else []),
        parts.table("Orbs by route", {"route": CODE, "scope": CODE, **columns}, routes, top, source="orbs_routes"),
        # A scope's orbs are the sum of its routes' orbs.
        parts.table("Orbs by scope", {"scope": CODE, **columns}, scopes, top, source="orbs_scopes")._replace(is_folded=True),
        parts.table("Orbs by caller", {"caller": CODE, **columns}, callers, top, len(of.callers), "orbs_callers"),
    ]
    if unit is not None:
        times = [(unit.label(row.start), *numbers(row)) for row in of.times if row.calls or row.base_calls]
        tables.append(parts.table("Orbs over time", {"from (UTC)": NAME, **columns}, times, len(times))._replace(is_folded=len(of.times) > 1))
    return tables


def _is_shown(name: str, total: Charged, has_statuses: bool) -> bool:
    """Whether a field has a column. A column of zeros would add nothing."""
    if name in ("base_calls", "base_unstated") and total.base_orbs:
        # The text has their sums, and a bundle has all of them.
        return False
    if name in ("refused_calls", "unknown_calls") and (total.orbs or not getattr(total, name)):
        # If the policy states amounts, orbs and calls with no price stated have their own columns.
        return False
    of_policy = {"base": bool(total.base_calls), "served": has_statuses, "refused": has_statuses, "unknown": has_statuses}
    # Without any amount, no call has a stated price.
    is_of_amounts = name.endswith(("orbs", "unstated"))
    if not total.orbs and not total.base_orbs and is_of_amounts:
        return False
    return of_policy.get(name.split("_")[0], True) and (not is_of_amounts or name in ALWAYS or bool(getattr(total, name)))
