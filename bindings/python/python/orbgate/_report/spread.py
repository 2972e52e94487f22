"""Finds attacks on a route that come from many addresses, so that no caller stands out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._number import number
from .._rows import Rows
from .failures import ATTACK, EVERYBODY, IN_HOUR, MANY, WITHOUT, Failure, Period, failed_in, failure, stands_out
from .timelines import OWN, Timelines, pieces, window


def with_spread(found: Rows[Failure], timelines: Timelines, addresses: Timelines, period: Period | None, scope_of: dict[str, str]) -> Rows[Failure]:
    """The failures, with the attacks that come from many addresses first. They replace the attack of calls without a caller."""
    if period is None or not period.has_hours:
        return found
    spread = [*_spread(found, timelines, addresses, period, scope_of)]
    routes = {row.route for row in spread}
    return Rows(Failure, [*spread, *(row for row in found if row.caller is not None or row.looks_like != ATTACK or row.route not in routes)])


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
        yield failure(None, EVERYBODY, attack, failed, ATTACK, pattern, period)
