"""Finds attacks on a route from many addresses, and outages: no single caller stands out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from .._number import number
from .._rows import Rows
from .failures import ATTACK, ALL, IN_HOUR, MANY, OUTAGE, RETRIES, SHORT, WITHOUT, Failure, Period, failed_in, failure, stands_out
from .timelines import ERROR, OK, OWN, REJECTED, Piece, Timelines, Window, mostly, outlying, pieces, time_of, window

# The fewest failures of an outage.
FEW_OF_OUTAGE = 50
# An outage concerns a caller if one in so many of its calls fails: more than those with an expired token.
CONCERNED = 5
# The fewest callers of an outage in which tokens are refused, if others have none refused meanwhile.
FEW_CALLERS = 4
# The most callers of an outage that are named.
MOST_NAMED = 5


def with_spread(failures: Rows[Failure], timelines: Timelines, addresses: Timelines, period: Period | None, scope_of: dict[str, str]) -> Rows[Failure]:
    """The failures, with those of all callers first: attacks from many addresses, which replace the attack of calls without a caller, and
    outages.
    """
    if period is None or not period.has_hours:
        return failures
    spread = [*_spread(failures, timelines, addresses, period, scope_of)]
    most = max((row.failed for row in spread), default=0)
    failed_at = {row.route: row.failed for row in spread}
    rest = [
        row
        for row in failures
        if row.looks_like != ATTACK or (row.failed > 2 * most if row.caller is None else 2 * row.failed <= failed_at.get(row.route, 2 * row.failed))
    ]
    return Rows(Failure, [*spread, *_outages([*spread, *rest], timelines, addresses, period, scope_of), *rest])


def _outages(failures: Sequence[Failure], timelines: Timelines, addresses: Timelines, period: Period, scope_of: dict[str, str]) -> Iterator[Failure]:
    """Times in which far more calls failed than otherwise: with errors of the server, or because no token was accepted. Refusals of an attack
    or of a client that retries count as none.
    """
    every = [row for row in timelines.together() if period.first <= row["first"] and row["last"] <= period.last]
    for group in (frozenset({ERROR}), frozenset({REJECTED, *WITHOUT}) - {OWN}):
        outage = outlying(pieces((row for row in every if row["outcome"] in (OK, *group)), group))
        if outage is None or outage.failed < FEW_OF_OUTAGE or outage.until - outage.since < SHORT or outage.is_new:
            continue
        pattern = _concerned(outage, group, timelines, addresses)
        if pattern is None:
            continue
        since, until = time_of(outage.since), time_of(outage.until)
        if 2 * sum(row.failed for row in failures if row.looks_like in (ATTACK, RETRIES) and row.since <= until and since <= row.until) <= outage.failed:
            [(route, most), *_] = timelines.spread(group, outage.since, outage.until, by="location")
            public = sum(count for route, count in timelines.spread({OK}, outage.since, outage.until, by="location") if route not in scope_of)
            made = failure(None, ALL, outage, failed_in(every, outage, group), OUTAGE, pattern, period)
            yield made._replace(route=route if 10 * most >= 9 * outage.failed else None, public=public)


def _concerned(outage: Window, group: Collection[str], timelines: Timelines, addresses: Timelines) -> str | None:
    """Which callers an outage concerns; None if refused tokens are those of a few callers. Refused calls may name no caller, then addresses
    show it.
    """
    of, active = (_part_of(timelines, outage, outcomes) for outcomes in (group, None))
    failed, every = of, active
    if 2 * sum(calls for _, calls in of) < outage.failed and (places := _part_of(addresses, outage, group)):
        failed, every = places, _part_of(addresses, outage, None)
    calls, known = dict(every), sum(count for _, count in failed)
    # One call shows little of a caller.
    busy = {name for name, count in every if count > 1} or {*calls}
    hit = [name for name, count in failed if name in busy and CONCERNED * count >= calls[name]]
    fewest = 2 if len(hit) == len(busy) else FEW_CALLERS
    is_of_few = 2 * known < outage.failed or 10 * failed[0][1] > 9 * known or len(hit) < fewest or 2 * len(hit) < len(busy)
    if ERROR not in group and is_of_few and (every or 2 * outage.failed < outage.calls):
        return None
    names = ", ".join(
        [
            *(caller.decode("utf-8", "backslashreplace") for caller, _ in of[:MOST_NAMED]),
            *([f"{number(len(of) - MOST_NAMED)} more"] if len(of) > MOST_NAMED else []),
        ]
    )
    return f"{number(len(of))} of {number(len(active), 'caller')}: {names}" if of else ""


def _part_of(timelines: Timelines, outage: Window, outcomes: Collection[str] | None) -> list[tuple[Any, int]]:
    return timelines.spread(outcomes, outage.since, outage.until)


def _spread(failures: Sequence[Failure], timelines: Timelines, addresses: Timelines, period: Period, scope_of: dict[str, str]) -> Iterator[Failure]:
    for route, rows in timelines.by_route(IN_HOUR, WITHOUT):
        inside = [{**row, "scope": scope_of.get(route)} for row in rows if period.first <= row["first"] and row["last"] <= period.last]
        of = pieces(inside, WITHOUT)
        attack, is_own = _stretch(of, window), any(row["outcome"] == OWN for row in inside)
        if attack is None and is_own:
            # Users sign in meanwhile, and some guesses are right.
            attack = _stretch(of, mostly)
        if attack is None:
            continue
        places = addresses.spread(WITHOUT, attack.since, attack.until, location=route)
        known = [row for row in failures if row.looks_like == ATTACK and row.caller is not None and row.route == route]
        if len(places) < MANY or 2 * places[0][1] > attack.failed:
            continue
        # A single caller with so many addresses is an application.
        if len(known) > 1 and 2 * sum(row.failed for row in known) > attack.failed:
            continue
        failed = failed_in(inside, attack, WITHOUT)
        is_own = 2 * sum(row["calls"] for row in failed if row["outcome"] == OWN) > attack.failed
        pattern = f"{f'guesses credentials at {route}' if is_own else f'tries {route} without a valid token'} from {number(len(places))} addresses"
        yield failure(None, ALL, attack, failed, ATTACK, pattern, period)


def _stretch(of: Sequence[Piece], find: Callable[[Sequence[Piece]], Window | None]) -> Window | None:
    """The stretch of an attack. Many clients refresh an expired token now and then."""
    attack = find(of)
    return attack if attack is not None and attack.in_hour >= IN_HOUR and stands_out(of, attack) else None
