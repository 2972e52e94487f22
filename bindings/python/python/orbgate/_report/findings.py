"""The findings of a report: problems that need attention, the most severe first, with the next step for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from .._count.served import REFUSED_THOUGH_ALLOWED, SERVED_THOUGH_DENIED
from .._count.text import NO_CALLER
from .._number import number
from .._rows import Rows
from .._terms import Reason
from .denials import PATHS, PROBE, SEVERAL, STALE, hour_is_bound, is_silent
from .failures import ATTACK, BROKEN, CALLER, ALL, LACKS, MISCONFIGURED, OUTAGE, RECOVERED, RETRIES, ROUTE, SCOPE
from .figures import Finding
from .numbers import HIGH, LEVELS, LOW, MEDIUM, before, bound, share, shown, when
from .switch import AGAINST
from .timelines import ERROR, FEW, OWN, REJECTED, second_of
from .tokens import EXPIRED, ROAMING, SHARED, TWO_NETWORKS

if TYPE_CHECKING:
    from datetime import datetime

    from .denials import Denied
    from .failures import Failure
    from .figures import Changes, Figures
    from .served import Mismatch
    from .switch import Switch
    from .tokens import TokenUse

# The most further callers that a finding names, and the most pairs of route and caller, or callers with their calls.
MOST_NAMES, MOST_PAIRS = 5, 3
OTHER_POLICY = "other_policy"
# Calls that were not checked are a finding from this number on, if they are one in `UNJUDGED_PART` or more, or of all calls in a log with
# fewer than `SMALL` one in ten. Nearly all calls with errors, nine of ten, are a medium one.
UNJUDGED, UNJUDGED_PART, SMALL = 100, 100, 1_000
# The sections with the details.
SERVER, CAUSES, CHANGED, UNREAD, WARNINGS = "Server responses and policy decisions", "Likely causes of denials", "Changes against the other policy", "Unread rows", "Warnings"
PROPERTIES, UNUSED, UNKNOWN, NO_CALLS, ORBS, ROUTES, TOKENS = "Properties", "Unused grants", "Unknown scopes", "No calls", "Orbs", "Routes", "Tokens"


# The codes of all findings.
KINDS = (
    OTHER_POLICY, "broken_log", "no_calls", "unread_rows", "warnings", "served_though_denied", "refused_though_allowed", "preflights", "expired_token", "shared_token", "token_networks", "roaming_tokens", "properties", "probe", "scanner", "attack",
    "successful_attack", "outage", "misconfigured_client", "always_denied_client", "broken_client", "recovered_client", "retries", "other_policy_client", "changes", "not_judged", "charged_failures", "unused_grants", "unknown_scopes",
)  # fmt: skip


def findings(found: Figures) -> Rows[Finding]:
    """The findings, the most severe first. In each level, findings about wrongly served calls come first."""
    every = (*_log(found), *_server(found), *_properties(found), *_tokens(found), *_clients(found), *_changes(found), *_unjudged(found), *_orbs(found), *_scopes(found))
    # With the policy of another service, nothing else on the page holds.
    return Rows(Finding, sorted(every, key=lambda row: (row.kind != OTHER_POLICY, LEVELS.index(row.level))))


def _server(found: Figures) -> Iterator[Finding]:
    served, refused = found.served.of(SERVED_THOUGH_DENIED), found.served.of(REFUSED_THOUGH_ALLOWED)
    if served:
        other = _by_other(found, served, "served_as_other", "allowed")
        action = "Find out why the server lets these calls in: it might lack the check, or use another policy."
        yield Finding(HIGH, "served_though_denied", served, True, f"{_were(served)} served although the policy denies {_them(served)}{_most(found, SERVED_THOUGH_DENIED)}.{other}", action, SERVER)
    if refused:
        changed = found.denials.failures.where(lambda row: row.outcome == REJECTED)
        since = f"; {described(changed[0], found)}" if changed and changed[0].looks_like != OUTAGE else ""
        since += f"; most of them {when(changed[0].since, changed[0].until, found.times.has_days_alone)}" if changed and changed[0].looks_like == OUTAGE else ""
        action = "Check whether the server runs another version of the policy, or has its own rules."
        yield Finding(MEDIUM, "refused_though_allowed", refused, True, f"{_were(refused)} rejected although the policy allows {_them(refused)}{_most(found, REFUSED_THOUGH_ALLOWED)}{since}.{_by_other(found, refused, 'refused_as_other', 'denied')}", action, SERVER)
    if preflights := found.served.of(SERVED_THOUGH_DENIED, is_preflight=True):
        sentence = f"{number(preflights, 'preflight')} (OPTIONS without a token) {'was' if preflights == 1 else 'were'} served, which the policy does not allow."
        yield Finding(LOW, "preflights", preflights, True, sentence, "Name the OPTIONS routes with --public if the server answers preflights.", SERVER)


def _most(found: Figures, what: str) -> str:
    """The pairs of route and caller with the most of these calls, and the first call. Calls with a route come first."""
    pairs = found.served.pairs.where(lambda row: row.what == what)
    rows = found.served.mismatches.where(lambda row: row.what == what and not row.is_preflight)
    named = [f"{bound(row.calls, row.is_exact)} {'to ' + row.route if row.route else 'without a route'} by {NO_CALLER if row.caller is None else shown(row.caller)}" for row in pairs[:MOST_PAIRS]]
    # Of the routes in the sentence, the first call in the log.
    first = min((row for row in rows if row.route == pairs[0].route), key=lambda row: row.row)
    more = f", and others of {number(len(pairs) - MOST_PAIRS, 'more pair')} of route and caller" if len(pairs) > MOST_PAIRS else ""
    times = when(*_ends(rows), found.times.has_days_alone)
    return f": {', '.join(named)}{more}; the first with status {first.status} in row {number(first.row)}{f', {times}' if times else ''}"


def _by_other(found: Figures, calls: int, field: str, decided: str) -> str:
    """How many of these calls the other policy decides as the server did, and when the server switched."""
    changes = found.changes
    count = 0 if changes is None else getattr(changes.sides, field)
    if changes is None or not count:
        return ""
    of = f"All {number(count)} are" if count == calls and count > 1 else "It is" if count == calls else f"{number(count)} of them {'is' if count == 1 else 'are'}"
    return f" {of} {decided} by the other policy{f'; the server {switched(changes.sides.switch)}' if changes.sides.switch is not None else ''}."


def _ends(rows: Sequence[Mismatch]) -> tuple[datetime | None, datetime | None]:
    """The times of the first and the last of these calls."""
    return min((row.first for row in rows if row.first is not None), default=None), max((row.last for row in rows if row.last is not None), default=None)


def _properties(found: Figures) -> Iterator[Finding]:
    if found.properties is not None and (failed := len(found.properties.failed)):
        of_all = f"{number(failed)} of {number(len(found.properties.rows), 'property', 'properties')}"
        sentence = f"{of_all} in {shown(found.properties.file)} {'does' if failed == 1 else 'do'} not hold for all requests."
        yield Finding(HIGH, "properties", failed, True, sentence, "Change the policy or the property; the section lists the requests that violate it.", PROPERTIES)


def _clients(found: Figures) -> Iterator[Finding]:
    yield from _probes(found)
    yield from _attacks(found)
    yield from _outages(found)
    for kind, (level, what, advice) in FAILING.items():
        # The finding about refused calls has those that the server refused.
        rows = found.denials.failures.where(lambda row: row.looks_like == what and row.outcome != REJECTED and is_old(row, found) == (kind in OLD))
        if rows:
            callers = [*dict.fromkeys(row.caller for row in rows)]
            said = "; ".join(described(row, found) for row in rows[:MOST_PAIRS])
            others = [caller for caller in callers if caller not in {row.caller for row in rows[:MOST_PAIRS]}]
            names = f". The {'other' if len(others) == 1 else 'others'}: {_named(others)}" if others else ""
            sentence = f"{_look_like(callers, found.denials.failures_is_exact, what)}: {said}{names}."
            yield Finding(level, kind, len(callers), found.denials.failures_is_exact, sentence, _action(rows, found, advice(rows)), CAUSES)
    stale = found.denials.groups.where(lambda row: row.looks_like == STALE)
    if stale:
        first, clients = stale[0], _callers(stale)
        sentence = f"{_look_like(clients, found.denials.is_exact, STALE)}: {_who(first.caller)} makes {bound(first.calls, first.is_exact, 'call')} to routes that only the other policy has{_when(first)}{_end(first, found)}."
        action = "If the other policy is older, update the client to the routes of this policy; if it is newer, deploy it first."
        yield Finding(MEDIUM, "other_policy_client", len(clients), found.denials.is_exact, sentence, action, CAUSES)


# The findings about tokens: the level, and the advice.
OF_TOKENS = {
    EXPIRED: ("expired_token", HIGH, "Let the server verify the expiry of tokens."),
    SHARED: ("shared_token", MEDIUM, "Find out whether the token was stolen, and give each client its own."),
    TWO_NETWORKS: ("token_networks", MEDIUM, "Find out whether the token was stolen."),
    ROAMING: ("roaming_tokens", LOW, "Clients that change networks often do this; a stolen token would look the same."),
}


def _tokens(found: Figures) -> Iterator[Finding]:
    """Tokens that are used in a suspicious way, one finding for each way."""
    for what, (kind, level, action) in OF_TOKENS.items():
        rows = found.tokens.uses.where(lambda row: (ROAMING if row.is_usual else row.what) == what)
        if rows:
            said = "; ".join(of_token(row, found) for row in rows[:MOST_PAIRS])
            more = f"; and {number(len(rows) - MOST_PAIRS, 'more token')}" if len(rows) > MOST_PAIRS else ""
            sentence = f"{bound(len(rows), found.tokens.is_exact, 'token')} {'was' if len(rows) == 1 else 'were'} {rows[0].what}: {said}{more}."
            yield Finding(level, kind, len(rows), found.tokens.is_exact, sentence, action, TOKENS)


def of_token(row: TokenUse, found: Figures) -> str:
    """The calls of a token that are suspicious."""
    times = when(row.first, row.last, found.times.has_days_alone)
    by = f" by {', '.join(map(shown, row.clients))}" if row.clients and row.what != TWO_NETWORKS else ""
    of = f"{by} from {', '.join(map(shown, row.networks))}" if len(row.networks) > 1 else by
    count = f"{number(row.calls)} by others than the first" if row.what == SHARED else number(row.calls, "call")
    return f"{row.token}{of}, {count}, the first in row {number(row.row)}{f', {times}' if times else ''}"


def _probes(found: Figures) -> Iterator[Finding]:
    """Probes. One that has no valid token and is always refused is what every server on the internet sees."""
    rows = found.denials.groups.where(lambda row: row.looks_like == PROBE)
    for level, probes in ((HIGH, rows.where(lambda row: not is_harmless(row))), (LOW, rows.where(is_harmless))):
        if probes:
            first = max(probes, key=lambda row: (row.served_though_denied or 0, row.paths, row.calls))
            served = f"; the server served {number(first.served_though_denied)} of them" if first.served_though_denied else ""
            valid = f" with a valid token in {bound(first.with_token, first.is_exact)} of them" if first.with_token else " without a valid token"
            tried = f"{_who(first.caller)} tried {bound(first.paths, first.paths < PATHS)} unknown paths in {bound(first.calls, first.is_exact, 'call')}{valid}{_when(first)}{served}"
            others = [row.caller for row in probes if row is not first]
            names = f". The {'other' if len(others) == 1 else 'others'}: {_named(others)}" if others else ""
            action = "Find out who this is; block the caller unless it only uses a wrong base path." if level == HIGH else "Every public server gets such calls; make sure that it refuses them."
            sentence = f"{_look_like(probes, found.denials.is_exact, PROBE)}: {tried}{names}."
            yield Finding(level, PROBE if level == HIGH else "scanner", len(probes), found.denials.is_exact, sentence, action, CAUSES)


def is_harmless(row: Denied) -> bool:
    """Whether a probe has no valid token and was never served. Of calls that name no caller, some are not the probe's."""
    has_token = row.with_token * (1 if row.caller is not None else 2) > (0 if row.caller is not None else row.calls)
    return not has_token and not row.served_though_denied


def _outages(found: Figures) -> Iterator[Finding]:
    """Times in which far more calls failed than otherwise."""
    # The finding about refused calls has those that the server refused.
    for row in found.denials.failures.where(lambda row: row.looks_like == OUTAGE and row.outcome != REJECTED):
        times = when(row.since, row.until, found.times.has_days_alone)
        how = "were answered with 5xx" if row.outcome == ERROR else "were refused for their tokens"
        sentence = f"Outage: {number(row.failed)} of {number(row.calls, 'call')} {how} {times}; {_some(row.before_failed, row.before)} before and {_some(row.after_failed, row.after)} after."
        action = "Find out what failed at that time." if row.outcome == ERROR else "Find out what failed at that time, for example whether the gate could fetch the issuer's keys."
        yield Finding(MEDIUM, "outage", row.failed, True, sentence, action, CAUSES)


def _attacks(found: Figures) -> Iterator[Finding]:
    """Attacks on known routes, of which those that succeeded in the end are the most severe."""
    rows = found.denials.failures.where(lambda row: row.looks_like == ATTACK)
    for level, attacks in ((HIGH, rows.where(lambda row: row.succeeded > 0)), (MEDIUM, rows.where(lambda row: not row.succeeded))):
        if attacks:
            said = "; ".join(described(row, found) for row in attacks[:MOST_PAIRS])
            others = [row.caller for row in attacks[MOST_PAIRS:]]
            names = f". The {'other' if len(others) == 1 else 'others'}: {_named(others)}" if others else ""
            action = "Find out what the calls after the refused ones did, and revoke their token." if level == HIGH else "Find out who this is, and block or limit the caller."
            sentence = f"{_look_like(attacks, found.denials.failures_is_exact, ATTACK)}: {said}{names}."
            yield Finding(level, "attack" if level == MEDIUM else "successful_attack", len(attacks), found.denials.failures_is_exact, sentence, action, CAUSES)


def described(row: Failure, found: Figures) -> str:
    """The failed calls of a caller: how many of which failed how, since when, and what came before and after."""
    is_of_days = found.times.has_days_alone
    of = {ROUTE: f" to {row.route}", ALL: f" to {row.route}" if row.route else "", SCOPE: f" that need {shown(row.scope)}" if row.outcome not in LACKS else "", CALLER: ""}[row.counted]
    how = HOW.get(row.outcome) or (f"were answered with {row.outcome}" if row.outcome.isdigit() or row.outcome == ERROR else f"were denied for {row.outcome}")
    if row.outcome in LACKS:
        how = f"{'lack' if row.outcome == Reason.SCOPE_MISSING.value else 'have no user token for'} {'the scopes of their routes' if row.scope is None else shown(row.scope)}"
    many = f", up to {number(row.in_hour)} within an hour" if row.pattern is not None and row.in_hour is not None else ""
    pattern = f" {shown(row.pattern)}" if row.pattern is not None and row.looks_like == ATTACK else ""
    who = "an attacker" if row.counted == ALL else _who(row.caller)
    return f"{who}{pattern}: {number(row.failed)} of {number(row.calls, 'call')}{of} {how}{_times(row, found, is_of_days)}{many}{_around(row)}"


def _times(row: Failure, found: Figures, is_of_days: bool) -> str:
    """From when to when the calls failed. If nothing came after, it continues."""
    since, until = (f"{time:%Y-%m-%d}" if is_of_days else f"{time:%Y-%m-%d %H:%M}" for time in (row.since, row.until))
    end = found.times.last
    # A few calls after it, for example with an expired token, show nothing.
    is_last = row.after < FEW and row.looks_like != ATTACK or not row.after
    is_known = not is_of_days and end is not None and is_last
    stopped = "; it has stopped" if is_last and is_gone(row, found) else ""
    ago = f" ({before(second_of(row.until), second_of(end))}{stopped})" if is_known and end is not None and end - row.until >= timedelta(hours=1) else ""
    if is_last and not is_gone(row, found):
        return f" since {since}{f', the last on {until}{ago}' if ago else ''}"
    return f" on {since}{ago}" if since == until else f" from {since} to {until}{ago}"


def _around(row: Failure) -> str:
    """What came before and after the failed calls."""
    said = "no calls before (new)" if not row.before else f"before, {_some(row.before_failed, row.before)}"
    if row.looks_like == ATTACK:
        return f"; {said}; then {number(row.succeeded, 'call')} succeeded" if row.succeeded else f"; {said}"
    return f"; {said}" if row.after < FEW else f"; {said}; after, {_some(row.after_failed, row.after)}"


def _some(failed: int, calls: int) -> str:
    return f"{number(failed) if failed else 'none'} of {number(calls)}"


def is_old(row: Failure, found: Figures) -> bool:
    """Whether a caller makes calls that lack a scope since the log begins."""
    first, last = found.times.first, found.times.last
    if row.looks_like != MISCONFIGURED or row.before >= FEW or first is None or last is None:
        return False
    # By chance, a client makes no call for many times its average gap, for example at night.
    return 10 * (row.since - first) <= last - first or (row.since - first) * (row.failed - 1) <= NEW_GAPS * (row.until - row.since)


def is_gone(row: Failure, found: Figures) -> bool:
    """Whether a caller has stopped making these calls."""
    first, last = found.times.first, found.times.last
    return not (first is None or last is None or found.times.has_days_alone) and is_silent(row.since, row.until, row.failed, first, last)


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


def _action(rows: Sequence[Failure], found: Figures, advice: str) -> str:
    """The advice for callers that still make such calls, and for those that have stopped."""
    if rows[0].looks_like in (RECOVERED, RETRIES):
        return advice
    going = {row.caller for row in rows if row.after >= FEW or not is_gone(row, found)}
    stopped = len({row.caller for row in rows} - going)
    if not stopped:
        return advice
    if not going:
        return f"Check whether {'it was' if stopped == 1 else 'they were'} fixed: these calls have stopped."
    return f"{advice} {number(stopped)} of the callers {'has' if stopped == 1 else 'have'} stopped: check whether {'it was' if stopped == 1 else 'they were'} fixed."


def _of_misconfigured(rows: Sequence[Failure]) -> str:
    patterns = {row.outcome for row in rows}
    actions = [action for of, action in ((Reason.SCOPE_MISSING, "grant the scope"), (Reason.USER_TOKEN_REQUIRED, "let the client use a user's token")) if of.value in patterns]
    return f"{', or '.join(actions).capitalize()}, or stop the client from making these calls."


# The findings about clients whose calls fail: level, what a client looks like, and the advice.
FAILING: dict[str, tuple[str, str, Callable[[Sequence[Failure]], str]]] = {
    "misconfigured_client": (MEDIUM, MISCONFIGURED, _of_misconfigured),
    "always_denied_client": (LOW, MISCONFIGURED, _of_misconfigured),
    "broken_client": (MEDIUM, BROKEN, lambda rows: "Find out what changed at that time, for example which version was deployed."),
    "recovered_client": (LOW, RECOVERED, lambda rows: "Find out what happened then, if you do not know it."),
    "retries": (LOW, RETRIES, lambda rows: "Let the client wait longer between attempts, or stop after a refusal."),
}
# A new client makes its first call after so many of its average gaps.
NEW_GAPS = 20
# The findings about calls that fail since the log begins, so that nothing shows that they ever succeeded.
OLD = ("always_denied_client",)
HOW = {
    Reason.NO_TOKEN.value: "have no valid token", Reason.INVALID_TOKEN.value: "have no valid token", Reason.NO_ROUTE.value: "match no route",
    Reason.METHOD_NOT_DECLARED.value: "have another method than the policy", Reason.MALFORMED_REQUEST.value: "are malformed",
    REJECTED: "were refused by the server", OWN: "were refused",
}  # fmt: skip


def _callers(rows: Sequence[Denied]) -> list[str | None]:
    """The distinct callers. One client can lack several scopes."""
    return list(dict.fromkeys(row.caller for row in rows))


def _who(caller: str | None) -> str:
    return NO_CALLER if caller is None else shown(caller)


def _named(callers: Sequence[str | None]) -> str:
    """Further callers, at most a few of them."""
    more = [f"{number(len(callers) - MOST_NAMES)} more"] if len(callers) > MOST_NAMES else []
    return ", ".join([*map(_who, callers[:MOST_NAMES]), *more])


def _look_like(rows: Sequence[object], is_exact: bool, what: str) -> str:
    one = f"{'an' if what[0] in 'aeiou' else 'a'} {what}"
    return f"{bound(len(rows), is_exact, 'caller')} {f'looks like {one}' if len(rows) == 1 else f'look like {SEVERAL[what]}, for example'}"


def _unjudged(found: Figures) -> Iterator[Finding]:
    """Calls about which the log shows too little."""
    parts = unjudged(found)
    count, calls = sum(parts.values()), found.calls
    is_much = count >= UNJUDGED and UNJUDGED_PART * count >= calls if calls >= SMALL else count and 10 * count >= calls
    if not is_much:
        return
    is_down = 10 * parts[WITH_ERROR] >= 9 * calls
    said = ", ".join(f"{number(of)} {what}" for what, of in parts.items() if of)
    sentence = f"{number(count)} of {number(calls, 'call')} ({share(count, calls)}) could not be judged: {said}."
    action = "Find out why the server fails: its responses show nothing of the policy." if is_down else "Look at these calls: neither a cause nor a response shows that they are right."
    yield Finding(MEDIUM if is_down else LOW, "not_judged", count, True, sentence, action, SERVER if found.served.calls and parts[WITH_ERROR] else CAUSES)


WITH_ERROR = "were answered with an error of the server (5xx)"


def unjudged(found: Figures) -> dict[str, int]:
    """The calls that have no cause, and whose response proves nothing, by why."""
    every = found.denials.groups
    # Groups that aren't counted might have a cause.
    denied = sum(row.calls - row.unclear - (row.served_though_denied or 0) for row in every if row.looks_like is None)
    return {
        WITH_ERROR: found.served.server_errors,
        "were denied without a likely cause": denied,
        "match no route and were not refused": found.served.unmatched,
    }


def _orbs(found: Figures) -> Iterator[Finding]:
    """Charged calls that might have failed."""
    rows = found.orbs.failed
    if not rows:
        return
    calls, orbs = sum(row.calls for row in rows), sum(row.orbs for row in rows)
    first = ", ".join(f"{number(row.calls)} to {row.route or shown(row.scope)} with status {row.status}, the first in row {number(row.row)}" for row in rows[:MOST_PAIRS])
    more = f", and {number(len(rows) - MOST_PAIRS, 'more pair')} of route and status" if len(rows) > MOST_PAIRS else ""
    what = f"{number(orbs, 'orb')} {'belongs' if orbs == 1 else 'belong'} to calls" if orbs else f"{number(calls, 'call')} that {'consumes' if calls == 1 else 'consume'} orbs"
    sentence = f"{what} that may have failed: {first}{more}." if orbs else f"{what} may have failed: {first}{more}."
    yield Finding(LOW, "charged_failures", calls, True, sentence, "Check whether these calls were charged, and return the orbs of those that failed.", ORBS)


def _changes(found: Figures) -> Iterator[Finding]:
    changes = found.changes
    if changes is None or not changes.calls:
        return
    sentence = f"The other policy decides {number(changes.calls, 'call')} differently: {directions(changes)}.{evidence(changes)}"
    yield Finding(MEDIUM, "changes", changes.calls, True, sentence, _advice(changes), CHANGED)


def evidence(changes: Changes) -> str:
    """Which policy the server's responses agree with, for calls that only one of the two allows."""
    sides = changes.sides
    if (switch := sides.switch) is not None:
        against = f"{number(switch.against)} against it" if switch.against else "none against it"
        return f" The server {switched(switch)}: {number(switch.before, 'call')} before and {number(switch.after)} after show it, {against}."
    if not sides.as_this and not sides.as_other:
        return ""
    if not sides.as_other:
        return f" The server decided {number(sides.as_this)} of them, as far as its responses show, as this policy does."
    if not sides.as_this:
        return f" The server decided {number(sides.as_other)} of them, as far as its responses show, as the other policy does."
    return f" The server decided {number(sides.as_this)} of them as this policy does, and {number(sides.as_other)} as the other does."


def switched(switch: Switch) -> str:
    """From which policy to which the server switched, and when."""
    start, end = (f"{time:%Y-%m-%d %H:%M}" for time in (switch.last_before, switch.first_after))
    when = f"at {start}" if start == end else f"between {start} and {end}"
    return f"switches {'from the other policy to this one' if switch.is_to_this else 'from this policy to the other one'} {when}"


def _advice(changes: Changes) -> str:
    sides = changes.sides
    if sides.switch is not None:
        return "Each policy decided a part of the log: report on the part before the switch and the part after it separately, each with its policy as --policy."
    if sides.as_other > AGAINST * sides.as_this:
        return "The other policy decided this log: exchange --policy and --base."
    return "If the other policy is to replace this one, check that each change is intended."


def directions(found: Changes) -> str:
    """The numbers of calls for each kind of change."""
    said = f"{number(found.newly_allowed)} allowed here that it denies, {number(found.newly_denied)} denied here that it allows"
    said += f", {number(found.otherwise_charged)} allowed by both with other orbs" if found.otherwise_charged else ""
    return f"{said}, {number(found.otherwise_denied)} denied by both for another reason" if found.otherwise_denied else said


def _log(found: Figures) -> Iterator[Finding]:
    log = found.log
    if log.broken is not None:
        yield Finding(HIGH, "broken_log", 1, True, f"The log breaks off: {shown(log.broken)}.", "Read the whole log; the numbers cover only the rows before.", UNREAD)
    elif not found.calls:
        yield Finding(HIGH, "no_calls", 1, True, "The log has no readable calls, so nothing was checked.", "Check that this is the right file, and that its format and columns are right.", UNREAD if log.unread else NO_CALLS)
    if log.other_policy is not None:
        action = "Give the policy that decided this log with --policy. Until then, no number on this page holds."
        yield Finding(MEDIUM, OTHER_POLICY, found.calls, True, log.other_policy, action, ROUTES)
    if log.unread:
        of_all = f"{number(log.unread)} of {number(found.calls + log.unread, 'row')} could not be read"
        yield Finding(MEDIUM, "unread_rows", log.unread, True, f"{of_all}, so the results might be incomplete.", "Find out why these rows are unreadable: correct them and read the log again, or accept them with --tolerate.", UNREAD)
    # The first one is that the log breaks off.
    if warnings := log.warnings[log.broken is not None :]:
        first = FIRST_SENTENCE.match(warnings[0])
        rest = f"; and {number(len(warnings) - 1, 'more warning')}" if len(warnings) > 1 else ""
        yield Finding(MEDIUM, "warnings", len(warnings), True, f"The log might have been read wrongly: {shown(first[1] if first else warnings[0], MOST_OF_A_WARNING)}{rest}.", "Read the warnings before you rely on the numbers.", WARNINGS)


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
    said = [*(responses(found),), f"{_were(found.denied)} denied, and no caller looks like a probe or a misconfigured client." if found.denied else "No call was denied."]
    if bounds := hour_is_bound(found.denials.groups):
        said.append(bounds)
    if found.times.first is None:
        said.append("The log has no times, so clients whose calls fail from a time on can't be recognised.")
    if not found.callers.counts:
        said.append("The log names no callers, so grants were compared for all calls together.")
    said.append("Every row could be read, every granted scope was used, and every scope in a valid token is in the policy.")
    return [*said, *(["Every property holds."] if found.properties is not None else [])]


def nothing(found: Figures) -> str:
    """The verdict without findings. A log whose responses prove nothing has none, but is not fine."""
    calls = number(found.calls, "call")
    return f"Nothing to do: {calls} checked." if found.served.proved else f"No finding in {calls}, but no response shows what the server did."


def responses(found: Figures) -> str:
    """What the server's responses prove: only those that served or refused a call."""
    served = found.served
    if not served.calls:
        return "The log has no statuses, so the server's responses were not compared with the policy."
    rest = [f"{number(served.server_errors)} answered with 5xx"] if served.server_errors else []
    if others := served.calls - served.proved - served.server_errors:
        rest.append(f"{number(others)} with another status, such as 302 or 404")
    rest += [f"{number(served.without_status)} without a status"] if served.without_status else []
    nothing = f"; {', '.join(rest)} prove nothing" if rest else ""
    if not served.proved:
        return f"No response shows whether the server let a call in{nothing}."
    return f"In {number(served.proved, 'call')} whose response shows whether the server let it in, it agrees with the policy's decision{nothing}."


def _were(count: int) -> str:
    return f"{number(count, 'call')} {'was' if count == 1 else 'were'}"


def _them(count: int) -> str:
    return "it" if count == 1 else "them"
