"""When the calls of groups came: to the second while these fit into memory, from then on in spans of which the ends are known."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._count.counts import Counts

# How calls came.
STEADY, BURST, UNEVEN, NOT_CLEAR = "steady", "burst", "uneven", "not clear"
# From how many calls on something is said of when they came, and of what a client looks like.
FEW = 10
# A burst is half of the calls in at most such a part of the log's time, a steady course in at least such a one.
BURST_PART, STEADY_PART = 24, 4
# Of how many seconds a log must be: in a shorter one calls are near each other whatever the client is like.
SHORTEST = 3_600
# How many different seconds of all groups are kept, in 40 bytes each and several times that while they are counted.
MOST_SECONDS = 1 << 19
# How many rows are grouped at once, and otherwise in how many parts.
ROWS_AT_ONCE, PARTS = 1 << 18, 16

EPOCH = datetime(1970, 1, 1)

# The words for a course, as the page has them.
RULE = (
    f"The course of {FEW} calls or more is {STEADY} where half of them took a quarter of the log's time or more, a {BURST} where they took at most "
    f"a {BURST_PART}th of it, and {UNEVEN} between. Such a time is rounded up, never across these limits. In a log of less than an hour no course is said"
)
# And where such a time is not known exactly.
LIMITS = f"Of some groups it is only known between which two times that is, the shorter one rounded down. Then the course is said if it is that of both, and is otherwise {NOT_CLEAR}"



class Period(NamedTuple):
    """The seconds since 1970 from the first to the last."""

    first: int
    last: int

    @property
    def seconds(self) -> int:
        """How many that are."""
        return self.last - self.first + 1

    def course(self, seconds: int) -> str | None:
        """How calls come of which half take this time; None in a log that is too short."""
        if self.seconds < SHORTEST:
            return None
        if BURST_PART * seconds <= self.seconds:
            return BURST
        return STEADY if STEADY_PART * seconds >= self.seconds else UNEVEN


class Half(NamedTuple):
    """The shortest time in which at least half of the calls came is at least `least_seconds` long and at most `most_seconds`.

    Half of them came within the `most_seconds` from `start` on. `calls` is how many calls are known to be within the period.
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
        """What is so for every time between the limits; None of few calls, or in a log that is too short."""
        if self.calls < FEW:
            return None
        course = period.course(self.least_seconds)
        return course if course == period.course(self.most_seconds) else NOT_CLEAR


class Spans(NamedTuple):
    """When the calls of a group came: of each span its first second with a call, its last one, and how many calls it has."""

    firsts: Sequence[int]
    lasts: Sequence[int]
    calls: Sequence[int]

    def within(self, period: Period) -> tuple[Spans, int]:
        """The spans within a period, and how many calls have spans that are only partly within."""
        start, end = 0, len(self.calls)
        while start < end and self.firsts[start] < period.first:
            start += 1
        while start < end and self.lasts[end - 1] > period.last:
            end -= 1
        across = [at for at in (*range(start), *range(end, len(self.calls))) if self.firsts[at] <= period.last and self.lasts[at] >= period.first]
        inside = Spans(self.firsts[start:end], self.lasts[start:end], self.calls[start:end])
        return inside, sum(self.calls[at] for at in across)

    def out_of(self, period: Period) -> int | None:
        """How many calls are out of a period; None where that is not known."""
        inside, across = self.within(period)
        return None if across else sum(self.calls) - sum(inside.calls)

    def half(self, period: Period, unseen: int = 0) -> Half | None:
        """In how short a time half of the calls of a period came, where up to `unseen` more calls came at unknown times.

        None without any call, and where those with a known time may be less than half of them: then half of them may have taken any time.
        """
        spans, across = self.within(period)
        unseen += across
        known = sum(spans.calls)
        if not known or unseen > known:
            return None
        # All of the unseen may be within the shortest time, or none of them.
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
                # From a call of the span at the start to one of that at the end.
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

    If all groups together have too many different seconds, those that have most are counted by spans of a power of two of seconds, the shortest
    with which they are few enough. So it is the same in whichever order the calls come.
    """

    def __init__(self) -> None:
        super().__init__(["group", "span"], least=["first"], greatest=["last"])
        # The most spans of a group.
        self._most = MOST_SECONDS
        # Which power of two, of the groups that have more different seconds than this.
        self._shifts: dict[int, int] = {}

    def state(self) -> dict[str, Any]:
        return {**super().state(), "most": self._most, "shifts": self._shifts}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._most, self._shifts = state["most"], state["shifts"]

    def see(self, group: Any, second: Any) -> None:
        """Counts a call of each group at the second beside it."""
        self.add(self._in_spans(pa.table({"group": group, "first": second, "last": second})))
        if self._rows() > 2 * MOST_SECONDS:
            self.fit()

    def fit(self) -> None:
        """Makes spans longer where there are too many."""
        if not self.settle(0):
            return
        spans = self._spans()
        # A group with longer spans has more different seconds than fit, so it has as many as fit into fewer, too.
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
        """When the calls of each group came, in the order of time."""
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
        """How many spans each group has."""
        [part] = self._parts
        counts = pc.value_counts(part["group"])
        return dict(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist()))

    def _grouped(self, table: Any) -> Any:
        if table.num_rows <= ROWS_AT_ONCE:
            return super()._grouped(table)
        # Grouping takes a few times the memory of what it groups, so that is done in parts.
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
    """The second since 1970 that a time is in."""
    return (time - EPOCH) // timedelta(seconds=1)


def time_of(second: int) -> datetime:
    """The time at which a second since 1970 starts."""
    return EPOCH + timedelta(seconds=second)


def _integers(column: Any) -> Sequence[int]:
    """The 64-bit integers of a column of one chunk, without nulls, where they are."""
    array = column.combine_chunks()
    array = array.chunk(0) if hasattr(array, "chunk") else array
    integers: Any = memoryview(array.buffers()[1]).cast("q")
    found: Sequence[int] = integers[array.offset : array.offset + len(array)]
    return found
