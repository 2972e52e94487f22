"""Groups denied calls by caller and pattern, and classifies the groups by their numbers and times."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._count.counts import FIRST
from .._count.heavy import Heavy
from .._count.long import name as short_name
from .._count.served import is_preflight, served_though_denied
from .._number import number
from .._read import private
from .._rows import Rows
from .._terms import Detail, Effect, Reason, TokenKind
from .served import unclear
from .failures import ATTACK, BROKEN, LACKS, MISCONFIGURED, NOWHERE, OUTAGE, RECOVERED, RETRIES, WITHOUT, Details, Failure
from .timelines import EPOCH, FEW, Timelines

if TYPE_CHECKING:
    from .._count.decided import Part
    from .spans import Unit

# The patterns of denied calls.
MISSING_SCOPE, OTHER_KIND, OLDER_VERSION = "missing scope", "other kind of token", "older version"
UNKNOWN_PATHS, OTHER_METHOD, NO_TOKEN = "unknown paths", "undeclared method", "no valid token"
# The kinds of flagged callers.
STALE, PROBE = "client of the other policy", "probe"

# The kinds of valid tokens.
KINDS = pa.array([kind.value.encode() for kind in TokenKind if kind != TokenKind.UNKNOWN], pa.binary())
# The most groups, and for each group the most rows and distinct paths.
GROUPS, ROWS, PATHS = 5_000, 5, 64
# The number of callers whose denials are listed by time.
TIMED_CALLERS = 25
# The fewest distinct paths of a probe.
PROBED_PATHS = 20
# For each half hour, a group keeps the first and last second of each path, so that the paths within an hour are exact in any order
# of rows. After a whole block, a group keeps its last 64 half hours.
HOUR, SLOT, SLOTS = 3_600, 1_800, 64
# A caller has stopped if it was silent at the log's end for more than this many times its average gap, and for more than this part
# of the log's time.
SILENT_GAPS, SILENT_PART = 10, 24
# A segment that is an id, possibly with a file extension, or a number anywhere. Paths that differ only in these have one template.
ID = re.compile(
    rb"(?<=/)(?:[^/@]+(?:@|%40)[^/@]+(?=/|$)|(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|(?=[a-fA-F]*\d)[0-9a-fA-F]{8,}"
    rb"|(?:[a-z]+_)?(?=[A-Za-z]*\d)[A-Za-z0-9]{16,})(?=(?:\.[A-Za-z][A-Za-z0-9]{0,7})*(?:/|$)))|\d+"
)

# The names of several such callers, and the definitions on the page.
SEVERAL = {
    PROBE: "probes", ATTACK: "attacks", MISCONFIGURED: "misconfigured clients", BROKEN: "broken clients", STALE: "clients of the other policy",
    RECOVERED: "recovered clients", OUTAGE: "outages", RETRIES: "clients that retry",
}  # fmt: skip
RULES = {
    MISCONFIGURED: f"makes {FEW} calls or more that lack a scope, or a user's token for it: nine of ten or more of its calls of this scope or route, from a "
    f"time on. Before that, it made none, or {FEW} or more of which under 5% failed in this way. Other tokens of the caller might have the scope. "
    "A user who is probing a token's permissions looks the same",
    BROKEN: "fails in another way from a time on, after calls that didn't: for example, the server answers with an error",
    RECOVERED: f"failed like this between two times, and then made {FEW} or more calls most of which didn't fail in this way",
    ATTACK: "makes 100 or more refused calls within an hour, which are nine of ten or more of its calls: with many wrong tokens or passwords, "
    "with many ids of one route or many routes without their scopes, or with unknown paths that differ only by a number",
    RETRIES: "makes as many refused calls, but all to one path",
    STALE: f"makes {FEW} calls or more to routes that only the other policy has",
    PROBE: (
        f"tries {PROBED_PATHS} or more different paths that are malformed or have no route, with or without a valid token, "
        "within an hour or in most of its calls. Paths count as one if they differ only in numbers, or in UUIDs, long ids or "
        "e-mail addresses that are a whole segment (apart from a file extension). "
        "A client with a wrong base path looks the same"
    ),
}


class Denied(NamedTuple):
    """Denied calls of a caller with a common pattern. `calls` is a lower bound unless `is_exact`.

    `caller` is None for all calls that name no caller. `pattern` is:

    - "missing scope", or "other kind of token" if only a user's token can use the scope
    - "older version": only the policy that the log is compared with has the routes
    - "unknown paths": malformed or without a route, with or without a valid token
    - "undeclared method": the policy has the path, but not with this method
    - "no valid token"

    `scope` owns the routes of calls that lacked a scope or a user's token. `lacked` are the scopes of the owner's alternative
    that the tokens lacked, or `scope` without a user's token. `routes` are the routes that the calls reached, or the other
    policy's routes for "older version". `paths` counts distinct unknown paths, at most 64; paths that differ only in ids count as one. `paths_in_hour` is
    the most of them within an hour, at most 20. It is a lower bound unless `paths_in_hour_is_exact`, because calls have no time
    or are far out of order.

    `targets` counts all distinct paths, at most 64. `with_token` calls have a valid token.

    `caller_calls` is the number of all calls of the caller; None if it isn't exact. `caller_lacks` counts the scopes that its
    denied calls lacked, including those for which they lacked a user's token; a lower bound if some groups aren't counted.
    `caller_carried` counts its calls whose token had the scope, or whose user token had it for "other kind of token"; None if
    it isn't exact, or without a caller or exactly one such scope. `malformed` counts malformed calls, `base_allowed` calls that the other
    policy allows, and `served_though_denied` calls that the server served; None if the log has no statuses.
    `unclear` calls were answered with an error of the server, or have no route and were neither served nor refused.

    `without_time` calls have no time. `paths_in_hour` is None if some times of the log are dates without a time of day.

    `rows` are the first rows, counted from 1. `method`, `target` (without its query) and `detail` are those of the first row.
    `looks_like` is "probe", "client of the other policy", what `Failure` has, or None if there is no likely cause.
    """

    caller: str | None
    pattern: str
    scope: str | None
    lacked: tuple[str, ...]
    calls: int
    routes: tuple[str, ...]
    paths: int
    paths_in_hour: int | None
    paths_in_hour_is_exact: bool
    targets: int
    with_token: int
    caller_calls: int | None
    caller_lacks: int
    caller_carried: int | None
    malformed: int
    base_allowed: int | None
    served_though_denied: int | None
    unclear: int
    first: datetime | None
    last: datetime | None
    without_time: int
    rows: tuple[int, ...]
    method: str | None
    target: str | None
    detail: Detail | None
    looks_like: str | None
    is_exact: bool


def has_stopped(row: Denied, first: datetime | None, last: datetime | None) -> bool:
    """Whether a caller stopped making these calls, in a log from `first` to `last`."""
    if first is None or last is None or row.first is None or row.last is None or row.paths_in_hour is None:
        return False
    if row.first < first or row.last > last:
        return False
    return is_silent(row.first, row.last, row.calls - row.without_time, first, last)


def is_silent(since: datetime, until: datetime, calls: int, first: datetime, last: datetime) -> bool:
    """Whether no such call was made for long at the end of a log from `first` to `last`."""
    silence, whole = (last - until).total_seconds(), (last - first).total_seconds()
    return calls >= FEW and silence * (calls - 1) > SILENT_GAPS * (until - since).total_seconds() and SILENT_PART * silence > whole


def hour_is_bound(rows: Rows[Denied]) -> str:
    """A note that more groups might be probes, because their paths within an hour aren't known exactly; empty otherwise."""
    bounds = sum(row.pattern == UNKNOWN_PATHS and row.looks_like is None and row.paths >= PROBED_PATHS and not row.paths_in_hour_is_exact for row in rows)
    return (
        f"In {number(bounds, 'group')}, the number of paths within an hour is a lower bound, because calls have no time or are far out of order."
        if bounds
        else ""
    )


class DeniedSpan(NamedTuple):
    """The denied calls of a caller in the span of the page that begins at `start`. `denied` is a lower bound unless `is_exact`.
    Only the callers with the most denials are listed.
    """

    caller: str | None
    start: datetime
    denied: int
    is_exact: bool


class Evidence:
    """The details of a group, apart from its number of calls."""

    __slots__ = (
        "detail",
        "first",
        "lacked",
        "last",
        "malformed",
        "method",
        "paths",
        "paths_in_hour",
        "paths_in_hour_is_exact",
        "base_allowed",
        "routes",
        "rows",
        "served",
        "slots",
        "slots_from",
        "target",
        "targets",
        "unclear",
        "with_token",
        "without_time",
    )

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.routes: Counter[str] = Counter()
        self.lacked: set[str] = set()
        self.paths: set[bytes] = set()
        self.targets: set[bytes] = set()
        # For each half hour, the first and last second of each path, up to the number of a probe; and the first half hour since the last drop.
        self.slots: dict[int, dict[bytes, tuple[int, int]]] = {}
        self.slots_from: int | None = None
        self.paths_in_hour = 0
        self.paths_in_hour_is_exact = True
        self.malformed = self.base_allowed = self.served = self.unclear = self.with_token = self.without_time = 0
        self.first: datetime | None = None
        self.last: datetime | None = None
        self.method: bytes | None = None
        self.target: bytes | None = None
        self.detail: str | None = None

    def see_path(self, shape: bytes, slot: int, first: int, last: int) -> None:
        """Notes the first and last second of a path in a half hour."""
        if self.slots_from is not None and slot < self.slots_from + 2:
            # The hour of this call includes dropped half hours.
            self.paths_in_hour_is_exact = False
        inside = self.slots.setdefault(slot, {})
        before = inside.get(shape, (first, last))
        inside[shape] = min(first, before[0]), max(last, before[1])
        if len(inside) == PROBED_PATHS:
            self._is_probe()

    def most_in_hour(self) -> int:
        """The most distinct paths within an hour, including its first and last second, at most the number of a probe."""
        for slot, paths in self.slots.items():
            # An hour that ends in this half hour includes the whole half hour before it, and the late paths of the one before that.
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
        """Ends counting, because the number of a probe is reached."""
        self.paths_in_hour, self.paths_in_hour_is_exact, self.slots = PROBED_PATHS, True, {}


Group = tuple["bytes | None", str, "str | None"]
# The reasons of the denials in a pattern.
REASONS = {
    MISSING_SCOPE: LACKS, OTHER_KIND: LACKS, NO_TOKEN: WITHOUT, UNKNOWN_PATHS: NOWHERE | WITHOUT, OTHER_METHOD: NOWHERE, OLDER_VERSION: NOWHERE | WITHOUT,
}  # fmt: skip


def failed_as(group: Group, failures: Sequence[Failure]) -> str | None:
    """What the failures of a caller look like that include a group of its denied calls."""
    _, pattern, scope = group
    for row in failures:
        if row.outcome in REASONS[pattern] and (scope is None or row.scope in (scope, None)):
            return row.looks_like
    return None


class DenialCounts:
    """Counts denied calls by caller and pattern."""

    def __init__(self, has_base: bool) -> None:
        self.groups = Heavy(GROUPS)
        self._has_base = has_base
        self._evidence: dict[Group, Evidence] = {}

    def add(self, part: Part, lacked: Any) -> None:
        """Counts calls with their decisions and the scopes that they lacked, row by row."""
        denied = self._denied(part, lacked)
        if denied.num_rows:
            self._count(denied)
            self._see_targets(denied)
            self._see_paths(denied)

    def settle(self) -> None:
        """Drops the rare groups if there are too many."""
        self.groups.settle()
        self._evidence = {group: evidence for group, evidence in self._evidence.items() if group in self.groups}
        for evidence in self._evidence.values():
            evidence.settle()

    def details(self, is_probe: Callable[[Group], bool]) -> dict[bytes | None, Details]:
        """The details of each caller's denied calls."""
        details: dict[bytes | None, Details] = {}
        for group, evidence in self._evidence.items():
            of = details.get(group[0], Details(0, 0, False, ""))
            example = private.target(_text(evidence.target)) or "" if group[1] == UNKNOWN_PATHS else of.example
            details[group[0]] = Details(of.targets + len(evidence.targets), of.shapes + len(evidence.paths), of.is_probe or is_probe(group), example)
        return details

    def is_probe(self, group: Group, calls_of: Callable[[bytes | None], int | None], has_hours: bool) -> bool:
        """Whether a group looks like a probe."""
        evidence = self._evidence[group]
        if group[1] != UNKNOWN_PATHS or len(evidence.paths) < PROBED_PATHS:
            return False
        entry, whole = self.groups.get(group), calls_of(group[0])
        # Calls that name no caller are of many.
        is_most = group[0] is not None and entry is not None and whole is not None and 2 * entry.count > whole
        return is_most or (has_hours and evidence.most_in_hour() >= PROBED_PATHS)

    def rows(
        self,
        looks: Callable[[Group], str | None],
        calls_of: Callable[[bytes | None], int | None],
        carried: Callable[[bytes, str, bool], int | None],
        has_days_alone: bool = False,
        has_statuses: bool = False,
    ) -> Rows[Denied]:
        """The groups: probes, then other flagged clients, then the rest by their calls.

        `looks` returns what a group looks like. `calls_of` returns the number of all calls of a caller, or None if it isn't
        known. `carried` returns the number of calls whose token, or user token, had a scope. With `has_days_alone`, gaps between
        calls aren't known.
        """
        lacked = Counter(caller for caller, _ in {(group[0], scope) for group, _ in self.groups for scope in self._evidence[group].lacked})
        rows = []
        for group, entry in self.groups:
            caller, pattern, scope = group
            scopes = self._evidence[group].lacked
            only = next(iter(scopes)) if len(scopes) == 1 else None
            had = None if caller is None or only is None else carried(caller, only, pattern == OTHER_KIND)
            rows.append(self._row(group, entry, looks(group), not has_days_alone, has_statuses, calls_of(caller), lacked[caller], had))
        order = {what: at for at, what in enumerate((PROBE, ATTACK, MISCONFIGURED, BROKEN, STALE, RECOVERED, RETRIES, None))}
        return Rows(
            Denied, sorted(rows, key=lambda row: (order[row.looks_like], -row.calls, row.caller or "", row.caller is not None, row.pattern, row.scope or ""))
        )

    def times(self, timelines: Timelines, unit: Unit | None, first: datetime | None, last: datetime | None) -> Rows[DeniedSpan]:
        """The denials of the callers with the most denials, in spans of this unit."""
        if unit is None or first is None or last is None:
            return Rows(DeniedSpan)
        counts: Counter[bytes | None] = Counter()
        for (caller, _, _), entry in self.groups:
            counts[caller] += entry.count
        callers = sorted(counts, key=lambda caller: (-counts[caller], caller or b"", caller is not None))[:TIMED_CALLERS]
        by_caller: dict[bytes | None, Counter[datetime]] = {caller: Counter() for caller in callers}
        exact = {caller: self.groups.is_exact and timelines.is_exact for caller in callers}
        for row in timelines.denials(callers, [reason.value for reason in Reason if reason.status is not None]):
            caller, (start, end) = row["caller"], (EPOCH + timedelta(seconds=row[name]) for name in ("first", "last"))
            if end < first or start > last:
                continue
            # A second can contain both ends of the period and calls out of it.
            is_inside = unit.floor(start) == unit.floor(end)
            exact[caller] = exact[caller] and is_inside
            by_caller[caller][unit.floor(max(start, first))] += row["calls"] if is_inside else 0
        rows = (
            DeniedSpan(_text(caller), start, by_caller[caller][start], exact[caller])
            for caller in callers
            for start in sorted(by_caller[caller])
            if by_caller[caller][start]
        )
        return Rows(DeniedSpan, rows)

    def _denied(self, part: Part, lacked: Any) -> Any:
        """The denied calls with their patterns."""
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
            "lacked": pc.if_else(is_other, decided["scope"], lacked),
            "detail": decided["detail"],
            "location": pc.coalesce(base_route, decided["route"], decided["about"]),
            "with_token": pc.is_in(calls["kind"], KINDS),
            "without_time": pc.is_null(calls["time"]),
            "is_malformed": pc.equal(reason, Reason.MALFORMED_REQUEST.value),
            "base_allowed": base_allowed,
            "is_served": pc.and_not(
                served_though_denied(calls["served_status"], decided), is_preflight(calls, pc.coalesce(decided["route"], decided["about"]))
            ),
            "is_unclear": pc.or_(*unclear(calls, decided)),
        }
        return pa.table(columns).filter(pc.equal(decided["decision"], Effect.DENY.value))

    def _count(self, denied: Any) -> None:
        keys = ["caller", "pattern", "scope", "location", "lacked"]
        what = [
            ([], "count_all"),
            ("row", "list"),
            ("is_malformed", "sum"),
            ("base_allowed", "sum"),
            ("is_served", "sum"),
            ("is_unclear", "sum"),
            ("with_token", "sum"),
            ("without_time", "sum"),
            *((name, "first", FIRST) for name in ("method", "target", "detail")),
            ("time", "min"),
            ("time", "max"),
        ]
        groups = denied.group_by(keys, use_threads=False).aggregate(what)
        rows = groups["row_list"].combine_chunks()
        groups = groups.set_column(groups.column_names.index("row_list"), "row_list", pc.list_slice(rows, 0, ROWS))
        for row in groups.to_pylist():
            group = row["caller"], row["pattern"], row["scope"]
            self.groups.add(group, row["count_all"])
            evidence = self._evidence.get(group)
            if evidence is None:
                evidence = self._evidence[group] = Evidence()
            if not evidence.rows or row["row_list"][0] < evidence.rows[0]:
                evidence.method, evidence.target, evidence.detail = row["method_first"], _example(row["target_first"]), row["detail_first"]
            if len(evidence.rows) < ROWS or row["row_list"][0] < evidence.rows[-1]:
                evidence.rows = sorted([*evidence.rows, *row["row_list"]])[:ROWS]
            if row["location"] is not None:
                evidence.routes[row["location"]] += row["count_all"]
            evidence.lacked.update((row["lacked"] or "").split())
            evidence.malformed += row["is_malformed_sum"]
            evidence.base_allowed += row["base_allowed_sum"] or 0
            evidence.served += row["is_served_sum"]
            evidence.unclear += row["is_unclear_sum"]
            evidence.with_token += row["with_token_sum"]
            evidence.without_time += row["without_time_sum"]
            if row["time_min"] is not None:
                evidence.first = min(evidence.first or row["time_min"], row["time_min"])
                evidence.last = max(evidence.last or row["time_max"], row["time_max"])

    def _see_targets(self, denied: Any) -> None:
        """Notes the first distinct paths of each group. Only their number matters."""
        named = denied.filter(pc.is_valid(denied["target"]))
        path = pc.list_element(pc.split_pattern(named["target"], "?", max_splits=1), 0)
        paths = pa.table({**{name: named[name] for name in ("caller", "pattern", "scope")}, "path": path})
        for caller, pattern, scope, path in zip(*paths.group_by(["caller", "pattern", "scope", "path"]).aggregate([]).to_pydict().values()):
            targets = self._evidence[caller, pattern, scope].targets
            if len(targets) < PATHS:
                targets.add(blake2b(path, digest_size=12).digest())

    def _see_paths(self, denied: Any) -> None:
        unknown = denied.filter(pc.equal(denied["pattern"], UNKNOWN_PATHS))
        unknown = unknown.filter(pc.is_valid(unknown["target"]))
        path = pc.list_element(pc.split_pattern(unknown["target"], "?", max_splits=1), 0)
        second = pc.divide(pc.floor_temporal(unknown["time"], unit="second").cast(pa.int64()), 1_000_000)
        slot = pc.floor(pc.divide(second.cast(pa.float64()), SLOT)).cast(pa.int64())
        paths = pa.table({"caller": unknown["caller"], "path": path, "slot": slot, "second": second})
        # Only the number of kept paths matters.
        for row in paths.group_by(["caller", "path", "slot"]).aggregate([("second", "min"), ("second", "max")]).to_pylist():
            evidence, slot = self._evidence[row["caller"], UNKNOWN_PATHS, None], row["slot"]
            is_timed = slot is not None and evidence.paths_in_hour < PROBED_PATHS
            if len(evidence.paths) < PATHS or is_timed:
                shape = blake2b(ID.sub(b"{}", row["path"]), digest_size=12).digest()
                if len(evidence.paths) < PATHS:
                    evidence.paths.add(shape)
                if is_timed:
                    evidence.see_path(shape, slot, row["second_min"], row["second_max"])

    def _row(
        self, group: Group, entry: Any, looks_like: str | None, has_hours: bool, has_statuses: bool, whole: int | None, lacked: int, had: int | None
    ) -> Denied:
        caller, pattern, scope = group
        evidence = self._evidence[group]
        in_hour = evidence.most_in_hour() if has_hours else None
        return Denied(
            _text(caller),
            pattern,
            scope,
            tuple(sorted(evidence.lacked)),
            entry.count,
            tuple(sorted(evidence.routes, key=lambda route: (-evidence.routes[route], route))),
            len(evidence.paths),
            in_hour,
            in_hour == PROBED_PATHS or (evidence.paths_in_hour_is_exact and not evidence.without_time and entry.is_exact),
            len(evidence.targets),
            evidence.with_token,
            whole,
            lacked,
            had,
            evidence.malformed,
            evidence.base_allowed if self._has_base else None,
            evidence.served if has_statuses else None,
            evidence.unclear,
            evidence.first,
            evidence.last,
            evidence.without_time,
            tuple(evidence.rows),
            private.method(_text(evidence.method)),
            private.target(_text(evidence.target)),
            None if evidence.detail is None else Detail(evidence.detail),
            looks_like,
            entry.is_exact,
        )


def _example(target: bytes | None) -> bytes | None:
    """A target as an example, without its query, which can contain secrets."""
    if target is None:
        return None
    path = re.split(b"[?#]", target, maxsplit=1)[0]
    return short_name(path) + (b"" if b"#" not in target else b"#" if target[len(path) :][:1] == b"#" else b"?#")


def _text(name: bytes | None) -> str | None:
    return None if name is None else name.decode("utf-8", "backslashreplace")
