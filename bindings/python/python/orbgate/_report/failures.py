"""Tells which clients fail since when, and which callers look like an attack or a client that only retries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from .._rows import Rows
from .._terms import Reason
from .timelines import ERROR, FEW, HOUR, LET_IN, OK, OWN, Piece, Timelines, Window, pieces, step, time_of, window

# What a caller looks like.
MISCONFIGURED, BROKEN, RECOVERED, ATTACK, RETRIES, OUTAGE = (
    "misconfigured client",
    "broken client",
    "recovered client",
    "attack",
    "client that retries",
    "outage",
)
# The calls that are counted.
CALLER, SCOPE, ROUTE, ALL = "caller", "scope", "route", "all callers"
# The fewest refused calls within an hour of an attack, and of calls without a caller, how often an average hour must have fewer.
IN_HOUR, OUTSTANDING = 100, 10
# The fewest different ids, paths or tokens, and the fewest different routes, of an attack.
MANY, MANY_ROUTES, FEW_SHAPES = 20, 5, 2
# An outage of the server that is shorter than this says nothing of a client.
SHORT = 600

LACKS = frozenset({Reason.SCOPE_MISSING.value, Reason.USER_TOKEN_REQUIRED.value})
WITHOUT = frozenset({Reason.NO_TOKEN.value, Reason.INVALID_TOKEN.value, OWN})
NOWHERE = frozenset({Reason.NO_ROUTE.value, Reason.METHOD_NOT_DECLARED.value, Reason.MALFORMED_REQUEST.value})


class Failure(NamedTuple):
    """Calls of a caller that failed from a time on, or between two times.

    `caller` is None for all calls that name no caller. `counted` states which of its calls are counted: all of the `caller`, those
    that need the `scope`, those to the `route`, or of "all callers", without a `caller`, those to the `route`. The failed ones have this scope and
    route in common, or None. `outcome` is the most frequent way in which they failed: a denial's reason, a status of an allowed
    call such as `404`, `5xx`, `refused` by the server although allowed, or `refused by a public route`.

    From `since` to `until`, `failed` of `calls` failed, at most `in_hour` of them within an hour (a lower bound if the log has
    very many callers; None if some times are dates without a time of day). Of the calls before and after that, `before_failed`
    and `after_failed` failed in the same way. `row` is the first failed call, counted from 1.

    `looks_like` is "misconfigured client", "broken client", "recovered client", "attack", "client that retries" or "outage". `pattern`
    describes an attack, or names the callers that an outage concerns. Of the `calls` of an outage, `public` are those to public routes that
    succeeded, such as health checks.
    """

    caller: str | None
    counted: str
    scope: str | None
    route: str | None
    outcome: str
    failed: int
    calls: int
    since: datetime
    until: datetime
    in_hour: int | None
    before: int
    before_failed: int
    after: int
    after_failed: int
    row: int
    looks_like: str
    pattern: str | None
    public: int = 0

    @property
    def succeeded(self) -> int:
        """The number of calls after it that didn't fail in this way. Those of other users say nothing of an attacker, and neither do those
        of a client that lacks a scope if it made such calls before, too.
        """
        is_usual = self.outcome in LACKS and self.before - self.before_failed >= FEW
        return self.after - self.after_failed if self.counted == CALLER and not is_usual else 0


class Details(NamedTuple):
    """The details of a caller's denied calls: the most of them are counted that a rule needs."""

    targets: int
    shapes: int
    is_probe: bool
    # An unknown path.
    example: str


class Period(NamedTuple):
    """The first and the last second of a log without outlying times, and whether its times are only days."""

    first: int
    last: int
    has_hours: bool


def failures(timelines: Timelines, period: Period | None, scope_of: dict[str, str], details: dict[bytes | None, Details]) -> Rows[Failure]:
    """The failures in a log, by caller. `scope_of` has the scope of each route."""
    if period is None:
        return Rows(Failure)
    failing = [failure for caller, rows in timelines.failing() for failure in _of_caller(caller, _of_log(rows, period, scope_of), period, details.get(caller))]
    released = timelines.first_served()
    failing = [row for row in failing if not _is_early(row, released)]
    order = {ATTACK: 0, MISCONFIGURED: 1, BROKEN: 2, RECOVERED: 3, RETRIES: 4}
    return Rows(
        Failure,
        sorted(failing, key=lambda row: (order[row.looks_like], -row.failed, row.caller or "", row.caller is not None, row.scope or "", row.route or "")),
    )


def _is_early(row: Failure, released: dict[str, int]) -> bool:
    """Whether a tester calls a route before the server has it: nobody was served by it before, and somebody is later."""
    return row.looks_like == BROKEN and row.outcome == "404" and row.route in released and time_of(released[row.route]) > row.until


def _of_log(rows: Iterable[dict[str, Any]], period: Period, scope_of: dict[str, str]) -> list[dict[str, Any]]:
    """The rows in a period, with the scopes of their routes."""
    inside = (row for row in rows if period.first <= row["first"] and row["last"] <= period.last)
    return [{**row, "scope": row["scope"] or scope_of.get(row["location"] or "")} for row in inside]


def _of_caller(caller: bytes | None, rows: list[dict[str, Any]], period: Period, details: Details | None) -> Iterator[Failure]:
    if details is not None and details.is_probe:
        return
    attack = _attack(caller, rows, period, details) if period.has_hours else None
    if attack is not None and attack.looks_like == ATTACK:
        yield attack
        return
    failing = [_walk(row, rows, period, details) for row in _changes(caller, rows, period)]
    # A client with other work walks ids for less than an hour, which is no failure of this client.
    failing = failing or [walk for row in _by_route(caller, rows, period) if (walk := _walk(row, rows, period, details)).looks_like == ATTACK]
    yield from failing or ([attack] if attack is not None else [])


def _changes(caller: bytes | None, rows: list[dict[str, Any]], period: Period) -> Iterator[Failure]:
    """The failures of all calls, or else those of a scope or route."""
    # Different clients can make the calls that name no caller, so no time of theirs is that of a change.
    whole = _first(caller, rows, period, CALLER)
    if whole is not None and (whole.outcome not in LACKS or whole.scope is not None):
        yield _narrowest(whole, caller, rows, period)
        return
    # A client can lack several scopes, and each is to be granted.
    seen = set()
    for scope in sorted({row["scope"] for row in rows if row["scope"] is not None}):
        if first := _first(caller, of := [row for row in rows if row["scope"] == scope], period, SCOPE):
            seen.add(scope)
            yield _narrowest(first, caller, of, period)
    for location in sorted({row["location"] for row in rows if row["location"] is not None and row["scope"] not in seen}):
        if first := _first(caller, [row for row in rows if row["location"] == location], period, ROUTE):
            yield first


def _by_route(caller: bytes | None, rows: list[dict[str, Any]], period: Period) -> Iterator[Failure]:
    """The calls of each route that lack its scope, however few others there are."""
    for location in sorted({row["location"] for row in rows if row["location"] is not None and row["outcome"] in LACKS}):
        of = [row for row in rows if row["location"] == location]
        if (stretch := window(pieces(of, LACKS))) is not None:
            yield failure(caller, ROUTE, stretch, failed_in(of, stretch, LACKS), MISCONFIGURED, None, period)


def _walk(walk: Failure, rows: list[dict[str, Any]], period: Period, details: Details | None) -> Failure:
    """The failure; an attack if it is that of one of many users of a client: far more calls of a route within an hour than usual."""
    is_walk = (
        walk.outcome in LACKS
        and walk.route is not None
        and walk.in_hour is not None
        and walk.in_hour >= IN_HOUR
        and details is not None
        and details.targets >= MANY
    )
    if not is_walk:
        return walk
    usual = sum(row["calls"] for row in rows if row["location"] == walk.route) - walk.failed
    hours = (period.last - period.first) / HOUR - (walk.until - walk.since).total_seconds() / HOUR
    if (walk.in_hour or 0) * hours < OUTSTANDING * usual or hours < 3:
        return walk
    return walk._replace(looks_like=ATTACK, pattern=f"walks ids of {walk.route} without its scope")


def _narrowest(wide: Failure, caller: bytes | None, rows: list[dict[str, Any]], period: Period) -> Failure:
    """The same failed calls among fewer others, if they have a scope or a route in common."""
    for counted, name, value in ((ROUTE, "location", wide.route), (SCOPE, "scope", wide.scope)):
        if value is not None and counted != wide.counted:
            narrow = _first(caller, [row for row in rows if row[name] == value], period, counted)
            if narrow is not None and narrow.outcome == wide.outcome and narrow.failed >= wide.failed:
                return narrow
    return wide


def _first(caller: bytes | None, rows: list[dict[str, Any]], period: Period, counted: str) -> Failure | None:
    """The first way in which these calls failed, if there is one: of calls that failed alike, or of all that failed."""
    outcomes = {row["outcome"] for row in rows} - {OK, LET_IN}
    alike = [*(group for group in (LACKS, WITHOUT, NOWHERE) if group & outcomes), *(frozenset({one}) for one in sorted(outcomes - LACKS - WITHOUT - NOWHERE))]
    for group in [*alike, *([frozenset(outcomes)] if len(alike) > 1 else [])]:
        of = pieces(rows, group)
        stretch = window(of)
        if counted == CALLER and group == NOWHERE and (stretch is None or not stretch.is_change):
            stretch = step(of) or stretch
        if stretch is None or not (stretch.is_change or (stretch.is_new and (group == LACKS or (counted == CALLER and group == NOWHERE)))):
            continue
        if caller is None and group != LACKS:
            continue
        failed = failed_in(rows, stretch, group)
        # At night, a client might make only the calls that fail.
        if counted == CALLER and 10 * stretch.failed < 9 * sum(row["calls"] for row in rows if row["outcome"] in group):
            continue
        # Neither does one after which the client made no more calls, if the log continues.
        end = _end_of_short(failed, stretch) if ERROR in group else None
        if end is not None and (stretch.is_over or period.last - end > HOUR):
            continue
        # A single attempt shows no client that fails.
        if not stretch.is_change and stretch.until - stretch.since < HOUR < period.last - stretch.until:
            continue
        looks_like = RECOVERED if stretch.is_over else MISCONFIGURED if group == LACKS else BROKEN
        return failure(caller, counted, stretch, failed, looks_like, None, period)
    return None


def _end_of_short(failed: list[dict[str, Any]], stretch: Window) -> int | None:
    """When nearly all failures of a stretch were over, if they are errors of the server within minutes."""
    errors = sorted((row["first"], row["last"], row["calls"]) for row in failed if row["outcome"] == ERROR)
    start = count = 0
    for first, last, calls in errors:
        count += calls
        while last - errors[start][0] >= SHORT and errors[start][0] < first:
            count -= errors[start][2]
            start += 1
        if 10 * count >= 9 * stretch.failed and last - errors[start][0] < SHORT:
            return int(last)
    return None


def _attack(caller: bytes | None, rows: list[dict[str, Any]], period: Period, details: Details | None) -> Failure | None:
    """A caller nearly all of whose calls are refused, very many within an hour."""
    for group in (WITHOUT, LACKS, NOWHERE):
        of = pieces(rows, group)
        stretch = window(of)
        if stretch is None or stretch.in_hour < IN_HOUR or stretch.is_change:
            continue
        failed = failed_in(rows, stretch, group)
        is_own = sum(row["calls"] for row in failed if row["outcome"] == OWN) * 2 > stretch.failed
        if not is_own and 10 * stretch.failed < 9 * sum(row["calls"] for row in rows):
            continue
        if caller is None and not stands_out(of, stretch):
            continue
        if pattern := _pattern(group, failed, details or Details(0, 0, False, ""), is_own):
            return failure(caller, CALLER, stretch, failed, RETRIES if pattern == RETRIES else ATTACK, pattern, period)
    return None


def stands_out(of: Sequence[Piece], stretch: Window) -> bool:
    """Whether the hour with the most failures has many times those of an average hour."""
    hours = (of[-1].last - of[0].first) // HOUR
    rest = sum(piece.failed for piece in of) - stretch.in_hour
    return hours >= 3 and stretch.in_hour * (hours - 1) >= OUTSTANDING * rest


def _pattern(group: frozenset[str], failed: list[dict[str, Any]], details: Details, is_own: bool) -> str | None:
    """What the refused calls of an attack have in common; or that a client only retries."""
    calls: Counter[str | None] = Counter()
    for row in failed:
        calls[row["location"]] += row["calls"]
    route, most = min(calls.items(), key=lambda item: (-item[1], item[0] or ""))
    if is_own:
        return f"guesses credentials at {route}"
    if group == LACKS:
        if 10 * most >= 9 * calls.total() and details.targets >= MANY:
            return f"walks ids of {route} without its scope"
        return f"tries {len(calls)} routes with a token that lacks their scopes" if len(calls) >= MANY_ROUTES else None
    if details.targets <= 1:
        return RETRIES
    # A client with a wrong base path has more of them.
    if 0 < details.shapes <= FEW_SHAPES and details.targets >= MANY and most * 2 > calls.total() and route is None:
        return f"tries unknown paths that differ only by a number, such as {details.example}"
    if group == WITHOUT and route is not None and (details.targets >= MANY or len(calls) >= MANY_ROUTES):
        return f"tries {len([one for one in calls if one is not None])} routes without a valid token"
    return None


def failed_in(rows: Iterable[dict[str, Any]], stretch: Window, group: Collection[str]) -> list[dict[str, Any]]:
    return [row for row in rows if row["outcome"] in group and stretch.since <= row["first"] and row["last"] <= stretch.until]


def failure(caller: bytes | None, counted: str, stretch: Window, failed: list[dict[str, Any]], looks_like: str, pattern: str | None, period: Period) -> Failure:
    calls: Counter[str] = Counter()
    for row in failed:
        calls[row["outcome"]] += row["calls"]
    outcome = min(calls, key=lambda one: (-calls[one], one))
    scopes, routes = {row["scope"] for row in failed}, {row["location"] for row in failed}
    scope = next(iter(scopes)) if len(scopes) == 1 else None
    route = next(iter(routes)) if len(routes) == 1 else None
    name = None if caller is None else caller.decode("utf-8", "backslashreplace")
    return Failure(
        name, counted, scope, route, outcome, stretch.failed, stretch.calls, time_of(stretch.since), time_of(stretch.until),
        stretch.in_hour if period.has_hours else None,
        stretch.before, stretch.before_failed, stretch.after, stretch.after_failed, min(row["row"] for row in failed), looks_like, pattern,
    )  # fmt: skip
