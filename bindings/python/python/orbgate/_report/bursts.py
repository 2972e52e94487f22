"""Finds callers that read or delete many objects at once, and as few as that at all other times together. The policy allows it, so nothing is refused."""

from __future__ import annotations

from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from .._rows import Rows
from .failures import IN_HOUR, Period
from .timelines import Timelines, time_of

# A log of less than half a day shows nothing of other times.
HALF_A_DAY = 43_200


class Burst(NamedTuple):
    """Allowed calls of a caller to one route with an id, at least half of them within two hours: `calls` of `of`, from `first` to `last`."""

    caller: str
    route: str
    calls: int
    of: int
    first: datetime
    last: datetime


def bursts(timelines: Timelines, period: Period | None) -> Rows[Burst]:
    """The bursts. Those with the most calls come first."""
    if period is None or not period.has_hours or period.last - period.first < HALF_A_DAY:
        return Rows(Burst)
    listed = []
    for (caller, route), rows in groupby(timelines.by_hour(IN_HOUR), key=lambda row: (row["caller"], row["location"])):
        hours = [*rows]
        pairs = [[row for row in hours[at : at + 2] if row["hour"] <= hours[at]["hour"] + 1] for at in range(len(hours))]
        most = max(pairs, key=lambda pair: sum(row["calls"] for row in pair))
        calls, of = (sum(row["calls"] for row in some) for some in (most, hours))
        if calls >= IN_HOUR and 2 * calls >= of and period.first <= most[0]["first"] and most[-1]["last"] <= period.last:
            listed.append(Burst(caller.decode("utf-8", "backslashreplace"), route, calls, of, time_of(most[0]["first"]), time_of(most[-1]["last"])))
    return Rows(Burst, sorted(listed, key=lambda row: (-row.calls, row.caller, row.route)))
