"""The findings of a report: problems that need attention, the most severe first, with the next step for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .._count.served import REFUSED_THOUGH_ALLOWED, SERVED_THOUGH_DENIED
from .._count.text import NO_CALLER
from .._number import number
from .._rows import Rows
from .courses import SHORTEST, second_of
from .denials import MISCONFIGURED, MISSING_SCOPE, OTHER_KIND, PATHS, PROBE, STALE, has_stopped, hour_is_bound
from .figures import Finding
from .numbers import HIGH, LEVELS, LOW, MEDIUM, before, bound, shown, when
from .served import CALLERS

if TYPE_CHECKING:
    from .denials import Denied
    from .figures import Changes, Figures
    from .served import Mismatch

# The most further callers that a finding about probes names.
MOST_NAMES = 5
# The sections with the details.
SERVER, CAUSES, CHANGED, UNREAD, WARNINGS = "Server responses and policy decisions", "Likely causes of denials", "Changes against the other policy", "Unread rows", "Warnings"
PROPERTIES, UNUSED, UNKNOWN, NO_CALLS = "Properties", "Unused grants", "Unknown scopes", "No calls"


def findings(found: Figures) -> Rows[Finding]:
    """The findings, the most severe first. In each level, findings about wrongly served calls come first."""
    every = (*_log(found), *_server(found), *_properties(found), *_clients(found), *_changes(found), *_scopes(found))
    return Rows(Finding, sorted(every, key=lambda row: LEVELS.index(row.level)))


def _server(found: Figures) -> Iterator[Finding]:
    served, refused = found.served.of(SERVED_THOUGH_DENIED), found.served.of(REFUSED_THOUGH_ALLOWED)
    if served:
        action = "Find out why the server lets these calls in: it might lack the check, or use another policy."
        yield Finding(HIGH, "served_though_denied", served, True, f"{_were(served)} served although the policy denies {_them(served)}{_most(found, SERVED_THOUGH_DENIED)}.", action, SERVER)
    if refused:
        action = "Check whether the server runs another version of the policy, or has its own rules."
        yield Finding(MEDIUM, "refused_though_allowed", refused, True, f"{_were(refused)} rejected although the policy allows {_them(refused)}{_most(found, REFUSED_THOUGH_ALLOWED)}.", action, SERVER)


def _most(found: Figures, what: str) -> str:
    """The route of most of these calls, with its first call. Calls with a route come first."""
    rows = found.served.mismatches.where(lambda row: row.what == what)
    # A call to a protected route matters more than one to an unknown path.
    first = next((row for row in rows if row.route is not None), rows[0])
    location = f"{'' if len(rows) == 1 else f'{number(first.calls)} of them '}{'to ' + first.route if first.route else 'without a route'}"
    times = when(first.first, first.last, found.times.has_days_alone)
    return f": {location}, with status {first.status}{_by(first)}, first in row {number(first.row)}{f', {times}' if times else ''}"


def _by(row: Mismatch) -> str:
    """The first caller of these calls, and the number of others."""
    if not row.first_callers:
        return ""
    more = f" and {bound(row.callers - 1, row.callers < CALLERS, 'more caller')}" if row.callers > 1 else ""
    more += f" and {number(row.without_caller, 'call')} without a caller" if row.without_caller else ""
    return f", by {shown(row.first_callers[0])}{more}"


def _properties(found: Figures) -> Iterator[Finding]:
    if found.properties is not None and (failed := len(found.properties.failed)):
        of_all = f"{number(failed)} of {number(len(found.properties.rows), 'property', 'properties')}"
        sentence = f"{of_all} in {shown(found.properties.file)} {'does' if failed == 1 else 'do'} not hold for all requests."
        yield Finding(HIGH, "properties", failed, True, sentence, "Change the policy or the property; the section lists the requests that violate it.", PROPERTIES)


def _clients(found: Figures) -> Iterator[Finding]:
    rows = {what: found.denials.groups.where(lambda row: row.looks_like == what) for what in (PROBE, MISCONFIGURED, STALE)}
    is_exact = found.denials.is_exact
    if probes := rows[PROBE]:
        first = max(probes, key=lambda row: (row.served_though_denied or 0, row.paths, row.calls))
        served = f"; the server served {number(first.served_though_denied)} of them" if first.served_though_denied else ""
        tried = f"{_who(first)} tried {bound(first.paths, first.paths < PATHS)} unknown paths in {bound(first.calls, first.is_exact, 'call')}{_when(first)}{served}"
        others = [_who(row) for row in probes if row is not first]
        names = [*others[:MOST_NAMES], *([f"{number(len(others) - MOST_NAMES)} more"] if len(others) > MOST_NAMES else [])]
        also = f". The {'other' if len(others) == 1 else 'others'}: {', '.join(names)}" if names else ""
        yield Finding(HIGH, PROBE, len(probes), is_exact, f"{_look_like(probes, is_exact, PROBE, 'probes')}: {tried}{also}.", "Find out who this is; block the caller unless it only uses a wrong base path.", CAUSES)
    if lacking := rows[MISCONFIGURED]:
        first = lacking[0]
        lacked = "lacks" if first.pattern == MISSING_SCOPE else "has no user's token for"
        example = f"{_who(first)} {lacked} {shown(first.scope)} in {bound(first.calls, first.is_exact, 'call')}{_when(first)}{_end(first, found)}"
        callers = _callers(lacking)
        sentence = f"{_look_like(callers, is_exact, MISCONFIGURED, 'misconfigured clients')}: {example}."
        patterns = {row.pattern for row in lacking}
        actions = [action for pattern, action in ((MISSING_SCOPE, "grant the scope"), (OTHER_KIND, "let the client use a user's token")) if pattern in patterns]
        advice = f"{', or '.join(actions).capitalize()}, or stop the client from making these calls."
        yield Finding(MEDIUM, "misconfigured_client", len(callers), is_exact, sentence, _action(lacking, found, advice), CAUSES)
    if stale := rows[STALE]:
        first, callers = stale[0], _callers(stale)
        sentence = f"{_look_like(callers, is_exact, STALE, 'stale clients')}: {_who(first)} makes {bound(first.calls, first.is_exact, 'call')} to routes that only the other policy has{_when(first)}{_end(first, found)}."
        yield Finding(MEDIUM, "stale_client", len(callers), is_exact, sentence, _action(stale, found, "Update the client to the routes of this policy."), CAUSES)


def _when(row: Denied) -> str:
    """The times of the first and the last of these calls; days if the log has no times of day."""
    if row.first is None or row.last is None:
        return ""
    return f", {when(row.first, row.last, row.paths_in_hour is None)}"


def _end(row: Denied, found: Figures) -> str:
    """The time from the last of these calls to the log's end. The client might have been fixed since."""
    end = found.times.last
    if row.paths_in_hour is None or row.last is None or end is None or row.last > end:
        return ""
    return f", last seen {before(second_of(row.last), second_of(end))}"


def _action(rows: Sequence[Denied], found: Figures, advice: str) -> str:
    """The advice for callers that still make such calls, and for those that have stopped."""
    going = {row.caller for row in rows if not has_stopped(row, found.times.first, found.times.last)}
    stopped = len({row.caller for row in rows} - going)
    if not stopped:
        return advice
    if not going:
        return f"Check whether {'it was' if stopped == 1 else 'they were'} fixed: these calls have stopped."
    return f"{advice} {number(stopped)} of the callers {'has' if stopped == 1 else 'have'} stopped: check whether {'it was' if stopped == 1 else 'they were'} fixed."


def _callers(rows: Sequence[Denied]) -> list[str | None]:
    """The distinct callers. One client can lack several scopes."""
    return list(dict.fromkeys(row.caller for row in rows))


def _who(row: Denied) -> str:
    return NO_CALLER if row.caller is None else shown(row.caller)


def _look_like(rows: Sequence[object], is_exact: bool, one: str, several: str) -> str:
    return f"{bound(len(rows), is_exact, 'caller')} {f'looks like a {one}' if len(rows) == 1 else f'look like {several}, for example'}"


def _changes(found: Figures) -> Iterator[Finding]:
    changes = found.changes
    if changes is None or not changes.calls:
        return
    sentence = f"The other policy decides {number(changes.calls, 'call')} differently: {directions(changes)}."
    yield Finding(MEDIUM, "changes", changes.calls, True, sentence, "Check that each change is intended before you deploy this policy.", CHANGED)


def directions(found: Changes) -> str:
    """The numbers of calls for each kind of change."""
    said = f"{number(found.newly_allowed)} allowed here that it denies, {number(found.newly_denied)} denied here that it allows"
    said += f", {number(found.otherwise_charged)} allowed by both with other orbs" if found.otherwise_charged else ""
    return f"{said}, {number(found.otherwise_denied)} denied by both for another reason" if found.otherwise_denied else said


def _log(found: Figures) -> Iterator[Finding]:
    log = found.log
    if log.broken is not None:
        yield Finding(HIGH, "broken_log", 1, True, f"The log breaks off: {shown(log.broken)}.", "Read the whole log; the numbers cover only the rows before.", UNREAD)
    if not found.calls:
        yield Finding(HIGH, "no_calls", 1, True, "The log has no readable calls, so nothing was checked.", "Check that this is the right file, and that its format and columns are right.", UNREAD if log.unread else NO_CALLS)
    if log.unread:
        of_all = f"{number(log.unread)} of {number(found.calls + log.unread, 'row')} could not be read"
        yield Finding(MEDIUM, "unread_rows", log.unread, True, f"{of_all}, so the results might be incomplete.", "Find out why these rows are unreadable: correct them and read the log again, or accept them with --tolerate.", UNREAD)
    if log.warnings:
        first = FIRST_SENTENCE.match(log.warnings[0])
        rest = f"; and {number(len(log.warnings) - 1, 'more warning')}" if len(log.warnings) > 1 else ""
        yield Finding(MEDIUM, "warnings", len(log.warnings), True, f"The log might have been read wrongly: {shown(first[1] if first else log.warnings[0], MOST_OF_A_WARNING)}{rest}.", "Read the warnings before you rely on the numbers.", WARNINGS)


# A warning can name a column of any length. Its other sentences are advice, which the section shows.
MOST_OF_A_WARNING = 200
FIRST_SENTENCE = re.compile(r"((?:`[^`]*`|[^`])+?)(?:\. |\.?$)")


# A denied call might need a scope that its token has, for example if only users can use it.
REVIEW = "Review these grants: no call of this log used them."


def _needed(count: int) -> str:
    """A note that denied calls needed some of the granted scopes, so revoking them would be wrong."""
    return f", but denied calls needed {number(count)} of them" if count else ""


def _scopes(found: Figures) -> Iterator[Finding]:
    unused, pairs, needed = len(found.unused), len(found.unused_by_caller), found.needed
    if pairs:
        kept = sum((use.caller, use.scope) in needed for use in found.unused_by_caller)
        never = f"; {number(unused, 'scope')} {'is' if unused == 1 else 'are'} never used" if unused else ""
        sentence = f"{bound(pairs, found.scopes.by_caller_is_exact, 'grant')} of a scope to a caller {'was' if pairs == 1 else 'were'} never used{_needed(kept)}{never}."
        yield Finding(LOW, "unused_grants", pairs, found.scopes.by_caller_is_exact, sentence, REVIEW, UNUSED)
    elif unused:
        lacked = {scope for _, scope in needed}
        kept = sum(use.scope in lacked for use in found.unused)
        sentence = f"{number(unused, 'scope')} {'was' if unused == 1 else 'were'} granted and never used{_needed(kept)}."
        yield Finding(LOW, "unused_grants", unused, True, sentence, REVIEW, UNUSED)
    if found.unknown.scopes:
        scopes = bound(found.unknown.different, found.unknown.is_exact, "scope")
        sentence = f"{scopes} in valid tokens {'is' if found.unknown.different == 1 else 'are'} not in the policy."
        yield Finding(LOW, "unknown_scopes", found.unknown.different, found.unknown.is_exact, sentence, "Correct misspelt scopes; ignore those of other services.", UNKNOWN)


def checked(found: Figures) -> list[str]:
    """The checks that found nothing, and those that the log doesn't allow, a sentence each."""
    if found.served.calls:
        without = number(found.served.without_status, "call")
        said = [f"The server's responses agree with the policy's decisions{f'; {without} without a status' if found.served.without_status else ''}."]
    else:
        said = ["The log has no statuses, so the server's responses were not compared with the policy."]
    denied = f"{_were(found.denied)} denied, and no caller looks like a probe or a misconfigured client."
    said.append(denied if found.denied else "No call was denied.")
    if bounds := hour_is_bound(found.denials.groups):
        said.append(bounds)
    first, last = found.times.first, found.times.last
    if first is None or last is None:
        said.append("The log has no times, so misconfigured clients can't be recognised.")
    elif (last - first).total_seconds() < SHORTEST:
        said.append("The log is shorter than an hour, so misconfigured clients can't be recognised.")
    if not found.callers.counts:
        said.append("The log names no callers, so grants were compared for all calls together.")
    said.append("Every row could be read, every granted scope was used, and every scope in a valid token is in the policy.")
    return [*said, *(["Every property holds."] if found.properties is not None else [])]


def _were(count: int) -> str:
    return f"{number(count, 'call')} {'was' if count == 1 else 'were'}"


def _them(count: int) -> str:
    return "it" if count == 1 else "them"
