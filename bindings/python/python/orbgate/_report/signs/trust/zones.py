"""Times in several zones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from ...._number import number
from ...evidence import OTHER_STEP
from ...numbers import MEDIUM, length, shown
from ...thresholds import END_CALLS, STEP_BACK, STEP_PART, STEP_ROWS, ZONE_CALLS, ZONE_CLOSER, ZONE_DAYS, ZONE_HOURS, ZONE_SOURCES, ZONE_UNLIKE
from ...timelines import DAY
from ..ground import Ground, Sign, name, sign


def mixed_zones(ground: Ground) -> Iterator[Sign]:
    """Rows whose times jump by the same whole hours, there and back."""
    steps = ground.evidence.steps
    by_size: Counter[int] = Counter()
    for quarters, count in steps.items():
        by_size[abs(quarters)] += count
    # A clock that drifts passes each size.
    others = by_size.pop(OTHER_STEP, 0)
    if by_size:
        size, count = by_size.most_common(1)[0]
        back = min(steps[size], steps[-size])
        if count >= max(STEP_ROWS, others) and back >= STEP_BACK and count >= STEP_PART * by_size.total() and not size % 2:
            sentence = (
                f"from row to row, times jump {number(steps[size])} times forward and {number(steps[-size])} times back by "
                f"{length(900 * size)}, as if a part of the rows were in another time zone"
            )
            yield sign("mixed_zones", MEDIUM, "the log", count, sentence)
            return
    yield from _shifted(ground)


def _shifted(ground: Ground) -> Iterator[Sign]:
    """An instance or a file whose hours are those of all others, some hours later or earlier."""
    assert ground.period is not None
    hours: defaultdict[bytes, Counter[int]] = defaultdict(Counter)
    for row in ground.evidence.sources.rows():
        if row["source"] is not None:
            hours[row["source"]][row["hour"]] += row["calls"]
    if not 2 <= len(hours) <= ZONE_SOURCES or sum(of.total() for of in hours.values()) < ZONE_CALLS:
        return
    # On a single day, an instance can have its calls at another time than the others for many reasons.
    if ground.period.last - ground.period.first < ZONE_DAYS * DAY:
        return
    for group in ([source] for source in sorted(hours)) if len(hours) == 2 else (*([source] for source in sorted(hours)), _moved_alike(hours)):
        own, rest = Counter[int](), Counter[int]()
        for source, of in hours.items():
            (own if source in group else rest).update(of)
        if own.total() < END_CALLS or rest.total() < END_CALLS:
            continue
        lag, distance = _lag(own, rest)
        if lag and distance[0] > ZONE_UNLIKE and ZONE_CLOSER * distance[lag] < distance[0]:
            what = "instance" if ground.evidence.has_instances else "file"
            named = ", ".join(shown(name(source)) for source in group[:3]) + (f" and {number(len(group) - 3)} more" if len(group) > 3 else "")
            sentence = (
                f"the times of {what if len(group) == 1 else f'{what}s'} {named} are "
                f"{number(abs(lag), 'hour')} {'ahead of' if lag > 0 else 'behind'} those of all others: "
                f"{'its' if len(group) == 1 else 'their'} calls rise and fall that much "
                f"{'later' if lag > 0 else 'earlier'}"
            )
            yield sign("mixed_zones", MEDIUM, name(group[0]), own.total(), sentence)
            return


def _lag(own: Counter[int], rest: Counter[int]) -> tuple[int, dict[int, float]]:
    """The hours by which a series is moved most likely, and how differently the two are spread for each number of hours."""
    distance = {lag: _distance(own, rest, lag) for lag in range(-ZONE_HOURS, ZONE_HOURS + 1)}
    return min(distance, key=lambda one: (distance[one], abs(one))), distance


def _moved_alike(hours: dict[bytes, Counter[int]]) -> list[bytes]:
    """The instances or files that are moved by the same hours, compared with the busiest one; none if others are moved by other hours."""
    busiest = max(hours, key=lambda source: (hours[source].total(), source))
    lags = {source: _lag(of, hours[busiest])[0] for source, of in hours.items() if of.total() >= END_CALLS}
    moved = sorted(source for source, lag in lags.items() if lag)
    return moved if len({lags[source] for source in moved}) == 1 else []


def _distance(own: Counter[int], rest: Counter[int], lag: int) -> float:
    """How differently two series of hours are spread, the first of them moved by some hours: from 0 to 1."""
    moved = {hour - lag: calls / own.total() for hour, calls in own.items()}
    return sum(abs(moved.get(hour, 0) - rest[hour] / rest.total()) for hour in {*moved, *rest}) / 2
