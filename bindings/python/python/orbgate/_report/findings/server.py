"""The findings about the server's responses, and about what the other policy decides differently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..._count.served import REFUSED_THOUGH_ALLOWED, SERVED_THOUGH_DENIED
from ..._count.text import NO_CALLER
from ..._number import number
from ..failures import OUTAGE
from ..figures import Finding
from ..numbers import FACT, HIGH, LOW, MEDIUM, bound, length, shown, when
from ..switch import AGAINST
from ..thresholds import RENEWED_CALLS, RENEWED_PART, RENEWED_REST, RENEWED_SECONDS, ROTATION_SECONDS
from ..timelines import REJECTED
from .callers import described
from .words import CHANGED, MOST_OF_NAMES, MOST_PAIRS, SERVER, them, were

if TYPE_CHECKING:
    from datetime import datetime

    from ..._rows import Rows
    from ..figures import Changes, Figures
    from ..served import Mismatch
    from ..switch import Switch


def of_server(figures: Figures) -> Iterator[Finding]:
    served, refused = (sum(row.calls for row in _mismatches(figures, what)) for what in (SERVED_THOUGH_DENIED, REFUSED_THOUGH_ALLOWED))
    # What a doubt about the log covers shows nothing of the server.
    covered = min(served, figures.signs.cover.served)
    if served and COVERED * (served - covered) > served:
        other = _by_other(figures, served, "served_as_other", "allowed")
        doubted = f"; {number(covered)} of them have values that the log cuts or writes otherwise, and show nothing" if covered else ""
        action = "Find out why the server lets these calls in: it might lack the check, or use another policy."
        if figures.changes is not None and figures.changes.sides.switch is not None and figures.changes.sides.served_as_other == served:
            action = _advice(figures.changes)
        yield Finding(
            HIGH,
            "served_though_denied",
            served,
            True,
            f"{were(served)} served although the policy denies {them(served)}{_most(figures, SERVED_THOUGH_DENIED)}{doubted}.{other}",
            action,
            SERVER,
        )
    if refused:
        changed = figures.denials.failures.where(lambda row: row.outcome == REJECTED)
        since = f"; {described(changed[0], figures)}" if changed and changed[0].looks_like != OUTAGE else ""
        action = "Check whether the server runs another version of the policy, or has its own rules."
        if changed and changed[0].looks_like == OUTAGE:
            row = changed[0]
            since += (
                f"; {number(row.failed)} of {number(row.calls, 'call')} were refused "
                f"{when(row.since, row.until, figures.times.has_days_alone)}{f', of {shown(row.pattern, MOST_OF_NAMES)}' if row.pattern else ''}"
            )
            action = KEYS
        if early := _early(figures, refused):
            since, action = f"{since}{early}", OF_CLOCK
        if is_renewed := _is_renewed(figures):
            since = (
                f"; the callers of {number(figures.tokens.renewed)} of them were served again within {length(RENEWED_SECONDS)}, as when "
                f"a token expires and is renewed{since}"
            )
        yield Finding(
            FACT if is_renewed else LOW if _is_rotation(figures) else MEDIUM,
            "refused_though_allowed",
            refused,
            True,
            f"{were(refused)} rejected although the policy allows "
            f"{them(refused)}{_most(figures, REFUSED_THOUGH_ALLOWED)}{since}.{_by_other(figures, refused, 'refused_as_other', 'denied')}",
            action,
            SERVER,
        )
    if preflights := figures.served.of(SERVED_THOUGH_DENIED, is_preflight=True):
        sentence = (
            f"{number(preflights, 'preflight')} (OPTIONS without a token) {'was' if preflights == 1 else 'were'} served, which the policy does not allow."
        )
        yield Finding(FACT, "preflights", preflights, True, sentence, "Name the OPTIONS routes with --public if the server answers preflights.", SERVER)


# Of the calls that look served although denied, a doubt about the log covers all but one in so many, or the finding stays.
COVERED = 20
# The advice about an outage of refused tokens, and about a clock.
KEYS = "Find out what failed at that time, for example whether the gate could fetch the issuer's keys."
OF_CLOCK = "Compare the clocks of the servers: one of them may refuse tokens that are still valid."


def _is_rotation(figures: Figures) -> bool:
    """Whether all refusals of tokens are within minutes, and the callers succeed again, as in a rotation of keys."""
    rows = _mismatches(figures, REFUSED_THOUGH_ALLOWED)
    first, last = _ends(rows)
    end = figures.times.last
    if first is None or last is None or end is None or any(row.status != 401 for row in rows):
        return False
    return (last - first).total_seconds() <= ROTATION_SECONDS and (end - last).total_seconds() > ROTATION_SECONDS


def _is_renewed(figures: Figures) -> bool:
    """Whether the refusals look like tokens that expired, of which the log doesn't show the expiry: callers are served soon after each."""
    rows, tokens = _mismatches(figures, REFUSED_THOUGH_ALLOWED), figures.tokens
    is_change = any(row.outcome == REJECTED and row.failed >= RENEWED_CALLS * row.calls for row in figures.denials.failures)
    columns = figures.log.arguments.get("columns")
    has_expiry = isinstance(columns, dict) and "token_expires" in columns
    refused = sum(row.calls for row in rows)
    is_most = tokens.renewed >= RENEWED_PART * refused or refused - tokens.renewed <= min(RENEWED_REST, tokens.renewed)
    return not is_change and not has_expiry and all(row.status == 401 for row in rows) and is_most


def _early(figures: Figures, refused: int) -> str:
    """Whether nearly all refused calls have tokens that soon expire, as far as the log has their expiry."""
    early = figures.tokens.early
    if early.is_by_chance or 10 * early.calls < 9 * refused:
        return ""
    return f"; {number(early.calls)} of them in the last {length(early.longest)} before their tokens expire, as if a clock of the server were ahead"


def _mismatches(figures: Figures, what: str) -> Rows[Mismatch]:
    """The mismatches without preflights. If the log lacks a base path, calls without a route show only that."""
    return figures.served.mismatches.where(lambda row: row.what == what and not row.is_preflight and (row.route is not None or not figures.log.has_other_base))


def _most(figures: Figures, what: str) -> str:
    """The pairs of route and caller with the most of these calls, and the first call. Calls with a route come first."""
    rows = _mismatches(figures, what)
    routes = {row.route for row in rows}
    pairs = figures.served.pairs.where(lambda row: row.what == what and row.route in routes)
    named = [
        f"{bound(row.calls, row.is_exact)} {'to ' + row.route if row.route else 'without a route'} by {NO_CALLER if row.caller is None else shown(row.caller)}"
        for row in pairs[:MOST_PAIRS]
    ]
    # Of the routes in the sentence, the first call in the log.
    first = min((row for row in rows if row.route == pairs[0].route), key=lambda row: row.row)
    more = f", and others of {number(len(pairs) - MOST_PAIRS, 'more pair')} of route and caller" if len(pairs) > MOST_PAIRS else ""
    times = when(*_ends(rows), figures.times.has_days_alone)
    # If some are served and some not, one of several servers might differ.
    denied = sum(row.denied for row in figures.decisions.routes if row.route == first.route is not None)
    others = denied - sum(row.calls for row in rows if row.route == first.route) if what == SERVED_THOUGH_DENIED else 0
    rest = f"; {number(others, 'other denied call')} to {first.route} {'was' if others == 1 else 'were'} not served" if others > 0 else ""
    return f": {', '.join(named)}{more}; the first with status {first.status} in row {number(first.row)}{f', {times}' if times else ''}{rest}"


def _by_other(figures: Figures, calls: int, field: str, decided: str) -> str:
    """How many of these calls the other policy decides as the server did, and when the server switched."""
    changes = figures.changes
    count = 0 if changes is None else getattr(changes.sides, field)
    if changes is None or not count:
        return ""
    of = (
        f"All {number(count)} are"
        if count == calls and count > 1
        else "It is"
        if count == calls
        else f"{number(count)} of them {'is' if count == 1 else 'are'}"
    )
    return f" {of} {decided} by the other policy{f'; the server {switched(changes.sides.switch)}' if changes.sides.switch is not None else ''}."


def _ends(rows: Sequence[Mismatch]) -> tuple[datetime | None, datetime | None]:
    """The times of the first and the last of these calls."""
    return min((row.first for row in rows if row.first is not None), default=None), max((row.last for row in rows if row.last is not None), default=None)


def of_changes(figures: Figures) -> Iterator[Finding]:
    changes = figures.changes
    if changes is None or not changes.calls:
        return
    sentence = f"The other policy decides {number(changes.calls, 'call')} differently: {directions(changes)}.{evidence(changes)}"
    yield Finding(MEDIUM, "changes", changes.calls, True, sentence, _advice(changes), CHANGED)


def evidence(changes: Changes) -> str:
    """Which policy the server's responses agree with, for calls that only one of the two allows."""
    sides = changes.sides
    if (switch := sides.switch) is not None:
        against = f"{number(switch.against)} against it" if switch.against else "none against it"
        return f" The server {switched(switch)}: {number(switch.before, 'call')} before and {number(switch.after)} after show it, {against}."
    if not sides.as_this and not sides.as_other:
        return ""
    if not sides.as_other:
        return f" The server decided {number(sides.as_this)} of them, as far as its responses show, as this policy does."
    if not sides.as_this:
        return f" The server decided {number(sides.as_other)} of them, as far as its responses show, as the other policy does."
    return f" The server decided {number(sides.as_this)} of them as this policy does, and {number(sides.as_other)} as the other does."


def switched(switch: Switch) -> str:
    """From which policy to which the server switched, and when."""
    start, end = (f"{time:%Y-%m-%d %H:%M}" for time in (switch.last_before, switch.first_after))
    when = f"at {start}" if start == end else f"between {start} and {end}"
    return f"switches {'from the other policy to this one' if switch.is_to_this else 'from this policy to the other one'} {when}"


def _advice(changes: Changes) -> str:
    sides = changes.sides
    if sides.switch is not None:
        return "Each policy decided a part of the log: report on the part before the switch and the part after it separately, each with its policy as --policy."
    if sides.as_other > AGAINST * sides.as_this:
        return "The other policy decided this log: exchange --policy and --base."
    return "If the other policy is to replace this one, check that each change is intended."


def directions(changes: Changes) -> str:
    """The numbers of calls for each kind of change."""
    text = f"{number(changes.newly_allowed)} allowed here that it denies, {number(changes.newly_denied)} denied here that it allows"
    text += f", {number(changes.otherwise_charged)} allowed by both with other orbs" if changes.otherwise_charged else ""
    return f"{text}, {number(changes.otherwise_denied)} denied by both for another reason" if changes.otherwise_denied else text


def responses(figures: Figures) -> str:
    """What the server's responses prove: only those that served or refused a call."""
    served = figures.served
    if not served.calls:
        return "The log has no statuses, so the server's responses were not compared with the policy."
    rest = [f"{number(served.server_errors)} answered with 5xx"] if served.server_errors else []
    if others := served.calls - served.proved - served.server_errors:
        rest.append(f"{number(others)} with another status, such as 302 or 404")
    rest += [f"{number(served.without_status)} without a status"] if served.without_status else []
    nothing = f"; {', '.join(rest)} prove nothing" if rest else ""
    if not served.proved:
        return f"No response shows whether the server let a call in{nothing}."
    # Refusals that are no finding, because their tokens were renewed.
    refused = served.of(REFUSED_THOUGH_ALLOWED)
    calls = f"{number(served.proved - refused)} of {number(served.proved, 'call')}" if refused else number(served.proved, "call")
    return f"In {calls} whose response shows whether the server let it in, it agrees with the policy's decision{nothing}."
