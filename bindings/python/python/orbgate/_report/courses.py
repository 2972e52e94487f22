"""Counts the calls of groups by time: by the second while that fits into memory, then by spans with known ends."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._count.counts import Counts

# How the calls of a group are spread over time.
STEADY, BURST, UNEVEN, NOT_CLEAR = "steady", "burst", "uneven", "not clear"
# The fewest calls for a course or a flagged client.
FEW = 10
# In a burst, half of the calls took at most this part of the log's time; in a steady course, at least this part.
BURST_PART, STEADY_PART = 24, 4
# The shortest log in seconds for a course. In a shorter log, calls are always close together.
SHORTEST = 3_600
# The most distinct seconds of all groups, which take 40 bytes each, and several times that while they are counted.
MOST_SECONDS = 1 << 19
# The most rows that are grouped at once, and the number of parts if there are more.
ROWS_AT_ONCE, PARTS = 1 << 18, 16

EPOCH = datetime(1970, 1, 1)

# The definitions on the page.
RULE = (
    f"The course shows how {FEW} calls or more are spread over time. It is {STEADY} if half of them took a quarter of the log’s time or more, a {BURST} if "
    f"half took at most a {BURST_PART}th of it, and {UNEVEN} otherwise. The time of half of the calls is rounded up, but never across these limits. A log of less than an hour has no courses"
)
# The definition for times that are not known exactly.
LIMITS = f"For some groups, only a lower limit (rounded down) and an upper limit of this time are known. The course is then shown if it is the same for both limits, and is {NOT_CLEAR} otherwise"



class Period(NamedTuple):
    """The first and the last second of a log, since 1970."""

    first: int
    last: int

    @property
    def seconds(self) -> int:
        """The length in seconds."""
        return self.last - self.first + 1

    def course(self, seconds: int) -> str | None:
        """The course of calls half of which take this time; None if the log is too short."""
        if self.seconds < SHORTEST:
            return None
        if BURST_PART * seconds <= self.seconds:
            return BURST
        return STEADY if STEADY_PART * seconds >= self.seconds else UNEVEN


class Half(NamedTuple):
    """The shortest time that contains half of the calls: at least `least_seconds`, and at most `most_seconds`.

    The `most_seconds` from `start` on contain half of the calls. `calls` is the number of calls known to be in the period.
    """

    start: int
    least_seconds: int
    most_seconds: int
    calls: int

    @property
    def start_time(self) -> datetime:
        """The start as a time."""
        return time_of(self.start)

    def course(self, period: Period) -> str | None:
        """The course, if it is the same for both limits; None for few calls, or if the log is too short."""
        if self.calls < FEW:
            return None
        course = period.course(self.least_seconds)
        return course if course == period.course(self.most_seconds) else NOT_CLEAR


class Spans(NamedTuple):
    """The calls of a group by span of time: the first and the last second with a call, and the number of calls."""

    firsts: Sequence[int]
    lasts: Sequence[int]
    calls: Sequence[int]

    def within(self, period: Period) -> tuple[Spans, int]:
        """The spans in a period, and the number of calls in spans that are only partly in it."""
        start, end = 0, len(self.calls)
        while start < end and self.firsts[start] < period.first:
            start += 1
        while start < end and self.lasts[end - 1] > period.last:
            end -= 1
        across = [at for at in (*range(start), *range(end, len(self.calls))) if self.firsts[at] <= period.last and self.lasts[at] >= period.first]
        inside = Spans(self.firsts[start:end], self.lasts[start:end], self.calls[start:end])
        return inside, sum(self.calls[at] for at in across)

    def out_of(self, period: Period) -> int | None:
        """The number of calls outside a period; None if that isn't known."""
        inside, across = self.within(period)
        return None if across else sum(self.calls) - sum(inside.calls)

    def half(self, period: Period, unseen: int = 0) -> Half | None:
        """The shortest time that contains half of the calls in a period, if up to `unseen` more calls have unknown times.

        None without calls, or if less than half of the calls might have a known time.
        """
        spans, across = self.within(period)
        unseen += across
        known = sum(spans.calls)
        if not known or unseen > known:
            return None
        # The shortest time might contain all of the unseen calls, or none.
        found = spans._shortest(max(1, -(-(known - unseen) // 2)))
        if not unseen:
            return found
        return spans._shortest(-(-(known + unseen) // 2))._replace(least_seconds=found.least_seconds)

    def _shortest(self, enough: int) -> Half:
        """The shortest time with enough calls."""
        known = sum(self.calls)
        best = None
        start = inside = 0
        for end, calls in enumerate(self.calls):
            inside += calls
            while inside - self.calls[start] >= enough:
                inside -= self.calls[start]
                start += 1
            if inside >= enough:
                # From a call in the start span to a call in the end span.
                least = max(1, self.firsts[end] - self.lasts[start] + 1)
                most = self.lasts[end] - self.firsts[start] + 1
                if best is None or most < best.most_seconds:
                    best = Half(self.firsts[start], min(least, best.least_seconds) if best else least, most, known)
                elif least < best.least_seconds:
                    best = best._replace(least_seconds=least)
        assert best is not None
        return best


class GroupSeconds(Counts):
    """Counts the calls of groups by the second.

    If all groups together have too many distinct seconds, the groups with the most are counted by spans of 2, 4, 8 … seconds, as
    short as possible. The result doesn't depend on the order of the calls.
    """

    def __init__(self) -> None:
        super().__init__(["group", "span"], least=["first"], greatest=["last"])
        # The most spans of a group.
        self._most = MOST_SECONDS
        # For each group with more distinct seconds than that, the power of two of its spans.
        self._shifts: dict[int, int] = {}

    def state(self) -> dict[str, Any]:
        return {**super().state(), "most": self._most, "shifts": self._shifts}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._most, self._shifts = state["most"], state["shifts"]

    def see(self, group: Any, second: Any) -> None:
        """Counts calls: a column of groups, and a column of their seconds."""
        self.add(self._in_spans(pa.table({"group": group, "first": second, "last": second})))
        if self._rows() > 2 * MOST_SECONDS:
            self.fit()

    def fit(self) -> None:
        """Makes spans longer if there are too many."""
        if not self.settle(0):
            return
        spans = self._spans()
        # A group with longer spans had too many seconds, so it also fills any smaller limit.
        while sum(self._most if group in self._shifts else min(self._most, count) for group, count in spans.items()) > MOST_SECONDS:
            self._most //= 2
        while longer := [group for group, count in spans.items() if count > self._most]:
            self._shifts.update((group, self._shifts.get(group, 0) + 1) for group in longer)
            self.change(self._in_spans)
            spans = self._spans()

    def keep(self, groups: set[int]) -> None:
        """Drops all other groups."""
        self.fit()
        self._shifts = {group: shift for group, shift in self._shifts.items() if group in groups}
        kept = pa.array(sorted(groups), pa.int64())
        self._parts = [part.filter(pc.is_in(part["group"], kept)) for part in self._parts]
        self._settled = self._rows()

    def by_group(self) -> dict[int, Spans]:
        """The spans of each group, in the order of time."""
        self.fit()
        if not self._rows():
            return {}
        ordered = self._parts[0].sort_by([("group", "ascending"), ("span", "ascending")]).combine_chunks()
        firsts, lasts, calls = (_integers(ordered[name]) for name in ("first", "last", "calls"))
        found, start = {}, 0
        for run in pc.run_end_encode(ordered["group"].combine_chunks()).run_ends.to_pylist():
            found[ordered["group"][start].as_py()] = Spans(firsts[start:run], lasts[start:run], calls[start:run])
            start = run
        return found

    def _spans(self) -> dict[int, int]:
        """The number of spans of each group."""
        [part] = self._parts
        counts = pc.value_counts(part["group"])
        return dict(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist()))

    def _grouped(self, table: Any) -> Any:
        if table.num_rows <= ROWS_AT_ONCE:
            return super()._grouped(table)
        # Grouping takes several times the memory of the table, so large tables are grouped in parts.
        part = pc.bit_wise_and(pc.bit_wise_xor(table["group"], table["span"]), PARTS - 1)
        return pa.concat_tables([super(GroupSeconds, self)._grouped(table.filter(pc.equal(part, of))) for of in range(PARTS)])

    def _in_spans(self, table: Any) -> Any:
        span = table["first"]
        if self._shifts:
            shifts = pa.array(self._shifts.values(), pa.int64())
            at = pc.index_in(table["group"], pa.array(self._shifts.keys(), pa.int64()))
            span = pc.shift_right(span, pc.fill_null(pc.take(shifts, at), 0))
        return table.set_column(table.column_names.index("span"), "span", span) if "span" in table.column_names else table.append_column("span", span)


def second_of(time: datetime) -> int:
    """The second of a time, since 1970."""
    return (time - EPOCH) // timedelta(seconds=1)


def time_of(second: int) -> datetime:
    """The time at which a second since 1970 starts."""
    return EPOCH + timedelta(seconds=second)


def _integers(column: Any) -> Sequence[int]:
    """A view of the 64-bit integers of a column without nulls."""
    array = column.combine_chunks()
    array = array.chunk(0) if hasattr(array, "chunk") else array
    integers: Any = memoryview(array.buffers()[1]).cast("q")
    found: Sequence[int] = integers[array.offset : array.offset + len(array)]
    return found
