"""What a report says of a log, in figures."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import NamedTuple

from .._count.bulk import OutlyingTime
from .._questions import ScopeUse
from .._rows import Rows
from .._terms import Detail, Effect, Reason
from .denials import Denied, DeniedSpan
from .orbs import Orbs
from .proved import Properties
from .served import Served
from .spans import Span, Unit


class Outcome(NamedTuple):
    """Calls that were decided alike, and the method and target of the first of them, without its query."""

    decision: Effect
    reason: Reason
    detail: Detail | None
    route: str | None
    scope: str | None
    consumes: bool | None
    amount: int | None
    bonus_allowed: bool | None
    about: str | None
    calls: int
    method: str | None
    target: str | None


class ReasonCount(NamedTuple):
    """The calls of a reason."""

    reason: Reason
    decision: Effect
    calls: int


class RouteCount(NamedTuple):
    """The calls of a route, and why most of its denials were; `route` is None for calls that reached none, and a path alone where the policy does not
    declare their method for it.
    """

    route: str | None
    scope: str | None
    allowed: int
    denied: int
    denied_for: Reason | None


class ProbedRoute(NamedTuple):
    """A route that was called without a valid token; a path alone for calls by methods that the policy does not declare for it."""

    route: str
    calls: int
    no_token: int
    invalid_token: int


class MissingScope(NamedTuple):
    """A scope that denied calls lacked, and the routes that they called."""

    scope: str
    calls: int
    routes: tuple[str, ...]


class UnknownScope(NamedTuple):
    """A scope that tokens carried and the policy does not have; the calls are a lower bound where they are not exact."""

    scope: str
    granted: int
    is_exact: bool


class UnknownScopeBy(NamedTuple):
    """A scope that a caller's tokens carried in `granted` calls and the policy does not have; a lower bound where it is not exact."""

    caller: str
    scope: str
    granted: int
    is_exact: bool


class CallerScope(NamedTuple):
    """A scope of the policy that a caller's tokens carried in `granted` calls, of which `used` were allowed because of it."""

    caller: str
    scope: str
    granted: int
    used: int


class CallerCount(NamedTuple):
    """A caller's calls, and why most of the denials were; both are lower bounds where they are not exact.

    Denied is by this policy: of these calls, the server served `served_though_denied`, which is None where the log has no statuses.
    """

    caller: str
    allowed: int
    denied: int
    denied_for: Reason | None
    served_though_denied: int | None
    is_exact: bool


class CallerDenial(NamedTuple):
    """The denied calls of a caller to a route, and the scope that it takes; a lower bound where it is not exact."""

    caller: str
    route: str | None
    scope: str | None
    reason: Reason
    denied: int
    is_exact: bool


class Change(NamedTuple):
    """Calls that another policy decides otherwise, `before` by that one and `after` by this one, and the method and target of the first of them, without its query;
    if one of the policies finds it malformed, with the detail.
    """

    before: str
    after: str
    route: str | None
    calls: int
    method: str | None
    target: str | None
    detail: Detail | None


class Changes(NamedTuple):
    """What differs from the decisions of another policy, whose digest is `base`; first what differs most often.

    This policy allows `newly_allowed` calls that the other one denies, and denies `newly_denied` calls that it allows. Both allow
    `otherwise_charged` calls with other orbs, and deny `otherwise_denied` calls for another reason.
    """

    base: str
    base_name: str | None
    newly_allowed: int
    newly_denied: int
    otherwise_charged: int
    otherwise_denied: int
    rows: Rows[Change]

    @property
    def calls(self) -> int:
        """How many calls are decided otherwise."""
        return sum(change.calls for change in self.rows)


class UnreadRow(NamedTuple):
    """A row that could not be read; rows are counted from 1."""

    row: int
    why: str


class UnreadRows(NamedTuple):
    """Rows that could not be read for one reason, in which `…` is what differs: the first of them, counted from 1, and what is wrong with the very first."""

    reason: str
    rows: int
    first: tuple[int, ...]
    why: str


class LogFile(NamedTuple):
    """A file of the log, and the SHA-256 of the whole file; None where it was not read to its end.

    Rows are numbered over all files, in the order in which they were read: `first_row` and `last_row` are those of this file, None where none was read.
    """

    name: str
    sha256: str | None
    first_row: int | None
    last_row: int | None


class Decisions(NamedTuple):
    """The calls by what was decided; each list starts with what there is most of."""

    outcomes: Rows[Outcome]
    reasons: Rows[ReasonCount]
    routes: Rows[RouteCount]


class Denials(NamedTuple):
    """The denied calls by what they have in common, first those that look like something; the most frequent groups where `is_exact` is false. And
    when the callers with most denials were denied, in the spans of `times`.
    """

    groups: Rows[Denied]
    is_exact: bool
    times: Rows[DeniedSpan]


class Scopes(NamedTuple):
    """The scopes of the policy that valid tokens carried, of all calls and of each caller, and those that denied calls lacked.

    `by_caller` has the callers whose every call was counted; `by_caller_is_exact` tells whether that is all of them.
    """

    granted: Rows[ScopeUse]
    by_caller: Rows[CallerScope]
    by_caller_is_exact: bool
    missing: Rows[MissingScope]


class Unknown(NamedTuple):
    """The scopes that valid tokens carried and the policy does not have. There are `different` ones, at least so many if `is_exact` is false."""

    scopes: Rows[UnknownScope]
    by_caller: Rows[UnknownScopeBy]
    by_caller_is_exact: bool
    different: int
    is_exact: bool


class Unauthenticated(NamedTuple):
    """The calls without a valid token.

    `malformed_without_token` calls have no token, `malformed_with_invalid_token` calls one of no known kind, and both are denied for what is wrong with them
    before that: their reason is `malformed_request`.
    """

    routes: Rows[ProbedRoute]
    malformed_without_token: int
    malformed_with_invalid_token: int


class Callers(NamedTuple):
    """The callers, first those with most denials. There are `different` ones, at least so many if `is_exact` is false. `without` calls name none."""

    counts: Rows[CallerCount]
    denials: Rows[CallerDenial]
    different: int
    is_exact: bool
    without: int


class CallTimes(NamedTuple):
    """When calls were made, from `first` to `last`, in `spans` of a `unit`, the first one first.

    These are all calls but those of `outlying`: few at each end of the log, at times that are farther from all others than those are from each other.
    With `has_days_alone`, some times are days without a time of day.
    """

    spans: Rows[Span]
    unit: Unit | None
    first: datetime | None
    last: datetime | None
    outlying: Rows[OutlyingTime]
    has_days_alone: bool


class LogFigures(NamedTuple):
    """How the log was read, and the rows and times of it that could not be."""

    format: str
    arguments: dict[str, object]
    files: Rows[LogFile]
    warnings: tuple[str, ...]
    broken: str | None
    unread: int
    first_unread: Rows[UnreadRow]
    unread_by_reason: Rows[UnreadRows]
    unread_times: int


class Finding(NamedTuple):
    """Something in a log that needs attention: how severe it is, a code for its kind, how many calls, callers or other things are affected (a lower bound
    if it isn't exact), a sentence about it, what to do next, and the section of the page that has the details.
    """

    level: str
    kind: str
    affected: int
    is_exact: bool
    sentence: str
    action: str
    section: str


class Figures(NamedTuple):
    """What the page is made of, by the section that shows it.

    A log may have more callers and unknown scopes than can be told apart: then the lists have those with most denials or calls, and the numbers of all are
    lower bounds.
    """

    decisions: Decisions
    served: Served
    changes: Changes | None
    times: CallTimes
    orbs: Orbs
    scopes: Scopes
    unknown: Unknown
    unauthenticated: Unauthenticated
    callers: Callers
    denials: Denials
    log: LogFigures
    properties: Properties | None = None
    findings: Rows[Finding] = Rows(Finding)

    @property
    def calls(self) -> int:
        """How many calls the log has."""
        return sum(outcome.calls for outcome in self.decisions.outcomes)

    @property
    def allowed(self) -> int:
        """How many were allowed."""
        return sum(outcome.calls for outcome in self.decisions.outcomes if outcome.decision == Effect.ALLOW)

    @property
    def denied(self) -> int:
        """How many were denied."""
        return self.calls - self.allowed

    @property
    def denied_for(self) -> Rows[ReasonCount]:
        """The reasons of the denied calls, which add up to all of them."""
        return self.decisions.reasons.where(lambda row: row.decision == Effect.DENY)

    @property
    def tokenless(self) -> int:
        """How many were denied because they have no valid token."""
        return sum(row.calls for row in self.decisions.reasons if row.reason in (Reason.NO_TOKEN, Reason.INVALID_TOKEN))

    @property
    def without_token(self) -> int:
        """How many have no token, also where they were denied because they are malformed."""
        return self.unauthenticated.malformed_without_token + sum(row.calls for row in self.decisions.reasons if row.reason == Reason.NO_TOKEN)

    @property
    def with_invalid_token(self) -> int:
        """How many have a token of no known kind, also where they were denied because they are malformed."""
        return self.unauthenticated.malformed_with_invalid_token + sum(row.calls for row in self.decisions.reasons if row.reason == Reason.INVALID_TOKEN)

    @property
    def consuming(self) -> int:
        """How many consumed orbs."""
        return sum(outcome.calls for outcome in self.decisions.outcomes if outcome.consumes)

    @property
    def bonus_allowed(self) -> int:
        """How many might consume bonus orbs."""
        return sum(outcome.calls for outcome in self.decisions.outcomes if outcome.bonus_allowed)

    @property
    def amount(self) -> int:
        """The orbs consumed where the policy states an amount."""
        return sum(outcome.calls * (outcome.amount or 0) for outcome in self.decisions.outcomes)

    @property
    def without_amount(self) -> int:
        """How many calls consumed orbs, and the policy does not state how many."""
        return sum(outcome.calls for outcome in self.decisions.outcomes if outcome.consumes and outcome.amount is None)

    @property
    def without_time(self) -> int:
        """How many calls have no time."""
        return self.calls - self.outlying_calls - sum(span.allowed + span.denied for span in self.times.spans)

    @property
    def outlying_calls(self) -> int:
        """How many calls have a time that is far from all others."""
        return sum(row.calls for row in self.times.outlying)

    @property
    def unused(self) -> Rows[ScopeUse]:
        """The scopes of the policy that were granted and that nobody ever used."""
        return self.scopes.granted.where(lambda use: not use.used)

    @property
    def unused_by_caller(self) -> Rows[CallerScope]:
        """The scopes of the policy that a caller held and never used itself."""
        return self.scopes.by_caller.where(lambda use: not use.used)

    @property
    def needed(self) -> dict[tuple[str | None, str], int]:
        """In how many denied calls a caller lacked a scope, or a user's token for it: lower bounds where groups of denials are not exact."""
        found: Counter[tuple[str | None, str]] = Counter()
        for row in self.denials.groups:
            if row.scope is not None:
                found[row.caller, row.scope] += row.calls
        return found
