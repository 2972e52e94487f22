"""How a caller's failed calls are described: which of them failed how, since when, and what came before and after."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from ..._number import number
from ..._terms import Reason
from ..denials import MISSING_SCOPE, is_silent
from ..failures import ATTACK, CALLER, ALL, LACKS, MISCONFIGURED, OUTAGE, RETRIES, ROUTE, SCOPE
from ..numbers import before, shown, when
from ..timelines import AFTER, ERROR, FEW, OLD_LOGIN, OWN, REJECTED, second_of
from .words import who

if TYPE_CHECKING:
    from ..denials import Denied
    from ..failures import Failure
    from ..figures import Figures

HOW = {
    Reason.NO_TOKEN.value: "have no valid token", Reason.INVALID_TOKEN.value: "have no valid token", Reason.NO_ROUTE.value: "match no route",
    Reason.METHOD_NOT_DECLARED.value: "have another method than the policy", Reason.MALFORMED_REQUEST.value: "are malformed",
    REJECTED: "were refused by the server", OWN: "were refused", OLD_LOGIN: "came with an older or weaker login than their route wants",
}  # fmt: skip


def described(row: Failure, figures: Figures) -> str:
    """The failed calls of a caller: how many of which failed how, since when, and what came before and after."""
    is_of_days = figures.times.has_days_alone
    of = {
        ROUTE: f" to {row.route}",
        ALL: f" to {row.route}" if row.route else "",
        SCOPE: f" that need {shown(row.scope)}" if row.outcome not in LACKS else "",
        CALLER: "",
    }[row.counted]
    how = HOW.get(row.outcome) or (f"were answered with {row.outcome}" if row.outcome.isdigit() or row.outcome == ERROR else f"were denied for {row.outcome}")
    if row.outcome in LACKS:
        how = (
            f"{'lack' if row.outcome == Reason.SCOPE_MISSING.value else 'have no user token for'} "
            f"{'the scopes of their routes' if row.scope is None else _lacked(row, figures)}"
        )
    many = f", up to {number(row.in_hour)} within an hour" if row.pattern is not None and row.in_hour is not None else ""
    pattern = f" {shown(row.pattern)}" if row.pattern is not None and row.looks_like == ATTACK else ""
    whose = who(row.caller) if row.counted != ALL else "all callers" if row.looks_like == OUTAGE else "an attacker"
    return f"{whose}{pattern}: {number(row.failed)} of {number(row.calls, 'call')}{of} {how}{_times(row, figures, is_of_days)}{many}{_around(row)}"


def _lacked(row: Failure, figures: Figures) -> str:
    """The scopes that the calls lacked. The caller can have the scope that owns their routes."""
    is_missing = row.outcome == Reason.SCOPE_MISSING.value
    groups = (group for group in figures.denials.groups if (group.caller, group.scope, group.pattern == MISSING_SCOPE) == (row.caller, row.scope, is_missing))
    scopes = next((group.lacked for group in groups), ()) or (row.scope,)
    return ", ".join(map(shown, scopes))


def _times(row: Failure, figures: Figures, is_of_days: bool) -> str:
    """From when to when the calls failed. If nothing came after, it continues."""
    since, until = (f"{time:%Y-%m-%d}" if is_of_days else f"{time:%Y-%m-%d %H:%M}" for time in (row.since, row.until))
    end = figures.times.last
    # A few calls after it, for example with an expired token, show nothing.
    is_last = row.after < AFTER and row.looks_like != ATTACK or not row.after
    is_known = not is_of_days and end is not None and is_last
    stopped = "; it has stopped" if is_last and is_gone(row, figures) else ""
    ago = f" ({before(second_of(row.until), second_of(end))}{stopped})" if is_known and end is not None and end - row.until >= timedelta(hours=1) else ""
    if is_last and not is_gone(row, figures):
        return f" since {since}{f', the last on {until}{ago}' if ago else ''}"
    return f" on {since}{ago}" if since == until else f" from {since} to {until}{ago}"


def _around(row: Failure) -> str:
    """What came before and after the failed calls."""
    earlier = "no calls before (new)" if not row.before else f"before, {some(row.before_failed, row.before)}"
    if row.looks_like in (ATTACK, RETRIES):
        return f"; {earlier}; then {number(row.succeeded, 'call')} succeeded" if row.succeeded else f"; {earlier}"
    return f"; {earlier}" if row.after < AFTER else f"; {earlier}; after, {some(row.after_failed, row.after)}"


def some(failed: int, calls: int) -> str:
    return f"{number(failed) if failed else 'none'} of {number(calls)}"


# A new client makes its first call after so many of its average gaps.
NEW_GAPS = 20
# A client that pauses so many times for as long as the log has no such call at its start might have made them before.
PAUSES = 2


def is_old(row: Failure, figures: Figures) -> bool:
    """Whether a caller makes calls that lack a scope since the log begins."""
    first, last = figures.times.first, figures.times.last
    if row.looks_like != MISCONFIGURED or row.before >= FEW or first is None or last is None:
        return False
    # A job of each night makes no such call for as long as before its first one.
    starts = sorted(span.start for span in figures.denials.times if span.caller == row.caller and span.start <= row.until)
    if sum(later - earlier >= row.since - first for earlier, later in pairwise(starts)) >= PAUSES:
        return True
    # By chance, a client makes no call for many times its average gap, for example at night.
    return 10 * (row.since - first) <= last - first or (row.since - first) * (row.failed - 1) <= NEW_GAPS * (row.until - row.since)


def is_gone(row: Failure, figures: Figures) -> bool:
    """Whether a caller has stopped making these calls."""
    first, last = figures.times.first, figures.times.last
    return not (first is None or last is None or figures.times.has_days_alone) and is_silent(row.since, row.until, row.failed, first, last)


def when_seen(row: Denied) -> str:
    """The times of the first and the last of these calls; days if the log has no times of day."""
    if row.first is None or row.last is None:
        return ""
    return f", {when(row.first, row.last, row.paths_in_hour is None)}"


def since_last(row: Denied, figures: Figures) -> str:
    """The time from the last of these calls to the log's end. The client might have been fixed since."""
    end = figures.times.last
    if row.paths_in_hour is None or row.last is None or end is None or row.last > end:
        return ""
    return f", last seen {before(second_of(row.last), second_of(end))}"
