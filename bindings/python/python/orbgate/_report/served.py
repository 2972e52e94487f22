"""Compares the server's responses in a log with the policy's decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._count.counts import Counts, HeavyCounts, Times
from .._count.heavy import Heavy
from .._count.served import REDIRECTED, REFUSED, REFUSED_THOUGH_ALLOWED, SERVED, SERVED_THOUGH_DENIED, UNCLEAR, is_expired_token, is_preflight, mismatch, served
from .._read import private
from .._rows import Rows
from .._terms import Detail, Effect, Reason

if TYPE_CHECKING:
    from .spans import Unit

# The most callers that are counted for each location, and the most that are named.
CALLERS = 1_000
NAMED = 4
PROVED = pa.array([SERVED, REFUSED])
LOCATION = ("what", "served_status", "reason", "detail", "position", "scope", "is_preflight")


class ServedCount(NamedTuple):
    """Calls by the server's response (`served`, `redirected`, `refused` or `unclear`) and the policy's decision."""

    served: str
    decision: Effect
    calls: int


class Mismatch(NamedTuple):
    """Calls that the server served although the policy denies them, or refused although it allows them.

    `row` (counted from 1), `caller`, `method` and `target` (without its query) are those of the first call. `callers` is the
    number of distinct callers, at most 1,000, and `first_callers` has the first four. `without_caller` calls name no caller.
    `first` is the earliest and `last` the latest time; None if no call has a time. `is_preflight` marks calls with the method
    OPTIONS and without a token, to a path that the policy has with other methods.
    """

    what: str
    status: int
    reason: Reason
    detail: Detail | None
    route: str | None
    scope: str | None
    calls: int
    row: int
    caller: str | None
    method: str | None
    target: str | None
    callers: int
    first_callers: tuple[str, ...]
    without_caller: int
    first: datetime | None
    last: datetime | None
    is_preflight: bool


class MismatchedPair(NamedTuple):
    """The mismatches of a caller at a route, without preflights; a lower bound unless `is_exact`. `route` is None for calls that
    reached no route, and `caller` is None for calls that name no caller.
    """

    what: str
    route: str | None
    caller: str | None
    calls: int
    is_exact: bool


class MismatchedCaller(NamedTuple):
    """The mismatches of a caller; lower bounds unless `is_exact`. `caller` is None for calls that name no caller."""

    caller: str | None
    served_though_denied: int
    refused_though_allowed: int
    is_exact: bool


class MismatchedSpan(NamedTuple):
    """The mismatches in the span of time that begins at `start`."""

    start: datetime
    served_though_denied: int
    refused_though_allowed: int


class Served(NamedTuple):
    """The server's responses compared with the decisions. Calls without a status are left out.

    `server_errors` calls were answered with 500 or above. `unmatched` calls match no route of the policy, and were neither
    served nor refused nor answered so.
    """

    counts: Rows[ServedCount]
    mismatches: Rows[Mismatch]
    callers: Rows[MismatchedCaller]
    pairs: Rows[MismatchedPair]
    times: Rows[MismatchedSpan]
    without_status: int
    server_errors: int
    unmatched: int

    @property
    def calls(self) -> int:
        """The number of calls with a status."""
        return sum(row.calls for row in self.counts)

    @property
    def proved(self) -> int:
        """The number of calls whose response shows whether the server let them in."""
        return sum(row.calls for row in self.counts if row.served in (SERVED, REFUSED))

    def of(self, what: str, is_preflight: bool = False) -> int:
        """The number of calls of a kind of mismatch."""
        return sum(row.calls for row in self.mismatches if row.what == what and row.is_preflight == is_preflight)

    @property
    def redirected(self) -> int:
        """The number of calls that the server redirected, for example to a login."""
        return sum(row.calls for row in self.counts if row.served == REDIRECTED)


class ServedCounts:
    """Counts calls by their statuses and decisions."""

    def __init__(self) -> None:
        self.callers, self.pairs = Heavy(), Heavy()
        self.by_caller = HeavyCounts(("caller", "what", "position", "is_preflight"), self._take, self.callers, self.pairs)
        self.server_errors = self.unmatched = 0
        self._counts: Counter[tuple[str, str]] = Counter()
        self._positions = Counts(LOCATION, first=("row", "caller", "method", "target"), least=("earliest",), greatest=("latest",))
        self._times = Times(("what",))
        # In the order of their first calls.
        self._callers: dict[tuple[Any, ...], dict[bytes, None]] = {}
        self._without = 0
        # The calls without a caller for each location.
        self._unnamed: Counter[tuple[Any, ...]] = Counter()

    def add(self, calls: Any, decided: Any) -> None:
        """Counts calls with their decisions, row by row."""
        status = calls["served_status"]
        self._without += status.null_count
        if status.null_count == len(status):
            return
        is_allowed = pc.equal(decided["decision"], Effect.ALLOW.value)
        response = pc.if_else(is_expired_token(calls), UNCLEAR, served(status, is_allowed, decided["reason"]))
        position = pc.coalesce(decided["route"], decided["about"])
        is_error, is_unmatched = unclear(calls, decided)
        self.server_errors += pc.sum(is_error).as_py() or 0
        self.unmatched += pc.sum(is_unmatched).as_py() or 0
        rows = pa.table({"said": response, "decision": decided["decision"]}).filter(pc.is_valid(response))
        for row in rows.group_by(["said", "decision"]).aggregate([([], "count_all")]).to_pylist():
            self._counts[row["said"], row["decision"]] += row["count_all"]
        what = mismatch(response, is_allowed)
        columns = {name: calls[name] for name in ("served_status", "row", "caller", "method", "target", "time")}
        columns |= {"what": what, "reason": decided["reason"], "detail": decided["detail"], "scope": decided["scope"]}
        columns |= {"position": position, "is_preflight": is_preflight(calls, position), "earliest": calls["time"], "latest": calls["time"]}
        mismatches = pa.table(columns).filter(pc.is_valid(what))
        if not mismatches.num_rows:
            return
        self._positions.add(mismatches)
        self._times.add(mismatches)
        self.by_caller.add(mismatches)
        is_named = pc.is_valid(mismatches["caller"])
        named = mismatches.filter(is_named)
        for row in mismatches.filter(pc.invert(is_named)).group_by(list(LOCATION)).aggregate([([], "count_all")]).to_pylist():
            self._unnamed[tuple(row[name] for name in LOCATION)] += row["count_all"]
        groups = named.group_by(list(LOCATION), use_threads=False).aggregate([("caller", "list")])
        for *position, callers in zip(*(groups[name] for name in (*LOCATION, "caller_list"))):
            seen = self._callers.setdefault(tuple(part.as_py() for part in position), {})
            if len(seen) < CALLERS:
                seen.update(dict.fromkeys(pc.unique(callers.values).slice(0, CALLERS).to_pylist()))

    def figures(self, unit: Unit | None) -> Served:
        """The figures, with times in the spans of the page."""
        counts = (ServedCount(response, Effect(decision), calls) for (response, decision), calls in self._counts.items())
        positions = ((tuple(row[name] for name in LOCATION), row) for row in self._positions.rows())
        mismatches = Rows(Mismatch, (_mismatch(row, self._callers.get(position, {}), self._unnamed[position]) for position, row in positions))
        callers = (
            MismatchedCaller(_text(caller), entry.parts[SERVED_THOUGH_DENIED], entry.parts[REFUSED_THOUGH_ALLOWED], entry.is_exact)
            for caller, entry in self.callers
        )
        pairs = (MismatchedPair(what, route, _text(caller), entry.count, entry.is_exact) for (what, route, caller), entry in self.pairs)
        return Served(
            Rows(ServedCount, sorted(counts, key=lambda row: (-row.calls, row.served, row.decision))),
            mismatches.sorted(lambda row: (row.what != SERVED_THOUGH_DENIED, -row.calls, row.row)),
            Rows(
                MismatchedCaller,
                sorted(callers, key=lambda row: (-row.served_though_denied, -row.refused_though_allowed, row.caller or "", row.caller is not None)),
            ),
            # A call to a protected route matters more than one to an unknown path.
            Rows(
                MismatchedPair,
                sorted(
                    pairs,
                    key=lambda row: (
                        row.what != SERVED_THOUGH_DENIED,
                        row.route is None,
                        -row.calls,
                        row.route or "",
                        row.caller or "",
                        row.caller is not None,
                    ),
                ),
            ),
            self._spans(unit),
            self._without,
            self.server_errors,
            self.unmatched,
        )

    def _take(self, rows: Iterable[dict[str, Any]]) -> None:
        for row in rows:
            self.callers.add(row["caller"], row["calls"]).parts[row["what"]] += row["calls"]
            if not row["is_preflight"]:
                self.pairs.add((row["what"], row["position"], row["caller"]), row["calls"])

    def _spans(self, unit: Unit | None) -> Rows[MismatchedSpan]:
        counts: dict[datetime, Counter[str]] = {}
        for row in self._times.rows():
            if row["time"] is not None and unit is not None:
                counts.setdefault(unit.floor(row["time"]), Counter())[row["what"]] += row["calls"]
        return Rows(
            MismatchedSpan,
            (MismatchedSpan(start, counts[start][SERVED_THOUGH_DENIED], counts[start][REFUSED_THOUGH_ALLOWED]) for start in sorted(counts)),
        )


def unclear(calls: Any, decided: Any) -> tuple[Any, Any]:
    """Which calls were answered with an error of the server, and which others match no route and were neither served nor refused."""
    status = calls["served_status"]
    response = served(status, pc.equal(decided["decision"], Effect.ALLOW.value), decided["reason"])
    is_error = pc.greater_equal(status, 500).fill_null(False)
    is_nowhere = pc.and_(pc.is_null(pc.coalesce(decided["route"], decided["about"])), pc.is_null(calls["by_scope"]))
    is_open = pc.and_not(pc.and_not(pc.is_valid(response), pc.is_in(response, PROVED)), is_error)
    return is_error, pc.and_(is_nowhere, is_open)


def _mismatch(row: dict[str, Any], callers: dict[bytes, None], without_caller: int) -> Mismatch:
    return Mismatch(
        row["what"],
        row["served_status"],
        Reason(row["reason"]),
        None if row["detail"] is None else Detail(row["detail"]),
        row["position"],
        row["scope"],
        row["calls"],
        row["row"],
        _text(row["caller"]),
        private.method(_text(row["method"])),
        private.target(_text(row["target"])),
        min(len(callers), CALLERS),
        tuple(_text(caller) or "" for caller in islice(callers, NAMED)),
        without_caller,
        row["earliest"],
        row["latest"],
        row["is_preflight"],
    )


def _text(name: bytes | None) -> str | None:
    return None if name is None else name.decode("utf-8", "backslashreplace")
