"""When a log's calls were made, and which times are far from that: one wrong clock must not make a picture of November one of 56 years."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from .._number import number

# At each end at most one call in this many is far from the others. A clock that is wrong often makes some calls, so of a small log it may be
# a few, as long as they are not more than one in `FEW_SHARE`.
SHARE, FEW, FEW_SHARE = 100, 3, 10
# Times that are so near are never far.
NEAR = timedelta(hours=1)
# How many are named in a sentence.
NAMED = 3


class OutlyingTime(NamedTuple):
    """A time that is far from those of nearly all calls: how many calls have it, and the first one's row, counted from 1, and where that is.

    Times of one second are one; in a log of more than 65,536 seconds, counted for each decision, those of one minute, hour or day. `time` is the earliest and `until` the
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

    At each end `most_far` calls may be left out. All that is not farther from the others than they are from each other belongs to them, too. So a
    time is outlying where the gap before or behind it is longer than the whole rest of the log.

    >>> day = datetime(2026, 11, 1)
    >>> times = Counter({day + timedelta(hours=at): 1 for at in range(29)} | {datetime(1970, 1, 1): 1, datetime(9999, 12, 31): 1})
    >>> bulk(times) == (day, day + timedelta(hours=28))
    True
    """
    times = sorted(calls)
    if not times:
        return None
    most = most_far(calls.total())
    first, last = _after(times, calls, most), len(times) - 1 - _after(times[::-1], calls, most)
    while True:
        near = max(NEAR, times[last] - times[first])
        if first > 0 and times[first] - times[first - 1] <= near:
            first -= 1
        elif last + 1 < len(times) and times[last + 1] - times[last] <= near:
            last += 1
        else:
            return times[first], times[last]


def most_far(calls: int) -> int:
    """How many of a log's calls may be far from the others at each end.

    >>> [most_far(calls) for calls in (9, 10, 20, 30, 399, 400, 1_000)]
    [0, 1, 2, 3, 3, 4, 10]
    """
    return max(calls // SHARE, min(FEW, calls // FEW_SHARE))


def _after(times: Sequence[datetime], calls: Counter[datetime], most: int) -> int:
    """How many of the first times have at most `most` calls in all."""
    found = 0
    for time in times:
        most -= calls[time]
        if most < 0:
            break
        found += 1
    return found


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
