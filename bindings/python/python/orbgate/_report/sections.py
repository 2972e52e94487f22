"""The sections of a report: each a sentence, its charts and the tables with their numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from .._terms import Effect, Reason
from .charts import MOST_BARS, Bar, Series, bars, timeline
from ..logs._served import REFUSALS, REFUSED_THOUGH_ALLOWED, SERVED_THOUGH_DENIED
from .numbers import bound, number, routes, share, shown

if TYPE_CHECKING:
    from .._policy import Policy
    from .figures import CallerCount, CallerScope, Changes, Figures, Outcome, RouteCount
    from .served import Served
    from .spans import Unit

NO_ROUTE = "(no route)"
# What a column has: words, names that are not broken, code of any length, numbers.
WORDS, NAME, CODE, NUMBER = "words", "name", "code", "number"
ALLOWED, DENIED = Series("allowed", "allow"), Series("denied", "deny")
CONSUMING, UNUSED = Series("consume orbs", "orbs"), Series("granted, never used", "idle")


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
    """A part of the page; without anything to draw or list it is its sentence."""

    name: str
    finding: str
    charts: Sequence[Chart]
    tables: Sequence[Table]


def sections(found: Figures, policy: Policy, top: int) -> Sequence[Section]:
    """The sections, in their order; each table has at most `top` rows."""
    unread = [_unread(found)] if found.unread or found.broken else []
    if not found.calls:
        nothing = "The log has no calls, so there is nothing to decide, to draw or to list."
        return [*unread, Section("No calls", nothing, [], [])]
    return [
        *unread,
        *([_served(found.served, found.unit, top)] if found.served.calls else []),
        *([] if found.changes is None else [_changes(found.changes, found.calls, top)]),
        _reasons(found),
        _routes(found, policy, top),
        _times(found),
        _unused(found, policy, top),
        _unknown(found, top),
        _missing(found, top),
        _probed(found, top),
        _callers(found, top),
        _denials(found, top),
    ]


def _unread(found: Figures) -> Section:
    finding = f"Not decided, and not counted below: {number(found.unread, 'row')}."
    if found.broken:
        finding += f" After the rows before, the log breaks off: {shown(found.broken)}."
    rows = [(number(row.row), shown(row.why)) for row in found.first_unread]
    more = found.unread - len(rows)
    table = Table("The first rows that could not be read", {"row": NUMBER, "why": WORDS}, rows, more)
    return Section("Unread rows", finding, [], [table] if rows else [])


def _served(found: Served, unit: Unit | None, top: int) -> Section:
    name = "Served against decided"
    denied, allowed = found.of(SERVED_THOUGH_DENIED), found.of(REFUSED_THOUGH_ALLOWED)
    finding = (
        f"Of {number(found.calls, 'call')} with a status: served though the policy denies them {number(denied)}, refused "
        f"though it allows them {number(allowed)}. A status below 400 is served; {', '.join(map(str, REFUSALS))} are refused; any other says neither."
    )
    if found.without_status:
        finding += f" Without a status: {number(found.without_status, 'call')}."
    grid = [(row.served, str(row.decision), number(row.calls), share(row.calls, found.calls)) for row in found.counts]
    columns = {"server": NAME, "policy": NAME, "calls": NUMBER, "share": NUMBER}
    tables = [_table("What the server did, and what the policy decides", columns, grid, len(grid))]
    rows = [
        (row.what, number(row.status), str(row.reason), row.route or NO_ROUTE, number(row.calls), number(row.row), shown(row.caller), _call(row.method, row.target))
        for row in found.mismatches[:top]
    ]
    columns = {"what": WORDS, "status": NUMBER, "reason": NAME, "route": CODE, "calls": NUMBER, "first row": NUMBER, "its caller": CODE, "its call": CODE}
    callers = [
        (shown(row.caller), bound(row.served_though_denied, row.is_exact), bound(row.refused_though_allowed, row.is_exact))
        for row in found.callers[:top]
    ]
    both = {SERVED_THOUGH_DENIED: NUMBER, REFUSED_THOUGH_ALLOWED: NUMBER}
    times = [
        (unit.label(row.start), number(row.served_though_denied), number(row.refused_though_allowed)) for row in found.times if unit
    ]
    if rows:
        tables.append(_table("Calls that were served or refused otherwise, by route", columns, rows, top, len(found.mismatches)))
    if callers:
        tables.append(_table("The same by caller", {"caller": CODE, **both}, callers, top, len(found.callers)))
    if times:
        tables.append(_table("The same over time", {"from (UTC)": NAME, **both}, times, len(times)))
    return Section(name, finding, [], tables)


def _changes(found: Changes, calls: int, top: int) -> Section:
    name = "Against the other policy"
    if not found.rows:
        return Section(name, f"Decided alike by {found.base}: {number(calls, 'call')}, all of them.", [], [])
    finding = (
        f"Decided otherwise than by {found.base}: {number(found.calls)} of {number(calls, 'call')}, "
        f"{share(found.calls, calls)}; newly allowed {number(found.newly_allowed)}, newly denied {number(found.newly_denied)}."
    )
    rows = [
        (row.before, row.after, row.route or NO_ROUTE, number(row.calls), _call(row.method, row.target))
        for row in found.rows
    ]
    columns = {"before": NAME, "now": NAME, "route": CODE, "calls": NUMBER, "for example": CODE}
    return Section(name, finding, [], [_table("Calls decided otherwise", columns, rows, top)])


def _reasons(found: Figures) -> Section:
    denials = [row for row in found.reasons if row.decision == Effect.DENY]
    finding = "Every call was allowed."
    if denials:
        of_all = f"{number(found.denied)} of {number(found.calls, 'call')}, {share(found.denied, found.calls)}"
        finding = f"Denied: {of_all}; most often because {denials[0].reason.explanation}."
    drawn = []
    rows = []
    for row in found.reasons:
        calls, part = number(row.calls), share(row.calls, found.calls)
        numbers = (row.calls, 0) if row.decision == Effect.ALLOW else (0, row.calls)
        drawn.append(Bar(str(row.reason), f"{calls} · {part}", numbers))
        rows.append((str(row.reason), row.reason.explanation, str(row.decision), calls, part))
    columns = {"reason": NAME, "meaning": WORDS, "decision": NAME, "calls": NUMBER, "share": NUMBER}
    name = "Calls by reason"
    return Section(
        "Allowed and denied", finding, [_bars(name, drawn, ALLOWED, DENIED)], [_table(name, columns, rows, len(rows))]
    )


def _routes(found: Figures, policy: Policy, top: int) -> Section:
    called = {row.route for row in found.routes if row.route is not None and row.scope is not None}
    finding = f"Called: {number(len(called))} of the policy's {number(len(policy.routes()), 'route')}."
    nowhere = sum(row.denied for row in found.routes if row.route is None and row.scope is None)
    if nowhere:
        finding += f" Denied before a route was known: {number(nowhere, 'call')}."
    # Scanners send many calls that reach no route. With a bar for these, the bars of the routes would be too short to compare.
    reached = [row for row in found.routes if row.route is not None or row.scope is not None] or found.routes
    names = routes([_place(row) for row in reached[:MOST_BARS]])
    drawn = [Bar(name, _denied(row.allowed, row.denied), (row.allowed, row.denied)) for name, row in zip(names, reached)]
    lines = {str(route): number(route.line) for route in policy.routes()}
    rows = [
        (
            _place(row),
            row.scope or "–",
            lines.get(row.route or "", "–"),
            number(row.allowed),
            number(row.denied),
            share(row.denied, row.allowed + row.denied),
            number(row.consuming),
            number(row.orbs),
            number(row.unstated),
            str(row.denied_for or "–"),
        )
        for row in found.routes
    ]
    columns = {"route": CODE, "scope": CODE, "policy line": NUMBER, "allowed": NUMBER, "denied": NUMBER, "share denied": NUMBER}
    columns |= {"consume orbs": NUMBER, "orbs stated": NUMBER, "calls unstated": NUMBER, "denied mostly for": NAME}
    name = "Calls by route"
    charts = [_bars(name, drawn, ALLOWED, DENIED)]
    consuming = sorted((row for row in found.routes if row.consuming), key=lambda row: -row.consuming)[:MOST_BARS]
    if consuming:
        names = routes([_place(row) for row in consuming])
        orbs = [Bar(name, number(row.consuming), (row.consuming,)) for name, row in zip(names, consuming)]
        charts.append(_bars("Calls that consume orbs, by route", orbs, CONSUMING))
    return Section("Routes", finding, charts, [_table(name, columns, rows, top)])


def _times(found: Figures) -> Section:
    name = "Over time"
    if found.unit is None:
        nothing = "The log has no times, so nothing can be said of when calls were made."
        return Section(name, nothing, [], [])
    finding = f"Each bar: {found.unit.name}, in UTC."
    finding += f" {_most_orbs(found, found.unit)}"
    if found.without_time:
        finding += f" Left out, because they have no time: {number(found.without_time, 'call')}."
    form = found.unit.ticks
    orbs = timeline(found.times, [(span.consuming,) for span in found.times], [CONSUMING], form)
    calls = timeline(found.times, [(span.allowed, span.denied) for span in found.times], [ALLOWED, DENIED], form)
    charts = [
        _chart("Calls that consume orbs, over time", orbs, CONSUMING),
        _chart("Calls allowed and denied, over time", calls, ALLOWED, DENIED),
    ]
    rows = [
        (found.unit.label(span.start), *map(number, (span.allowed, span.denied, span.consuming, span.orbs, span.unstated)))
        for span in found.times
    ]
    columns = {"from (UTC)": NAME, "allowed": NUMBER, "denied": NUMBER, "consume orbs": NUMBER}
    columns |= {"orbs stated": NUMBER, "calls unstated": NUMBER}
    return Section(name, finding, charts, [_table("Calls over time", columns, rows, len(rows))])


def _most_orbs(found: Figures, unit: Unit) -> str:
    """When most orbs were consumed. A sum of orbs never goes without the calls that are not in it."""
    most = max(found.times, key=lambda span: (span.orbs, span.consuming))
    start = unit.label(most.start)
    if most.orbs:
        rest = f", without {number(most.unstated, 'call')} for which the policy states no amount" if most.unstated else ""
        return f"Orbs were consumed most from {start} on: {number(most.orbs, 'orb')}{rest}."
    if most.consuming:
        return f"Most calls that consume orbs were made from {start} on: {number(most.consuming)}; the policy states no amount for any."
    return "No call consumed orbs."


def _unused(found: Figures, policy: Policy, top: int) -> Section:
    name = "Unused scopes"
    if not found.scopes:
        return Section(name, "No token of the log carries a scope of the policy.", [], [])
    tables = _unused_by_caller(found, top)
    pairs = found.unused_by_caller
    by_caller = ""
    if found.callers:
        holders = len({use.caller for use in pairs})
        held = bound(len(pairs), found.caller_scopes_is_exact, "scope")
        of_all = bound(found.different_callers, found.callers_is_exact, "caller")
        by_caller = f" Held by a caller and never used by it: {held}, by {number(holders)} of {of_all}."
    if not found.unused:
        finding = f"Used by somebody: {number(len(found.scopes), 'granted scope')}, all of them.{by_caller}"
        return Section(name, finding, [], tables)
    of_all = f"{number(len(found.unused))} of {number(len(found.scopes), 'scope')} of the policy"
    finding = f"Granted and used by nobody: {of_all}. Without them, every call of this log would have been decided alike.{by_caller}"
    permits = {scope.scope: scope.permits or "–" for scope in policy.scopes()}
    drawn = [Bar(shown(use.scope), f"in {number(use.granted, 'call')}", (use.granted,)) for use in found.unused]
    rows = [(shown(use.scope), permits[use.scope], number(use.granted)) for use in found.unused]
    columns = {"scope": CODE, "permits": WORDS, "granted in calls": NUMBER}
    chart = _bars("Calls whose token carries an unused scope", drawn, UNUSED)
    return Section(name, finding, [chart], [_table("Scopes granted and used by nobody", columns, rows, top), *tables])


def _unused_by_caller(found: Figures, top: int) -> list[Table]:
    """The callers who hold most that they never use."""
    held: defaultdict[str, list[CallerScope]] = defaultdict(list)
    for use in found.caller_scopes:
        held[use.caller].append(use)
    unused = {caller: [use.scope for use in uses if not use.used] for caller, uses in held.items()}
    callers = sorted((caller for caller in held if unused[caller]), key=lambda caller: (-len(unused[caller]), caller))
    rows = [
        (shown(caller), number(len(held[caller])), number(len(unused[caller])), _some(sorted(map(shown, unused[caller]))))
        for caller in callers[:top]
    ]
    columns = {"caller": CODE, "scopes held": NUMBER, "never used": NUMBER, "which": CODE}
    return [_table("Scopes that callers hold and never use", columns, rows, top, len(callers))] if rows else []


def _unknown(found: Figures, top: int) -> Section:
    name = "Unknown scopes"
    if not found.unknown:
        return Section(name, "Tokens carry no scope that the policy does not have.", [], [])
    scopes = bound(found.unknown_scopes, found.unknown_is_exact, "scope")
    finding = f"Tokens carry {scopes} that the policy does not have. They permit nothing, and may be misspelt."
    first = found.unknown[: max(top, MOST_BARS)]
    counts = [(shown(row.scope), bound(row.granted, row.is_exact), row.granted) for row in first]
    drawn = [Bar(scope, f"{calls} calls", (granted,)) for scope, calls, granted in counts]
    rows = [(scope, calls) for scope, calls, _ in counts]
    chart = _bars("Calls whose token carries an unknown scope", drawn, UNUSED)
    table = _table("Scopes that the policy does not have", {"scope": CODE, "granted in calls": NUMBER}, rows, top, found.unknown_scopes)
    return Section(name, finding, [chart], [table])


def _missing(found: Figures, top: int) -> Section:
    name = "Missing scopes"
    if not found.missing:
        return Section(name, "No call was denied because it lacked a scope.", [], [])
    calls = sum(row.calls for row in found.missing)
    lacked = number(len(found.missing), "scope")
    finding = f"Denied for nothing but the want of a scope: {number(calls, 'call')}, which lacked {lacked}."
    drawn = [Bar(row.scope, number(row.calls, "denied call"), (row.calls,)) for row in found.missing]
    short = iter(routes([route for row in found.missing for route in row.routes]))
    rows = [(row.scope, number(row.calls), _some([next(short) for _ in row.routes])) for row in found.missing]
    columns = {"scope": CODE, "denied calls": NUMBER, "routes that were called": CODE}
    chart = _bars("Denied calls by the scope that they lacked", drawn, DENIED)
    return Section(name, finding, [chart], [_table("Scopes that denied calls lacked", columns, rows, top)])


def _probed(found: Figures, top: int) -> Section:
    name = "Without a token"
    if not found.probed:
        return Section(name, "No route was called without a valid token.", [], [])
    calls = sum(row.calls for row in found.probed)
    finding = f"Called without a valid token: {number(len(found.probed), 'route')}, by {number(calls, 'call')}."
    names = routes([row.route for row in found.probed[:MOST_BARS]])
    drawn = [Bar(name, number(row.calls, "call"), (row.calls,)) for name, row in zip(names, found.probed)]
    rows = [(row.route, number(row.calls), number(row.no_token), number(row.invalid_token)) for row in found.probed]
    columns = {"route": CODE, "calls": NUMBER, "no token": NUMBER, "invalid token": NUMBER}
    chart = _bars("Calls without a valid token, by route", drawn, DENIED)
    return Section(name, finding, [chart], [_table("Routes called without a valid token", columns, rows, top)])


def _callers(found: Figures, top: int) -> Section:
    name = "Denied callers"
    if not found.callers:
        return Section(name, "The log does not say who called.", [], [])
    denied = [row for row in found.callers if row.denied]
    callers = bound(found.different_callers, found.callers_is_exact, "caller")
    if not denied:
        return Section(name, f"None of {callers}.", [], [])
    finding = f"Denied at least once: {bound(len(denied), found.callers_is_exact)} of {callers}."
    if len(denied) > MOST_BARS and found.callers_is_exact:
        first = sum(row.denied for row in denied[:MOST_BARS])
        finding += f" The first {MOST_BARS} have {share(first, sum(row.denied for row in denied))} of these denials."
    if not found.callers_is_exact:
        finding += " There are too many to tell all of them apart: here are those with most denials."
    if found.without_caller:
        finding += f" Left out, because they name no caller: {number(found.without_caller, 'call')}."
    drawn = [Bar(shown(row.caller), " of ".join(_counts(row)), (row.denied,)) for row in denied[:MOST_BARS]]
    rows = [
        (
            shown(row.caller),
            *_counts(row),
            share(row.denied, row.allowed + row.denied) if row.is_exact else "–",
            str(row.denied_for),
        )
        for row in denied[:top]
    ]
    columns = {"caller": CODE, "denied": NUMBER, "calls": NUMBER, "share denied": NUMBER, "mostly for": NAME}
    chart = _bars("Callers denied most: denied calls", drawn, DENIED)
    by_route = [
        (shown(row.caller), row.route or NO_ROUTE, row.scope or "–", bound(row.denied, row.is_exact), str(row.reason))
        for row in found.caller_denials[:top]
    ]
    what = {"caller": CODE, "route": CODE, "scope": CODE, "denied": NUMBER, "for": NAME}
    tables = [
        _table("Callers denied most", columns, rows, top, len(denied)),
        _table("Callers denied most, by route and scope", what, by_route, top, len(found.caller_denials)),
    ]
    return Section(name, finding, [chart], tables)


def _counts(row: CallerCount) -> tuple[str, str]:
    """A caller's denied calls and all of them."""
    return bound(row.denied, row.is_exact), bound(row.allowed + row.denied, row.is_exact)


def _denials(found: Figures, top: int) -> Section:
    name = "Denials"
    denials = [row for row in found.outcomes if row.decision == Effect.DENY]
    if not denials:
        return Section(name, "No call was denied.", [], [])
    finding = "Denied calls by reason and route, each with its first call as an example; queries are left out."
    rows = [
        (
            str(row.reason) if row.detail is None else f"{row.reason}: {row.detail}",
            _place(row),
            number(row.calls),
            _example(row),
        )
        for row in denials
    ]
    columns = {"reason": NAME, "route": CODE, "calls": NUMBER, "for example": CODE}
    return Section(name, finding, [], [_table("Denied calls by reason and route", columns, rows, top)])


def _place(row: RouteCount | Outcome) -> str:
    """The route; or, without one, the scope that was asked for."""
    return row.route or (f"{row.scope} (by scope)" if row.scope is not None else NO_ROUTE)


def _example(denial: Outcome) -> str:
    if denial.detail is not None:
        return f"{shown(denial.method)} {shown(denial.target)}"
    return _call(denial.method, denial.target)


def _call(method: str | None, target: str | None) -> str:
    return "asked by scope" if method is None and target is None else f"{shown(method)} {shown(target)}"


def _bars(about: str, rows: Sequence[Bar], *series: Series) -> Chart:
    return _chart(about, bars(rows, series), *series)


def _chart(about: str, drawings: Sequence[str], *series: Series) -> Chart:
    # vl-convert escapes what it writes.
    return Chart(about, [Markup(drawing) for drawing in drawings], series)


def _table(
    caption: str, columns: dict[str, str], rows: Sequence[Sequence[str]], top: int, count: int | None = None
) -> Table:
    return Table(caption, columns, rows[:top], max(0, (len(rows) if count is None else count) - top))


def _denied(allowed: int, denied: int) -> str:
    return f"{number(allowed + denied)} · {share(denied, allowed + denied)} denied"


def _some(names: Sequence[str], most: int = 4) -> str:
    more = [f"and {number(len(names) - most)} more"] if len(names) > most else []
    return "\n".join([*names[:most], *more])
