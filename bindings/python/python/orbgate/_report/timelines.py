"""Counts the calls of callers by time and outcome, and finds the time from which calls of a caller fail."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._count.counts import Counts
from .._count.served import REFUSED, SERVED, is_old_login, is_refused_token, served
from .._terms import Effect, Reason

if TYPE_CHECKING:
    from .._count.decided import Part

# The outcomes of calls that didn't fail: served, or allowed without a sign of an error; and served though denied, which is another finding.
OK, LET_IN = "ok", "served though denied"
# The outcomes of allowed calls that failed, apart from statuses such as `404`: any from 500 on, refused by the server, and refused by a public route itself.
ERROR, REJECTED, OWN = "5xx", "refused", "refused by a public route"
# Denied because the login is older, or weaker, than the route wants. The client sends its user to log in again, and goes on.
OLD_LOGIN = Reason.INSUFFICIENT_USER_AUTHENTICATION.value
# The fewest failures of a client, and the fewest calls before them for a comparison.
FEW = 10
# As many calls after it show whether it is over: a client that can make calls again isn't broken.
AFTER = 5
# In the window of a failure, at least 9 of 10 calls fail; before it, fewer than 1 of 20, because some calls of every client fail.
GOOD_WEIGHT, RARE = 9, 20
# As many failures are always enough. Fewer must be more than three times those before, because tokens expire.
ENOUGH = 100
# How many times the usual share of failures an outage has at least.
OUTLYING = 8
HOUR, DAY = 3_600, 86_400
# The most rows of counts. With more, times are counted by the next longer unit, and then only those of callers whose calls fail.
MOST_ROWS = 1 << 19
UNITS = (1, 60, HOUR, DAY, 0)
EPOCH = datetime(1970, 1, 1)
KEYS = ("caller", "scope", "location", "outcome")


class Timelines(Counts):
    """Counts calls by caller, scope, route, outcome and time. The order of rows doesn't matter, unless there are too many callers.
    `by` is the column of callers; without it, nothing is counted.
    """

    def __init__(self, by: str = "caller") -> None:
        super().__init__([*KEYS, "bin"], least=["first", "row"], greatest=["last"])
        self.is_exact = True
        self._by, self._unit = by, 0

    def state(self) -> dict[str, Any]:
        return {**super().state(), "unit": self._unit, "is_exact": self.is_exact}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._unit, self.is_exact = state["unit"], state["is_exact"]

    def see(self, part: Part) -> None:
        """Counts calls with their decisions, row by row. Calls without a time aren't counted."""
        calls, decided = part.calls, part.decided
        if self._by not in calls.column_names:
            return
        second = pc.divide(pc.floor_temporal(calls["time"], unit="second").cast(pa.int64()), 1_000_000)
        columns = {
            "caller": calls[self._by], "scope": decided["scope"], "location": pc.coalesce(decided["route"], decided["about"]),
            "outcome": outcomes(calls, decided), "first": second, "last": second, "row": calls["row"],
        }  # fmt: skip
        timed = pa.table(columns)
        self.add(self._in_bins(timed.filter(pc.is_valid(timed["first"]))))

    def bound(self) -> None:
        """Keeps memory bounded, between blocks. Merging for each of them would cost more than counting it."""
        if self._rows() > max(MOST_ROWS, self._settled + MOST_ROWS // 2):
            self.fit()

    def fit(self) -> None:
        """Uses longer units if there are too many rows, and then drops callers without failures."""
        while self.settle(0) > MOST_ROWS and self._unit + 1 < len(UNITS):
            self._unit += 1
            self.change(self._in_bins)
        if self._rows() > MOST_ROWS:
            self.is_exact = False
            [part] = self._parts
            failed = self._failed()
            # Of callers with equally many failures, the first in the order of bytes are kept.
            kept = sorted(failed, key=lambda caller: (-failed[caller], caller or b"", caller is not None))
            self._parts = [part.filter(pc.is_in(part["caller"], pa.array(kept[: MOST_ROWS // 4], pa.binary())))]
            self._settled = self._rows()

    def _failed(self, outcomes: Collection[str] | None = None) -> dict[bytes | None, int]:
        """The number of failed calls of each caller that has any, of all outcomes or of some."""
        part = self._parts[0]
        is_good = pc.is_in(part["outcome"], pa.array([OK, LET_IN]))
        failed = part.filter(pc.invert(is_good) if outcomes is None else pc.is_in(part["outcome"], pa.array(sorted(outcomes))))
        groups = failed.group_by("caller").aggregate([("calls", "sum")])
        return dict(zip(groups["caller"].to_pylist(), groups["calls_sum"].to_pylist()))

    def failing(self, least: int = FEW, outcomes: Collection[str] | None = None) -> Iterator[tuple[bytes | None, list[dict[str, Any]]]]:
        """The callers of which at least a few calls failed, in any way or with one of some outcomes, each with all its counts, in the order of
        bytes.
        """
        self.fit()
        if not self._rows():
            return
        wanted = [caller for caller, calls in self._failed(outcomes).items() if calls >= least]
        part = self._parts[0]
        part = part.filter(pc.is_in(part["caller"], pa.array(wanted, pa.binary())))
        part = part.sort_by([("caller", "ascending")])
        rows = (row for batch in part.to_batches(1 << 14) for row in batch.to_pylist())
        for caller, of in groupby(rows, key=lambda row: row["caller"]):
            yield caller, list(of)

    def denials(self, callers: Iterable[bytes | None], reasons: Sequence[str]) -> Iterator[dict[str, Any]]:
        """The counts of these callers' denied calls."""
        self.fit()
        if self._rows():
            part = self._parts[0]
            is_such = pc.and_(pc.is_in(part["caller"], pa.array([*callers], pa.binary())), pc.is_in(part["outcome"], pa.array([*reasons, LET_IN])))
            yield from part.filter(is_such).to_pylist()

    def by_route(self, calls: int, outcomes: Collection[str]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """The routes with so many calls of such outcomes, each with the counts of all callers together, in the order of bytes."""
        self.fit()
        if not self._rows():
            return
        part = self._parts[0].filter(pc.is_valid(self._parts[0]["location"]))
        such = part.filter(pc.is_in(part["outcome"], pa.array([*outcomes]))).group_by("location").aggregate([("calls", "sum")])
        wanted = such.filter(pc.greater_equal(such["calls_sum"], calls))["location"]
        part = part.filter(pc.is_in(part["location"], wanted.combine_chunks()))
        whole = part.group_by(["location", "outcome", "bin"]).aggregate([("first", "min"), ("last", "max"), ("row", "min"), ("calls", "sum")])
        rows = (row for batch in _plain(whole).sort_by([("location", "ascending")]).to_batches(1 << 14) for row in batch.to_pylist())
        for location, of in groupby(rows, key=lambda row: row["location"]):
            yield location, list(of)

    def first_served(self) -> dict[str, int]:
        """The second of the first call to each route that didn't fail."""
        self.fit()
        if not self._rows():
            return {}
        part = self._parts[0].filter(pc.and_(pc.equal(self._parts[0]["outcome"], OK), pc.is_valid(self._parts[0]["location"])))
        groups = part.group_by("location").aggregate([("first", "min")])
        return dict(zip(groups["location"].to_pylist(), groups["first_min"].to_pylist()))

    def together(self) -> list[dict[str, Any]]:
        """The counts of all callers together, of calls with a route."""
        self.fit()
        if not self._rows():
            return []
        # Scanners try paths that no route has.
        known = self._parts[0].filter(pc.is_valid(self._parts[0]["location"]))
        whole = known.group_by(["outcome", "bin"]).aggregate([("first", "min"), ("last", "max"), ("row", "min"), ("calls", "sum")])
        return [{**row, "scope": None, "location": None} for row in _plain(whole).to_pylist()]

    def spread(self, outcomes: Collection[str] | None, since: int, until: int, by: str = "caller", location: str | None = None) -> list[tuple[Any, int]]:
        """The callers, or the routes, of calls to routes with such outcomes between two seconds, with their numbers of calls. Those with the
        most come first.
        """
        self.fit()
        if not self._rows():
            return []
        part = self._parts[0]
        is_such = pc.equal(part["location"], location) if location is not None else pc.is_valid(part["location"])
        if outcomes is not None:
            is_such = pc.and_(is_such, pc.is_in(part["outcome"], pa.array([*outcomes])))
        is_inside = pc.and_(pc.greater_equal(part["first"], since), pc.less_equal(part["last"], until))
        groups = part.filter(pc.and_(pc.and_(is_such, is_inside).fill_null(False), pc.is_valid(part[by]))).group_by(by).aggregate([("calls", "sum")])
        return sorted(zip(groups[by].to_pylist(), groups["calls_sum"].to_pylist()), key=lambda one: (-one[1], one[0]))

    def by_hour(self, calls: int) -> list[dict[str, Any]]:
        """The calls that didn't fail by caller, route and hour, of each caller with at least so many to a route with an id."""
        self.fit()
        if not self._rows() or not 0 < UNITS[self._unit] <= HOUR:
            return []
        part = self._parts[0]
        is_such = pc.and_(pc.match_substring(part["location"], "{").fill_null(False), pc.equal(part["outcome"], OK))
        part = part.filter(pc.and_(is_such, pc.is_valid(part["caller"])))
        whole = part.group_by(["caller", "location"]).aggregate([("calls", "sum")])
        part = part.join(
            whole.filter(pc.greater_equal(whole["calls_sum"], calls)).select(["caller", "location"]), ["caller", "location"], join_type="left semi"
        )
        hour = pc.floor(pc.divide(part["first"].cast(pa.float64()), HOUR)).cast(pa.int64())
        hourly = part.append_column("hour", hour).group_by(["caller", "location", "hour"]).aggregate([("calls", "sum"), ("first", "min"), ("last", "max")])
        rows: list[dict[str, Any]] = _plain(hourly).sort_by([(name, "ascending") for name in ("caller", "location", "hour")]).to_pylist()
        return rows

    def renewed(self, within: int, again: int, next_within: int, between: int) -> tuple[int, int]:
        """The calls of named callers that the server refused although the policy allows them, and those of them whose caller was served `within`
        so many seconds, and then not refused `again` so soon: what a part of the servers refuses is. A caller that makes a call now and then is
        served by its next call, `next_within` so many seconds, and more than `between` times until the next refusal.
        """
        self.fit()
        if not self._rows() or UNITS[self._unit] > 60 or not UNITS[self._unit]:
            return 0, 0
        part = self._parts[0].filter(pc.is_valid(self._parts[0]["caller"]))
        refused = part.filter(pc.equal(part["outcome"], REJECTED))
        part = part.filter(pc.and_(pc.is_in(part["caller"], refused["caller"].combine_chunks()), pc.is_in(part["outcome"], pa.array([REJECTED, OK]))))
        part = part.sort_by([("caller", "ascending"), ("first", "ascending")]).combine_chunks()
        if not part.num_rows:
            return 0, 0
        caller, is_ok = part["caller"].combine_chunks().dictionary_encode().indices, pc.equal(part["outcome"], OK).combine_chunks()
        next_caller, next_first = (pc.fill_null_backward(pc.if_else(is_ok, column, None)) for column in (caller, part["first"]))
        is_soon = pc.and_(pc.equal(next_caller, caller), pc.less_equal(pc.subtract(next_first, part["last"]), within)).fill_null(False)
        is_refused = pc.invert(is_ok)
        # The next row is the first refusal after calls that were served.
        is_begin = pc.and_(is_ok[:-1], is_refused[1:])
        first, place = part["first"].combine_chunks(), pa.array(range(part.num_rows))
        begins = [pa.concat_arrays([pc.if_else(is_begin, column[1:], None), pa.nulls(1, column.type)]) for column in (caller, first, place)]
        begin_caller, begin_first, begin_place = map(pc.fill_null_backward, begins)
        is_again = pc.and_(pc.equal(begin_caller, caller), pc.less_equal(pc.subtract(begin_first, part["last"]), again)).fill_null(False)
        is_next = pc.and_(pc.equal(caller[1:], caller[:-1]), pc.and_(is_ok[1:], pc.less_equal(pc.subtract(first[1:], part["last"][:-1]), next_within)))
        is_near = pc.and_(pc.equal(begin_caller, caller), pc.less_equal(pc.subtract(begin_place, place), between + 1)).fill_null(False)
        is_next = pc.and_not(pa.concat_arrays([_whole(is_next), pa.array([False])]), is_near)
        is_soon = pc.or_(pc.and_not(is_soon, is_again), is_next)
        return pc.sum(part["calls"].filter(is_refused)).as_py() or 0, pc.sum(part["calls"].filter(pc.and_(is_refused, is_soon))).as_py() or 0

    def _in_bins(self, table: Any) -> Any:
        unit = UNITS[self._unit]
        # `divide` rounds toward zero.
        first = table["first"]
        span = pc.floor(pc.divide(first.cast(pa.float64()), unit)).cast(pa.int64()) if unit else pc.multiply(first, 0)
        return table.set_column(table.column_names.index("bin"), "bin", span) if "bin" in table.column_names else table.append_column("bin", span)


def _whole(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _plain(table: Any) -> Any:
    """A table whose columns have the names that they had before they were aggregated."""
    return table.rename_columns([name.removesuffix("_min").removesuffix("_max").removesuffix("_sum") for name in table.column_names])


def outcomes(calls: Any, decided: Any) -> Any:
    """The outcome of each call: `OK`, `LET_IN`, the reason of a denial, or the way in which an allowed call failed. A token that was refused
    counts as an invalid one, whatever the policy decides, and a login that is too old as such, because only a gate knows it.
    """
    status = calls["served_status"]
    is_allowed = pc.equal(decided["decision"], Effect.ALLOW.value)
    response = served(status, is_allowed, decided["reason"])
    is_public = pc.equal(decided["reason"], Reason.PUBLIC_ROUTE.value)
    is_own = pc.and_(is_public, pc.is_in(status, pa.array([401, 403], pa.int64())))
    failed = pc.if_else(
        is_own,
        OWN,
        pc.if_else(
            pc.equal(response, REFUSED),
            REJECTED,
            pc.if_else(pc.greater_equal(status, 500), ERROR, pc.if_else(pc.greater_equal(status, 400), status.cast(pa.string()), OK)),
        ),
    )
    allowed = pc.fill_null(failed, OK)
    denied = pc.if_else(pc.equal(response, SERVED).fill_null(False), LET_IN, decided["reason"])
    decision = pc.if_else(is_allowed, allowed, pc.if_else(is_old_login(calls, decided), OLD_LOGIN, denied))
    return pc.if_else(is_refused_token(calls, decided), Reason.INVALID_TOKEN.value, decision)


class Piece(NamedTuple):
    """Calls of a stretch of time, of which some failed in one way. Only in a long unit do both kinds of calls mix."""

    first: int
    last: int
    others: int
    failed: int


class Window(NamedTuple):
    """The stretch of time in which nearly all calls of a kind failed, and the calls before and after it."""

    since: int
    until: int
    failed: int
    calls: int
    before: int
    before_failed: int
    after: int
    after_failed: int
    in_hour: int

    @property
    def is_new(self) -> bool:
        """Whether there are no calls before, or too few for a comparison."""
        return self.before < FEW and GOOD_WEIGHT * self.before <= self.failed

    @property
    def is_change(self) -> bool:
        """Whether calls before it are enough for a comparison, nearly none of them failed, and far fewer than in it."""
        is_outstanding = self.failed >= min(ENOUGH, FEW + 3 * self.before_failed)
        return self.before >= FEW and RARE * self.before_failed < self.before and is_outstanding

    @property
    def is_over(self) -> bool:
        """Whether most calls after it are good again. Some fail in any case, for example with an expired token."""
        return self.after >= AFTER and 2 * self.after_failed < self.after


def pieces(rows: Iterable[dict[str, Any]], failures: Collection[str]) -> list[Piece]:
    """The calls of rows in the order of time. Those with an outcome in `failures` are apart from the others wherever their times are."""
    bins: dict[int, list[list[int]]] = {}
    for row in rows:
        if row["outcome"] != LET_IN:
            of = bins.setdefault(row["bin"], [[], []])[row["outcome"] in failures]
            of[:] = [min(of[0], row["first"]), max(of[1], row["last"]), of[2] + row["calls"]] if of else [row["first"], row["last"], row["calls"]]
    made = []
    for others, failed in bins.values():
        if others and failed and others[1] >= failed[0] and failed[1] >= others[0]:
            made.append(Piece(min(others[0], failed[0]), max(others[1], failed[1]), others[2], failed[2]))
        else:
            made += [Piece(others[0], others[1], others[2], 0)] if others else []
            made += [Piece(failed[0], failed[1], 0, failed[2])] if failed else []
    return sorted(made)


def window(of: Sequence[Piece]) -> Window | None:
    """The stretch that has the most failures after each other call in it has cancelled nine of them; None if none has enough."""
    return _best(of, lambda piece: piece.failed - GOOD_WEIGHT * piece.others)


def mostly(of: Sequence[Piece]) -> Window | None:
    """The stretch in which more calls fail than don't: those of a route at which others succeed meanwhile."""
    return _best(of, lambda piece: piece.failed - piece.others)


def _best(of: Sequence[Piece], worth: Callable[[Piece], float]) -> Window | None:
    """The stretch whose pieces are worth the most."""
    best, start, score = (0.0, 0, 0), 0, 0.0
    for at, piece in enumerate(of):
        if score <= 0:
            start, score = at, 0.0
        score += worth(piece)
        if score > best[0]:
            best = score, start, at + 1
    return _window(of, *best[1:])


def _window(of: Sequence[Piece], start: int, end: int) -> Window | None:
    inside, before, after = of[start:end], of[:start], of[end:]
    failed = sum(piece.failed for piece in inside)
    if failed < FEW:
        return None
    counts = [(sum(piece.others + piece.failed for piece in part), sum(piece.failed for piece in part)) for part in (before, after)]
    calls = failed + sum(piece.others for piece in inside)
    return Window(inside[0].first, max(piece.last for piece in inside), failed, calls, *counts[0], *counts[1], most_in_hour(inside))


def outlying(of: Sequence[Piece]) -> Window | None:
    """The stretch with the most failures beyond a few times the usual share of them; None if its share isn't many times that of the rest,
    or below one in ten.
    """
    failed, calls = sum(piece.failed for piece in of), sum(piece.failed + piece.others for piece in of)
    # An outage of hours has a large part of a day's calls.
    usual = min(1 / 2, OUTLYING / 2 * failed / max(1, calls))
    stretch = _best(of, lambda piece: piece.failed - usual * (piece.failed + piece.others))
    if stretch is None:
        return None
    rest, rest_failed = stretch.before + stretch.after, stretch.before_failed + stretch.after_failed
    is_such = 10 * stretch.failed >= stretch.calls and stretch.failed * rest >= OUTLYING * rest_failed * stretch.calls and rest >= ENOUGH
    return stretch if is_such else None


def step(of: Sequence[Piece]) -> Window | None:
    """The stretch from the first failure on, if there are many, and at the same rate, many would have been before. A part of a
    client's calls fails, for example to one path that it writes wrongly since a release.
    """
    start = next((at for at, piece in enumerate(of) if piece.failed), len(of))
    before, after = of[:start], of[start:]
    failed, calls = sum(piece.failed for piece in after), sum(piece.others + piece.failed for piece in after)
    made = sum(piece.others for piece in before)
    if failed < 2 * FEW or made * failed < FEW * calls:
        return None
    return Window(after[0].first, max(piece.last for piece in after), failed, calls, made, 0, 0, 0, most_in_hour(after))


def most_in_hour(of: Sequence[Piece]) -> int:
    """The most failures within an hour; a lower bound if pieces are longer."""
    most = start = inside = 0
    for end, piece in enumerate(of):
        # Some hour has at least its part of a long piece.
        most = max(most, -(-piece.failed // ((piece.last - piece.first) // HOUR + 1)))
        inside += piece.failed
        while start <= end and piece.last - of[start].first >= HOUR:
            inside -= of[start].failed
            start += 1
        most = max(most, inside)
    return most


def time_of(second: int) -> datetime:
    """The time at which a second since 1970 starts."""
    return EPOCH + timedelta(seconds=second)


def second_of(time: datetime) -> int:
    """The second of a time, since 1970."""
    return (time - EPOCH) // timedelta(seconds=1)


def within(rows: Iterable[dict[str, Any]], first: int, last: int) -> list[dict[str, Any]]:
    """The rows whose calls are all between two seconds."""
    return [row for row in rows if first <= row["first"] and row["last"] <= last]
