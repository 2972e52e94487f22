"""Finds callers that read or delete many objects at once or in a few nights, and as few as that at all other times together. The policy allows
it, so nothing is refused.
"""

from __future__ import annotations

from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from .._rows import Rows
from .failures import IN_HOUR, Period
from .timelines import Timelines, time_of

# A log of less than half a day shows nothing of other times.
HALF_A_DAY = 43_200
# The hours in which a caller calls a route as usual, for each hour in which it calls it far more often.
USUAL_HOURS = 2


class Burst(NamedTuple):
    """Allowed calls of a caller to one route with an id, at least half of them within two hours, or in `hours` of the log: `calls` of `of`, from
    `first` to `last`.
    """

    caller: str
    route: str
    calls: int
    of: int
    first: datetime
    last: datetime
    hours: int


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
        count = 2
        # A job of each night has all its calls at one time of day.
        at_same_time = [row for row in hours if (row["hour"] - most[0]["hour"] + 1) % 24 <= 3]
        if 10 * sum(row["calls"] for row in at_same_time) >= 9 * of and 3 * calls < 2 * of:
            continue
        if 2 * calls < of:
            most = [row for row in hours if row["calls"] >= IN_HOUR]
            usual, count = len(hours) - len(most), len(most)
            calls = sum(row["calls"] for row in most)
            # A caller that is busy on other days has hours in between; a job has no other hours.
            if usual < USUAL_HOURS * count or 2 * max((row["calls"] for row in hours if row["calls"] < IN_HOUR), default=0) > IN_HOUR:
                continue
        if calls >= IN_HOUR and 2 * calls >= of and period.first <= most[0]["first"] and most[-1]["last"] <= period.last:
            whose = caller.decode("utf-8", "backslashreplace")
            listed.append(Burst(whose, route, calls, of, time_of(most[0]["first"]), time_of(most[-1]["last"]), count))
    return Rows(Burst, sorted(listed, key=lambda row: (-row.calls, row.caller, row.route)))
