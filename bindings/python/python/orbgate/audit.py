"""Finds the scopes that each caller's tokens have but never use, from a log: evidence, a proposal for token issuers, and
a CI check.

>>> from orbgate import Policy, audit
>>> import pyarrow as pa
>>> calls = {"method": ["GET"], "target": ["/api/v1/external/orbs"], "kind": ["user"], "scopes": ["read:orbs read:keys"], "caller": ["ann"]}
>>> found = audit.privileges(pa.table(calls), Policy.external())
>>> [(row.caller, row.used, row.unused) for row in found.rows]
[('ann', ('read:orbs',), ('read:keys',))]
>>> audit.check(pa.table(calls), Policy.external(), most_unused=1).passed
True

It needs pyarrow: ``pip install pyarrow tqdm``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from ._extras import needs
from ._report.numbers import UNUSED_DAYS
from ._rows import Rows
from ._terms import Reason

if TYPE_CHECKING:
    from . import logs
    from ._count.bulk import Apart
    from ._count.unread import UnreadReason
    from ._policy import Policy
    from ._read.reader import Log
    from ._report.signs import Earlier
    from ._report.verify import Checked
    from ._terms import TokenKind

__all__ = ["Check", "Privilege", "Privileges", "check", "privileges", "verify"]

# Each caller is counted completely or not at all. If there are too many, those that come first in the log are counted.
MOST_CALLERS = 100_000
# The most stretches of time in a part of the log, and the most times that are kept for a caller and scope.
STRETCHES = 8


class Privilege(NamedTuple):
    """The scopes of a caller, each list sorted by name.

    `held` are the policy's scopes that its tokens of a known kind had. `used` are those that allowed at least one of
    its calls, and `unused` the others. `last_used` maps each used scope to its last use in UTC, if the log has times;
    a time that is far from all others, such as one in the year 9999, is ignored.

    With `used`, every call that was allowed stays allowed. Without any one of them, some call isn't, unless a route accepts
    any of several scopes: then `used` are those of every alternative that a token had whole. It can be smaller than the result of `Policy.least_scopes`, which also covers denied calls. `missing`
    are scopes that its denied calls lacked, of the alternative that the route is listed under. `unknown` are scopes of its tokens that the policy doesn't define. They
    can't be used here, but another service might need them, so they aren't `unused`.

    `days` maps each unused scope to the days of logs without a use of it: since the last use in an earlier log, or else since
    a token of the caller was first seen with it. None if that isn't known, for example without times.
    """

    caller: str
    calls: int
    allowed: int
    held: tuple[str, ...]
    used: tuple[str, ...]
    unused: tuple[str, ...]
    last_used: dict[str, datetime | None]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    days: dict[str, int | None]


class Privileges(NamedTuple):
    """The scopes of all callers. Callers with the most unused scopes come first.

    `left_out` counts calls by callers for which there was no room, and `without_caller` calls that name no caller.
    `with_unknown_token` counts calls by the callers in `rows` whose token has an unknown kind, or scopes but no kind,
    so that its scopes aren't known. `with_valid_token` counts the calls by all callers that have a valid token.
    `unread` rows couldn't be decided; `unread_by_reason` has the first of them, and `broken` states where an
    incomplete log ends. `times` are the first and the last time of the log and of the logs of earlier reports, in order, and
    `since` is the SHA-256 of the earlier report's bundle.
    """

    rows: Rows[Privilege]
    policy: str
    left_out: int
    without_caller: int
    with_unknown_token: int
    with_valid_token: int
    unread: int
    broken: str | None
    files: tuple[tuple[str, str | None], ...]
    warnings: tuple[str, ...]
    arguments: dict[str, object]
    unread_by_reason: tuple[UnreadReason, ...] = ()
    times: tuple[tuple[datetime, datetime], ...] = ()
    since: str | None = None

    @property
    def calls(self) -> int:
        """The number of calls that were decided."""
        return sum(row.calls for row in self.rows) + self.left_out + self.without_caller

    @property
    def not_counted(self) -> tuple[str, ...]:
        """The parts of the log that weren't counted for a caller; empty if everything was."""
        from ._number import number

        parts = [
            number(self.unread, "row that could not be read", "rows that could not be read") if self.unread else "",
            f"{number(self.without_caller, 'call')} without a caller" if self.without_caller else "",
            f"{number(self.left_out, 'call')} by callers beyond the limit" if self.left_out else "",
            f"{number(self.with_unknown_token, 'call')} with a token of unknown kind, whose scopes are not known" if self.with_unknown_token else "",
            f"the rows after the log breaks off: {self.broken}" if self.broken else "",
        ]
        return tuple(filter(None, parts))

    @property
    def uncounted(self) -> int:
        """The number of decided calls that aren't counted for a caller, or whose token might have any scopes."""
        return self.left_out + self.without_caller + self.with_unknown_token

    @property
    def is_complete(self) -> bool:
        """Whether every call in the log was counted for its caller, with the scopes of its token."""
        return not self.not_counted

    def over(self, most_unused: int = 0) -> Rows[Privilege]:
        """The callers that have more unused scopes than allowed."""
        return self.rows.where(lambda row: len(row.unused) > most_unused)

    def proposal(self, most_unused: int = 0, *, days: int = UNUSED_DAYS) -> dict[str, Any]:
        """The scopes to keep for each caller that has more than `most_unused` unused scopes of the policy, in the form
        of JSON, with the evidence.

        Only scopes with `days` days of logs without a use are proposed to be removed. `clients` have the
        members `client_id` and `scope` of client metadata (RFC 7591, section 2). `remove` lists the scopes that this
        removes, `days_without_use` the days of each, and `reason` says both. `unknown` lists the scopes in `scope` that the
        policy doesn't define; another service might need them, which this log can't show. `not_proposed` has the other
        unused scopes of these callers, with their days.
        """
        from ._count.unread import to_dicts
        from ._number import number

        clients, rest = [], []
        for row in sorted(self.over(most_unused), key=lambda row: row.caller):
            remove = [scope for scope in row.unused if (row.days[scope] or 0) >= days]
            kept = {scope: row.days[scope] for scope in row.unused if scope not in remove}
            if remove:
                clients.append({
                    "client_id": row.caller, "scope": " ".join(sorted([*row.used, *kept, *row.unknown])), "remove": " ".join(remove), "unknown": " ".join(row.unknown),
                    "days_without_use": {scope: row.days[scope] for scope in remove}, "reason": f"{number(days, 'day')} without a use",
                })  # fmt: skip
            if kept:
                rest.append({"client_id": row.caller, "days_without_use": kept})
        return {
            "policy": self.policy,
            "most_unused": most_unused,
            "days": days,
            "log": [{"name": name, "sha256": sha256} for name, sha256 in self.files],
            "times": [{"first": f"{first.isoformat()}Z", "last": f"{last.isoformat()}Z"} for first, last in self.times],
            "since": self.since,
            "arguments": self.arguments,
            "is_complete": self.is_complete,
            "not_counted": list(self.not_counted),
            "unread": to_dicts(list(self.unread_by_reason)),
            "warnings": list(self.warnings),
            "clients": clients,
            "not_proposed": rest,
        }


class Check(NamedTuple):
    """Whether no caller has more unused scopes than allowed. `over` are the callers that do."""

    passed: bool
    over: Rows[Privilege]
    found: Privileges

    @property
    def why(self) -> tuple[str, ...]:
        """Why the check fails: callers with too many unused scopes, and calls that weren't counted. Empty if it passes."""
        from ._number import number
        from ._read.notes import nothing_decided

        over = (f"{number(len(self.over), 'caller')} with too many unused scopes",) if self.over else ()
        nothing = () if self.found.calls else (nothing_decided(self.found.unread),)
        if self.found.calls and not self.found.with_valid_token:
            nothing = ("No call has a valid token, so no caller was checked.",)
        return () if self.passed else (*nothing, *over, *(f"not counted: {part}" for part in self.found.not_counted))


def privileges(
    log: Log | logs.Reader,
    policy: Policy,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    kind: TokenKind | str | None = None,
    scopes: str | None = None,
    time_unit: str | None = None,
    time_zone: str | None = None,
    public: Sequence[str] | None = None,
    watch: Callable[[], None] | None = None,
    since: str | os.PathLike[str] | None = None,
) -> Privileges:
    """Finds the scopes that each caller has, uses and never uses.

    `log` and the arguments from `format` on are those of `orbgate.logs.read`. `log` can also be a reader, which
    already has these arguments. `watch` is called after each part. With the bundle of an earlier report as `since`, the days
    without a use include its logs; this needs the extra `report`. Raises the same errors as `orbgate.logs.read`, and
    `TableError` if `since` isn't a bundle.
    """
    pc = needs("pyarrow.compute", "logs")
    from . import logs
    from ._count.bulk import apart
    from ._count.bulk import named as outlying
    from ._count.decided import Decided
    from ._count.unread import by_reason

    settings = {"format": format, "columns": columns, "kind": kind, "scopes": scopes, "time_unit": time_unit, "time_zone": time_zone, "public": public}
    if not isinstance(log, logs.Reader):
        options: Any = settings
        log = logs.read(log, **options)
    elif given := [name for name, value in settings.items() if value is not None]:
        raise ValueError(f"set `{given[0]}` when you create the reader, not here")
    earlier, of_earlier = (None, None) if since is None else _earlier(since)
    decided, callers = Decided(log, policy, watch, unused=("served_status",)), _Callers(policy)
    for part in decided.parts():
        # A call that needs no token is no evidence about scopes.
        needs_token = pc.not_equal(part.decided["reason"], Reason.PUBLIC_ROUTE.value)
        callers.add(part.calls.filter(needs_token), part.decided.filter(needs_token))
    period = apart(callers.times.rows(), decided.where)
    warnings = (*decided.lacks, *([warned.sentence] if (warned := decided.other_policy) else []), *decided.warnings, *([f"{outlying(period.outlying)} These times do not count as last uses of scopes."] if period.outlying else []))
    times = callers.times_of(period, earlier)
    return Privileges(
        callers.rows(period, earlier), policy.digest, callers.left_out, callers.without_caller, callers.with_unknown_token, callers.with_valid_token,
        decided.unread, decided.broken,
        tuple(decided.files()), warnings, decided.arguments, tuple(by_reason(decided.unread_kinds)), times, of_earlier,
    )


def _earlier(bundle: str | os.PathLike[str]) -> tuple[Earlier, str]:
    """What the bundle of an earlier report has seen, and the bundle's SHA-256."""
    for module in ("pyarrow", "vl_convert", "jinja2"):
        needs(module, "report")
    from ._report.bundle import earlier_of

    return earlier_of(bundle)


def check(log: Log | logs.Reader, policy: Policy, *, most_unused: int = 0, most_uncounted: int = 0, **options: Any) -> Check:
    """Checks that no caller has more than `most_unused` unused scopes of the policy. The other arguments are those of
    `privileges`.

    A log that wasn't counted completely fails, because the missing part might contain the problem. That includes
    tokens whose scopes aren't known, such as scopes without a kind. Up to `most_uncounted` such calls are tolerated,
    but unreadable rows never are. A log without any decided call, or without any valid token, also fails. The
    result's `why` lists the reasons.
    """
    for name, most in (("most_unused", most_unused), ("most_uncounted", most_uncounted)):
        if most < 0:
            raise ValueError(f"`{name}` must not be negative, but is {most}")
    counted = privileges(log, policy, **options)
    over = counted.over(most_unused)
    is_whole = counted.is_complete or (not counted.unread and counted.broken is None and counted.uncounted <= most_uncounted)
    return Check(not over and is_whole and counted.with_valid_token > 0, over, counted)


def verify(
    bundle: str | os.PathLike[str],
    log: Sequence[str | os.PathLike[str]] = (),
    *,
    public_key: str | None = None,
    signature: str | None = None,
    entries: str | os.PathLike[str] | None = None,
    accept: str | os.PathLike[str] | None = None,
    since: str | os.PathLike[str] | None = None,
) -> Rows[Checked]:
    """Checks a bundle from `Report.bundle`. Each row of the result states what was checked, and whether it is correct.

    Checks the SHA-256 of every file in the bundle and the policies' digests, and proves the properties again. With
    the files of the `log`, which are identified by their SHA-256, it makes the bundle again and compares the two. A report that read
    the `entries` of a ledger, accepted findings or an earlier bundle needs these files as well.
    With a minisign `public_key`, a file or its contents, it checks the `signature`, by default the bundle's file name
    with `.minisig`. Needs the extra `report` and, for signatures, the program minisign. Raises `TableError` if the
    file isn't a bundle.
    """
    for module in ("pyarrow", "vl_convert", "jinja2"):
        needs(module, "report")
    from ._report.verify import verify

    return verify(bundle, log, public_key, signature, {"entries": entries, "accept": accept, "since": since})


class _Caller:
    """The counts for a caller."""

    def __init__(self) -> None:
        self.calls = self.allowed = 0
        self.held: set[str] = set()
        self.unknown: set[str] = set()
        self.missing: set[str] = set()
        # The times of use, the latest first. Outlying times are known only at the end.
        self.used: dict[str, list[datetime]] = {}
        # The times at which it was first seen with a scope, the earliest first.
        self.since: dict[str, list[datetime]] = {}


class _Callers:
    """Counts the calls of callers."""

    def __init__(self, policy: Policy) -> None:
        from ._count.counts import Times

        self.times = Times(first=("row",), ends=True)
        self.left_out = self.without_caller = self.with_unknown_token = self.with_valid_token = 0
        self._policy = policy
        self._own = {scope.scope.encode(): scope.scope for scope in policy.scopes()}
        self._callers: dict[str, _Caller] = {}

    def add(self, calls: Any, decided: Any) -> None:
        """Counts calls with their decisions, row by row."""
        from ._count.used import used
        from ._read import private
        from ._report.counting import texts
        from ._report.denials import KINDS

        pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
        calls = calls.set_column(calls.column_names.index("caller"), "caller", texts(calls["caller"]))
        self.with_valid_token += pc.sum(pc.is_in(calls["kind"], KINDS)).as_py() or 0
        scopes = used(self._policy, calls, decided)
        table = pa.table({**{name: calls[name] for name in ("caller", "time")}, "decision": decided["decision"], "used": scopes.used, "missing": scopes.missing})
        self.without_caller += table["caller"].null_count
        table = table.filter(pc.is_valid(table["caller"]))
        calls = calls.filter(pc.is_valid(calls["caller"]))
        self.times.add(calls.select(["time", "row"]).filter(pc.is_valid(calls["time"])))
        groups = table.group_by(["caller", "decision", "used", "missing"]).aggregate([([], "count_all")])
        # Callers that come first have room, however the log is split.
        for caller in pc.unique(table["caller"]).to_pylist():
            if len(self._callers) < MOST_CALLERS:
                self._callers.setdefault(caller, _Caller())
        for row in groups.to_pylist():
            self._count(row)
        has_scopes = pc.greater(pc.binary_length(calls["scopes"]), 0).fill_null(False)
        is_unknown = pc.and_not(pc.or_(pc.is_valid(calls["kind"]), has_scopes), pc.is_in(calls["kind"], KINDS))
        for caller, count in Counter(calls["caller"].filter(is_unknown).to_pylist()).items():
            self.with_unknown_token += count if caller in self._callers else 0
        for row in self._by_stretch(table.filter(pc.and_(pc.is_valid(table["time"]), pc.is_valid(table["used"]))), "used", "max"):
            if (caller := self._callers.get(row["caller"])) is not None:
                for scope in row["used"].split():
                    _keep(caller.used[scope], row["time_max"], is_last=True)
        held = calls.select(["caller", "time", "scopes"]).filter(pc.and_(pc.and_(pc.is_valid(calls["time"]), has_scopes), pc.is_in(calls["kind"], KINDS)))
        for row in self._by_stretch(held, "scopes", "min"):
            if (caller := self._callers.get(row["caller"])) is not None:
                for scope in filter(None, map(self._own.get, row["scopes"].split())):
                    _keep(caller.since.setdefault(scope, []), row["time_min"], is_last=False)
        for use in self._policy.scope_usage(calls, by="caller"):
            if use.by is not None and (of := self._callers.get(use.by)) is not None:
                (of.held if use.in_policy else of.unknown).add(use.scope if use.in_policy else private.scope(use.scope))

    def _count(self, row: dict[str, Any]) -> None:
        caller = self._callers.get(row["caller"])
        if caller is None:
            self.left_out += row["count_all"]
            return
        caller.calls += row["count_all"]
        caller.allowed += row["count_all"] if row["decision"] == "allow" else 0
        caller.missing.update((row["missing"] or "").split())
        for scope in (row["used"] or "").split():
            caller.used.setdefault(scope, [])

    def _by_stretch(self, table: Any, column: str, end: str) -> list[dict[str, Any]]:
        """The first or the last time of each caller with each value of a column, in each stretch of time."""
        pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
        hours = pc.divide(pc.floor_temporal(table["time"], unit="hour").cast(pa.int64()), 3_600_000_000)
        order = sorted(pc.unique(hours).to_pylist())
        # The longest gaps separate outlying times from the rest.
        gaps = sorted(range(1, len(order)), key=lambda at: order[at - 1] - order[at])[:STRETCHES]
        starts = set(gaps)
        stretches = list(accumulate(int(at in starts) for at in range(len(order))))
        stretch = pa.array(stretches, pa.int64()).take(pc.index_in(hours, pa.array(order, pa.int64())))
        rows: list[dict[str, Any]] = table.append_column("stretch", stretch).group_by(["caller", column, "stretch"]).aggregate([("time", end)]).to_pylist()
        return rows

    def times_of(self, log: Apart, earlier: Earlier | None) -> tuple[tuple[datetime, datetime], ...]:
        """The first and the last time of each log, those that overlap as one."""
        from ._report.signs import Covered, joined

        own = [Covered(log.first, log.last)] if log.first is not None and log.last is not None else []
        return tuple((of.first, of.last) for of in joined([*own, *(() if earlier is None else earlier.periods)]))

    def _days(self, log: Apart, earlier: Earlier | None) -> Callable[[str, _Caller, str], int | None]:
        """How many days of logs a caller didn't use a scope."""
        from ._read import private
        from ._report.signs import HELD, USED, Covered, days_since

        periods = [Covered(*of) for of in self.times_of(log, earlier)]
        seen = () if earlier is None else earlier.seen
        last = {(row.caller, row.value): row.last for row in seen if row.dimension == USED}
        first = {(row.caller, row.value): row.first for row in seen if row.dimension == HELD}

        def days(caller: str, of: _Caller, scope: str) -> int | None:
            key = private.token(caller), scope
            had = (first.get(key), next(filter(log.reaches, of.since.get(scope, ())), None))
            since = last.get(key) or min(filter(None, had), default=None)
            return None if since is None or not (earlier is None or earlier.is_whole) else days_since(since, periods)

        return days

    def rows(self, log: Apart, earlier: Earlier | None = None) -> Rows[Privilege]:
        """The callers. Those with the most unused scopes come first."""
        rows, days = [], self._days(log, earlier)
        for caller, of in self._callers.items():
            used = tuple(sorted(of.used))
            unused = tuple(sorted(of.held - of.used.keys()))
            last_used = {scope: next(filter(log.reaches, of.used[scope]), None) for scope in used}
            held = tuple(sorted(of.held | of.used.keys()))
            rows.append(
                Privilege(caller, of.calls, of.allowed, held, used, unused, last_used, tuple(sorted(of.missing)), tuple(sorted(of.unknown)), {scope: days(caller, of, scope) for scope in unused})
            )
        return Rows(Privilege, sorted(rows, key=lambda row: (-len(row.unused), -row.calls, row.caller)))


def _keep(times: list[datetime], time: datetime, is_last: bool) -> None:
    """Adds a time to the latest ones, or to the earliest ones. If there are too many, drops the time that is nearest to one before it in
    the list: either both are outlying or neither is, because the gap before an outlying time is longer than any gap between other times.
    """
    if time in times:
        return
    times.append(time)
    times.sort(reverse=is_last)
    if len(times) > STRETCHES:
        del times[min(range(1, len(times)), key=lambda at: abs(times[at - 1] - times[at]))]
