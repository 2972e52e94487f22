"""Finds attacks on a route from many addresses, and outages: no single caller stands out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._number import number
from .._rows import Rows
from .failures import ATTACK, ALL, IN_HOUR, MANY, OUTAGE, RETRIES, SHORT, WITHOUT, Failure, Period, failed_in, failure, stands_out
from .timelines import ERROR, OK, OWN, REJECTED, Timelines, outlying, pieces, time_of, window

# The fewest failures of an outage.
FEW_OF_OUTAGE = 50


def with_spread(found: Rows[Failure], timelines: Timelines, addresses: Timelines, period: Period | None, scope_of: dict[str, str]) -> Rows[Failure]:
    """The failures, with those of all callers first: attacks from many addresses, which replace the attack of calls without a caller, and
    outages.
    """
    if period is None or not period.has_hours:
        return found
    spread = [*_spread(found, timelines, addresses, period, scope_of)]
    most = max((row.failed for row in spread), default=0)
    rest = [row for row in found if row.caller is not None or row.looks_like != ATTACK or row.failed > 2 * most]
    return Rows(Failure, [*spread, *_outages([*spread, *rest], timelines, period), *rest])


def _outages(found: Sequence[Failure], timelines: Timelines, period: Period) -> Iterator[Failure]:
    """Times in which far more calls failed than otherwise: with errors of the server, or because no token was accepted. Refusals of an attack
    or of a client that retries count as none.
    """
    every = [row for row in timelines.together() if period.first <= row["first"] and row["last"] <= period.last]
    for group in (frozenset({ERROR}), frozenset({REJECTED, *WITHOUT}) - {OWN}):
        outage = outlying(pieces((row for row in every if row["outcome"] in (OK, *group)), group))
        if outage is None or outage.failed < FEW_OF_OUTAGE or outage.until - outage.since < SHORT or outage.is_new:
            continue
        since, until = time_of(outage.since), time_of(outage.until)
        if 2 * sum(row.failed for row in found if row.looks_like in (ATTACK, RETRIES) and row.since <= until and since <= row.until) <= outage.failed:
            yield failure(None, ALL, outage, failed_in(every, outage, group), OUTAGE, None, period)


def _spread(found: Sequence[Failure], timelines: Timelines, addresses: Timelines, period: Period, scope_of: dict[str, str]) -> Iterator[Failure]:
    for route, rows in timelines.by_route(IN_HOUR, WITHOUT):
        inside = [{**row, "scope": scope_of.get(route)} for row in rows if period.first <= row["first"] and row["last"] <= period.last]
        of = pieces(inside, WITHOUT)
        attack = window(of)
        # Many clients refresh an expired token now and then.
        if attack is None or attack.in_hour < IN_HOUR or not stands_out(of, attack):
            continue
        known = sum(row.failed for row in found if row.looks_like == ATTACK and row.caller is not None and row.route == route)
        count, most = addresses.spread(route, WITHOUT, attack.since, attack.until)
        if count < MANY or 2 * max(most, known) > attack.failed:
            continue
        failed = failed_in(inside, attack, WITHOUT)
        is_own = 2 * sum(row["calls"] for row in failed if row["outcome"] == OWN) > attack.failed
        pattern = f"{f'guesses credentials at {route}' if is_own else f'tries {route} without a valid token'} from {number(count)} addresses"
        yield failure(None, ALL, attack, failed, ATTACK, pattern, period)
