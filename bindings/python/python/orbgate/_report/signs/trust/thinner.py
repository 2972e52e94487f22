"""A thinner sample of the rows from a time on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate
from statistics import median
from typing import NamedTuple

from ...._number import number
from ...numbers import MEDIUM
from ...thresholds import (
    THIN_ALIKE, THIN_CALLERS, THIN_CALLS, THIN_DAY, THIN_FACTOR, THIN_FEW, THIN_HOURS, THIN_MOST, THIN_OFTEN, THIN_REST, THIN_SPREAD, THIN_STEADY, THIN_STEP,
    THIN_WEEKS,
)  # fmt: skip
from ...timelines import HOUR
from ..ground import Ground, Sign, said_when, sign

# The callers whose rates are compared.
BUSIEST = 200


def thinner_sample(ground: Ground) -> Iterator[Sign]:
    """A time from which all callers make the same small part of their calls, as if one in so many rows were kept."""
    assert ground.period is not None
    by_caller: defaultdict[bytes | None, Counter[int]] = defaultdict(Counter)
    whole: Counter[int] = Counter()
    for row in ground.evidence.hours.rows():
        if ground.period.first <= row["second"] and row["last"] <= ground.period.last:
            by_caller[row["caller"]][row["hour"]] += row["calls"]
            whole[row["hour"]] += row["calls"]
    if not whole:
        return
    # The others make too few calls to tell.
    busiest = sorted(by_caller, key=lambda caller: (-by_caller[caller].total(), caller or b""))[:BUSIEST]
    by_caller = defaultdict(Counter, {caller: by_caller[caller] for caller in busiest})
    start, end = min(whole), max(whole)
    best: _Thinner | None = None
    for at in range(start + THIN_HOURS, end - THIN_HOURS + 1):
        for begins in (True, False):
            near, far = (range(at - THIN_HOURS, at), range(at + 1, at + 1 + THIN_HOURS))
            much, little = (near, far) if begins else (far, near)
            busy = sum(whole[hour] for hour in much)
            few = sum(whole[hour] for hour in little)
            if not few or few > THIN_FACTOR * busy or few * 100 < busy:
                continue
            factor = few / busy
            callers = {caller: sum(hours[hour] for hour in much) for caller, hours in by_caller.items()}
            large = {caller: calls for caller, calls in callers.items() if calls >= THIN_CALLS and calls * factor >= 2}
            alike = [
                caller
                for caller, calls in large.items()
                if factor / THIN_SPREAD <= sum(by_caller[caller][hour] for hour in little) / calls <= min(THIN_MOST, factor * THIN_SPREAD)
            ]
            # People work for an hour and then not, so many of them differ by chance; what calls in every hour tells more.
            day = range(at - THIN_DAY, at) if begins else range(at + 1, at + 1 + THIN_DAY)
            steady = {caller for caller in large if 10 * sum(by_caller[caller][hour] > 0 for hour in day) >= THIN_OFTEN * len(day)}
            is_steady = len(steady) >= THIN_STEADY and 10 * len(steady.intersection(alike)) >= THIN_OFTEN * len(steady)
            if (len(large) < THIN_CALLERS or 10 * len(alike) < THIN_ALIKE * len(large)) and not is_steady:
                continue
            if is_steady and _is_usual([by_caller[caller] for caller in steady], at, begins, start, end):
                continue
            rest = [whole[hour] for hour in (range(at + 1, end) if begins else range(start + 1, at - 1))]
            usual = median(whole[hour] for hour in (range(start, at) if begins else range(at + 1, end + 1)))
            # An evening is followed by a morning, and one of the day before was alike.
            if not rest or max(rest) > THIN_REST * usual or _is_daily(whole, at, factor, begins, start, end):
                continue
            # The evening of a log of one day: callers slow down little by little.
            step = (whole[at + 1], whole[at - 1]) if begins else (whole[at - 1], whole[at + 1])
            if step[0] > THIN_STEP * step[1]:
                continue
            if best is None or factor < best.factor:
                compared = steady if is_steady else {*large}
                best = _Thinner(factor, at, begins, len(compared.intersection(alike)), len(compared), is_steady)
    if best is None:
        best = _thinner_day(by_caller, whole)
    if best is None:
        return
    factor, at, is_start, alike_count, large_count, is_of_steady = best
    # The hour of the change has both.
    of = [row for row in ground.evidence.hours.rows() if (row["hour"] > at if is_start else row["hour"] < at)]
    first, last, calls = min(row["second"] for row in of), max(row["last"] for row in of), sum(row["calls"] for row in of)
    one = max(2, round(1 / factor))
    sentence = (
        f"{'from' if is_start else 'until'} about {said_when(at * HOUR, at * HOUR).removeprefix('on ')} "
        f"{'on ' if is_start else ''}all callers make about 1 in {one} of the calls that they make "
        f"{'before' if is_start else 'after'}: {number(alike_count)} of {number(large_count)} "
        f"{'callers that call in nearly every hour' if is_of_steady else 'busy callers'} alike, as if rows were sampled"
    )
    yield sign("thinner_sample", MEDIUM, "the log", calls, sentence, first, last)


class _Thinner(NamedTuple):
    """A part of the log with fewer calls: their part, the hour of the change, whether this part begins then or ends, how many of the compared
    callers make it alike, and whether only those are compared that call in nearly every hour.
    """

    factor: float
    at: int
    is_start: bool
    alike: int
    compared: int
    is_steady: bool


def _thinner_day(by_caller: dict[bytes | None, Counter[int]], whole: Counter[int]) -> _Thinner | None:
    """The hour since which all callers make the same small part of the calls of the day before, also those that call in nearly every hour."""
    start, end = min(whole), max(whole)
    # A log can be of decades, so each hour takes a few steps only.
    until = list(accumulate((whole[hour] for hour in range(start, end + 1)), initial=0))
    best: _Thinner | None = None
    least = 1.0
    for at in range(start + THIN_DAY, end + 1 - THIN_DAY):
        here = at - start
        sums = until[here] - until[here - THIN_DAY], until[here + 1 + THIN_DAY] - until[here + 1]
        if not sums[1]:
            continue
        rates = until[here] / here, (until[-1] - until[here + 1]) / (end - at)
        factor = sums[1] / max(1, sums[0])
        if factor > THIN_FACTOR or rates[1] > THIN_FACTOR * rates[0] or factor >= least:
            continue
        parts: list[tuple[float, bool]] = []
        machines: list[tuple[int, int]] = []
        counted: list[Counter[int]] = []
        of_machines: Counter[int] = Counter()
        for caller, hours in by_caller.items():
            before, after = ([hours[hour] for hour in some] for some in (range(at - THIN_DAY, at), range(at + 1, at + 1 + THIN_DAY)))
            if sum(before) * factor >= THIN_FEW:
                is_steady = 10 * sum(map(bool, before)) >= THIN_OFTEN * THIN_DAY
                parts.append((sum(after) / sum(before), is_steady))
                if is_steady and caller is not None:
                    machines.append((sum(before), sum(after)))
                    counted.append(hours)
                    of_machines.update({hour: hours[hour] for hour in range(max(start, at - 4 * THIN_DAY), min(end, at + 4 * THIN_DAY) + 1)})
        alike = sum(factor / THIN_SPREAD <= part <= min(THIN_MOST, THIN_SPREAD * factor) for part, _ in parts)
        # On a holiday, people make fewer calls, and machines as many as before.
        steady = [part for part, is_steady in parts if is_steady]
        is_same = alike >= THIN_CALLERS and 10 * alike >= THIN_ALIKE * len(parts) and steady and max(steady) <= min(THIN_MOST, THIN_SPREAD * factor)
        if is_same and not _is_usual(counted, at, True, start, end):
            best, least = _Thinner(factor, at, True, alike, len(parts), False), factor
        # At a weekend, people make no calls at all, and machines show the sample.
        elif len(machines) >= THIN_STEADY and 10 * (same := _alike(machines)) >= THIN_OFTEN * len(machines):
            # Calls that follow customers change little by little, or at the same hour each day.
            if (step := _step(of_machines, at, _part(machines), start, end)) is not None and not _is_usual(counted, step, True, start, end):
                best, least = _Thinner(_part(machines), step, True, same, len(machines), True), factor
    return best


def _step(calls: Counter[int], at: int, part: float, start: int, end: int) -> int | None:
    """The hour at most half a day from another one in which these calls become the fewest, if they do at once, and on no other day."""
    steps: list[tuple[float, int]] = []
    for hour in range(max(start + THIN_HOURS, at - THIN_DAY // 2), min(end - THIN_HOURS, at + THIN_DAY // 2) + 1):
        before, after = (sum(calls[hour + one] for one in some) for some in (range(-THIN_HOURS, 0), range(1, 1 + THIN_HOURS)))
        if before and after <= THIN_STEP * before and not _is_daily(calls, hour, part, True, start, end):
            steps.append((after / before, hour))
    return min(steps)[1] if steps else None


def _alike(counts: list[tuple[int, int]]) -> int:
    """The callers that make about the same small part of their calls before, of which some is chance."""
    part = _part(counts)
    if part > THIN_FACTOR:
        return 0
    return sum(part * before / THIN_SPREAD - THIN_FEW <= after <= min(THIN_MOST * before, THIN_SPREAD * part * before + THIN_FEW) for before, after in counts)


def _part(counts: list[tuple[int, int]]) -> float:
    """The calls after of those before, of all callers together."""
    return sum(after for _, after in counts) / max(1, sum(before for before, _ in counts))


def _is_usual(callers: list[Counter[int]], at: int, begins: bool, start: int, end: int) -> bool:
    """Whether these callers had a day with as few calls in the weeks on the side of the hour with more: then the days with more are unusual."""
    side = 1 if begins else -1
    if not start <= at + side * THIN_DAY <= end:
        return False
    few = [sum(calls[at + side * hour] for hour in range(1, THIN_DAY + 1)) for calls in callers]
    hours = [hour for hour in (at - side * ago for ago in range(1, 7 * THIN_WEEKS * THIN_DAY + 1)) if start <= hour <= end]
    until = [[*accumulate((calls[hour] for hour in hours), initial=0)] for calls in callers]
    for first in range(len(hours) - THIN_DAY + 1):
        usual = [of[first + THIN_DAY] - of[first] for of in until]
        # A caller that is new had no such day.
        known = [one for one, calls in zip(few, usual) if calls]
        if 2 * len(known) > len(callers) and sum(usual) <= sum(known):
            return True
    return False


def _is_daily(whole: Counter[int], at: int, factor: float, begins: bool, start: int, end: int) -> bool:
    """Whether the calls of another day also changed at the same hour."""
    for day in (-2 * THIN_DAY, -THIN_DAY, THIN_DAY, 2 * THIN_DAY):
        if start <= at + day - THIN_HOURS and at + day + THIN_HOURS <= end:
            near, far = (sum(whole[at + day + hour] for hour in hours) for hours in (range(-THIN_HOURS, 0), range(1, 1 + THIN_HOURS)))
            much, little = (near, far) if begins else (far, near)
            if little <= max(2 * factor, THIN_MOST) * much:
                return True
    return False
