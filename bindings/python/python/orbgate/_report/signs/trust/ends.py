"""Instances, files and addresses whose rows end in the middle of the log."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from ...evidence import SERVED
from ...numbers import MEDIUM, length, share, shown
from ...thresholds import (
    END_ADDRESS, END_CALLS, END_EARLY, END_GONE, END_HOURS, END_LIVED, END_LOST, END_OFTEN, END_ONCE, END_PART, END_STARTED, END_STEADY, END_TORN,
    END_WIDE, THIN_HOURS, THIN_OFTEN,
)  # fmt: skip
from ...timelines import DAY, HOUR
from ..ground import Ground, Sign, name, said_when, sign


def sources_that_end(ground: Ground) -> Iterator[Sign]:
    """An instance, a file or an address with a steady part of the rows that ends in the middle, and whose calls nobody else takes over."""
    assert ground.period is not None
    evidence = ground.evidence
    kinds = [
        ("source", evidence.sources.rows(), "instance" if evidence.has_instances else "file"),
        *([("address", evidence.places.rows(), "address")] if evidence.has_addresses else []),
    ]
    for column, rows, what in kinds:
        hours: defaultdict[bytes, Counter[int]] = defaultdict(Counter)
        ends: dict[bytes, tuple[int, int]] = {}
        whole: Counter[int] = Counter()
        for row in rows:
            # An address whose calls are all refused is no part of the log's callers.
            if column == "address" and row["class"] != SERVED:
                continue
            if row[column] is not None and ground.period.first <= row["second"] and row["last"] <= ground.period.last:
                hours[row[column]][row["hour"]] += row["calls"]
                first, last = ends.get(row[column], (row["second"], row["last"]))
                ends[row[column]] = min(first, row["second"]), max(last, row["last"])
                whole[row["hour"]] += row["calls"]
        # How long before the log's end is early.
        early = max(END_HOURS * HOUR, END_EARLY * (ground.period.last - ground.period.first))
        # Files one after the other are a log in parts.
        if len(hours) < 2 or (what == "file" and not _overlap(ends)):
            continue
        every = whole.total()
        begins = [first // HOUR for first, _ in ends.values()]
        # Where instances are started in the middle of the log, others are stopped: they follow the load, or are replaced by new versions.
        started = sum(first - ground.period.first > early for first, _ in ends.values())
        if what != "address" and started >= END_STARTED:
            continue
        for of, of_hours in sorted(hours.items()):
            first, last = ends[of]
            end, count = last // HOUR, of_hours.total()
            # An instance can end early in a long log. An address is compared with the whole.
            least = END_PART if what != "address" else END_ADDRESS
            near_rows = every if what == "address" else sum(calls for hour, calls in whole.items() if first // HOUR <= hour <= end)
            if (
                count < END_CALLS
                or count < least * near_rows
                or ground.period.last - last < early
                or end - first // HOUR < END_LIVED
                # What comes once, such as the run of a month, is over then.
                or (what == "address" and last - first < END_ONCE * (ground.period.last - last))
            ):
                continue
            steady = sum(1 for hour in range(first // HOUR, end) if of_hours[hour]) >= END_OFTEN * (end - first // HOUR)
            if not steady or any(end - 1 <= begin <= end + 1 for begin in begins if begin > first // HOUR):
                continue
            near, far = (sum(whole[hour] for hour in some) for some in (range(end - THIN_HOURS, end), range(end + 1, end + 1 + THIN_HOURS)))
            own = sum(of_hours[hour] for hour in range(end - THIN_HOURS, end))
            # Where instances come and go, others take over by the next day.
            gone = sum(ground.period.last - until > END_HOURS * HOUR for until in (other[1] for other in ends.values()))
            day = [
                sum(counts[hour] for hour in some)
                for counts, some in ((whole, range(end - 24, end)), (whole, range(end + 1, end + 25)), (of_hours, range(end - 24, end)))
            ]
            is_replaced = gone > END_GONE and ground.period.last - last > DAY and day[1] > day[0] - END_LOST * day[2]
            kept = _kept(ground, end) if what != "address" else None
            if kept is None and (far > near - END_LOST * own or is_replaced):
                continue
            # Callers that call all the time lose the calls that an instance served only if its rows are lost.
            if kept is not None and kept > 1 - END_LOST * day[2] / max(1, day[0]):
                continue
            if any(abs(last - time) <= END_TORN for time in ground.unread):
                sentence = f"the last readable rows of {what} {shown(name(of))} come {said_when(last, last)}, as the first rows that could not be read"
                yield sign("unread_source", MEDIUM, name(of), count, sentence, last, ground.period.last)
                continue
            sentence = (
                f"the rows of {what} {shown(name(of))} end {said_when(last, last)}, {length(ground.period.last - last)} before the log "
                f"does, after {share(count, every)} of all rows; no other {what} has more since"
            )
            yield sign("source_ends", MEDIUM, name(of), count, sentence, first, last)


def _kept(ground: Ground, end: int) -> float | None:
    """The part of their calls that callers with calls in nearly every hour make in the day after an hour, compared with the day before; None
    if they make too few.
    """
    assert ground.period is not None
    hours = min(24, end - ground.period.first // HOUR - 1, ground.period.last // HOUR - end - 1)
    sides: tuple[defaultdict[bytes, Counter[int]], ...] = (defaultdict(Counter), defaultdict(Counter))
    for row in ground.evidence.hours.rows():
        if row["caller"] is not None and 0 < abs(row["hour"] - end) <= hours:
            sides[row["hour"] > end][row["caller"]][row["hour"]] += row["calls"]
    steady = [caller for caller in sides[0] if all(10 * len(side[caller]) >= THIN_OFTEN * hours for side in sides)]
    before, after = (sum(side[caller].total() for caller in steady) for side in sides)
    return after / before if hours >= END_WIDE and before >= END_STEADY else None


def _overlap(ends: dict[bytes, tuple[int, int]]) -> bool:
    spans = sorted(ends.values())
    return any(later[0] < earlier[1] - HOUR for earlier, later in zip(spans, spans[1:]))
