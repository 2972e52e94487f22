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
    """A time that is far from those of nearly all calls: how many calls have it, and the first one's row, counted from 1, and where that is.

    Times of one second are one; in a log of more than 65,536 seconds, those of one minute, hour or day. `time` is the earliest and `until` the
    latest of them.
    """

    time: datetime
    calls: int
    row: int
    where: str
    until: datetime

    @property
    def named(self) -> str:
        """The time, or from when to when."""
        said = self.time.isoformat(" ")
        return said if self.until == self.time else f"{said} to {self.until.isoformat(' ')}"


class Apart(NamedTuple):
    """From when to when the calls were made, exactly, and the times that are far from that, in their order."""

    first: datetime | None
    last: datetime | None
    outlying: list[OutlyingTime]

    def reaches(self, time: datetime) -> bool:
        """Whether a time is within."""
        return self.first is not None and self.last is not None and self.first <= time <= self.last

    def has(self, row: dict[str, Any]) -> bool:
        """Whether these counts are within."""
        return self.reaches(row["earliest"]) and self.reaches(row["latest"])


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


def apart(rows: Iterable[dict[str, Any]], where: Callable[[int], str]) -> Apart:
    """Tells the times of these counts apart, which are counts of `Times` with their ends."""
    calls: Counter[datetime] = Counter()
    found: dict[datetime, tuple[int, datetime, datetime]] = {}
    for row in rows:
        if (time := row["time"]) is not None:
            calls[time] += row["calls"]
            first, earliest, latest = found.get(time, (row["row"], row["earliest"], row["latest"]))
            found[time] = min(row["row"], first), min(row["earliest"], earliest), max(row["latest"], latest)
    period = bulk(calls)
    if period is None:
        return Apart(None, None, [])
    far = []
    for time in sorted(time for time in calls if not period[0] <= time <= period[1]):
        first, earliest, latest = found[time]
        far.append(OutlyingTime(earliest, calls[time], first, where(first), latest))
    return Apart(found[period[0]][1], found[period[1]][2], far)


def warning(found: Sequence[OutlyingTime]) -> str:
    """What is to be known of times that are far from the others."""
    they = "It is counted, and is" if sum(row.calls for row in found) == 1 else "They are counted, and are"
    return f"{named(found)} {they} not in the period nor in what is drawn over time."


def named(found: Sequence[OutlyingTime]) -> str:
    """Which times are far from the others."""
    named = ", ".join(f"{row.named} ({row.where})" for row in found[:NAMED])
    more = f" and {number(len(found) - NAMED, 'more time')}" if len(found) > NAMED else ""
    calls = sum(row.calls for row in found)
    return f"Far from all other times: {number(calls, 'call')}, at {named}{more}."
