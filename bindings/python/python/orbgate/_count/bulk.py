"""Finds the period of a log and its outlying times, so that one wrong clock doesn't stretch a chart of November to 56 years."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from .._number import number

# At each end, at most one call in this many can be outlying. A wrong clock often affects several calls, so a small log can have
# a few, but not more than one in `FEW_SHARE`.
SHARE, FEW, FEW_SHARE = 100, 3, 10
# Times this close to others are never outlying.
NEAR = timedelta(hours=1)
# The most times that a warning names.
NAMED = 3


class OutlyingTime(NamedTuple):
    """A time that is far from those of nearly all calls: the number of calls, the row of the first one (from 1), and its
    location.

    Times in the same second are combined, or in the same minute, hour or day if the log has more than 65,536 seconds, counted
    for each decision. `time` is the earliest of them, and `until` the latest.
    """

    time: datetime
    calls: int
    row: int
    where: str
    until: datetime

    @property
    def named(self) -> str:
        """The time, or the earliest and the latest time."""
        first = self.time.isoformat(" ")
        return first if self.until == self.time else f"{first} to {self.until.isoformat(' ')}"


class Apart(NamedTuple):
    """The exact period of the calls, and the outlying times in order."""

    first: datetime | None
    last: datetime | None
    outlying: list[OutlyingTime]

    def reaches(self, time: datetime) -> bool:
        """Whether a time is in the period."""
        return self.first is not None and self.last is not None and self.first <= time <= self.last

    def has(self, row: dict[str, Any]) -> bool:
        """Whether these counts are in the period."""
        return self.reaches(row["earliest"]) and self.reaches(row["latest"])


def bulk(calls: Counter[datetime]) -> tuple[datetime, datetime] | None:
    """The first and the last time of the calls without outlying times; None without calls.

    At each end, up to `most_far` calls can be left out. A time is outlying if the gap between it and the rest of the log is
    longer than the rest of the log.

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
    """The most calls of a log that can be outlying at each end.

    >>> [most_far(calls) for calls in (9, 10, 20, 30, 399, 400, 1_000)]
    [0, 1, 2, 3, 3, 4, 10]
    """
    return max(calls // SHARE, min(FEW, calls // FEW_SHARE))


def _after(times: Sequence[datetime], calls: Counter[datetime], most: int) -> int:
    """The number of first times that have at most `most` calls in total."""
    count = 0
    for time in times:
        most -= calls[time]
        if most < 0:
            break
        count += 1
    return count


def apart(rows: Iterable[dict[str, Any]], where: Callable[[int], str]) -> Apart:
    """Separates the outlying times in counts of `Times` that have their ends."""
    calls: Counter[datetime] = Counter()
    by_time: dict[datetime, tuple[int, datetime, datetime]] = {}
    for row in rows:
        if (time := row["time"]) is not None:
            calls[time] += row["calls"]
            first, earliest, latest = by_time.get(time, (row["row"], row["earliest"], row["latest"]))
            by_time[time] = min(row["row"], first), min(row["earliest"], earliest), max(row["latest"], latest)
    period = bulk(calls)
    if period is None:
        return Apart(None, None, [])
    far = []
    for time in sorted(time for time in calls if not period[0] <= time <= period[1]):
        first, earliest, latest = by_time[time]
        far.append(OutlyingTime(earliest, calls[time], first, where(first), latest))
    return Apart(by_time[period[0]][1], by_time[period[1]][2], far)


def warning(outlying: Sequence[OutlyingTime]) -> str:
    """A warning about outlying times."""
    they = "It is counted, but is" if sum(row.calls for row in outlying) == 1 else "They are counted, but are"
    return f"{named(outlying)} {they} not in the period or in charts over time."


def named(outlying: Sequence[OutlyingTime]) -> str:
    """A sentence that names outlying times."""
    named = ", ".join(f"{row.named} ({row.where})" for row in outlying[:NAMED])
    more = f" and {number(len(outlying) - NAMED, 'more time')}" if len(outlying) > NAMED else ""
    calls = sum(row.calls for row in outlying)
    return f"{number(calls, 'call')} {'was' if calls == 1 else 'were'} made far from all other times: {named}{more}."
