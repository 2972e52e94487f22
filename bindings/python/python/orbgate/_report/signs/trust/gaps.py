"""Times without rows."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

from ...._number import number
from ...numbers import MEDIUM, length
from ...thresholds import GAP_ALIKE, GAP_CALLERS, GAP_CALLS, GAP_LONG, GAP_PART, GAP_SECONDS, GAP_TAIL
from ...timelines import DAY, HOUR, second_of
from ..ground import Ground, Sign, said_when, sign


def rows_missing(ground: Ground) -> Iterator[Sign]:
    """Times without rows, if many calls were made just before and after, and silences as long aren't usual."""
    assert ground.period is not None
    calls: Counter[tuple[int, int]] = Counter()
    for row in ground.timed:
        calls[second_of(row["earliest"]), second_of(row["latest"])] += row["calls"]
    times = sorted(span for span in calls if ground.period.first <= span[0] and span[1] <= ground.period.last)
    silences = [(later[0] - earlier[1], earlier[1], later[0]) for earlier, later in zip(times, times[1:]) if later[0] - earlier[1] >= GAP_PART * GAP_SECONDS]
    for size, since, until in sorted(silences, reverse=True)[:MOST_GAPS]:
        if (
            size < GAP_SECONDS
            or sum(2 * other >= size for other, *_ in silences) > GAP_ALIKE + MOST_GAPS // 2
            or (size < GAP_LONG and sum(other >= GAP_PART * size for other, *_ in silences) > GAP_TAIL)
            or _is_usual(size, since, until, silences, times)
        ):
            continue
        near = min(HOUR, max(size // 2, GAP_SECONDS))
        before, after = (
            sum(count for span, count in calls.items() if first <= span[0] and span[1] <= last)
            for first, last in ((since - near, since), (until, until + near))
        )
        # Within an hour, a few users can all be silent by chance.
        if min(before, after) < (GAP_CALLS if size >= HOUR else 2 * GAP_CALLS):
            continue
        busy = {row["caller"] for row in ground.evidence.hours.rows() if row["hour"] in (since // HOUR, since // HOUR - 1)} & {
            row["caller"] for row in ground.evidence.hours.rows() if row["hour"] in (until // HOUR, until // HOUR + 1)
        }
        if 0 < len(busy - {None}) < GAP_CALLERS:
            continue
        callers = f", and {number(len(busy), 'caller')} made calls on both sides" if busy else ""
        sentence = (
            f"no rows {said_when(since, until)} ({length(size)}), with {number(before, 'call')} in the {length(near)} before and "
            f"{number(after)} in the {length(near)} after{callers}"
        )
        yield sign("rows_missing", MEDIUM, "the log", before + after, sentence, since, until)


# The most silences that are reported.
MOST_GAPS = 4


def _is_usual(size: int, since: int, until: int, silences: list[tuple[int, int, int]], times: list[tuple[int, int]]) -> bool:
    """Whether silences as long are usual: at the same time of day, at a weekend, or at any time that isn't busy on other days."""
    whole = times[-1][1] - times[0][0]
    alike = [start for other, start, _ in silences if 3 * other >= 2 * size and start != since]
    at_same_hour = [
        start for other, start, _ in silences if 2 * other >= size and start != since and min((start - since) % DAY, (since - start) % DAY) <= 2 * HOUR
    ]
    if at_same_hour or (len(alike) >= GAP_ALIKE and not (size >= GAP_LONG and _is_busy_else(since, until, times))):
        return True
    # The first of January 1970 was a Thursday.
    if size > DAY / 2 and (since // DAY + 3) % 7 in (4, 5) and (until // DAY + 3) % 7 in (0, 6):
        return True
    # One night without calls, in a log of a day or two. In a longer one, calls were made in the other nights.
    return whole <= 3 * DAY and size >= 5 * HOUR and (until // DAY * DAY + 3 * HOUR > since) and until % DAY >= 3 * HOUR


def _is_busy_else(since: int, until: int, times: list[tuple[int, int]]) -> bool:
    """Whether the log has calls in these hours of each other day, and of two at least."""
    days = range((times[0][0] - since) // DAY + 1, (times[-1][1] - until) // DAY + 1)
    shifts = [day * DAY for day in days if day]
    calls = (bisect_left(times, (until + shift,)) - bisect_left(times, (since + shift,)) for shift in shifts)
    return len(shifts) >= 2 and all(count >= GAP_CALLS for count in calls)
