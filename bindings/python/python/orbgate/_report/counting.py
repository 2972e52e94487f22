"""Counts the engine's decisions for a log."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from sys import intern
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._count.bulk import OutlyingTime, apart
from .._count.bulk import warning as outlying_warning
from .._count.counts import Counts, HeavyCounts, Times
from .._count.decided import Decided, Part
from .._count.heavy import Heavy
from .._count.resume import Resume, restore, state_of
from .._count.served import SERVED_THOUGH_DENIED, served_though_denied
from .._count.unread import by_reason
from .._read import private
from .._rows import Rows
from .._terms import Detail, Effect, Reason
from .bursts import Burst, bursts
from .denials import KINDS, OLDER_VERSION, PROBE, STALE, DenialCounts, Group, failed_as
from .failures import ALL, NOWHERE, WITHOUT, Failure, Period, failures
from .figures import (
    CallerCount,
    CallerDenial,
    Callers,
    CallTimes,
    Change,
    Changes,
    Decisions,
    Denials,
    Figures,
    LogFigures,
    LogFile,
    Outcome,
    ProbedRoute,
    ReasonCount,
    RouteCount,
    Scopes,
    Tokens,
    Unauthenticated,
    Unknown,
    UnreadRow,
    UnreadRows,
)
from .orbs import OrbCounts
from .evidence import Evidence
from .reconciled import Reconciling
from .served import ServedCounts
from .signs import Ground, joined, signs
from .spans import spans
from .spread import with_spread
from .switch import SideCounts, Sides
from .thresholds import RENEWED_AGAIN, RENEWED_BETWEEN, RENEWED_NEXT, RENEWED_SECONDS
from .timelines import FEW, Timelines, second_of, time_of
from .tokens import TokenCounts
from .usage import Usage, with_windows

if TYPE_CHECKING:
    from .._policy import Policy
    from .ocsf import Events


KEYS = Outcome._fields[: Outcome._fields.index("calls")]


class Counted:
    """The counters of a report, fed part by part."""

    def __init__(self, log: Decided, policy: Policy, has_base: bool, entries: Any = None) -> None:
        self.reconciling = None if entries is None else Reconciling(entries)
        self.outcomes, self.times = Counts(KEYS, first=("method", "target")), Times(("decision",), first=("row",), ends=True)
        self.usage, self.callers, self.served = Usage(policy), CallerCounts(), ServedCounts()
        self.orbs, self.denials, self.timelines = OrbCounts(has_base), DenialCounts(has_base), Timelines()
        self.sides, self.tokens, self.addresses = SideCounts(), TokenCounts(), Timelines("address")
        self.token_times, self.evidence = Timelines("token"), Evidence(log, policy)
        # Malformed calls are denied before their token is checked, so their reason is not `no_token` or `invalid_token`.
        self.malformed_without_token = self.malformed_with_invalid_token = 0
        self._waiting = (self.callers.calls, self.usage.texts, self.usage.held, self.served.by_caller, self.orbs.by_caller)

    def add(self, part: Part) -> None:
        """Counts calls with their decisions, row by row."""
        calls, decided, _, at_end = part
        columns = {name: decided[name] for name in KEYS}
        columns |= {name: calls[name] for name in ("method", "target", "caller", "time", "row")}
        columns["is_served"] = served_though_denied(calls["served_status"], decided)
        counted = pa.table(columns)
        is_malformed = pc.equal(decided["reason"], Reason.MALFORMED_REQUEST.value)
        kind = calls.filter(is_malformed)["kind"]
        self.malformed_without_token += kind.null_count
        self.malformed_with_invalid_token += len(kind) - kind.null_count - (pc.sum(pc.is_in(kind, KINDS)).as_py() or 0)
        self.outcomes.add(counted)
        self.times.add(counted)
        self.callers.add(counted)
        scopes = self.usage.add(calls, decided)
        self.served.add(calls, decided)
        self.orbs.add(part)
        if self.reconciling is not None:
            self.reconciling.add(part)
        self.denials.add(part, scopes.missing)
        self.timelines.see(part)
        self.addresses.see(part)
        self.token_times.see(part)
        self.evidence.add(part, scopes.used)
        self.sides.add(part)
        self.tokens.add(part)
        if at_end:
            self.denials.settle()
            self.timelines.bound()
            self.addresses.bound()
            self.token_times.bound()
            self.evidence.fit()
            self.tokens.fit()
            for waiting in self._waiting:
                waiting.drop()

    def end(self) -> None:
        """Finishes counting after the last part."""
        for waiting in self._waiting:
            waiting.give()

    def state(self) -> list[dict[str, Any]]:
        """The counts as plain data."""
        return [state_of(counter) for counter in self._counters()]

    def restore(self, state: list[dict[str, Any]]) -> None:
        """Restores the counts."""
        for counter, of in zip(self._counters(), state):
            restore(counter, of)

    def _counters(self) -> tuple[object, ...]:
        return self, self.usage, self.callers, self.served, self.orbs, self.denials, self.sides, self.tokens, self.evidence


def count(
    log: Decided,
    policy: Policy,
    base: Policy | None = None,
    resume: Resume | None = None,
    events: Events | None = None,
    entries: Any = None,
    earlier: Any = None,
) -> Figures:
    """Counts the decisions for a log. `base` is the policy to compare with, `resume` stores the progress, `events` writes each
    decision, and `entries` are those of a ledger.
    """
    counted = Counted(log, policy, base is not None, entries)
    if resume is not None and (state := resume.load()) is not None:
        log.restore(state["log"])
        counted.restore(state["counted"])
    parts = log.parts()
    for part in parts if resume is None else resume.over(parts, log, lambda: {"log": log.state(), "counted": counted.state()}):
        counted.add(part)
        if events is not None:
            events.add(part)
    counted.end()
    served, orbs, denials, usage, callers, timelines = counted.served, counted.orbs, counted.denials, counted.usage, counted.callers, counted.timelines
    outcomes = _outcomes(counted.outcomes)
    timed = [row for row in counted.times.rows() if row["time"] is not None]
    first, last, outlying = period = apart(timed, log.where)
    by_time, unit = spans([row for row in timed if period.has(row)])
    against = served.figures(unit)
    has_statuses = against.calls > 0
    times = None if first is None or last is None else Period(second_of(first), second_of(last), not log.has_days_alone)
    failed, looks = _looks(counted, log, policy, times)
    compared = None if counted.reconciling is None else counted.reconciling.compared(first, last)
    of_log = _log(log, outlying)
    ground = Ground(
        counted.evidence,
        policy,
        times,
        counted.timelines,
        counted.addresses,
        counted.token_times,
        timed,
        failed,
        log.other_policy is not None,
        earlier,
        compared,
        [second_of(row.near) for row in of_log.unread_by_reason if row.near is not None and row.rows >= FEW],
    )
    of_signs = signs(ground)
    held = with_windows(usage.caller_rows(), of_signs.seen, joined(of_signs.periods), of_signs.seen_is_whole)
    return Figures(
        decisions=Decisions(outcomes, _reasons(outcomes), _routes(outcomes, policy)),
        served=against,
        changes=None if base is None else _changes(log, base, counted.sides.sides()),
        times=CallTimes(by_time, unit, first, last, Rows(OutlyingTime, outlying), log.has_days_alone),
        orbs=orbs.figures(by_time, unit),
        scopes=Scopes(usage.rows(), held, usage.callers.is_exact, usage.missing_rows()),
        unknown=Unknown(usage.unknown_rows(), usage.unknown_by_caller(), usage.unknown_held.is_exact, len(usage.unknown), usage.unknown.is_exact),
        unauthenticated=Unauthenticated(_probed(outcomes), counted.malformed_without_token, counted.malformed_with_invalid_token),
        callers=Callers(callers.rows(has_statuses), callers.denial_rows(), len(callers.denials), callers.denials.is_exact, callers.without),
        denials=Denials(
            denials.rows(looks, callers.calls_of, usage.carried, log.has_days_alone, has_statuses),
            denials.groups.is_exact,
            denials.times(timelines, unit, first, last),
            failed,
            timelines.is_exact,
        ),
        log=of_log,
        bursts=Rows(Burst) if log.other_policy is not None else bursts(timelines, times),
        tokens=Tokens(
            counted.tokens.rows(),
            counted.tokens.is_exact,
            counted.tokens.early,
            counted.tokens.turned,
            *timelines.renewed(RENEWED_SECONDS, RENEWED_AGAIN, RENEWED_NEXT, RENEWED_BETWEEN),
        ),
        signs=of_signs,
        reconciled=None if counted.reconciling is None or compared is None else counted.reconciling.figures(compared),
    )


def _looks(counted: Counted, log: Decided, policy: Policy, period: Period | None) -> tuple[Rows[Failure], Callable[[Group], str | None]]:
    """The failures by caller, and what each group of denied calls looks like. With a policy of another service, nobody looks like
    anything.
    """
    denials, calls_of, has_hours = counted.denials, counted.callers.calls_of, not log.has_days_alone
    if log.other_policy is not None:
        return Rows(Failure), lambda group: None
    probes = {group for group, _ in denials.groups if denials.is_probe(group, calls_of, has_hours)}
    stale = {group for group, entry in denials.groups if group[1] == OLDER_VERSION and entry.count >= FEW}
    scope_of = {str(route): route.scope for route in policy.routes()}
    rows = failures(counted.timelines, period, scope_of, denials.details(probes.__contains__))
    rows = with_spread(rows, counted.timelines, counted.addresses, period, scope_of)
    named = {_text(group[0]) if group[0] is not None else None for group in stale}
    rows = rows.where(lambda row: not (row.caller in named and row.outcome in NOWHERE | WITHOUT))
    by_caller: defaultdict[str | None, list[Failure]] = defaultdict(list)
    for row in rows:
        if row.counted != ALL:
            by_caller[row.caller].append(row)

    def looks(group: Group) -> str | None:
        if group in probes or group in stale:
            return PROBE if group in probes else STALE
        return failed_as(group, by_caller[None if group[0] is None else _text(group[0])])

    return rows, looks


def _log(log: Decided, outlying: Sequence[OutlyingTime]) -> LogFigures:
    warned = log.other_policy
    by_reasons = (
        UnreadRows(kind.reason, kind.rows, tuple(row for row, _ in kind.first), kind.first[0][1], _near(log, kind.first[0][0]))
        for kind in by_reason(log.unread_kinds)
    )
    return LogFigures(
        format=log.format,
        arguments=log.arguments,
        files=Rows(LogFile, (LogFile(*file, *rows) for file, rows in zip(log.files(), log.file_rows()))),
        warnings=(*log.lacks, *log.warnings, *([outlying_warning(outlying)] if outlying else [])),
        broken=log.broken,
        unread=log.unread,
        first_unread=Rows(UnreadRow, (UnreadRow(row, why) for row, why in log.first_unread)),
        unread_by_reason=Rows(UnreadRows, by_reasons),
        unread_times=log.unread_times,
        other_policy=warned and warned.sentence,
        has_other_base=warned is not None and warned.is_base,
    )


def _near(log: Decided, row: int) -> datetime | None:
    """The time of the last readable row before an unreadable one."""
    micros = log.near.get(row)
    return None if micros is None else time_of(micros // 1_000_000)


class CallerCounts:
    """Counts the calls of callers. If there are too many callers, those with the most denials are kept."""

    def __init__(self) -> None:
        self.denials = Heavy()
        self.by_route = Heavy()
        self.calls = HeavyCounts(("caller", "decision", "reason", "location", "scope", "is_served"), self._take, self.denials, self.by_route)
        self.without = 0

    def add(self, decided: Any) -> None:
        """Counts calls with their decisions."""
        self.without += decided["caller"].null_count
        location = pc.coalesce(decided["route"], decided["about"])
        self.calls.add(decided.append_column("location", location).filter(pc.is_valid(decided["caller"])))

    def _take(self, rows: Iterable[dict[str, Any]]) -> None:
        for row in rows:
            caller, calls, reason = row["caller"], row["calls"], intern(row["reason"])
            is_denied = row["decision"] == Effect.DENY
            entry = self.denials.add(caller, calls if is_denied else 0)
            entry.parts[reason if is_denied else None] += calls
            if row["is_served"]:
                entry.parts[SERVED_THOUGH_DENIED] += calls
            if is_denied:
                location, scope = (name and intern(name) for name in (row["location"], row["scope"]))
                self.by_route.add((caller, location, scope, reason), calls)

    def calls_of(self, caller: bytes | None) -> int | None:
        """The number of calls of a caller, or of all calls without a caller; None if it isn't exact."""
        if caller is None:
            return self.without
        entry = self.denials.get(caller)
        return entry.count + entry.parts[None] if entry is not None and entry.is_exact else None

    def denial_rows(self) -> Rows[CallerDenial]:
        """The denials by caller, route and scope. The most frequent come first."""
        rows = [
            CallerDenial(_text(caller), route, scope, Reason(reason), entry.count, entry.is_exact) for (caller, route, scope, reason), entry in self.by_route
        ]
        return Rows(CallerDenial, sorted(rows, key=lambda row: (-row.denied, row.caller, row.route or "", row.scope or "", row.reason.number)))

    def rows(self, has_statuses: bool) -> Rows[CallerCount]:
        """The callers. Those with the most denials come first."""
        rows = []
        for caller, entry in self.denials:
            allowed = entry.parts[None]
            reasons = Counter({Reason(reason): calls for reason, calls in entry.parts.items() if reason not in (None, SERVED_THOUGH_DENIED)})
            served = entry.parts[SERVED_THOUGH_DENIED] if has_statuses else None
            rows.append(CallerCount(_text(caller), allowed, entry.count, _most(reasons), served, entry.is_exact))
        return Rows(CallerCount, sorted(rows, key=lambda row: (-row.denied, -row.allowed, row.caller)))


def _outcomes(counts: Counts) -> Rows[Outcome]:
    outcomes = []
    for row in counts.rows():
        row["decision"], row["reason"] = Effect(row["decision"]), Reason(row["reason"])
        row["detail"] = None if row["detail"] is None else Detail(row["detail"])
        row["target"] = private.target(None if row["target"] is None else _text(row["target"]))
        row["method"] = private.method(None if row["method"] is None else _text(row["method"]))
        outcomes.append(Outcome(**row))
    return Rows(Outcome, sorted(outcomes, key=lambda row: (-row.calls, row.reason.number, repr(row))))


def _reasons(outcomes: Rows[Outcome]) -> Rows[ReasonCount]:
    calls: Counter[Reason] = Counter()
    for outcome in outcomes:
        calls[outcome.reason] += outcome.calls
    ordered = sorted(calls.items(), key=lambda item: (-item[1], item[0].number))
    effect = {outcome.reason: outcome.decision for outcome in outcomes}
    return Rows(ReasonCount, (ReasonCount(reason, effect[reason], count) for reason, count in ordered))


def _routes(outcomes: Rows[Outcome], policy: Policy) -> Rows[RouteCount]:
    by_route: defaultdict[tuple[str | None, str | None], list[Outcome]] = defaultdict(list)
    scopes = {str(route): route.scope for route in policy.routes()}
    for outcome in outcomes:
        # A call without a valid token counts for the route that it asked for.
        route = outcome.route or outcome.about
        by_route[route, outcome.scope or scopes.get(route or "")].append(outcome)
    rows = []
    for (route, scope), of_route in by_route.items():
        denials: Counter[Reason] = Counter()
        for outcome in of_route:
            denials[outcome.reason] += outcome.calls if outcome.decision == Effect.DENY else 0
        allowed = sum(outcome.calls for outcome in of_route) - denials.total()
        rows.append(RouteCount(route, scope, allowed, denials.total(), _most(denials)))
    return Rows(RouteCount, sorted(rows, key=lambda row: (-row.allowed - row.denied, row.route or "", row.scope or "")))


def _probed(outcomes: Rows[Outcome]) -> Rows[ProbedRoute]:
    by_route: defaultdict[str, Counter[Reason]] = defaultdict(Counter)
    for outcome in outcomes:
        if outcome.reason in (Reason.NO_TOKEN, Reason.INVALID_TOKEN) and outcome.about is not None:
            by_route[outcome.about][outcome.reason] += outcome.calls
    rows = [ProbedRoute(route, calls.total(), calls[Reason.NO_TOKEN], calls[Reason.INVALID_TOKEN]) for route, calls in by_route.items()]
    return Rows(ProbedRoute, sorted(rows, key=lambda row: (-row.calls, row.route)))


def _changes(log: Decided, base: Policy, sides: Sides) -> Changes | None:
    changes = log.changes
    if changes is None:
        return None
    rows = []
    for (before, after, route), calls in changes.counts.items():
        first = changes.examples[before, after, route][0]
        detail = None if first["detail"] is None else Detail(first["detail"])
        rows.append(Change(before, after, route, calls, private.method(first["method"]), private.target(first["target"]), detail))
    rows.sort(key=lambda row: (-row.calls, row.route or "", row.before, row.after))
    return Changes(
        base.digest, base.name, changes.newly_allowed, changes.newly_denied, changes.otherwise_charged, changes.otherwise_denied, Rows(Change, rows), sides
    )


def _most(reasons: Counter[Reason]) -> Reason | None:
    """The reason with the most calls; if several have the most, the one that is tried first."""
    counted = {reason: calls for reason, calls in reasons.items() if calls}
    return min(counted, key=lambda reason: (-counted[reason], reason.number), default=None)


def texts(names: Any) -> Any:
    """A column of names as strings."""
    try:
        return names.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([None if name is None else _text(name) for name in names.to_pylist()], pa.string())


def _text(name: bytes) -> str:
    """A name as a string. Bytes that aren't UTF-8 are escaped."""
    return name.decode("utf-8", "backslashreplace")
