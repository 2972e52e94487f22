"""The findings about callers: probes, attacks, outages, and clients whose calls fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ..._number import number
from ..._terms import Reason
from ..denials import PATHS, PROBE, STALE
from ..failures import ALL, ATTACK, BROKEN, LACKS, MISCONFIGURED, NOWHERE, OUTAGE, RECOVERED, RETRIES, WITHOUT
from ..figures import Finding
from ..numbers import FACT, HIGH, LOW, MEDIUM, bound, shown, when
from ..thresholds import ILL_PART, ILL_SECONDS, LEFT_PART, LEFT_RATE, OUTAGE_CALLS, OUTAGE_PART, OUTAGE_SECONDS, PLANNED_PART, ROTATION_SECONDS, STOPPED_CALLS
from ..timelines import AFTER, ERROR, HOUR, REJECTED
from .callers import described, is_gone, is_old, since_last, some, when_seen
from .server import KEYS
from .words import CAUSES, MOST_OF_NAMES, MOST_PAIRS, ROUTES, look_like, named, who

if TYPE_CHECKING:
    from ..denials import Denied
    from ..failures import Failure
    from ..figures import Figures


def _of_misconfigured(rows: Sequence[Failure]) -> str:
    patterns = {row.outcome for row in rows}
    actions = [
        action
        for of, action in ((Reason.SCOPE_MISSING, "grant the scope"), (Reason.USER_TOKEN_REQUIRED, "let the client use a user's token"))
        if of.value in patterns
    ]
    return f"{', or '.join(actions).capitalize()}, or stop the client from making these calls."


# The findings about clients whose calls fail: level, what a client looks like, and the advice.
FAILING: dict[str, tuple[str, str, Callable[[Sequence[Failure]], str]]] = {
    "misconfigured_client": (MEDIUM, MISCONFIGURED, _of_misconfigured),
    "always_denied_client": (LOW, MISCONFIGURED, _of_misconfigured),
    "broken_client": (MEDIUM, BROKEN, lambda rows: "Find out what changed at that time, for example which version was deployed."),
    "stopped_client": (LOW, BROKEN, lambda rows: "Check whether it was fixed."),
    "left_client": (FACT, BROKEN, lambda rows: "Find out whether it was cut off on purpose, and then let its owner stop the calls."),
    "mended_client": (MEDIUM, RECOVERED, lambda rows: "Find out what failed then, if you do not know it: it was over before the log ends."),
    "recovered_client": (LOW, RECOVERED, lambda rows: "Find out what happened then, if you do not know it."),
    "reloaded_client": (FACT, RECOVERED, lambda rows: "Check that its keys were changed on purpose."),
    "retries": (LOW, RETRIES, lambda rows: "Let the client wait longer between attempts, or stop after a refusal."),
}
# The findings about calls that fail since the log begins, so that nothing shows that they ever succeeded.
OLD = ("always_denied_client",)


def _recovered(row: Failure) -> str:
    """The finding about a recovered client: one for which a server failed as long as an outage takes, because what is over stays as high as it
    was, or one that had no valid token for minutes, as in a rotation of keys.
    """
    seconds = (row.until - row.since).total_seconds()
    if row.outcome == ERROR and seconds >= OUTAGE_SECONDS and row.failed >= OUTAGE_CALLS:
        return "mended_client"
    return "reloaded_client" if row.outcome in WITHOUT and seconds <= ROTATION_SECONDS else "recovered_client"


def _is_in_outage(row: Failure, figures: Figures) -> bool:
    """Whether a client failed only because of an outage, whose finding says so."""
    outages = figures.denials.failures.where(lambda of: of.looks_like == OUTAGE and of.outcome == row.outcome)
    return any(of.since - NEAR_OUTAGE <= row.since and row.until <= of.until + NEAR_OUTAGE for of in outages)


# The first and the last failed calls of a client can be outside of the times of an outage.
NEAR_OUTAGE = timedelta(minutes=2)


def _broken(row: Failure, figures: Figures) -> str:
    """The finding about a broken client: one that makes only a few of the calls that it made before, or whose few failed calls have stopped."""
    if _is_left(row, figures.times.first):
        return "left_client"
    return "stopped_client" if row.failed < STOPPED_CALLS and is_gone(row, figures) else "broken_client"


def _is_left(row: Failure, first: datetime | None) -> bool:
    """Whether a client does little of what it did before, for example a forgotten job of a customer who left."""
    during = max(HOUR, (row.until - row.since).total_seconds())
    before = 0.0 if first is None else (row.since - first).total_seconds()
    is_rare = row.failed <= LEFT_PART * row.before or (before > HOUR and row.failed * before <= LEFT_RATE * row.before * during)
    return row.outcome in WITHOUT and is_rare


def _is_limited(row: Failure) -> bool:
    """Whether a client only reaches its limit: afterwards, other calls of it succeed again and again, as with a limit for each day."""
    return row.outcome == "429" and row.after - row.after_failed >= AFTER


def _is_covered(row: Failure, figures: Figures) -> bool:
    """Whether a doubt about the log covers these failures."""
    columns = figures.signs.cover.columns
    return (
        (row.outcome in LACKS and "scopes" in columns)
        or (row.outcome in WITHOUT and "kind" in columns)
        or (row.outcome in NOWHERE and (bool({"target", "method"} & columns) or row.caller in figures.signs.cover.old))
    )


def of_clients(figures: Figures) -> Iterator[Finding]:
    yield from _probes(figures)
    yield from _attacks(figures)
    yield from _outages(figures)
    for kind, (level, what, advice) in FAILING.items():
        # The finding about refused calls has those that the server refused.
        rows = figures.denials.failures.where(
            lambda row: (
                row.looks_like == what
                and row.outcome != REJECTED
                and is_old(row, figures) == (kind in OLD)
                and not _is_covered(row, figures)
                and not _is_in_outage(row, figures)
                and (what != RECOVERED or _recovered(row) == kind)
                and (what != BROKEN or _broken(row, figures) == kind)
                and not (what == BROKEN and _is_limited(row))
            )
        )
        if rows:
            callers = [*dict.fromkeys(row.caller for row in rows)]
            details = "; ".join(described(row, figures) for row in rows[:MOST_PAIRS])
            others = [caller for caller in callers if caller not in {row.caller for row in rows[:MOST_PAIRS]}]
            names = f". The {'other' if len(others) == 1 else 'others'}: {named(others)}" if others else ""
            sentence = f"{look_like(callers, figures.denials.failures_is_exact, what)}: {details}{names}."
            yield Finding(
                level, kind, len(callers), figures.denials.failures_is_exact, sentence, _action(rows, figures, advice(rows)), CAUSES, tuple(map(who, callers))
            )
    stale = figures.denials.groups.where(lambda row: row.looks_like == STALE)
    if stale:
        first, clients = stale[0], _callers(stale)
        sentence = (
            f"{look_like(clients, figures.denials.is_exact, STALE)}: {who(first.caller)} makes "
            f"{bound(first.calls, first.is_exact, 'call')} to routes that only the other policy has{when_seen(first)}{since_last(first, figures)}."
        )
        action = "If the other policy is older, update the client to the routes of this policy; if it is newer, deploy it first."
        yield Finding(MEDIUM, "other_policy_client", len(clients), figures.denials.is_exact, sentence, action, CAUSES)


def _probes(figures: Figures) -> Iterator[Finding]:
    """Probes. One that has no valid token and is always refused is what every server on the internet sees."""
    rows = figures.denials.groups.where(lambda row: row.looks_like == PROBE and not {"target", "method"} & figures.signs.cover.columns)
    for level, probes in ((HIGH, rows.where(lambda row: not is_harmless(row))), (LOW, rows.where(is_harmless))):
        if probes:
            first = max(probes, key=lambda row: (row.served_though_denied or 0, row.paths, row.calls))
            served = f"; the server served {number(first.served_though_denied)} of them" if first.served_though_denied else ""
            valid = f" with a valid token in {bound(first.with_token, first.is_exact)} of them" if first.with_token else " without a valid token"
            tried = (
                f"{who(first.caller)} tried {bound(first.paths, first.paths < PATHS)} unknown paths in "
                f"{bound(first.calls, first.is_exact, 'call')}{valid}{when_seen(first)}{served}"
            )
            others = [row.caller for row in probes if row is not first]
            names = f". The {'other' if len(others) == 1 else 'others'}: {named(others)}" if others else ""
            action = (
                "Find out who this is; block the caller unless it only uses a wrong base path."
                if level == HIGH
                else "Every public server gets such calls; make sure that it refuses them."
            )
            sentence = f"{look_like(probes, figures.denials.is_exact, PROBE)}: {tried}{names}."
            yield Finding(
                level,
                PROBE if level == HIGH else "scanner",
                len(probes),
                figures.denials.is_exact,
                sentence,
                action,
                CAUSES,
                tuple(who(row.caller) for row in probes),
            )


def is_harmless(row: Denied) -> bool:
    """Whether a probe has no valid token and was never served. Of calls that name no caller, some are not the probe's."""
    has_token = row.with_token * (1 if row.caller is not None else 2) > (0 if row.caller is not None else row.calls)
    return not has_token and not row.served_though_denied


# The minutes in which the first call of a maintenance can fail, and what shows one.
ROUND = (0, 1, 30, 31)
PLANNED = "; it begins at a round time, and hardly any call succeeded, as in a planned maintenance"


def _outages(figures: Figures) -> Iterator[Finding]:
    """Times in which far more calls failed than otherwise."""
    # The finding about refused calls has those that the server refused.
    for row in figures.denials.failures.where(lambda row: row.looks_like == OUTAGE and row.outcome != REJECTED):
        times = when(row.since, row.until, figures.times.has_days_alone)
        is_short = (row.until - row.since).total_seconds() < OUTAGE_SECONDS
        is_planned = row.failed >= PLANNED_PART * (row.calls - row.public) and row.since.minute in ROUND and is_short and not figures.times.has_days_alone
        how = "were answered with 5xx" if row.outcome == ERROR else "were refused for their tokens"
        route = f", nearly all to {row.route}" if row.route is not None else ""
        callers = f" It concerns {shown(row.pattern, MOST_OF_NAMES)}." if row.pattern else ""
        sentence = (
            f"Outage: {number(row.failed)} of {number(row.calls, 'call')} {how} {times}{route}; "
            f"{some(row.before_failed, row.before)} before and {some(row.after_failed, row.after)} after{PLANNED if is_planned else ''}.{callers}"
        )
        action = "Find out what failed at that time." if row.outcome == ERROR else KEYS
        # If most calls succeed meanwhile, so do those that are made again.
        part = OUTAGE_PART if (row.until - row.since).total_seconds() >= ILL_SECONDS else ILL_PART
        level = LOW if is_planned or row.failed < part * row.calls else MEDIUM
        yield Finding(level, "outage", row.failed, True, sentence, action, CAUSES)


def _attacks(figures: Figures) -> Iterator[Finding]:
    """Attacks on known routes, of which those that succeeded in the end are the most severe."""
    # Who lacks a scope that several callers had is no attacker.
    lost = {row.subject for row in figures.signs.signs if row.kind == "lost_scope"}
    rows = figures.denials.failures.where(
        lambda row: row.looks_like == ATTACK and not _is_covered(row, figures) and not (row.outcome in LACKS and row.scope in lost)
    )
    for level, attacks in ((HIGH, rows.where(lambda row: row.succeeded > 0)), (MEDIUM, rows.where(lambda row: not row.succeeded))):
        if attacks:
            details = "; ".join(described(row, figures) for row in attacks[:MOST_PAIRS])
            others = [row.caller for row in attacks[MOST_PAIRS:]]
            names = f". The {'other' if len(others) == 1 else 'others'}: {named(others)}" if others else ""
            is_spread = all(row.counted == ALL for row in attacks)
            action = (
                "Find out what the calls after the refused ones did, and revoke their token."
                if level == HIGH
                else "Limit the calls to this route, whoever makes them."
                if is_spread and len(attacks) == 1
                else "Limit the calls to these routes, whoever makes them."
                if is_spread
                else "Find out who this is, and block or limit the caller."
            )
            sentence = f"{look_like(attacks, figures.denials.failures_is_exact, ATTACK)}: {details}{names}."
            yield Finding(
                level,
                "attack" if level == MEDIUM else "successful_attack",
                len(attacks),
                figures.denials.failures_is_exact,
                sentence,
                action,
                CAUSES,
                tuple(who(row.caller) if row.counted != ALL else "all callers" for row in attacks),
            )


def of_bursts(figures: Figures) -> Iterator[Finding]:
    """Many allowed calls at once. Healthy jobs make such calls, too."""
    # What a caller reads by ids in their order, or far more than all others, is another finding, and so is a caller that is new.
    told = {row.subject for row in figures.signs.signs if row.kind in ("enumeration", "many_objects") or (row.kind, row.level) == ("new_since", LOW)}
    if rows := figures.bursts.where(lambda row: who(row.caller) not in told and row.caller not in told):
        details = "; ".join(
            f"{who(row.caller)} made {number(row.calls)} of its {number(row.of, 'call')} to {row.route} "
            f"{f'in {number(row.hours)} hours ' if row.hours > 2 else ''}{when(row.first, row.last, False)}"
            for row in rows[:MOST_PAIRS]
        )
        within = "hours" if any(row.hours > 2 for row in rows) else "two hours"
        more = f"; and {number(len(rows) - MOST_PAIRS, 'more pair')} of caller and route" if len(rows) > MOST_PAIRS else ""
        sentence = f"Many allowed calls within {within}, at least as many as in the rest of the log: {details}{more}."
        yield Finding(
            LOW,
            "burst",
            sum(row.calls for row in rows),
            figures.denials.failures_is_exact,
            sentence,
            "Ask whose job this was, if you do not know it: the policy allows these calls, whatever they are for.",
            ROUTES,
            tuple(who(row.caller) for row in rows),
        )


def _action(rows: Sequence[Failure], figures: Figures, advice: str) -> str:
    """The advice for callers that still make such calls, and for those that have stopped."""
    if rows[0].looks_like in (RECOVERED, RETRIES):
        return advice
    going = {row.caller for row in rows if row.after >= AFTER or not is_gone(row, figures)}
    stopped = len({row.caller for row in rows} - going)
    if not stopped:
        return advice
    if not going:
        return f"Check whether {'it was' if stopped == 1 else 'they were'} fixed: these calls have stopped."
    return (
        f"{advice} {number(stopped)} of the callers {'has' if stopped == 1 else 'have'} stopped: check whether "
        f"{'it was' if stopped == 1 else 'they were'} fixed."
    )


def _callers(rows: Sequence[Denied]) -> list[str | None]:
    """The distinct callers. One client can lack several scopes."""
    return list(dict.fromkeys(row.caller for row in rows))
