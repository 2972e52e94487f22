"""The sections about unused, unknown and missing scopes, and about calls without a token."""

from __future__ import annotations

from collections import Counter, defaultdict
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ..._number import number
from ..._read.columns import SPACE
from ..._terms import Reason
from ..charts import MOST_BARS, Bar, matrix
from ..findings.words import UNKNOWN as UNKNOWN_SCOPES
from ..findings.words import UNUSED as UNUSED_GRANTS
from ..numbers import bound, short_routes, shown
from . import parts
from .parts import CODE, DENIED, NUMBER, UNKNOWN, UNUSED, USED, WORDS, Chart, Section, Table

if TYPE_CHECKING:
    from ..._policy import Policy
    from ..figures import Figures

# The most scopes in the chart of callers.
MOST_SCOPES = 12
# Likely errors in a scope, each with the characters that show it. The first match counts.
ERRORS = {"a list written as a string": '["', "a comma instead of a space": ",", "a space inside one scope": SPACE}
ANOTHER = "of another service, or misspelt"
# The least similarity to a scope of the policy to suggest it, from 0 to 1 (`difflib`).
NEAR = 0.85


def unused(figures: Figures, policy: Policy, top: int) -> Section:
    name = UNUSED_GRANTS
    if not figures.scopes.granted:
        return Section(name, f"No valid token in the log has a scope of the policy.{_invalid(figures)}", [], [])
    held_by = _holders(figures)
    needed = figures.needed
    tables = _unused_by_caller(held_by, needed, {(use.caller, use.scope): use.days for use in figures.scopes.by_caller}, top)
    pairs = figures.unused_by_caller
    by_caller = ""
    if figures.callers.counts:
        holders = len({use.caller for use in pairs})
        held = bound(len(pairs), figures.scopes.by_caller_is_exact, "pair")
        of_all = bound(figures.callers.different, figures.callers.is_exact, "caller")
        by_caller = f" {number(holders)} of {of_all} {'has' if holders == 1 else 'have'} unused scopes, {held} of caller and scope in total."
        if not pairs and figures.scopes.by_caller_is_exact:
            by_caller = " No caller has a scope that it never uses."
        by_caller += _unnamed(figures)
    if not figures.unused:
        granted = len(figures.scopes.granted)
        finding = (
            f"{number(granted, 'scope')} of the policy {'was' if granted == 1 else 'were'} granted, and "
            f"{'it was' if granted == 1 else 'each was'} used.{by_caller}{_invalid(figures)}"
        )
        return Section(name, finding, _held(held_by), tables)
    unused = len(figures.unused)
    of_all = f"{number(unused)} of {number(len(figures.scopes.granted), 'granted scope')} of the policy {'was' if unused == 1 else 'were'}"
    finding = (
        f"{of_all} never used. Without {'it' if unused == 1 else 'them'}, every call in this log would have been decided in the "
        f"same way.{by_caller}{_invalid(figures)}"
    )
    permits = {scope.scope: scope.permits or "–" for scope in policy.scopes()}
    drawn = [Bar(shown(use.scope), f"in {number(use.granted, 'call')}", (use.granted,)) for use in figures.unused]
    lacked: Counter[str] = Counter()
    for (_, scope), calls in needed.items():
        lacked[scope] += calls
    rows = [(f"{shown(use.scope)}{_denied(lacked[use.scope])}", permits[use.scope], number(use.granted)) for use in figures.unused]
    columns = {"scope": CODE, "permits": WORDS, "granted in calls": NUMBER}
    charts = _held(held_by) or parts.bars("Calls whose token has an unused scope", drawn, UNUSED)
    return Section(name, finding, charts, [parts.table("Scopes granted and never used", columns, rows, top, source="scopes_granted"), *tables])


def _holders(figures: Figures) -> dict[str, dict[str, bool]]:
    """The scopes of callers that never use some of theirs, and whether each is used. Callers with the most unused scopes come first."""
    held: defaultdict[str, dict[str, bool]] = defaultdict(dict)
    for use in figures.scopes.by_caller:
        held[use.caller][use.scope] = use.used > 0
    unused = {caller: sum(not is_used for is_used in scopes.values()) for caller, scopes in held.items()}
    callers = sorted((caller for caller in held if unused[caller]), key=lambda caller: (-unused[caller], caller))
    return {caller: held[caller] for caller in callers}


def _held(holders: dict[str, dict[str, bool]]) -> list[Chart]:
    """A chart of the callers with the most unused scopes, by scope."""
    first = [*holders][:MOST_BARS]
    unused = Counter(scope for caller in first for scope, is_used in holders[caller].items() if not is_used)
    # The scopes that most callers never use come first.
    names = sorted({scope for caller in first for scope in holders[caller]}, key=lambda scope: (-unused[scope], scope))[:MOST_SCOPES]
    if len(first) < 2 or len(names) < 2:
        return []
    cells = [
        (row, column, USED if holders[caller][scope] else UNUSED)
        for row, caller in enumerate(first) for column, scope in enumerate(names) if scope in holders[caller]
    ]  # fmt: skip
    drawn = matrix([shown(caller) for caller in first], [shown(scope) for scope in names], cells, (USED, UNUSED))
    return [
        parts.chart("Scopes of callers, used and never used", drawn, USED, UNUSED)._replace(
            more=len(holders) - len(first), mark="row", source="scopes_by_caller"
        )
    ]


def _unused_by_caller(
    holders: dict[str, dict[str, bool]], needed: dict[tuple[str | None, str], int], days: dict[tuple[str, str], int | None], top: int
) -> list[Table]:
    """The same callers with the numbers of their scopes, and the days without a use of each. Unused scopes that their denied calls needed come
    first.
    """
    rows = []
    for caller in [*holders][:top]:
        which = sorted((scope for scope, is_used in holders[caller].items() if not is_used), key=lambda scope: ((caller, scope) not in needed, scope))
        texts = [f"{shown(scope)}{_unused_for(days[caller, scope])}{_denied(needed.get((caller, scope), 0))}" for scope in which]
        rows.append((shown(caller), number(len(holders[caller])), number(len(which)), parts.some(texts)))
    columns = {"caller": CODE, "scopes held": NUMBER, "never used": NUMBER, "which": CODE}
    return [parts.table("Unused scopes of callers", columns, rows, top, len(holders), "scopes_by_caller")] if rows else []


def _unused_for(days: int | None) -> str:
    """For how many days of logs a scope wasn't used."""
    return f" ({number(days, 'day')})" if days else ""


def _denied(calls: int) -> str:
    """A note that denied calls needed an unused scope."""
    return f" (needed by {number(calls, 'denied call')})" if calls else ""


def unknown(figures: Figures, policy: Policy, top: int) -> Section:
    name = UNKNOWN_SCOPES
    if not figures.unknown.scopes:
        return Section(name, f"Every scope in a valid token is in the policy.{_invalid(figures)}", [], [])
    scopes = bound(figures.unknown.different, figures.unknown.is_exact, "scope")
    errors = Counter(_error(row.scope) for row in figures.unknown.scopes)
    one = figures.unknown.different == 1 and figures.unknown.is_exact
    start = f"Valid tokens have {scopes} that {'is' if one else 'are'} not in the policy and {'allows' if one else 'allow'} nothing."
    finding = f"{start} {'It' if one else 'They'} might belong to another service, or be misspelt."
    if errors.keys() != {ANOTHER}:
        details = ", ".join(f"{error}: {bound(errors[error], figures.unknown.is_exact)}" for error in (*ERRORS, ANOTHER) if errors[error])
        finding = f"{start} Likely errors: {details}."
    first = figures.unknown.scopes[: max(top, MOST_BARS)]
    names = [scope.scope for scope in policy.scopes()]
    rows = [(shown(row.scope), _meant(row.scope, names), bound(row.granted, row.is_exact)) for row in first]
    drawn = [Bar(scope, f"{calls} calls", (row.granted,)) for row, (scope, _, calls) in zip(first, rows)]
    charts = parts.bars("Calls whose token has an unknown scope", drawn, UNKNOWN, count=figures.unknown.different)
    tables = [
        parts.table(
            "Scopes that the policy does not have",
            {"scope": CODE, "likely error": WORDS, "granted in calls": NUMBER},
            rows,
            top,
            figures.unknown.different,
            "unknown_scopes",
        )
    ]
    if figures.unknown.by_caller:
        holders = bound(len({row.caller for row in figures.unknown.by_caller}), figures.unknown.by_caller_is_exact, "caller")
        finding += f" {'It is' if one else 'They are'} in tokens of {holders}.{_unnamed(figures)}"
        held = [(shown(row.caller), shown(row.scope), bound(row.granted, row.is_exact)) for row in figures.unknown.by_caller[:top]]
        columns = {"caller": CODE, "scope": CODE, "granted in calls": NUMBER}
        tables.append(parts.table("Callers with scopes that the policy does not have", columns, held, top, len(figures.unknown.by_caller), "unknown_by_caller"))
    return Section(name, f"{finding}{_invalid(figures)}", charts, tables)


def _invalid(figures: Figures) -> str:
    """A note about tokens whose scopes aren't counted."""
    count = figures.with_invalid_token
    return f" {number(count, 'call')} with a token of unknown kind {'is' if count == 1 else 'are'} left out." if count else ""


def _unnamed(figures: Figures) -> str:
    """A note about calls without a caller."""
    count = figures.callers.without
    return f" {number(count, 'call')} without a caller {'is' if count == 1 else 'are'} not counted by caller." if count else ""


def _error(scope: str) -> str:
    """The likely error in a scope that the policy doesn't have."""
    return next((error for error, signs in ERRORS.items() if any(sign in scope for sign in signs)), ANOTHER)


def _meant(scope: str, names: list[str]) -> str:
    """The same, with the most similar scope of the policy, if there is one. Slow, so it is used only for the first scopes."""
    near = get_close_matches(scope, names, 1, NEAR) if _error(scope) == ANOTHER else []
    return f"misspelt for {near[0]}?" if near else _error(scope)


def missing(figures: Figures, top: int) -> Section:
    name = "Missing scopes"
    if not figures.scopes.missing:
        return Section(name, "No call was denied because it lacked a scope.", [], [])
    calls = sum(row.calls for row in figures.decisions.reasons if row.reason == Reason.SCOPE_MISSING)
    lacked = number(len(figures.scopes.missing), "scope")
    finding = f"{number(calls, 'call')} {'was' if calls == 1 else 'were'} denied only because a scope was missing, {lacked} in total."
    drawn = [Bar(row.scope, number(row.calls, "denied call"), (row.calls,)) for row in figures.scopes.missing]
    short = iter(short_routes([route for row in figures.scopes.missing for route in row.routes]))
    rows = [(row.scope, number(row.calls), parts.some([next(short) for _ in row.routes], 2)) for row in figures.scopes.missing]
    columns = {"scope": CODE, "denied calls": NUMBER, "called routes": CODE}
    charts = parts.bars("Denied calls by the scope that they lacked", drawn, DENIED)
    return Section(name, finding, charts, [parts.table("Scopes that denied calls lacked", columns, rows, top, source="scopes_missing")])


def probed(figures: Figures, top: int) -> Section:
    name = "Without a token"
    # A path without a method is one that the policy has only with other methods.
    routes = [row for row in figures.unauthenticated.routes if not row.route.startswith("/")]
    calls, all_calls = (sum(row.calls for row in rows) for rows in (routes, figures.unauthenticated.routes))
    finding = f"{number(len(routes), 'route')} {'was' if len(routes) == 1 else 'were'} called without a valid token, in {number(calls, 'call')}."
    if not routes:
        finding = "No route was called without a valid token."
    if all_calls > calls:
        finding += (
            f" {number(all_calls - calls, 'call')} without a valid token used a method that the policy does not declare "
            "for the path, for example OPTIONS in a preflight."
        )
    if figures.tokenless > all_calls:
        finding += f" {number(figures.tokenless - all_calls, 'call')} without a valid token had a path that is not in the policy."
    malformed = (
        (figures.unauthenticated.malformed_without_token, "without a token"),
        (figures.unauthenticated.malformed_with_invalid_token, "with a token of unknown kind"),
    )
    malformed_calls = sum(count for count, _ in malformed)
    if more := " and ".join(f"{number(count, 'call')} {which}" for count, which in malformed if count):
        finding += f" {more} {'was' if malformed_calls == 1 else 'were'} malformed, and therefore denied before the token was checked."
    if not figures.unauthenticated.routes:
        return Section(name, finding, [], [])
    names = short_routes([row.route for row in figures.unauthenticated.routes[:MOST_BARS]])
    drawn = [Bar(name, number(row.calls, "call"), (row.calls,)) for name, row in zip(names, figures.unauthenticated.routes)]
    rows = [(row.route, number(row.calls), number(row.no_token), number(row.invalid_token)) for row in figures.unauthenticated.routes]
    columns = {"route": CODE, "calls": NUMBER, "no token": NUMBER, "invalid token": NUMBER}
    charts = parts.bars("Calls without a valid token, by route or path", drawn, DENIED, count=len(figures.unauthenticated.routes))
    return Section(name, finding, charts, [parts.table("Routes and paths called without a valid token", columns, rows, top, source="unauthenticated_routes")])
