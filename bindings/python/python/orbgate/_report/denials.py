"""Denied calls told apart, by caller, by what they have in common and by when they came; with the rows that say so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._count.counts import FIRST
from .._count.heavy import Heavy
from .._count.long import name as short_name
from .._count.served import served_though_denied
from .._number import number
from .._read import private
from .._rows import Rows
from .._terms import Detail, Effect, Reason
from .courses import BURST_PART, EPOCH, FEW, STEADY, GroupSeconds, Half, Period, Spans, second_of

if TYPE_CHECKING:
    from .._count.decided import Part
    from .spans import Unit

# What denied calls of a caller have in common.
MISSING_SCOPE, OTHER_KIND, OLDER_VERSION = "missing scope", "other kind of token", "older version"
UNKNOWN_PATHS, OTHER_METHOD, NO_TOKEN = "unknown paths", "undeclared method", "no valid token"
# What such calls may look like.
MISCONFIGURED, STALE, PROBE = "misconfigured client", "stale client", "probe"

# How many groups are told apart, and of each how many rows at most and different paths.
GROUPS, ROWS, PATHS = 5_000, 5, 64
# Of how many callers it is told when they were denied.
TIMED_CALLERS = 25
# From how many different paths on it looks like a probe.
PROBED_PATHS = 20
# Of each half an hour a group keeps when each path came first and last, so what came within an hour is exact in whichever order rows come. After a
# whole block, a group keeps the last 64 of them.
HOUR, SLOT, SLOTS = 3_600, 1_800, 64
# A caller has stopped if it was silent at the log's end for more than so many times its average gap, and for more than a burst's part of the log's time.
SILENT_GAPS = 10
# A part of a path that is an id, also before an ending like that of a file, or a number in one: paths that differ in these alone are those of one template.
ID = re.compile(rb"(?<=/)(?:[^/@]+(?:@|%40)[^/@]+(?=/|$)|(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|(?=[a-fA-F]*\d)[0-9a-fA-F]{8,}|(?:[a-z]+_)?(?=[A-Za-z]*\d)[A-Za-z0-9]{16,})(?=(?:\.[A-Za-z][A-Za-z0-9]{0,7})*(?:/|$)))|\d+")

# The definitions, as the page and the README have them.
RULES = {
    MISCONFIGURED: f"makes {FEW} calls or more that lack one scope, or a user's token for it, steadily over the log's time. Other tokens of the caller may have it. A user who is probing a token's permissions looks the same",
    STALE: f"makes {FEW} calls or more to routes that only the other policy has, which is taken for the older one",
    PROBE: (
        f"tries {PROBED_PATHS} different paths or more that are malformed or that no route has, with a valid token or without one, "
        "within an hour or as most of all its calls; paths that differ alone in numbers, wherever these are, or in UUIDs, long ids or e-mail addresses that are a whole part, a file's ending apart, are one. "
        "A client with a wrong base path looks the same"
    ),
}

class Denied(NamedTuple):
    """Denied calls of a caller that have something in common, a lower bound where they are not exact.

    `caller` is None for all calls that name none. `pattern` is "missing scope", "other kind of token", "older version" (another policy, which the log is compared with, has the routes),
    "unknown paths" (malformed, or without a route, also without a valid token), "undeclared method" (of a path that the policy has) or "no
    valid token". `scope` is the scope that the calls lacked, `routes` are those that
    they reached, of the other policy where that is what they have in common. `paths` counts different unknown paths, at most 64; those that
    differ in ids alone are one. `paths_in_hour` says how many of them came within one hour, at most 20 (a lower bound if `paths_in_hour_is_exact` is false,
    because calls have no time or came far out of order), `caller_calls` how many calls the caller
    has in all (None where that is not exact), `caller_lacks` how many scopes its denied calls lacked in all, a user's token for them
    included (a lower bound where some groups are not counted), `caller_carried` in how many calls its tokens carried the scope, a user's tokens
    where that is what the calls lacked (None where that is not exact, and without a scope or a caller), `malformed` the malformed calls, `base_allowed` those that the other policy allows,
    `served_though_denied` those that the server served (None where the log has no statuses). Half of the calls, but for the `outlying` ones, whose times are far from all others (None where it is not known how many
    these are), came within `half_seconds` from
    `half_from` on: `course` is "burst" if that is at most a 24th of the log's time, "steady" if it is a quarter or more, "uneven" between. The times are in whole seconds, the first
    and the last included. There is no shorter time, unless `half_least_seconds` is less, which is then a lower bound of it: the course is said where it is that of both, and is
    otherwise "not clear". It is None of fewer than 10 calls with a time, and in a log of less than an hour. `without_time` calls may have come at any time: where
    they are more than the others, nothing is said of half of the calls. Nor is it, nor of an hour, in a log in which some times are days alone.
    `rows` are the first, counted from 1, and `method`, `target` and `detail` those of the first, without its query. `looks_like` is None where the
    calls say too little.
    """

    caller: str | None
    pattern: str
    scope: str | None
    calls: int
    routes: tuple[str, ...]
    paths: int
    paths_in_hour: int | None
    paths_in_hour_is_exact: bool
    caller_calls: int | None
    caller_lacks: int
    caller_carried: int | None
    malformed: int
    base_allowed: int | None
    served_though_denied: int | None
    first: datetime | None
    last: datetime | None
    half_from: datetime | None
    half_least_seconds: int | None
    half_seconds: int | None
    course: str | None
    without_time: int
    outlying: int | None
    rows: tuple[int, ...]
    method: str | None
    target: str | None
    detail: Detail | None
    looks_like: str | None
    is_exact: bool


def has_stopped(row: Denied, first: datetime | None, last: datetime | None) -> bool:
    """Whether a caller stopped making such calls, in a log from `first` to `last`."""
    if first is None or last is None or row.first is None or row.last is None or row.paths_in_hour is None or row.outlying != 0:
        return False
    silence, whole = (last - row.last).total_seconds(), (last - first).total_seconds()
    gaps = row.calls - row.without_time - 1
    return gaps >= FEW - 1 and silence * gaps > SILENT_GAPS * (row.last - row.first).total_seconds() and BURST_PART * silence > whole


def hour_is_bound(rows: Rows[Denied]) -> str:
    """That there may be probes among these groups, because how many paths came within an hour is not known; nothing if it is."""
    bounds = sum(row.pattern == UNKNOWN_PATHS and row.looks_like is None and row.paths >= PROBED_PATHS and not row.paths_in_hour_is_exact for row in rows)
    return f"How many paths came within an hour is a lower bound in {number(bounds, 'group')}, of which calls have no time or came far out of order." if bounds else ""


class DeniedSpan(NamedTuple):
    """The denied calls of one of the callers with most denials from `start` on, in a span of the page; a lower bound where it is not exact."""

    caller: str | None
    start: datetime
    denied: int
    is_exact: bool


class Evidence:
    """What is known of a group besides how many calls it has."""

    __slots__ = ("detail", "first", "last", "malformed", "method", "number", "paths", "paths_in_hour", "paths_in_hour_is_exact", "base_allowed", "routes", "rows", "served", "slots", "slots_from", "target")

    def __init__(self, number: int) -> None:
        # What `GroupSeconds` calls the group.
        self.number = number
        self.rows: list[int] = []
        self.routes: Counter[str] = Counter()
        self.paths: set[bytes] = set()
        # By half an hour, each path with its first and its last second there, as many as make a probe; and from which half hour on none was dropped.
        self.slots: dict[int, dict[bytes, tuple[int, int]]] = {}
        self.slots_from: int | None = None
        self.paths_in_hour = 0
        self.paths_in_hour_is_exact = True
        self.malformed = self.base_allowed = self.served = 0
        self.first: datetime | None = None
        self.last: datetime | None = None
        self.method: bytes | None = None
        self.target: bytes | None = None
        self.detail: str | None = None

    def see_path(self, shape: bytes, slot: int, first: int, last: int) -> None:
        """A path came at these seconds and maybe between them, in a half hour."""
        if self.slots_from is not None and slot < self.slots_from + 2:
            # The hour of this call reaches into what was dropped.
            self.paths_in_hour_is_exact = False
        inside = self.slots.setdefault(slot, {})
        before = inside.get(shape, (first, last))
        inside[shape] = min(first, before[0]), max(last, before[1])
        if len(inside) == PROBED_PATHS:
            self._is_probe()

    def most_in_hour(self) -> int:
        """How many different paths came within an hour, the first and the last second included, at most as many as make a probe."""
        for slot, paths in self.slots.items():
            # All of the half hour before are within an hour of any time in this one, and of that before them those that came late enough.
            near, far = self.slots.get(slot - 1, {}), self.slots.get(slot - 2, {})
            for until, _ in paths.values():
                within = {shape for shape, (first, _) in paths.items() if first <= until} | near.keys()
                within |= {shape for shape, (_, last) in far.items() if last > until - HOUR}
                self.paths_in_hour = max(self.paths_in_hour, len(within))
        if self.paths_in_hour >= PROBED_PATHS:
            self._is_probe()
        return self.paths_in_hour

    def settle(self) -> None:
        """Drops the oldest half hours if there are too many."""
        if len(self.slots) > SLOTS and self.most_in_hour() < PROBED_PATHS:
            self.slots = {slot: self.slots[slot] for slot in sorted(self.slots)[-SLOTS:]}
            self.slots_from = min(self.slots)

    def _is_probe(self) -> None:
        """More need not be known."""
        self.paths_in_hour, self.paths_in_hour_is_exact, self.slots = PROBED_PATHS, True, {}


Group = tuple["bytes | None", str, "str | None"]
NO_SPANS = Spans((), (), ())


class DenialCounts:
    """Counts denied calls by caller and by what they have in common."""

    def __init__(self, has_base: bool) -> None:
        self.groups = Heavy(GROUPS)
        self.seconds = GroupSeconds()
        self._has_base = has_base
        self._evidence: dict[Group, Evidence] = {}
        self._numbered = 0

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
        kept = {group: evidence for group, evidence in self._evidence.items() if group in self.groups}
        if len(kept) < len(self._evidence):
            self.seconds.keep({evidence.number for evidence in kept.values()})
            self._evidence = kept
        for evidence in self._evidence.values():
            evidence.settle()

    def rows(self, first: datetime | None, last: datetime | None, calls_of: Callable[[bytes | None], int | None], carried: Callable[[bytes, str, bool], int | None], has_days_alone: bool = False, has_statuses: bool = False) -> Rows[Denied]:
        """The groups, first probes, then other clients that look like something, then by their calls; the log has calls from `first` to `last`.

        `calls_of` says how many calls a caller has in all, or None if that is not known, `carried` in how many its tokens, or a user's, carried a scope. With `has_days_alone`, nothing is said of how near calls came.
        """
        spans = self.seconds.by_group()
        period = None if first is None or last is None else Period(second_of(first), second_of(last))
        lacked = Counter(caller for caller, _ in {(caller, scope) for (caller, _, scope), _ in self.groups if scope is not None})
        rows = []
        for group, entry in self.groups:
            of = spans.get(self._evidence[group].number, NO_SPANS)
            without_time = entry.count - sum(of.calls)
            half: Half | None = None
            outlying: int | None = 0
            if period is not None:
                half = None if has_days_alone else of.half(period, entry.missed + without_time)
                outlying = of.out_of(period)
            course = half and period and half.course(period)
            caller, pattern, scope = group
            had = None if caller is None or scope is None else carried(caller, scope, pattern == OTHER_KIND)
            rows.append(self._row(group, entry, half, course, not has_days_alone, has_statuses, without_time, outlying, calls_of(caller), lacked[caller], had))
        order = {PROBE: 0, MISCONFIGURED: 1, STALE: 2, None: 3}
        return Rows(Denied, sorted(rows, key=lambda row: (order[row.looks_like], -row.calls, row.caller or "", row.caller is not None, row.pattern, row.scope or "")))

    def times(self, unit: Unit | None, first: datetime | None, last: datetime | None) -> Rows[DeniedSpan]:
        """When the callers with most denials were denied, in spans of this unit."""
        if unit is None or first is None or last is None:
            return Rows(DeniedSpan)
        of_caller: dict[bytes | None, list[tuple[Group, Any]]] = {}
        for group, entry in self.groups:
            of_caller.setdefault(group[0], []).append((group, entry))
        counts = {caller: sum(entry.count for _, entry in groups) for caller, groups in of_caller.items()}
        callers = sorted(counts, key=lambda caller: (-counts[caller], caller or b"", caller is not None))[:TIMED_CALLERS]
        spans, period = self.seconds.by_group(), Period(second_of(first), second_of(last))
        rows = []
        for caller in callers:
            found: Counter[datetime] = Counter()
            is_exact = self.groups.is_exact
            for group, entry in of_caller[caller]:
                inside, across = spans.get(self._evidence[group].number, NO_SPANS).within(period)
                starts, ends = ([unit.floor(EPOCH + timedelta(seconds=second)) for second in seconds] for seconds in (inside.firsts, inside.lasts))
                is_exact = is_exact and entry.is_exact and not across and starts == ends
                for start, end, calls in zip(starts, ends, inside.calls):
                    found[start] += calls if start == end else 0
            rows += [DeniedSpan(_text(caller), start, found[start], is_exact) for start in sorted(found) if found[start]]
        return Rows(DeniedSpan, rows)

    def _denied(self, part: Part) -> Any:
        """The denied calls, each with what it has in common with others."""
        calls, decided, before, _ = part
        reason = decided["sought"].combine_chunks()
        is_lost = pc.is_in(reason, pa.array([Reason.NO_ROUTE.value, Reason.METHOD_NOT_DECLARED.value]))
        base_route = pa.nulls(len(reason), pa.string())
        base_allowed = pa.repeat(False, len(reason))
        if before is not None:
            is_older = pc.and_(is_lost, pc.not_equal(before["reason"], Reason.METHOD_NOT_DECLARED.value))
            base_route = pc.if_else(is_older, pc.coalesce(before["route"], before["about"]), None)
            base_allowed = pc.equal(before["decision"], Effect.ALLOW.value)
        is_missing, is_other = (pc.equal(reason, of.value) for of in (Reason.SCOPE_MISSING, Reason.USER_TOKEN_REQUIRED))
        is_tokenless = pc.is_in(reason, pa.array([Reason.NO_TOKEN.value, Reason.INVALID_TOKEN.value]))
        is_method = pc.equal(reason, Reason.METHOD_NOT_DECLARED.value)
        kinds = (
            (is_missing, MISSING_SCOPE), (is_other, OTHER_KIND), (is_tokenless, NO_TOKEN), (pc.is_valid(base_route), OLDER_VERSION),
            (is_method, OTHER_METHOD),
        )  # fmt: skip
        pattern = pa.repeat(pa.scalar(UNKNOWN_PATHS), len(reason))
        for is_such, name in reversed(kinds):
            pattern = pc.if_else(is_such, name, pattern)
        columns = {name: calls[name] for name in ("caller", "method", "target", "time", "row")}
        columns |= {
            "pattern": pattern,
            "scope": pc.if_else(pc.or_(is_missing, is_other), decided["scope"], None),
            "detail": decided["detail"],
            "location": pc.coalesce(base_route, decided["route"], decided["about"]),
            "is_malformed": pc.equal(reason, Reason.MALFORMED_REQUEST.value),
            "base_allowed": base_allowed,
            "is_served": served_though_denied(calls["served_status"], decided["decision"]),
        }
        return pa.table(columns).filter(pc.equal(decided["decision"], Effect.DENY.value))

    def _count(self, found: Any) -> None:
        keys = ["caller", "pattern", "scope", "location"]
        what = [([], "count_all"), ("row", "list"), ("is_malformed", "sum"), ("base_allowed", "sum"), ("is_served", "sum"), *((name, "first", FIRST) for name in ("method", "target", "detail")), ("time", "min"), ("time", "max")]
        groups = found.group_by(keys, use_threads=False).aggregate(what)
        rows = groups["row_list"].combine_chunks()
        groups = groups.set_column(groups.column_names.index("row_list"), "row_list", pc.list_slice(rows, 0, ROWS))
        for row in groups.to_pylist():
            group = row["caller"], row["pattern"], row["scope"]
            self.groups.add(group, row["count_all"])
            evidence = self._evidence.get(group)
            if evidence is None:
                self._numbered += 1
                evidence = self._evidence[group] = Evidence(self._numbered)
            if not evidence.rows or row["row_list"][0] < evidence.rows[0]:
                evidence.method, evidence.target, evidence.detail = row["method_first"], _example(row["target_first"]), row["detail_first"]
            if len(evidence.rows) < ROWS or row["row_list"][0] < evidence.rows[-1]:
                evidence.rows = sorted([*evidence.rows, *row["row_list"]])[:ROWS]
            if row["location"] is not None:
                evidence.routes[row["location"]] += row["count_all"]
            evidence.malformed += row["is_malformed_sum"]
            evidence.base_allowed += row["base_allowed_sum"] or 0
            evidence.served += row["is_served_sum"]
            if row["time_min"] is not None:
                evidence.first = min(evidence.first or row["time_min"], row["time_min"])
                evidence.last = max(evidence.last or row["time_max"], row["time_max"])

    def _see_times(self, found: Any) -> None:
        timed = found.filter(pc.is_valid(found["time"]))
        second = pc.floor_temporal(timed["time"], unit="second").cast(pa.int64())
        timed = timed.append_column("second", pc.divide(second, 1_000_000))
        groups = timed.group_by(["caller", "pattern", "scope"]).aggregate([("second", "list")])
        seconds = groups["second_list"].combine_chunks()
        keys = groups.select(["caller", "pattern", "scope"]).to_pylist()
        numbers = pa.array([self._evidence[row["caller"], row["pattern"], row["scope"]].number for row in keys], pa.int64())
        self.seconds.see(numbers.take(pc.list_parent_indices(seconds)), pc.list_flatten(seconds))

    def _see_paths(self, found: Any) -> None:
        unknown = found.filter(pc.equal(found["pattern"], UNKNOWN_PATHS))
        unknown = unknown.filter(pc.is_valid(unknown["target"]))
        path = pc.list_element(pc.split_pattern(unknown["target"], "?", max_splits=1), 0)
        second = pc.divide(pc.floor_temporal(unknown["time"], unit="second").cast(pa.int64()), 1_000_000)
        slot = pc.floor(pc.divide(second.cast(pa.float64()), SLOT)).cast(pa.int64())
        paths = pa.table({"caller": unknown["caller"], "path": path, "slot": slot, "second": second})
        # Which ones are kept does not matter, how many does.
        for row in paths.group_by(["caller", "path", "slot"]).aggregate([("second", "min"), ("second", "max")]).to_pylist():
            evidence, slot = self._evidence[row["caller"], UNKNOWN_PATHS, None], row["slot"]
            is_timed = slot is not None and evidence.paths_in_hour < PROBED_PATHS
            if len(evidence.paths) < PATHS or is_timed:
                shape = blake2b(ID.sub(b"{}", row["path"]), digest_size=12).digest()
                if len(evidence.paths) < PATHS:
                    evidence.paths.add(shape)
                if is_timed:
                    evidence.see_path(shape, slot, row["second_min"], row["second_max"])

    def _row(self, group: Group, entry: Any, half: Half | None, course: str | None, has_hours: bool, has_statuses: bool, without_time: int, outlying: int | None, whole: int | None, lacked: int, had: int | None) -> Denied:
        caller, pattern, scope = group
        evidence = self._evidence[group]
        in_hour = evidence.most_in_hour() if has_hours else None
        looks_like = None
        if pattern in (MISSING_SCOPE, OTHER_KIND) and entry.count >= FEW and course == STEADY:
            looks_like = MISCONFIGURED
        elif pattern == OLDER_VERSION and entry.count >= FEW:
            looks_like = STALE
        elif pattern == UNKNOWN_PATHS and len(evidence.paths) >= PROBED_PATHS:
            is_most = whole is not None and 2 * entry.count > whole
            looks_like = PROBE if is_most or (in_hour or 0) >= PROBED_PATHS else None
        return Denied(
            _text(caller), pattern, scope, entry.count,
            tuple(sorted(evidence.routes, key=lambda route: (-evidence.routes[route], route))),
            len(evidence.paths), in_hour, in_hour == PROBED_PATHS or (evidence.paths_in_hour_is_exact and not without_time and entry.is_exact), whole, lacked, had, evidence.malformed, evidence.base_allowed if self._has_base else None,
            evidence.served if has_statuses else None,
            evidence.first, evidence.last,
            half and half.start_time, half and half.least_seconds, half and half.most_seconds, course, without_time, outlying,
            tuple(evidence.rows), private.method(_text(evidence.method)), private.target(_text(evidence.target)), None if evidence.detail is None else Detail(evidence.detail), looks_like, entry.is_exact,
        )


def _example(target: bytes | None) -> bytes | None:
    """A target as an example. A query may carry what nobody should read in a report."""
    if target is None:
        return None
    path = re.split(b"[?#]", target, maxsplit=1)[0]
    return short_name(path) + (b"" if b"#" not in target else b"#" if target[len(path) :][:1] == b"#" else b"?#")


def _text(name: bytes | None) -> str | None:
    return None if name is None else name.decode("utf-8", "backslashreplace")
