"""Scopes: held and never used, unknown, missing; and calls without a token."""

from __future__ import annotations

from collections import Counter, defaultdict
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ..._number import number
from ..._read.columns import SPACE
from ..charts import MOST_BARS, Bar, matrix
from ..findings import UNKNOWN as UNKNOWN_SCOPES
from ..findings import UNUSED as UNUSED_GRANTS
from ..numbers import bound, short_routes, shown
from . import parts
from .parts import CODE, DENIED, NUMBER, UNKNOWN, UNUSED, USED, WORDS, Chart, Section, Table

if TYPE_CHECKING:
    from ..._policy import Policy
    from ..figures import Figures

# How many scopes the chart of callers has.
MOST_SCOPES = 12
# What may be wrong with a scope, by the signs of it, the first that has one; without any of them nothing need be.
ERRORS = {"the text of a list, no list": '["', "a comma, where spaces divide scopes": ",", "a space inside one scope": SPACE}
ANOTHER = "of another service, or misspelt"
# How like a scope of the policy one is that may be meant for it, of 1 for the same: `difflib`, by the letters that they share in order.
NEAR = 0.85


def unused(found: Figures, policy: Policy, top: int) -> Section:
    name = UNUSED_GRANTS
    if not found.scopes.granted:
        return Section(name, f"No valid token of the log carries a scope of the policy.{_invalid(found)}", [], [])
    held_by = _holders(found)
    needed = found.needed
    tables = _unused_by_caller(held_by, needed, top)
    pairs = found.unused_by_caller
    by_caller = ""
    if found.callers.counts:
        holders = len({use.caller for use in pairs})
        held = bound(len(pairs), found.scopes.by_caller_is_exact, "scope")
        of_all = bound(found.callers.different, found.callers.is_exact, "caller")
        by_caller = f" Held by a caller and never used by it: {held}, by {number(holders)} of {of_all}."
        if not pairs and found.scopes.by_caller_is_exact:
            by_caller = " No caller holds one that it never uses."
        by_caller += _unnamed(found)
    if not found.unused:
        finding = f"Granted scopes that the policy has: {number(len(found.scopes.granted))}. Each was used by somebody.{by_caller}{_invalid(found)}"
        return Section(name, finding, _held(held_by), tables)
    of_all = f"{number(len(found.unused))} of {number(len(found.scopes.granted), 'granted scope')} that the policy has"
    finding = f"Granted and used by nobody: {of_all}. Without them, every call of this log would have been decided alike.{by_caller}{_invalid(found)}"
    permits = {scope.scope: scope.permits or "–" for scope in policy.scopes()}
    drawn = [Bar(shown(use.scope), f"in {number(use.granted, 'call')}", (use.granted,)) for use in found.unused]
    lacked: Counter[str] = Counter()
    for (_, scope), calls in needed.items():
        lacked[scope] += calls
    rows = [(f"{shown(use.scope)}{_denied(lacked[use.scope])}", permits[use.scope], number(use.granted)) for use in found.unused]
    columns = {"scope": CODE, "permits": WORDS, "granted in calls": NUMBER}
    charts = _held(held_by) or parts.bars("Calls whose token carries an unused scope", drawn, UNUSED)
    return Section(name, finding, charts, [parts.table("Scopes granted and used by nobody", columns, rows, top, source="scopes_granted"), *tables])


def _holders(found: Figures) -> dict[str, dict[str, bool]]:
    """The scopes that callers hold, and whether they use them; of the callers who never use some, first those with most."""
    held: defaultdict[str, dict[str, bool]] = defaultdict(dict)
    for use in found.scopes.by_caller:
        held[use.caller][use.scope] = use.used > 0
    unused = {caller: sum(not is_used for is_used in scopes.values()) for caller, scopes in held.items()}
    callers = sorted((caller for caller in held if unused[caller]), key=lambda caller: (-unused[caller], caller))
    return {caller: held[caller] for caller in callers}


def _held(holders: dict[str, dict[str, bool]]) -> list[Chart]:
    """The callers who hold most that they never use, by scope."""
    first = [*holders][:MOST_BARS]
    unused = Counter(scope for caller in first for scope, is_used in holders[caller].items() if not is_used)
    # First those that most of them never use.
    names = sorted({scope for caller in first for scope in holders[caller]}, key=lambda scope: (-unused[scope], scope))[:MOST_SCOPES]
    if len(first) < 2 or len(names) < 2:
        return []
    cells = [
        (row, column, USED if holders[caller][scope] else UNUSED)
        for row, caller in enumerate(first) for column, scope in enumerate(names) if scope in holders[caller]
    ]  # fmt: skip
    drawn = matrix([shown(caller) for caller in first], [shown(scope) for scope in names], cells, (USED, UNUSED))
    return [parts.chart("Scopes that callers hold, used and never used", drawn, USED, UNUSED)._replace(more=len(holders) - len(first), mark="row", source="scopes_by_caller")]


def _unused_by_caller(holders: dict[str, dict[str, bool]], needed: dict[tuple[str | None, str], int], top: int) -> list[Table]:
    """The same callers, with how many scopes that are, first those that their denied calls needed."""
    rows = []
    for caller in [*holders][:top]:
        which = sorted((scope for scope, is_used in holders[caller].items() if not is_used), key=lambda scope: ((caller, scope) not in needed, scope))
        said = [f"{shown(scope)}{_denied(needed.get((caller, scope), 0))}" for scope in which]
        rows.append((shown(caller), number(len(holders[caller])), number(len(which)), parts.some(said)))
    columns = {"caller": CODE, "scopes held": NUMBER, "never used": NUMBER, "which": CODE}
    return [parts.table("Scopes that callers hold and never use", columns, rows, top, len(holders), "scopes_by_caller")] if rows else []


def _denied(calls: int) -> str:
    """That denied calls needed a scope that is never used."""
    return f" (needed by {number(calls, 'denied call')})" if calls else ""


def unknown(found: Figures, policy: Policy, top: int) -> Section:
    name = UNKNOWN_SCOPES
    if not found.unknown.scopes:
        return Section(name, f"Valid tokens carry no scope that the policy does not have.{_invalid(found)}", [], [])
    scopes = bound(found.unknown.different, found.unknown.is_exact, "scope")
    errors = Counter(_error(row.scope) for row in found.unknown.scopes)
    finding = f"Valid tokens carry {scopes} that the policy does not have. They permit nothing, and may be those of another service, or misspelt."
    if errors.keys() != {ANOTHER}:
        said = ", ".join(f"{error}: {bound(errors[error], found.unknown.is_exact)}" for error in (*ERRORS, ANOTHER) if errors[error])
        finding = f"Valid tokens carry {scopes} that the policy does not have. They permit nothing. What may be wrong with them: {said}."
    first = found.unknown.scopes[: max(top, MOST_BARS)]
    names = [scope.scope for scope in policy.scopes()]
    rows = [(shown(row.scope), _meant(row.scope, names), bound(row.granted, row.is_exact)) for row in first]
    drawn = [Bar(scope, f"{calls} calls", (row.granted,)) for row, (scope, _, calls) in zip(first, rows)]
    charts = parts.bars("Calls whose token carries an unknown scope", drawn, UNKNOWN, count=found.unknown.different)
    tables = [parts.table("Scopes that the policy does not have", {"scope": CODE, "what may be wrong": WORDS, "granted in calls": NUMBER}, rows, top, found.unknown.different, "unknown_scopes")]
    if found.unknown.by_caller:
        holders = bound(len({row.caller for row in found.unknown.by_caller}), found.unknown.by_caller_is_exact, "caller")
        finding += f" They are carried by tokens of {holders}.{_unnamed(found)}"
        held = [(shown(row.caller), shown(row.scope), bound(row.granted, row.is_exact)) for row in found.unknown.by_caller[:top]]
        columns = {"caller": CODE, "scope": CODE, "granted in calls": NUMBER}
        tables.append(parts.table("Who carries scopes that the policy does not have", columns, held, top, len(found.unknown.by_caller), "unknown_by_caller"))
    return Section(name, f"{finding}{_invalid(found)}", charts, tables)


def _invalid(found: Figures) -> str:
    """The tokens whose scopes are not looked at."""
    return f" What tokens of no known kind carry is left out: {number(found.with_invalid_token, 'call')}." if found.with_invalid_token else ""


def _unnamed(found: Figures) -> str:
    """The calls that are of no caller."""
    return f" By caller, those that name none are left out: {number(found.callers.without, 'call')}." if found.callers.without else ""


def _error(scope: str) -> str:
    """What is likely wrong with a scope that the policy does not have."""
    return next((error for error, signs in ERRORS.items() if any(sign in scope for sign in signs)), ANOTHER)


def _meant(scope: str, names: list[str]) -> str:
    """The same, with the scope of the policy that it is most like, if it is like one. For the first ones only: it compares with each."""
    near = get_close_matches(scope, names, 1, NEAR) if _error(scope) == ANOTHER else []
    return f"misspelt for {near[0]}?" if near else _error(scope)


def missing(found: Figures, top: int) -> Section:
    name = "Missing scopes"
    if not found.scopes.missing:
        return Section(name, "No call was denied because it lacked a scope.", [], [])
    calls = sum(row.calls for row in found.scopes.missing)
    lacked = number(len(found.scopes.missing), "scope")
    finding = f"Denied only because a scope was missing: {number(calls, 'call')}, which lacked {lacked}."
    drawn = [Bar(row.scope, number(row.calls, "denied call"), (row.calls,)) for row in found.scopes.missing]
    short = iter(short_routes([route for row in found.scopes.missing for route in row.routes]))
    rows = [(row.scope, number(row.calls), parts.some([next(short) for _ in row.routes], 2)) for row in found.scopes.missing]
    columns = {"scope": CODE, "denied calls": NUMBER, "routes that were called": CODE}
    charts = parts.bars("Denied calls by the scope that they lacked", drawn, DENIED)
    return Section(name, finding, charts, [parts.table("Scopes that denied calls lacked", columns, rows, top, source="scopes_missing")])


def probed(found: Figures, top: int) -> Section:
    name = "Without a token"
    # A path alone is one that the policy has with other methods.
    routes = [row for row in found.unauthenticated.routes if not row.route.startswith("/")]
    calls, all_calls = (sum(row.calls for row in rows) for rows in (routes, found.unauthenticated.routes))
    finding = f"Called without a valid token: {number(len(routes), 'route')}, by {number(calls, 'call')}."
    if not routes:
        finding = "No route was called without a valid token, by a method that the policy declares for it."
    if all_calls > calls:
        finding += f" To a path of the policy, by a method that it does not declare for it, as a preflight's OPTIONS: {number(all_calls - calls, 'such call')}."
    if found.tokenless > all_calls:
        finding += f" To no path of the policy: {number(found.tokenless - all_calls, 'such call')}."
    malformed = ((found.unauthenticated.malformed_without_token, "without a token"), (found.unauthenticated.malformed_with_invalid_token, "with one of no known kind"))
    if more := " and ".join(f"{number(count, 'call')} {which}" for count, which in malformed if count):
        finding += f" Malformed, and so denied before their token was asked for: {more}."
    if not found.unauthenticated.routes:
        return Section(name, finding, [], [])
    names = short_routes([row.route for row in found.unauthenticated.routes[:MOST_BARS]])
    drawn = [Bar(name, number(row.calls, "call"), (row.calls,)) for name, row in zip(names, found.unauthenticated.routes)]
    rows = [(row.route, number(row.calls), number(row.no_token), number(row.invalid_token)) for row in found.unauthenticated.routes]
    columns = {"route": CODE, "calls": NUMBER, "no token": NUMBER, "invalid token": NUMBER}
    charts = parts.bars("Calls without a valid token, by route or path", drawn, DENIED, count=len(found.unauthenticated.routes))
    return Section(name, finding, charts, [parts.table("Routes and paths called without a valid token", columns, rows, top, source="unauthenticated_routes")])
