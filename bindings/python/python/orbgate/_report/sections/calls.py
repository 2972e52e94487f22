"""Sections about calls: server responses, changes, reasons, routes and times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..._count.served import REFUSED_THOUGH_ALLOWED, RULE, SERVED_THOUGH_DENIED, UNCLEAR
from ..._count.text import NO_CALLER
from ..._number import number
from ..._terms import Effect
from ..charts import MOST_BARS, Bar, Series, timeline
from ..findings.server import directions
from ..findings.words import CHANGED, SERVER
from ..numbers import bound, short_routes, share, shown, when
from ..served import CALLERS
from ..spans import Span
from . import parts
from .parts import ALLOWED, CODE, DENIED, NAME, NO_ROUTE, NUMBER, WORDS, Section, Table

if TYPE_CHECKING:
    from ..._policy import Policy
    from ..figures import Changes, Figures, Outcome
    from ..served import Mismatch


MISMATCHES = Series(SERVED_THOUGH_DENIED, "deny"), Series(REFUSED_THOUGH_ALLOWED, "idle")
SAID = {UNCLEAR: "unclear status"}
# The most characters of a policy's name in the head of a table.
MOST_OF_A_NAME = 31


def served(every: Figures, top: int) -> Section:
    name, responses, unit = SERVER, every.served, every.times.unit
    denied, allowed = responses.of(SERVED_THOUGH_DENIED), responses.of(REFUSED_THOUGH_ALLOWED)
    finding = (
        f"{number(responses.calls, 'call')} {_have(responses.calls)} a status. Of these, {number(denied)} {_were(denied)} "
        f"served although the policy denies {_them(denied)}, {number(allowed)} {_were(allowed)} refused "
        f"although it allows {_them(allowed)}, and {number(responses.redirected)} {_were(responses.redirected)} redirected."
    )
    if responses.without_status:
        finding += f" {number(responses.without_status, 'call')} {_have(responses.without_status)} no status."
    grid = [(SAID.get(row.served, row.served), str(row.decision), number(row.calls), share(row.calls, responses.calls)) for row in responses.counts]
    columns = {"server": NAME, "policy": NAME, "calls": NUMBER, "share": NUMBER}
    tables = [parts.table("Server responses by policy decision", columns, grid, len(grid))]
    for what in (SERVED_THOUGH_DENIED, REFUSED_THOUGH_ALLOWED):
        of_kind = responses.mismatches.where(lambda row: row.what == what)
        rows = [
            (
                str(row.status),
                parts.reason(row.reason, row.detail),
                row.route or NO_ROUTE,
                number(row.calls),
                bound(row.callers, row.callers < CALLERS),
                _first(row),
                *([when(row.first, row.last, every.times.has_days_alone) or "–"] if unit else []),
                number(row.row),
                parts.call(row.method, row.target),
            )
            for row in of_kind[:top]
        ]
        columns = {
            "status": NUMBER,
            "reason": NAME,
            "route": CODE,
            "calls": NUMBER,
            "callers": NUMBER,
            "first caller": CODE,
            **({"when (UTC)": WORDS} if unit else {}),
            "first row": NUMBER,
            "its call": CODE,
        }
        if rows:
            tables.append(parts.table(f"Calls {what}, by route", columns, rows, top, len(of_kind), "served_mismatches"))
    callers = [
        (parts.caller(row.caller), bound(row.served_though_denied, row.is_exact), bound(row.refused_though_allowed, row.is_exact))
        for row in responses.callers[:top]
    ]
    both = {SERVED_THOUGH_DENIED: NUMBER, REFUSED_THOUGH_ALLOWED: NUMBER}
    times = [(unit.label(row.start), number(row.served_though_denied), number(row.refused_though_allowed)) for row in responses.times if unit]
    if callers:
        tables.append(
            parts.table(
                "Calls served or refused against the policy, by caller", {"caller": CODE, **both}, callers, top, len(responses.callers), "served_callers"
            )
        )
    if times:
        tables.append(
            parts.table("Calls served or refused against the policy, over time", {"from (UTC)": NAME, **both}, times, len(times))._replace(
                is_folded=len(times) > 1
            )
        )
    charts = []
    if unit is not None and len(responses.times) > 1:
        numbers = [(row.served_though_denied, row.refused_though_allowed) for row in responses.times]
        drawn = timeline([Span(row.start, unit.after(row.start), 0, 0) for row in responses.times], numbers, MISMATCHES, unit.ticks)
        charts.append(parts.chart("Calls served or refused against the policy, over time", drawn, *MISMATCHES))
    return Section(name, finding, charts, tables, definitions=f"{RULE}.")


def _first(row: Mismatch) -> str:
    """The first caller of a route, and the number of others; or a placeholder for calls without a caller."""
    more = row.callers - 1
    names = [shown(row.first_callers[0]) + (f" +{number(more)}{'' if row.callers < CALLERS else ' or more'}" if more else "")] if row.first_callers else []
    return "\n".join([*names, *([NO_CALLER] if row.without_caller else [])])


def changes(changes: Changes, calls: int, policy_name: str | None, top: int) -> Section:
    name, base = CHANGED, f"{shown(changes.base_name or 'a policy without a name')}, {changes.base}"
    if not changes.rows:
        same = "the call" if calls == 1 else f"all {number(calls, 'call')}"
        return Section(name, f"The other policy ({base}) decides {same} in the same way.", [], [])
    finding = (
        f"{number(changes.calls)} of {number(calls, 'call')} ({share(changes.calls, calls)}) {'is' if changes.calls == 1 else 'are'} decided differently by "
        f"the other policy ({base}): {directions(changes)}."
    )
    rows = [(row.before, row.after, row.route or NO_ROUTE, number(row.calls), parts.call(row.method, row.target, row.detail)) for row in changes.rows]
    # Versions of a policy often have the same name.
    other, this = (f", {shown(of, MOST_OF_A_NAME)}" if of and changes.base_name != policy_name else "" for of in (changes.base_name, policy_name))
    columns = {f"by the other policy{other}": NAME, f"by this policy{this}": NAME, "route": CODE, "calls": NUMBER, "for example": CODE}
    return Section(name, finding, [], [parts.table("Calls decided differently", columns, rows, top, source="changes_rows")])


def reasons(figures: Figures, top: int) -> Section:
    denials = [row for row in figures.decisions.reasons if row.decision == Effect.DENY]
    finding = "Every call was allowed."
    if denials:
        of_all = f"{number(figures.denied)} of {number(figures.calls, 'call')} ({share(figures.denied, figures.calls)}) {_were(figures.denied)} denied"
        is_tie = len(denials) > 1 and denials[1].calls == denials[0].calls
        finding = of_all + ("." if is_tie else f", most often because {denials[0].reason.explanation}.")
    drawn = []
    rows = []
    for row in figures.decisions.reasons:
        calls, part = number(row.calls), share(row.calls, figures.calls)
        numbers = (row.calls, 0) if row.decision == Effect.ALLOW else (0, row.calls)
        drawn.append(Bar(str(row.reason), f"{calls} · {part}", numbers))
        rows.append((str(row.reason), row.reason.explanation, str(row.decision), calls, part))
    columns = {"reason": NAME, "meaning": WORDS, "decision": NAME, "calls": NUMBER, "share": NUMBER}
    name = "Calls by reason"
    tables = [parts.table(name, columns, rows, len(rows))]
    if denied := [row for row in figures.decisions.outcomes if row.decision == Effect.DENY]:
        tables.append(_denials(denied, top))
    return Section("Allowed and denied", finding, parts.bars(name, drawn, ALLOWED, DENIED), tables)


def routes(figures: Figures, policy: Policy, top: int) -> Section:
    called = {row.route for row in figures.decisions.routes if row.route is not None and row.scope is not None}
    finding = f"{number(len(called))} of the policy's {number(len(policy.routes()), 'route')} {_were(len(called))} called."
    nowhere = sum(row.denied for row in figures.decisions.routes if row.route is None and row.scope is None)
    if tokenless := sum(row.calls for row in figures.unauthenticated.routes):
        finding += f" This includes {number(tokenless, 'call')} without a valid token, counted at the route or path of the request."
    if nowhere:
        finding += f" {number(nowhere, 'call')} {_were(nowhere)} denied without reaching a route."
    # Scanners send many calls that reach no route. A bar for these would make the bars of the routes too short to compare.
    reached = [row for row in figures.decisions.routes if row.route is not None or row.scope is not None]
    also = f"{NO_ROUTE}, with {number(nowhere, 'call')}," if nowhere else ""
    names = short_routes([parts.location(row) for row in reached[:MOST_BARS]])
    drawn = [Bar(name, parts.denied(row.allowed, row.denied), (row.allowed, row.denied)) for name, row in zip(names, reached)]
    lines = {str(route): number(route.line) for route in policy.routes()}
    rows = [
        (
            parts.location(row),
            row.scope or "–",
            lines.get(row.route or "", "–"),
            number(row.allowed),
            number(row.denied),
            share(row.denied, row.allowed + row.denied),
            str(row.denied_for or "–"),
        )
        for row in figures.decisions.routes
    ]
    columns = {"route": CODE, "scope": CODE, "policy line": NUMBER, "allowed": NUMBER, "denied": NUMBER, "share denied": NUMBER}
    columns |= {"main reason": NAME}
    name = "Calls by route"
    charts = parts.bars(name, drawn, ALLOWED, DENIED, count=len(reached), also=also)
    return Section("Routes", finding, charts, [parts.table(name, columns, rows, top, source="decisions_routes")._replace(is_folded=bool(charts))])


def times(figures: Figures, top: int) -> Section:
    name = "Over time"
    if figures.times.unit is None:
        nothing = "The log has no times, so calls cannot be shown over time."
        return Section(name, nothing, [], [])
    length = figures.times.unit.name if figures.times.unit.name[0].isdigit() else f"1 {figures.times.unit.name}"
    finding = f"Each bar is {length}, in UTC." if len(figures.times.spans) > 1 else f"All calls shown were made within {length}."
    if figures.without_time:
        finding += f" {number(figures.without_time, 'call')} without a time {'is' if figures.without_time == 1 else 'are'} left out."
    if figures.times.outlying:
        finding += (
            f" {number(figures.outlying_calls, 'call')} far from all other times {'is' if figures.outlying_calls == 1 else 'are'} left out and listed below."
        )
    charts = []
    # A single bar adds nothing to its number.
    if len(figures.times.spans) > 1:
        drawn = timeline(figures.times.spans, [(span.allowed, span.denied) for span in figures.times.spans], [ALLOWED, DENIED], figures.times.unit.ticks)
        charts.append(parts.chart("Calls allowed and denied, over time", drawn, ALLOWED, DENIED))
    rows = [(figures.times.unit.label(span.start), number(span.allowed), number(span.denied)) for span in figures.times.spans]
    columns = {"from (UTC)": NAME, "allowed": NUMBER, "denied": NUMBER}
    tables = [parts.table("Calls over time", columns, rows, len(rows))]
    if figures.times.outlying:
        far = [(row.named, number(row.calls), shown(row.where)) for row in figures.times.outlying[:top]]
        columns = {"time (UTC)": NAME, "calls": NUMBER, "first at": CODE}
        tables.append(parts.table("Times far from all others", columns, far, top, len(figures.times.outlying), "times_outlying"))
    return Section(name, finding, charts, tables)


def _denials(denied: Sequence[Outcome], top: int) -> Table:
    """The denied calls, each row with its first call as an example, without the query."""
    rows = [
        (
            parts.reason(row.reason, row.detail),
            parts.location(row),
            number(row.calls),
            _example(row),
        )
        for row in denied
    ]
    columns = {"reason": NAME, "route": CODE, "calls": NUMBER, "for example": CODE}
    return parts.table("Denied calls by reason and route", columns, rows, top, source="decisions_outcomes")


def _example(denial: Outcome) -> str:
    if denial.detail is not None:
        return f"{shown(denial.method)} {shown(denial.target)}"
    return parts.call(denial.method, denial.target)


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _them(count: int) -> str:
    return "it" if count == 1 else "them"
