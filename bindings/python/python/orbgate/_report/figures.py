"""What a report says of a log, in figures."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from .._property import Properties
from .._questions import ScopeUse
from .._rows import Rows
from .._terms import Detail, Effect, Reason
from ..logs._bulk import OutlyingTime
from .denials import Denied
from .orbs import Orbs
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
    """Calls that another policy decides otherwise, `before` by that one and `after` by this one, and the method and target of the first of them, without its query."""

    before: str
    after: str
    route: str | None
    calls: int
    method: str | None
    target: str | None


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


class Figures(NamedTuple):
    """What the page is made of; each list starts with what there is most of, `times` with the first.

    `scopes` are those of the policy, `unknown` the others. A log may have more callers and unknown scopes than can be told
    apart: then the lists have those with most denials or calls, and the numbers of all are lower bounds. `caller_scopes` has the
    callers whose every call was counted. `malformed_without_token` calls have no token, `malformed_with_invalid_token` calls one of no known kind,
    and are denied for what is wrong with them before that: `reasons` has them as malformed. `caller_scopes_is_exact` says whether that is all of them. What is by time, with `first` and `last`, is of
    all calls but those of `outlying`: few at each end of the log, at times that are farther from all others than those are from each other.
    """

    served: Served
    orbs: Orbs
    denials: Rows[Denied]
    denials_is_exact: bool
    outcomes: Rows[Outcome]
    reasons: Rows[ReasonCount]
    routes: Rows[RouteCount]
    scopes: Rows[ScopeUse]
    caller_scopes: Rows[CallerScope]
    caller_scopes_is_exact: bool
    unknown: Rows[UnknownScope]
    unknown_by_caller: Rows[UnknownScopeBy]
    unknown_by_caller_is_exact: bool
    unknown_scopes: int
    unknown_is_exact: bool
    missing: Rows[MissingScope]
    probed: Rows[ProbedRoute]
    malformed_without_token: int
    malformed_with_invalid_token: int
    changes: Changes | None
    callers: Rows[CallerCount]
    caller_denials: Rows[CallerDenial]
    different_callers: int
    callers_is_exact: bool
    times: Rows[Span]
    unit: Unit | None
    first: datetime | None
    last: datetime | None
    outlying: Rows[OutlyingTime]
    without_caller: int
    unread_times: int
    unread: int
    first_unread: Rows[UnreadRow]
    unread_by_reason: Rows[UnreadRows]
    broken: str | None
    files: Rows[LogFile]
    warnings: tuple[str, ...]
    format: str
    arguments: dict[str, object]
    properties: Properties | None = None

    @property
    def calls(self) -> int:
        """How many calls the log has."""
        return sum(outcome.calls for outcome in self.outcomes)

    @property
    def allowed(self) -> int:
        """How many were allowed."""
        return sum(outcome.calls for outcome in self.outcomes if outcome.decision == Effect.ALLOW)

    @property
    def denied(self) -> int:
        """How many were denied."""
        return self.calls - self.allowed

    @property
    def denied_for(self) -> Rows[ReasonCount]:
        """The reasons of the denied calls, which add up to all of them."""
        return self.reasons.where(lambda row: row.decision == Effect.DENY)

    @property
    def tokenless(self) -> int:
        """How many were denied because they have no valid token."""
        return sum(row.calls for row in self.reasons if row.reason in (Reason.NO_TOKEN, Reason.INVALID_TOKEN))

    @property
    def without_token(self) -> int:
        """How many have no token, also where they were denied because they are malformed."""
        return self.malformed_without_token + sum(row.calls for row in self.reasons if row.reason == Reason.NO_TOKEN)

    @property
    def with_invalid_token(self) -> int:
        """How many have a token of no known kind, also where they were denied because they are malformed."""
        return self.malformed_with_invalid_token + sum(row.calls for row in self.reasons if row.reason == Reason.INVALID_TOKEN)

    @property
    def consuming(self) -> int:
        """How many consumed orbs."""
        return sum(outcome.calls for outcome in self.outcomes if outcome.consumes)

    @property
    def bonus_allowed(self) -> int:
        """How many might consume bonus orbs."""
        return sum(outcome.calls for outcome in self.outcomes if outcome.bonus_allowed)

    @property
    def amount(self) -> int:
        """The orbs consumed where the policy states an amount."""
        return sum(outcome.calls * (outcome.amount or 0) for outcome in self.outcomes)

    @property
    def without_amount(self) -> int:
        """How many calls consumed orbs, and the policy does not state how many."""
        return sum(outcome.calls for outcome in self.outcomes if outcome.consumes and outcome.amount is None)

    @property
    def without_time(self) -> int:
        """How many calls have no time."""
        return self.calls - self.outlying_calls - sum(span.allowed + span.denied for span in self.times)

    @property
    def outlying_calls(self) -> int:
        """How many calls have a time that is far from all others."""
        return sum(row.calls for row in self.outlying)

    @property
    def unused(self) -> Rows[ScopeUse]:
        """The scopes of the policy that were granted and that nobody ever used."""
        return self.scopes.where(lambda use: not use.used)

    @property
    def unused_by_caller(self) -> Rows[CallerScope]:
        """The scopes of the policy that a caller held and never used itself."""
        return self.caller_scopes.where(lambda use: not use.used)
