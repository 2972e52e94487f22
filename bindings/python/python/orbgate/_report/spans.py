"""Counts calls over time, in spans of readable units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from .._rows import Rows

# The most spans in a chart.
MOST_SPANS = 62


class Span(NamedTuple):
    """The calls in a span of time, from `start` to before `end`, both in UTC."""

    start: datetime
    end: datetime
    allowed: int
    denied: int


class Unit(NamedTuple):
    """The length of a span, in seconds or in months."""

    name: str
    seconds: int
    months: int = 0
    form: str = "%Y-%m-%d"
    # The short format of ticks on a chart's axis.
    ticks: str = "%b %d"

    def floor(self, time: datetime) -> datetime:
        """The start of the span of a time."""
        if not self.months:
            # The calendar's first day is a Monday, and so are the first days of weeks.
            return time - (time - datetime.min) % timedelta(seconds=self.seconds)
        return _month(time.year * 12 + time.month - 1, self.months)

    def after(self, start: datetime) -> datetime:
        """The start of the next span; the last span ends with the calendar."""
        if self.months:
            return _month(start.year * 12 + start.month - 1 + self.months, self.months)
        return start + min(timedelta(seconds=self.seconds), datetime.max - start)

    def label(self, start: datetime) -> str:
        """The start of a span, in the precision of the unit."""
        # Not every platform's `%Y` has four digits.
        return start.strftime(self.form.replace("%Y", f"{start.year:04}"))


_MINUTES, _SECONDS = "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"
UNITS = (
    Unit("second", 1, form=_SECONDS, ticks="%H:%M:%S"),
    Unit("10 seconds", 10, form=_SECONDS, ticks="%H:%M:%S"),
    Unit("minute", 60, form=_MINUTES, ticks="%H:%M"),
    Unit("5 minutes", 300, form=_MINUTES, ticks="%H:%M"),
    Unit("15 minutes", 900, form=_MINUTES, ticks="%b %d %H:%M"),
    Unit("hour", 3_600, form=_MINUTES, ticks="%b %d %H:%M"),
    Unit("6 hours", 21_600, form=_MINUTES, ticks="%b %d"),
    Unit("day", 86_400),
    Unit("week", 604_800),
    Unit("month", 0, 1, "%Y-%m", "%b %Y"),
    Unit("quarter", 0, 3, "%Y-%m", "%b %Y"),
    Unit("year", 0, 12, "%Y", "%Y"),
    Unit("10 years", 0, 120, "%Y", "%Y"),
    Unit("century", 0, 1_200, "%Y", "%Y"),
    Unit("millennium", 0, 12_000, "%Y", "%Y"),
)


def unit(first: datetime, last: datetime) -> Unit:
    """The shortest unit that doesn't make too many spans between two times."""
    return next(unit for unit in UNITS if len(list(_starts(unit, first, last, MOST_SPANS + 1))) <= MOST_SPANS)


def spans(counts: Sequence[dict[str, Any]]) -> tuple[Rows[Span], Unit | None]:
    """The spans from the first to the last time, including spans without calls, and their unit."""
    if not counts:
        return Rows(Span), None
    times = [count["time"] for count in counts]
    chosen = unit(min(times), max(times))
    calls = {start: [0, 0] for start in _starts(chosen, min(times), max(times), MOST_SPANS)}
    for count in counts:
        calls[chosen.floor(count["time"])][count["decision"] != "allow"] += count["calls"]
    return Rows(Span, (Span(start, chosen.after(start), *pair) for start, pair in calls.items())), chosen


def _starts(unit: Unit, first: datetime, last: datetime, most: int) -> Iterator[datetime]:
    start = unit.floor(first)
    while start <= last and most:
        yield start
        start, most = unit.after(start), most - 1


def _month(months: int, step: int) -> datetime:
    year, month = divmod(months // step * step, 12)
    if year > datetime.max.year:
        return datetime.max
    return datetime(year, month + 1, 1) if year else datetime.min
