"""The findings about the log itself, and about calls of which it shows too little."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..._number import number
from ..._count.served import SERVED_THOUGH_DENIED
from ..failures import ALL, ATTACK, OUTAGE
from ..figures import Finding
from ..numbers import FACT, HIGH, LOW, MEDIUM, share, shown
from ..timelines import ERROR
from .words import CAUSES, NO_CALLS, ROUTES, SERVER, UNREAD, WARNINGS

if TYPE_CHECKING:
    from ..figures import Figures, UnreadRows

OTHER_POLICY = "other_policy"


def of_log(figures: Figures) -> Iterator[Finding]:
    log = figures.log
    if log.broken is not None:
        yield Finding(
            HIGH, "broken_log", 1, True, f"The log breaks off: {shown(log.broken)}.", "Read the whole log; the numbers cover only the rows before.", UNREAD
        )
    elif not figures.calls:
        yield Finding(
            HIGH,
            "no_calls",
            1,
            True,
            "The log has no readable calls, so nothing was checked.",
            "Check that this is the right file, and that its format and columns are right.",
            UNREAD if log.unread else NO_CALLS,
        )
    if log.other_policy is not None:
        action = (
            "Write each path as the client sent it, or correct the policy's base path. Until then, no number on this page holds."
            if log.has_other_base
            else "Give the policy that decided this log with --policy. Until then, no number on this page holds."
        )
        yield Finding(MEDIUM, OTHER_POLICY, figures.calls, True, log.other_policy, action, ROUTES)
    if log.unread:
        of_all = f"{number(log.unread)} of {number(figures.calls + log.unread, 'row')} could not be read"
        most = max(log.unread_by_reason, key=lambda reason: reason.rows, default=None)
        why = (
            ""
            if most is None
            else f"; {number(most.rows)} of them for one reason, first in row {number(most.first[0])}{_near(most)}: {shown(most.why, MOST_OF_A_WARNING)}"
        )
        yield Finding(
            MEDIUM,
            "unread_rows",
            log.unread,
            True,
            f"{of_all}, so the results might be incomplete{why}.",
            "Find out why these rows are unreadable: correct them and read the log again, or accept them with --tolerate.",
            UNREAD,
        )
    # The first one is that the log breaks off.
    if warnings := log.warnings[log.broken is not None :]:
        first = FIRST_SENTENCE.match(warnings[0])
        rest = f"; and {number(len(warnings) - 1, 'more warning')}" if len(warnings) > 1 else ""
        yield Finding(
            MEDIUM,
            "warnings",
            len(warnings),
            True,
            f"The log might have been read wrongly: {shown(first[1] if first else warnings[0], MOST_OF_A_WARNING)}{rest}.",
            "Read the warnings before you rely on the numbers.",
            WARNINGS,
        )


def _near(rows: UnreadRows) -> str:
    """About when the first of these rows was written."""
    return "" if rows.near is None else f", at about {rows.near:%Y-%m-%d %H:%M}"


# A warning can name a column of any length. Its other sentences are advice, which the section shows.
MOST_OF_A_WARNING = 200
FIRST_SENTENCE = re.compile(r"((?:`[^`]*`|[^`])+?)(?:\. |\.?$)")
# Calls that were not checked are a fact from this number on, if they are one in `UNJUDGED_PART` or more, and a finding from one in `USUAL_PART`
# on; in a log with fewer calls than `SMALL`, only a finding. Nearly all calls with errors, nine of ten, are a medium one.
UNJUDGED, UNJUDGED_PART, USUAL_PART, SMALL = 100, 100, 10, 1_000


def of_unjudged(figures: Figures) -> Iterator[Finding]:
    """Calls about which the log shows too little."""
    parts = unjudged(figures)
    count, calls = sum(parts.values()), figures.calls
    is_much = count >= UNJUDGED and UNJUDGED_PART * count >= calls if calls >= SMALL else count and USUAL_PART * count >= calls
    if not is_much:
        return
    is_down = 10 * parts[WITH_ERROR] >= 9 * calls
    details = ", ".join(f"{number(of)} {what}" for what, of in parts.items() if of)
    sentence = f"{number(count)} of {number(calls, 'call')} ({share(count, calls)}) could not be judged: {details}."
    action = (
        "Find out why the server fails: its responses show nothing of the policy."
        if is_down
        else "Look at these calls: neither a cause nor a response shows that they are right."
    )
    # Crawlers and a server that fails now and then are in nearly every log: what the report can't judge shows nothing of them.
    is_usual = calls >= SMALL and USUAL_PART * count < calls
    yield Finding(
        MEDIUM if is_down else FACT if is_usual else LOW,
        "not_judged",
        count,
        True,
        sentence,
        action,
        SERVER if figures.served.calls and parts[WITH_ERROR] else CAUSES,
    )


WITH_ERROR = "were answered with an error of the server (5xx)"


def unjudged(figures: Figures) -> dict[str, int]:
    """The calls that have no cause, and whose response proves nothing, by why."""
    every = figures.denials.groups
    # Groups that aren't counted might have a cause.
    rows = [row for row in every if row.looks_like is None]
    denied = sum(row.calls - row.unclear - (row.served_though_denied or 0) for row in rows)
    for attack in figures.denials.failures.where(lambda row: row.counted == ALL and row.looks_like == ATTACK):
        # Its calls are in groups of callers that do not look like anything.
        of = figures.denials.failures.where(lambda row: row.counted != ALL and row.looks_like == ATTACK and row.route == attack.route)
        denied -= min(denied, max(0, attack.failed - sum(row.failed for row in of)), sum(row.calls for row in rows if attack.route in row.routes))
    # Preflights have a finding of their own.
    denied -= min(denied, figures.served.of(SERVED_THOUGH_DENIED, is_preflight=True))
    return {
        WITH_ERROR: figures.served.server_errors - sum(row.failed for row in figures.denials.failures if row.looks_like == OUTAGE and row.outcome == ERROR),
        "were denied without a likely cause": denied,
        "match no route and were not refused": figures.served.unmatched,
    }
