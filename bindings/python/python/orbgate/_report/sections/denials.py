"""The section about likely causes of denials, with the rows that support each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..._count.text import NO_CALLER
from ..._number import number
from ..failures import ALL, MISCONFIGURED
from ..denials import MISSING_SCOPE, PATHS, PROBE, PROBED_PATHS, RULES, STALE, UNKNOWN_PATHS, has_stopped, hour_is_bound
from ..findings.callers import described
from ..findings.words import CAUSES, one
from ..numbers import before, bound, share, shown
from ..timelines import FEW, second_of
from . import parts
from .parts import CODE, NAME, NUMBER, WORDS, Section, Table

if TYPE_CHECKING:
    from ..denials import Denied
    from ..failures import Failure
    from ..figures import Figures

# The most harmful first.
CAPTIONS = {PROBE: "Callers that look like a probe", STALE: "Callers that look like a client of the other policy"}
# The most first rows of a group on the page. A bundle has more.
MOST_ROWS = 3
# The most callers that are named for denials without a likely cause.
MOST_CALLERS = 3


def told_apart(figures: Figures, top: int) -> Section:
    name, rows = CAUSES, figures.denials.groups
    if not figures.denied and not figures.denials.failures:
        return Section(name, "No call was denied.", [], [])
    told = rows.where(lambda row: row.looks_like is not None)
    calls = sum(row.calls for row in told)
    finding = f"{number(figures.denied, 'call')} {'was' if figures.denied == 1 else 'were'} denied, but no caller looks like a probe or a misconfigured client."
    if calls:
        finding = (
            f"{bound(calls, figures.denials.is_exact)} of {number(figures.denied, 'denied call')} "
            f"{'has' if calls == 1 and figures.denials.is_exact else 'have'} a likely cause."
        )
    if calls < figures.denied:
        finding += f" {_rest(figures, figures.denied - calls)}."
    definitions = (
        f"{parts.BY_POLICY} {'. '.join(f'{one(what).capitalize()} {rule}' for what, rule in RULES.items())}. "
        "These are signs, not proof. Each lists its first rows, counted from 1"
    )
    if any(row.caller is None for row in rows):
        finding += f" Calls without a caller are grouped as {NO_CALLER}, and might come from many callers."
    if bounds := hour_is_bound(rows):
        finding += f" {bounds}"
    if not figures.denials.failures_is_exact:
        finding += " There are too many callers to count each over time, so more of them might fail from a time on."
    if figures.changes is None:
        finding += " Recognising clients of another policy requires `base`."
    tables = [table for what in CAPTIONS if (table := _look_alike(rows.where(lambda row: row.looks_like == what), what, figures, top)) is not None]
    if figures.denials.failures:
        tables.append(_failures(figures, top))
    listed = [
        (
            parts.caller(row.caller),
            _common(row),
            parts.some([shown(scope) for scope in row.lacked], 3) or shown(None),
            bound(row.calls, row.is_exact),
            *parts.served(row),
            str(row.looks_like or "–"),
            _rows(row),
        )
        for row in rows[:top]
    ]
    what = {"caller": CODE, "pattern": NAME, "scope": CODE, "calls": NUMBER, **parts.served_column(figures), "likely cause": NAME, "first rows": WORDS}
    groups = [parts.table("Denied calls by caller and pattern", what, listed, top, len(rows), "denials_groups")] if rows else []
    # Its first rows are the flagged callers.
    return Section(name, finding, [], [*tables, *(table._replace(is_folded=bool(tables)) for table in groups)], definitions=f"{definitions}.")


def _failures(figures: Figures, top: int) -> Table:
    """The callers whose calls failed from a time on, one row for each scope or route."""
    rows = [
        ("many" if row.counted == ALL else parts.caller(row.caller), row.looks_like, described(row, figures), number(row.row), _also(row, figures))
        for row in figures.denials.failures[:top]
    ]
    columns = {"caller": CODE, "looks like": NAME, "because": WORDS, "first row": NUMBER, "also": WORDS}
    return parts.table("Callers whose calls fail", columns, rows, top, len(figures.denials.failures), "denials_failures")


def _also(row: Failure, figures: Figures) -> str:
    """What the groups of a misconfigured client's denied calls add."""
    of = figures.denials.groups.where(lambda group: group.caller == row.caller and group.scope == row.scope)
    if row.scope is None or not of or row.looks_like != MISCONFIGURED:
        return "–"
    return "; ".join([note for note in (_carried(of[0]), _allowed(of[0]), _served(of[0]), _lacked(of[0], figures)) if note]) or "–"


def _rest(figures: Figures, count: int) -> str:
    """The denials without a likely cause, by caller: calls without a caller, the callers with the most, and the others."""
    of: Counter[str | None] = Counter()
    for row in figures.denials.groups:
        of[row.caller] += row.calls if row.looks_like is None else 0
    unnamed = of.pop(None, 0)
    many = sorted(((caller, calls) for caller, calls in of.items() if calls >= FEW), key=lambda pair: (-pair[1], pair[0] or ""))
    few = [calls for calls in of.values() if 0 < calls < FEW]
    counts = [f"{number(unnamed)} without a caller"] if unnamed else []
    counts += [f"{number(calls)} by {shown(caller)}" for caller, calls in many[:MOST_CALLERS]]
    if more := many[MOST_CALLERS:]:
        counts.append(f"{number(sum(calls for _, calls in more))} by {number(len(more), 'more caller')} with {FEW} or more each")
    if few:
        counts.append(f"{number(sum(few))} by {number(len(few), 'caller')} with under {FEW}{' each' if len(few) > 1 else ''}")
    if other := count - unnamed - sum(of.values()):
        counts.append(f"{number(other)} that were not counted by caller")
    return f"{number(count, 'denial')} {'has' if count == 1 else 'have'} no likely cause{f': {joined}' if (joined := ', '.join(counts)) else ''}"


def _look_alike(rows: Sequence[Denied], what: str, figures: Figures, top: int) -> Table | None:
    """The callers that look like `what`, one row for each."""
    listed = [(parts.caller(row.caller), _because(row, figures), _rows(row), parts.call(row.method, row.target, row.detail)) for row in rows[:top]]
    columns = {"caller": CODE, "because": WORDS, "first rows": WORDS, "for example": CODE}
    return parts.table(CAPTIONS[what], columns, listed, top, len(rows), "denials_groups") if listed else None


def _because(row: Denied, figures: Figures) -> str:
    """The reason why a group was flagged."""
    calls, count = bound(row.calls, row.is_exact, "call"), row.served_though_denied
    served = "" if count is None else f"; the server served {bound(count, row.is_exact) if count else 'none'} of these calls"
    if row.looks_like == STALE:
        return (
            f"makes {calls} to {number(len(row.routes), 'route')} that only the other policy has: "
            f"{', '.join(map(shown, row.routes[:4]))}{', …' if len(row.routes) > 4 else ''}{_when(row, figures)}{_end(row, figures)}{served}"
        )
    rapid = f", {bound(row.paths_in_hour, False)} of these paths within an hour" if row.paths_in_hour is not None and row.paths_in_hour >= PROBED_PATHS else ""
    most = f", {share(row.calls, row.caller_calls)} of all its calls" if row.caller_calls else ""
    return (
        f"tries {bound(row.paths, row.paths < PATHS)} different paths in {calls}, "
        f"{number(row.malformed) if row.malformed else 'none'} of them malformed{rapid}{most}{_when(row, figures)}{served}"
    )


def _allowed(row: Denied) -> str:
    return f"the other policy allows {number(row.base_allowed)} of them" if row.base_allowed else ""


def _served(row: Denied) -> str:
    """How many of the denied calls of this scope the server served."""
    count = row.served_though_denied
    return "" if count is None else f"the server served {bound(count, row.is_exact) if count else 'none'} of its denied calls"


def _lacked(row: Denied, figures: Figures) -> str:
    """The number of scopes that a caller lacked in all, if it is more than one."""
    is_exact = figures.denials.is_exact
    if row.caller_lacks == 1 and is_exact:
        return ""
    who, them = "calls without a caller" if row.caller is None else "this caller", "it" if row.caller_lacks == 1 else "them"
    return f"in all, {who} lacked {bound(row.caller_lacks, is_exact, 'scope')} or a user's token for {them}"


def _carried(row: Denied) -> str:
    """The number of calls in which other tokens of the caller had the missing scope or kind."""
    if row.caller_carried is None:
        return ""
    had = "carried it" if row.pattern == MISSING_SCOPE else "had a user's token with it"
    return f"{number(row.caller_carried, 'other call') if row.caller_carried else 'no other call'} of this caller {had}"


def _common(row: Denied) -> str:
    """The pattern of a group, with its malformed calls."""
    if row.pattern != UNKNOWN_PATHS or not row.malformed:
        return row.pattern
    return "malformed" if row.malformed == row.calls else f"{row.pattern}, {number(row.malformed)} malformed"


def _end(row: Denied, figures: Figures) -> str:
    """The time from the last call to the log's end. The client might have been fixed since."""
    first, last = figures.times.first, figures.times.last
    if row.last is None or last is None or row.paths_in_hour is None or row.last > last:
        return ""
    stopped = " (it has stopped, so check whether it was fixed)" if has_stopped(row, first, last) else ""
    return f", {before(second_of(row.last), second_of(last))}{stopped}"


def _when(row: Denied, figures: Figures) -> str:
    """The times of the first and the last call."""
    start, end = figures.times.first, figures.times.last
    if row.first is None or row.last is None or start is None or end is None:
        return ""
    # If some times are dates without a time of day, only days are shown.
    first, last = (_time(time)[: 10 if row.paths_in_hour is None else None] for time in (row.first, row.last))
    notes = [f"{bound(row.without_time, row.is_exact)} without a time"] if row.without_time else []
    if row.first < start or row.last > end:
        notes.append("some far from all other times")
    note = f" ({'; '.join(notes)})" if notes else ""
    counted = "" if row.is_exact else " that was counted"
    return f"; the first{counted} at {first}, the last at {last}{note}"


def _time(time: object) -> str:
    return "–" if time is None else str(time)[:19]


def _rows(row: Denied) -> str:
    first = row.rows[:MOST_ROWS]
    more: Sequence[str] = ["…"] if row.calls > len(first) else []
    return ", ".join([*map(number, first), *more])
