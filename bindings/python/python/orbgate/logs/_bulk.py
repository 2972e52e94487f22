"""When a log's calls were made, and which times are far from that: one wrong clock must not make a picture of November one of 56 years."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from .._number import number

# At most one call in this many is far from the others; of few calls none is, and one of some more.
SHARE, FEW = 100, 10
# Times that are so near are never far.
NEAR = timedelta(hours=1)
# How many are named in a sentence.
NAMED = 3


class OutlyingTime(NamedTuple):
    """A time that is far from those of nearly all calls: how many calls have it, and the first one's row, counted from 1, and where that is."""

    time: datetime
    calls: int
    row: int
    where: str


def bulk(calls: Counter[datetime]) -> tuple[datetime, datetime] | None:
    """From when to when the calls were made, but for those that are far from them; None without any.

    At least 99 of 100 calls are within. All that is not farther from them than they are from each other belongs to them, too. So a time is
    outlying where the gap before or behind it is longer than the whole rest of the log.

    >>> day = datetime(2026, 11, 1)
    >>> times = Counter({day + timedelta(hours=at): 1 for at in range(99)} | {datetime(1970, 1, 1): 1})
    >>> bulk(times) == (day, day + timedelta(hours=98))
    True
    """
    times, whole = sorted(calls), calls.total()
    if not times:
        return None
    enough = whole - (max(1, whole // SHARE) if whole >= FEW else 0)
    first, last = 0, len(times) - 1
    start, inside = 0, 0
    for end, time in enumerate(times):
        inside += calls[time]
        while inside - calls[times[start]] >= enough:
            inside -= calls[times[start]]
            start += 1
        if inside >= enough and time - times[start] < times[last] - times[first]:
            first, last = start, end
    while True:
        near = max(NEAR, times[last] - times[first])
        if first > 0 and times[first] - times[first - 1] <= near:
            first -= 1
        elif last + 1 < len(times) and times[last + 1] - times[last] <= near:
            last += 1
        else:
            return times[first], times[last]


def apart(rows: Iterable[dict[str, Any]], where: Callable[[int], str]) -> tuple[tuple[datetime, datetime] | None, list[OutlyingTime]]:
    """From when to when the calls of these counts were made, and the times that are far from that, in their order."""
    calls: Counter[datetime] = Counter()
    first: dict[datetime, int] = {}
    for row in rows:
        if row["time"] is not None:
            calls[row["time"]] += row["calls"]
            first[row["time"]] = min(row["row"], first.get(row["time"], row["row"]))
    period = bulk(calls)
    if period is None:
        return None, []
    far = sorted(time for time in calls if not period[0] <= time <= period[1])
    return period, [OutlyingTime(time, calls[time], first[time], where(first[time])) for time in far]


def warning(found: Sequence[OutlyingTime]) -> str:
    """What is to be known of times that are far from the others."""
    named = ", ".join(f"{time.isoformat(' ')} ({where})" for time, _, _, where in found[:NAMED])
    more = f" and {number(len(found) - NAMED, 'more time')}" if len(found) > NAMED else ""
    calls = sum(row.calls for row in found)
    return f"Far from all other times: {number(calls, 'call')}, at {named}{more}. They are counted, and are not in the period nor in what is drawn over time."
