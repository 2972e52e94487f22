"""The section about likely causes of denials, with the rows that support each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..._count.text import NO_CALLER
from ..._number import number
from ..courses import FEW, LIMITS, RULE as COURSES, Period, second_of, time_of
from ..denials import MISCONFIGURED, MISSING_SCOPE, PATHS, PROBE, PROBED_PATHS, RULES, STALE, UNKNOWN_PATHS, has_stopped, hour_is_bound
from ..findings import CAUSES
from ..numbers import UNITS, before, bound, share, shown
from . import parts
from .parts import CODE, NAME, NUMBER, WORDS, Section, Table

if TYPE_CHECKING:
    from ..denials import Denied
    from ..figures import Figures

# The most harmful first.
CAPTIONS = {PROBE: "Callers that look like a probe", MISCONFIGURED: "Callers that look like a misconfigured client", STALE: "Callers that look like a stale client"}
# The most scopes that a client lacks for which the page has a sentence each.
MOST_REASONS = 3
# The most first rows of a group on the page. A bundle has more.
MOST_ROWS = 3
# The most callers that are named for denials without a likely cause.
MOST_CALLERS = 3


def told_apart(found: Figures, top: int) -> Section:
    name, rows = CAUSES, found.denials.groups
    if not found.denied:
        return Section(name, "No call was denied.", [], [])
    told = rows.where(lambda row: row.looks_like is not None)
    calls = sum(row.calls for row in told)
    finding = f"{number(found.denied, 'call')} {'was' if found.denied == 1 else 'were'} denied, but no caller looks like a probe or a misconfigured client."
    if calls:
        look = "looks like a call" if calls == 1 and found.denials.is_exact else "look like calls"
        finding = f"{bound(calls, found.denials.is_exact)} of {number(found.denied, 'denied call')} {look} of a probe or of a misconfigured or stale client."
    if calls < found.denied:
        finding += f" {_rest(found, found.denied - calls)}."
    definitions = (
        f"{parts.BY_POLICY} {'. '.join(f'A {what} {rule}' for what, rule in RULES.items())}. "
        f"{COURSES}. These are signs, not proof. Each lists its first rows, counted from 1."
    )
    if any(row.half_least_seconds != row.half_seconds for row in rows):
        definitions += f" {LIMITS}."
    if any(row.caller is None for row in rows):
        finding += f" Calls without a caller are grouped as {NO_CALLER}, and might come from many callers."
    if bounds := hour_is_bound(rows):
        finding += f" {bounds}"
    if found.changes is None:
        finding += " Recognising stale clients requires `base`, the older policy that they were made for."
    period = None if found.times.first is None or found.times.last is None else Period(second_of(found.times.first), second_of(found.times.last))
    tables = [table for what in CAPTIONS if (table := _look_alike(rows.where(lambda row: row.looks_like == what), what, period, found.denials.is_exact, top)) is not None]
    listed = [
        (parts.caller(row.caller), _common(row), shown(row.scope), bound(row.calls, row.is_exact), *parts.served(row), _half(row, period), row.course or "–", _rows(row))
        for row in rows[:top]
    ]
    what = {"caller": CODE, "pattern": NAME, "scope": CODE, "calls": NUMBER, **parts.served_column(found), "time of half (UTC)": WORDS, "course": NAME, "first rows": WORDS}
    groups = parts.table("Denied calls by caller and pattern", what, listed, top, len(rows), "denials_groups")
    # Its first rows are the flagged callers.
    return Section(name, finding, [], [*tables, groups._replace(is_folded=bool(tables))], definitions=definitions)


def _rest(found: Figures, count: int) -> str:
    """The denials without a likely cause, by caller: calls without a caller, the callers with the most, and the others."""
    of: Counter[str | None] = Counter()
    for row in found.denials.groups:
        of[row.caller] += row.calls if row.looks_like is None else 0
    unnamed = of.pop(None, 0)
    many = sorted(((caller, calls) for caller, calls in of.items() if calls >= FEW), key=lambda pair: (-pair[1], pair[0] or ""))
    few = [calls for calls in of.values() if 0 < calls < FEW]
    said = [f"{number(unnamed)} without a caller"] if unnamed else []
    said += [f"{number(calls)} by {shown(caller)}" for caller, calls in many[:MOST_CALLERS]]
    if more := many[MOST_CALLERS:]:
        said.append(f"{number(sum(calls for _, calls in more))} by {number(len(more), 'more caller')} with {FEW} or more each")
    if few:
        said.append(f"{number(sum(few))} by {number(len(few), 'caller')} with under {FEW}{' each' if len(few) > 1 else ''}")
    if other := count - unnamed - sum(of.values()):
        said.append(f"{number(other)} that were not counted by caller")
    return f"{number(count, 'denial')} {'has' if count == 1 else 'have'} no likely cause{f': {joined}' if (joined := ', '.join(said)) else ''}"


def _look_alike(rows: Sequence[Denied], what: str, period: Period | None, is_exact: bool, top: int) -> Table | None:
    """The callers that look like `what`, one row for each. A client can lack several scopes."""
    by_caller: dict[str | None, list[Denied]] = {}
    for row in rows:
        by_caller.setdefault(row.caller, []).append(row)
    listed = []
    for caller, groups in [*by_caller.items()][:top]:
        because = [sentence(row, period, is_exact) for row in groups[:MOST_REASONS]]
        more = [number(len(groups) - MOST_REASONS, "more scope")] if len(groups) > MOST_REASONS else []
        listed.append((parts.caller(caller), ". Also, ".join([*because, *more]), _rows(groups[0]), parts.call(groups[0].method, groups[0].target, groups[0].detail)))
    columns = {"caller": CODE, "because": WORDS, "first rows": WORDS, "for example": CODE}
    return parts.table(CAPTIONS[what], columns, listed, top, len(by_caller), "denials_groups") if listed else None


def sentence(row: Denied, period: Period | None, is_exact: bool) -> str:
    """The reason why a group was flagged, for a log of this period. `is_exact` states whether all groups are counted."""
    count = row.served_though_denied
    served = "" if count is None else f"; the server served {bound(count, row.is_exact) if count else 'none'} of these calls"
    return f"{_because(row, period, is_exact)}{served}"


def _because(row: Denied, period: Period | None, is_exact: bool) -> str:
    calls = bound(row.calls, row.is_exact, "call")
    if row.looks_like == MISCONFIGURED:
        other = f", of which the other policy allows {number(row.base_allowed)}" if row.base_allowed else ""
        lacked = f"lacked {shown(row.scope)}" if row.pattern == MISSING_SCOPE else f"had no user's token for {shown(row.scope)}"
        who, them = "calls without a caller" if row.caller is None else "this caller", "it" if row.caller_lacks == 1 else "them"
        is_all = row.caller_lacks == 1 and is_exact
        all_lacked = "" if is_all else f"; in all, {who} lacked {bound(row.caller_lacks, is_exact, 'scope')} or a user's token for {them}"
        return f"{calls} {lacked}{other}{_carried(row)}{all_lacked}{_when(row, period)}{_end(row, period)}"
    if row.looks_like == STALE:
        return f"makes {calls} to {number(len(row.routes), 'route')} that only the other policy has: {', '.join(map(shown, row.routes[:4]))}{', …' if len(row.routes) > 4 else ''}{_when(row, period)}{_end(row, period)}"
    rapid = f", {bound(row.paths_in_hour, False)} of these paths within an hour" if row.paths_in_hour is not None and row.paths_in_hour >= PROBED_PATHS else ""
    most = f", {share(row.calls, row.caller_calls)} of all its calls" if row.caller_calls else ""
    return f"tries {bound(row.paths, row.paths < PATHS)} different paths in {calls}, {number(row.malformed) if row.malformed else 'none'} of them malformed{rapid}{most}{_when(row, period)}"


def _carried(row: Denied) -> str:
    """The number of calls in which other tokens of the caller had the missing scope or kind."""
    if row.caller_carried is None:
        return ""
    had = "carried it" if row.pattern == MISSING_SCOPE else "had one with it"
    return f"; {number(row.caller_carried, 'other call') if row.caller_carried else 'no other call'} of this caller {had}"


def _common(row: Denied) -> str:
    """The pattern of a group, with its malformed calls."""
    if row.pattern != UNKNOWN_PATHS or not row.malformed:
        return row.pattern
    return "malformed" if row.malformed == row.calls else f"{row.pattern}, {number(row.malformed)} malformed"


def _end(row: Denied, period: Period | None) -> str:
    """The time from the last call to the log's end. The client might have been fixed since."""
    if row.last is None or period is None or row.paths_in_hour is None or second_of(row.last) > period.last:
        return ""
    stopped = " (it has stopped, so check whether it was fixed)" if has_stopped(row, time_of(period.first), time_of(period.last)) else ""
    return f", {before(second_of(row.last), period.last)}{stopped}"


def _when(row: Denied, period: Period | None) -> str:
    """The times of the first and the last call."""
    if row.first is None or row.last is None or period is None:
        return ""
    # If some times are dates without a time of day, only days are shown.
    first, last = (_time(time)[: 10 if row.paths_in_hour is None else None] for time in (row.first, row.last))
    notes = [f"{bound(row.without_time, row.is_exact)} without a time"] if row.without_time else []
    if second_of(row.first) < period.first or second_of(row.last) > period.last:
        notes.append("some far from all other times")
    said = f" ({'; '.join(notes)})" if notes else ""
    counted = "" if row.is_exact else " that was counted"
    return f"; the first{counted} at {first}, the last at {last}{said}"


def _half(row: Denied, period: Period | None) -> str:
    """The shortest time that contains half of the calls, or its two limits; and the numbers of calls without a time or far from
    all others.
    """
    least, most = row.half_least_seconds, row.half_seconds
    notes = [f"{bound(row.without_time, row.is_exact)} without a time"] if row.without_time and period is not None else []
    if least is None or most is None or period is None:
        said = "–"
    else:
        between = "" if least == most else f"{length(least, period, is_up=False)} to "
        said = f"{between}{length(most, period)} from {_time(row.half_from)} on"
        if row.outlying != 0:
            far = "some" if row.outlying is None else bound(row.outlying, row.is_exact)
            notes.append(f"{far} far from all other times, left out")
    return f"{said} ({'; '.join(notes)})" if notes else said


def length(seconds: int, period: Period, is_up: bool = True) -> str:
    """A duration in two units, rounded up or down; in more units if rounding would change the course in the period.

    >>> month = Period(0, 30 * 86_400 - 1)
    >>> [length(seconds, month) for seconds in (1, 841, 277_200, 86_399)]
    ['1 second', '14 minutes 1 second', '3 days 5 hours', '1 day']
    >>> length(277_201, month), length(277_201, month, is_up=False)
    ('3 days 6 hours', '3 days 5 hours')
    >>> length(7 * 86_400 + 43_200 - 1, month)
    '7 days 11 hours 59 minutes 59 seconds'
    """
    largest = next(at for at, (_, unit) in enumerate(UNITS) if seconds >= unit)
    rounded = seconds
    for _, step in UNITS[largest + 1 :]:
        rounded = -(-seconds // step) * step if is_up else seconds // step * step
        if period.course(rounded) == period.course(seconds):
            break
    said, rest = [], rounded
    for name, unit in UNITS:
        count, rest = divmod(rest, unit)
        said += [number(count, name)] if count else []
    return " ".join(said)


def _time(time: object) -> str:
    return "–" if time is None else str(time)[:19]


def _rows(row: Denied) -> str:
    first = row.rows[:MOST_ROWS]
    more: Sequence[str] = ["…"] if row.calls > len(first) else []
    return ", ".join([*map(number, first), *more])
