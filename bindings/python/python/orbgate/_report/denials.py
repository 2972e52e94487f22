"""Denied calls told apart, by caller, by what they have in common and by when they came; with the rows that say so."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._rows import Rows
from .._terms import Effect, Reason
from ..logs._heavy import Heavy

if TYPE_CHECKING:
    from .log import Part

# What denied calls of a caller have in common.
MISSING_SCOPE, OTHER_KIND, OLDER_VERSION = "missing scope", "other kind of token", "older version"
UNKNOWN_PATHS, NO_TOKEN = "unknown paths", "no valid token"
# What such calls may look like.
MISCONFIGURED, STALE, PROBE = "misconfigured client", "stale client", "probe"
# How they came.
STEADY, BURST, UNEVEN = "steady", "burst", "uneven"

# How many groups are told apart, and of each how many rows at most, different paths and spans of time.
GROUPS, ROWS, PATHS, SPANS = 5_000, 5, 64, 64
# From how many calls on something is said of when they came, and of what a client looks like.
FEW = 10
# From how many different paths on it looks like a probe.
PROBED_PATHS = 20


class Denied(NamedTuple):
    """Denied calls of a caller that have something in common, a lower bound where they are not exact.

    `pattern` is "missing scope", "other kind of token", "older version" (another policy, which the log is compared with, has the routes),
    "unknown paths" (malformed, or without a route) or "no valid token". `scope` is the scope that the calls lacked, `routes` are those that
    they reached, of the other policy where that is what they have in common. `paths` counts different unknown paths, at most 64,
    `malformed` the malformed calls, `base_allowed` those that the other policy allows. Half of the calls came within `half_seconds` from
    `half_from` on: `course` is "burst" if that is at most a 24th of the log's time, "steady" if it is a quarter or more, "uneven" between.
    `rows` are the first, counted from 1, and `method` and `target` those of the first, without its query. `looks_like` is None where the
    calls say too little.
    """

    caller: str
    pattern: str
    scope: str | None
    calls: int
    routes: tuple[str, ...]
    paths: int
    malformed: int
    base_allowed: int | None
    first: datetime | None
    last: datetime | None
    half_from: datetime | None
    half_seconds: int | None
    course: str | None
    rows: tuple[int, ...]
    method: str | None
    target: str | None
    looks_like: str | None
    is_exact: bool


class Histogram:
    """When things came: in spans of a power of two of seconds, the shortest with which there are few enough that have any.

    So it is the same in whichever order they come.
    """

    __slots__ = ("counts", "shift")

    def __init__(self) -> None:
        self.shift = 0
        self.counts: Counter[int] = Counter()

    def add(self, second: int, count: int) -> None:
        """Counts things of a second since 1970."""
        self.counts[second >> self.shift] += count
        while len(self.counts) > SPANS:
            self.shift += 1
            before, self.counts = self.counts, Counter()
            for span, number in before.items():
                self.counts[span >> 1] += number

    def half(self) -> tuple[int, int] | None:
        """The first second of the shortest time in which at least half of them came, and how many seconds that is."""
        spans, whole = sorted(self.counts.items()), self.counts.total()
        best, start, inside = None, 0, 0
        for span, count in spans:
            inside += count
            while 2 * (inside - spans[start][1]) >= whole:
                inside -= spans[start][1]
                start += 1
            length = span - spans[start][0] + 1
            if 2 * inside >= whole and (best is None or length < best[1]):
                best = spans[start][0], length
        return best and (best[0] << self.shift, best[1] << self.shift)


class Evidence:
    """What is known of a group besides how many calls it has."""

    __slots__ = ("first", "last", "malformed", "method", "paths", "base_allowed", "routes", "rows", "target", "times")

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.routes: Counter[str] = Counter()
        self.paths: set[bytes] = set()
        self.malformed = self.base_allowed = 0
        self.times = Histogram()
        self.first: datetime | None = None
        self.last: datetime | None = None
        self.method: bytes | None = None
        self.target: bytes | None = None


Group = tuple[bytes, str, "str | None"]


class DenialCounts:
    """Counts denied calls by caller and by what they have in common."""

    def __init__(self, has_base: bool) -> None:
        self.groups = Heavy(GROUPS)
        self._has_base = has_base
        self._evidence: dict[Group, Evidence] = {}

    def add(self, part: Part) -> None:
        """Counts calls with their decisions, row by row."""
        found = self._denied(part)
        if found.num_rows:
            self._count(found)
            self._see_times(found)
            self._see_paths(found)

    def settle(self) -> None:
        """Drops the rare groups if there are too many."""
        self.groups.settle()
        if len(self._evidence) > len(self.groups):
            kept = dict(self.groups)
            self._evidence = {group: evidence for group, evidence in self._evidence.items() if group in kept}

    def rows(self, first: datetime | None, last: datetime | None) -> Rows[Denied]:
        """The groups, first those that look like something, then by their calls; the log has calls from `first` to `last`."""
        period = None if first is None or last is None else int((last - first).total_seconds()) + 1
        lacking: Counter[bytes] = Counter()
        for (caller, pattern, _), entry in self.groups:
            lacking[caller] += entry.count if pattern in (MISSING_SCOPE, OTHER_KIND) else 0
        rows = [self._row(group, entry, period, lacking[group[0]]) for group, entry in self.groups]
        order = {MISCONFIGURED: 0, STALE: 1, PROBE: 2, None: 3}
        return Rows(Denied, sorted(rows, key=lambda row: (order[row.looks_like], -row.calls, row.caller, row.pattern, row.scope or "")))

    def _denied(self, part: Part) -> Any:
        """The denied calls that name their caller, each with what it has in common with others."""
        calls, decided, before, _ = part
        reason = decided["reason"]
        is_lost = pc.is_in(reason, pa.array([Reason.NO_ROUTE.value, Reason.METHOD_NOT_DECLARED.value]))
        base_route = pa.nulls(len(reason), pa.string())
        base_allowed = pa.repeat(False, len(reason))
        if before is not None:
            is_older = pc.and_(is_lost, pc.not_equal(before["reason"], Reason.METHOD_NOT_DECLARED.value))
            base_route = pc.if_else(is_older, before["route"], None)
            base_allowed = pc.equal(before["decision"], Effect.ALLOW.value)
        is_missing, is_other = (pc.equal(reason, of.value) for of in (Reason.SCOPE_MISSING, Reason.USER_TOKEN_REQUIRED))
        is_tokenless = pc.is_in(reason, pa.array([Reason.NO_TOKEN.value, Reason.INVALID_TOKEN.value]))
        kinds = ((is_missing, MISSING_SCOPE), (is_other, OTHER_KIND), (is_tokenless, NO_TOKEN), (pc.is_valid(base_route), OLDER_VERSION))
        pattern = pa.repeat(pa.scalar(UNKNOWN_PATHS), len(reason))
        for is_such, name in reversed(kinds):
            pattern = pc.if_else(is_such, name, pattern)
        columns = {name: calls[name] for name in ("caller", "method", "target", "time", "row")}
        columns |= {
            "pattern": pattern,
            "scope": pc.if_else(pc.or_(is_missing, is_other), decided["scope"], None),
            "place": pc.coalesce(base_route, decided["route"], decided["about"]),
            "is_malformed": pc.equal(reason, Reason.MALFORMED_REQUEST.value),
            "base_allowed": base_allowed,
        }
        is_denied = pc.equal(decided["decision"], Effect.DENY.value)
        return pa.table(columns).filter(pc.and_(is_denied, pc.is_valid(calls["caller"])))

    def _count(self, found: Any) -> None:
        keys = ["caller", "pattern", "scope", "place"]
        what = [([], "count_all"), ("row", "list"), ("is_malformed", "sum"), ("base_allowed", "sum"), ("method", "first"), ("target", "first"), ("time", "min"), ("time", "max")]
        groups = found.group_by(keys, use_threads=False).aggregate(what)
        rows = groups["row_list"].combine_chunks()
        groups = groups.set_column(groups.column_names.index("row_list"), "row_list", pc.list_slice(rows, 0, ROWS))
        for row in groups.to_pylist():
            group = row["caller"], row["pattern"], row["scope"]
            self.groups.add(group, row["count_all"])
            evidence = self._evidence.get(group)
            if evidence is None:
                evidence = self._evidence[group] = Evidence()
            if not evidence.rows or row["row_list"][0] < evidence.rows[0]:
                evidence.method, evidence.target = row["method_first"], row["target_first"]
            if len(evidence.rows) < ROWS or row["row_list"][0] < evidence.rows[-1]:
                evidence.rows = sorted([*evidence.rows, *row["row_list"]])[:ROWS]
            if row["place"] is not None:
                evidence.routes[row["place"]] += row["count_all"]
            evidence.malformed += row["is_malformed_sum"]
            evidence.base_allowed += row["base_allowed_sum"] or 0
            if row["time_min"] is not None:
                evidence.first = min(evidence.first or row["time_min"], row["time_min"])
                evidence.last = max(evidence.last or row["time_max"], row["time_max"])

    def _see_times(self, found: Any) -> None:
        timed = found.filter(pc.is_valid(found["time"]))
        second = pc.floor_temporal(timed["time"], unit="second").cast(pa.int64())
        timed = timed.append_column("second", pc.divide(second, 1_000_000))
        for row in timed.group_by(["caller", "pattern", "scope", "second"]).aggregate([([], "count_all")]).to_pylist():
            self._evidence[row["caller"], row["pattern"], row["scope"]].times.add(row["second"], row["count_all"])

    def _see_paths(self, found: Any) -> None:
        unknown = found.filter(pc.equal(found["pattern"], UNKNOWN_PATHS))
        unknown = unknown.filter(pc.is_valid(unknown["target"]))
        path = pc.list_element(pc.split_pattern(unknown["target"], "?", max_splits=1), 0)
        paths = pa.table({"caller": unknown["caller"], "path": path})
        # In the order of the log: which ones are kept does not matter, how many does.
        for row in paths.group_by(["caller", "path"]).aggregate([]).to_pylist():
            seen = self._evidence[row["caller"], UNKNOWN_PATHS, None].paths
            if len(seen) < PATHS:
                seen.add(row["path"])

    def _row(self, group: Group, entry: Any, period: int | None, lacking: int) -> Denied:
        caller, pattern, scope = group
        evidence = self._evidence[group]
        half, course = evidence.times.half(), None
        if half is not None and period is not None and evidence.times.counts.total() >= FEW:
            course = BURST if 24 * half[1] <= period else STEADY if 4 * half[1] >= period else UNEVEN
        looks_like = None
        if pattern in (MISSING_SCOPE, OTHER_KIND) and entry.count >= FEW and course == STEADY and 2 * entry.count > lacking:
            looks_like = MISCONFIGURED
        elif pattern == OLDER_VERSION and entry.count >= FEW:
            looks_like = STALE
        elif pattern == UNKNOWN_PATHS and len(evidence.paths) >= PROBED_PATHS:
            looks_like = PROBE
        target = _text(evidence.target)
        return Denied(
            _text(caller) or "", pattern, scope, entry.count,
            tuple(sorted(evidence.routes, key=lambda route: (-evidence.routes[route], route))),
            len(evidence.paths), evidence.malformed, evidence.base_allowed if self._has_base else None,
            evidence.first, evidence.last,
            half and datetime(1970, 1, 1) + timedelta(seconds=half[0]), half and half[1], course,
            tuple(evidence.rows), _text(evidence.method),
            # A query may carry what nobody should read in a report.
            target if target is None else target.partition("#")[0].partition("?")[0],
            looks_like, entry.is_exact,
        )


def _text(name: bytes | None) -> str | None:
    return None if name is None else name.decode("utf-8", "backslashreplace")
