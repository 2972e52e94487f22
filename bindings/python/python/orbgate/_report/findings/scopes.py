"""The findings about what the calls used: scopes, orbs, tokens and properties."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..._number import number
from ..failures import OUTAGE
from ..figures import Finding
from ..numbers import FACT, HIGH, LOW, MEDIUM, UNUSED_DAYS, bound, length, shown, when
from ..thresholds import FAILED_ERRORS, FAILED_PART
from ..timelines import ERROR
from ..tokens import CLOCK, EXPIRED, ROAMING, SHARED, TWO_NETWORKS
from .server import OF_CLOCK
from .words import CAUSES, MOST_PAIRS, ORBS, PROPERTIES, TOKENS, UNKNOWN, UNUSED

if TYPE_CHECKING:
    from ..figures import Figures
    from ..tokens import TokenUse


def of_properties(figures: Figures) -> Iterator[Finding]:
    if figures.properties is not None and (failed := len(figures.properties.failed)):
        of_all = f"{number(failed)} of {number(len(figures.properties.rows), 'property', 'properties')}"
        sentence = f"{of_all} in {shown(figures.properties.file)} {'does' if failed == 1 else 'do'} not hold for all requests."
        yield Finding(
            HIGH, "properties", failed, True, sentence, "Change the policy or the property; the section lists the requests that violate it.", PROPERTIES
        )


# Tokens that are served after their expiry, but all so shortly that a clock might be ahead.
LATE = "served shortly after its expiry"
# The findings about tokens: the level, and the advice.
OF_TOKENS = {
    EXPIRED: ("expired_token", HIGH, "Let the server verify the expiry of tokens."),
    LATE: ("late_tokens", MEDIUM, "Compare the clocks of the servers, and find out for how long they accept or remember a token after its expiry."),
    SHARED: ("shared_token", MEDIUM, "Find out whether the token was stolen, and give each client its own."),
    TWO_NETWORKS: ("token_networks", MEDIUM, "Find out whether the token was stolen."),
    ROAMING: ("roaming_tokens", LOW, "Clients that change networks often do this; a stolen token would look the same."),
}


def of_tokens(figures: Figures) -> Iterator[Finding]:
    """Tokens that are used in a suspicious way, one finding for each way."""
    # Tokens of one server that verifies no expiry can be late by any time, so the longest one counts for all.
    is_late = max((row.late for row in figures.tokens.uses if row.late is not None), default=CLOCK) < CLOCK
    for what, (kind, level, action) in OF_TOKENS.items():
        rows = figures.tokens.uses.where(lambda row: (ROAMING if row.is_usual else LATE if row.what == EXPIRED and is_late else row.what) == what)
        if rows:
            how = rows[0].what if len(rows) == 1 else rows[0].what.replace("its", "their")
            if what == LATE:
                how = how.replace("after", f"up to {length(max(row.late for row in rows if row.late is not None))} after")
            details = "; ".join(of_token(row, figures) for row in rows[:MOST_PAIRS])
            more = f"; and {number(len(rows) - MOST_PAIRS, 'more token')}" if len(rows) > MOST_PAIRS else ""
            sentence = f"{bound(len(rows), figures.tokens.is_exact, 'token')} {'was' if len(rows) == 1 else 'were'} {how}: {details}{more}."
            yield Finding(level, kind, len(rows), figures.tokens.is_exact, sentence, action, TOKENS)
    if (turned := figures.tokens.turned).is_clock:
        sentence = (
            f"{number(turned.tokens, 'token')} of {number(turned.callers, 'caller')} were refused up to {length(turned.longest)} "
            "after their expiry, when the next ones were already in use, as if a clock of the server were ahead."
        )
        yield Finding(MEDIUM, "early_expiry", turned.tokens, True, sentence, OF_CLOCK, CAUSES)


def of_token(row: TokenUse, figures: Figures) -> str:
    """The calls of a token that are suspicious."""
    times = when(row.first, row.last, figures.times.has_days_alone)
    by = f" by {', '.join(map(shown, row.clients))}" if row.clients and row.what != TWO_NETWORKS else ""
    of = f"{by} from {', '.join(map(shown, row.networks))}" if len(row.networks) > 1 else by
    count = f"{number(row.calls, 'call')} by others than its most frequent client" if row.what == SHARED else number(row.calls, "call")
    return f"{row.token}{of}, {count}, the first in row {number(row.row)}{f', {times}' if times else ''}"


def of_orbs(figures: Figures) -> Iterator[Finding]:
    """Charged calls that might have failed."""
    rows = figures.orbs.failed
    if not rows:
        return
    calls, orbs = sum(row.calls for row in rows), sum(row.orbs for row in rows)
    # Most services charge nobody for such calls; the section lists them.
    if calls < FAILED_PART * figures.orbs.total.calls:
        return
    first = ", ".join(
        f"{number(row.calls)} to {row.route or shown(row.scope)} with status {row.status}, the first in row {number(row.row)}" for row in rows[:MOST_PAIRS]
    )
    more = f", and {number(len(rows) - MOST_PAIRS, 'more pair')} of route and status" if len(rows) > MOST_PAIRS else ""
    what = (
        f"{number(orbs, 'orb')} {'belongs' if orbs == 1 else 'belong'} to calls"
        if orbs
        else f"{number(calls, 'call')} that {'consumes' if calls == 1 else 'consume'} orbs"
    )
    sentence = f"{what} that may have failed: {first}{more}." if orbs else f"{what} may have failed: {first}{more}."
    # What callers did wrong costs nothing in most services, and with a ledger, another finding has what was captured. A server that fails all
    # the time can have charged before; the errors of an outage are told by its finding.
    errors = sum(row.calls for row in rows if row.status >= 500)
    told = sum(row.failed for row in figures.denials.failures if row.looks_like == OUTAGE and row.outcome == ERROR)
    level = LOW if errors - told >= FAILED_ERRORS * figures.orbs.total.calls else FACT
    yield Finding(level, "charged_failures", calls, True, sentence, "Check whether these calls were charged, and return the orbs of those that failed.", ORBS)


# A denied call might need a scope that its token has, for example if only users can use it.
REVIEW = "Review these grants: no call of this log used them."


def review(figures: Figures) -> str:
    """What to do about grants that callers never used: a proposal only for those without a use for long."""
    every, long = figures.unused_by_caller, _is_long(figures)
    if long:
        those, them = ("the one", "it") if long == 1 else (f"those {number(long)}", "them")
        return f"Revoke {those} with {UNUSED_DAYS} days without a use, if no job of a year needs {them}: the section names {them}."
    most = max((row.days for row in every if row.days is not None), default=None)
    shows = "The log has no times of these grants" if most is None else f"The logs show at most {number(most, 'day')} without a use"
    return f"{shows}, so nothing is proposed: that needs {UNUSED_DAYS} days. Give the bundle of the last report as --since, which adds its days."


def _is_long(figures: Figures) -> int:
    """The grants that were unused for so long that revoking them is proposed. For a shorter time, nearly every log has some."""
    return sum(row.days is not None and row.days >= UNUSED_DAYS for row in figures.unused_by_caller)


def _needed(count: int) -> str:
    """A note that denied calls needed some of the granted scopes, so revoking them would be wrong."""
    return f", but denied calls needed {number(count)} of them" if count else ""


def of_scopes(figures: Figures) -> Iterator[Finding]:
    if "scopes" in figures.signs.cover.columns:
        return
    unused, pairs, needed = len(figures.unused), len(figures.unused_by_caller), figures.needed
    if pairs:
        kept = sum((use.caller, use.scope) in needed for use in figures.unused_by_caller)
        never = f"; {number(unused, 'scope')} {'is' if unused == 1 else 'are'} never used" if unused else ""
        sentence = (
            f"{bound(pairs, figures.scopes.by_caller_is_exact, 'grant')} of a scope to a caller {'was' if pairs == 1 else 'were'} "
            f"never used{_needed(kept)}{never}."
        )
        yield Finding(LOW if _is_long(figures) else FACT, "unused_grants", pairs, figures.scopes.by_caller_is_exact, sentence, review(figures), UNUSED)
    elif unused:
        lacked = {scope for _, scope in needed}
        kept = sum(use.scope in lacked for use in figures.unused)
        sentence = f"{number(unused, 'scope')} {'was' if unused == 1 else 'were'} granted and never used{_needed(kept)}."
        yield Finding(FACT, "unused_grants", unused, True, sentence, REVIEW, UNUSED)
    if figures.unknown.scopes:
        scopes = bound(figures.unknown.different, figures.unknown.is_exact, "scope")
        sentence = f"{scopes} in valid tokens {'is' if figures.unknown.different == 1 else 'are'} not in the policy."
        yield Finding(
            LOW,
            "unknown_scopes",
            figures.unknown.different,
            figures.unknown.is_exact,
            sentence,
            "Correct misspelt scopes; ignore those of other services.",
            UNKNOWN,
        )
