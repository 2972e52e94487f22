"""The figures of a report, as named tuples."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import NamedTuple

from .._answers import ScopeUse
from .._count.bulk import OutlyingTime
from .._rows import Rows
from .._terms import Detail, Effect, Reason
from .accepted import Acceptance
from .bursts import Burst
from .denials import Denied, DeniedSpan
from .failures import Failure
from .orbs import Orbs
from .proved import Properties
from .reconciled import Reconciled
from .served import Served
from .signs import Signs
from .spans import Span, Unit
from .switch import Sides
from .tokens import Early, TokenUse, Turned


class Outcome(NamedTuple):
    """Calls with the same decision, and the method and target (without its query) of the first one."""

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
    """The calls with a reason."""

    reason: Reason
    decision: Effect
    calls: int


class RouteCount(NamedTuple):
    """The calls of a route, and the main reason of its denials. `route` is None for calls that reached no route, and a path
    without a method if the policy doesn't declare the method for it.
    """

    route: str | None
    scope: str | None
    allowed: int
    denied: int
    denied_for: Reason | None


class ProbedRoute(NamedTuple):
    """A route that was called without a valid token. `route` is a path without a method if the policy doesn't declare the method
    for it.
    """

    route: str
    calls: int
    no_token: int
    invalid_token: int


class MissingScope(NamedTuple):
    """A scope that denied calls lacked, and their routes. A call can lack several scopes of its route's first alternative.
    The other alternatives, which would be enough, too, aren't counted.
    """

    scope: str
    calls: int
    routes: tuple[str, ...]


class UnknownScope(NamedTuple):
    """A scope in valid tokens that the policy doesn't have. `granted` counts calls; a lower bound unless `is_exact`."""

    scope: str
    granted: int
    is_exact: bool


class UnknownScopeBy(NamedTuple):
    """A scope in a caller's valid tokens that the policy doesn't have. `granted` counts calls; a lower bound unless `is_exact`."""

    caller: str
    scope: str
    granted: int
    is_exact: bool


class CallerScope(NamedTuple):
    """A scope of the policy in a caller's tokens. `granted` counts calls that had it, and `used` those that it allowed.

    `last_used` is the last use, in this log or one of earlier reports. `days` are the days of these logs since then, or without any use
    since the caller was first seen with the scope. Both are None if they aren't known.
    """

    caller: str
    scope: str
    granted: int
    used: int
    last_used: datetime | None = None
    days: int | None = None


class CallerCount(NamedTuple):
    """The calls of a caller, and the main reason of its denials. The numbers are lower bounds unless `is_exact`.

    `denied` counts denials by this policy. Of these calls, the server served `served_though_denied`; None if the log has no
    statuses.
    """

    caller: str
    allowed: int
    denied: int
    denied_for: Reason | None
    served_though_denied: int | None
    is_exact: bool


class CallerDenial(NamedTuple):
    """The denied calls of a caller to a route, and the scope of the route. `denied` is a lower bound unless `is_exact`."""

    caller: str
    route: str | None
    scope: str | None
    reason: Reason
    denied: int
    is_exact: bool


class Change(NamedTuple):
    """Calls that another policy decides differently: `before` is its decision, and `after` is the decision of this policy.
    `method`, `target` (without its query) and `detail` are those of the first call; `detail` is set if it is malformed under
    one of the policies.
    """

    before: str
    after: str
    route: str | None
    calls: int
    method: str | None
    target: str | None
    detail: Detail | None


class Changes(NamedTuple):
    """The differences from the decisions of another policy, whose digest is `base`. The most frequent come first.

    This policy allows `newly_allowed` calls that the other one denies, and denies `newly_denied` calls that the other one
    allows. Both allow `otherwise_charged` calls with different orbs, and deny `otherwise_denied` calls for different reasons.
    `sides` states which of the two policies the server's responses agree with.
    """

    base: str
    base_name: str | None
    newly_allowed: int
    newly_denied: int
    otherwise_charged: int
    otherwise_denied: int
    rows: Rows[Change]
    sides: Sides

    @property
    def calls(self) -> int:
        """The number of calls that are decided differently."""
        return sum(change.calls for change in self.rows)


class UnreadRow(NamedTuple):
    """An unreadable row, counted from 1, and its error."""

    row: int
    why: str


class UnreadRows(NamedTuple):
    """Unreadable rows with the same reason, in which `…` replaces the parts that differ. `first` has the first rows, counted from
    1, `why` is the error in the first one, and `near` the time of the last readable row before it, if there is one.
    """

    reason: str
    rows: int
    first: tuple[int, ...]
    why: str
    near: datetime | None = None


class LogFile(NamedTuple):
    """A file of the log, and the SHA-256 of the whole file; None if it wasn't read to its end.

    Rows are numbered across all files, in the order in which they were read. `first_row` and `last_row` are those of this
    file; None if no row of it was read.
    """

    name: str
    sha256: str | None
    first_row: int | None
    last_row: int | None


class Decisions(NamedTuple):
    """The calls by decision, reason and route. The most frequent come first."""

    outcomes: Rows[Outcome]
    reasons: Rows[ReasonCount]
    routes: Rows[RouteCount]


class Denials(NamedTuple):
    """The denied calls by caller and pattern. Flagged callers come first. Unless `is_exact`, only the most frequent groups are
    listed. `times` has the denials of the callers with the most denials, by span of time. `failures` are calls of a caller that
    failed from a time on; unless `failures_is_exact`, some callers aren't counted.
    """

    groups: Rows[Denied]
    is_exact: bool
    times: Rows[DeniedSpan]
    failures: Rows[Failure]
    failures_is_exact: bool


class Scopes(NamedTuple):
    """The scopes of the policy in valid tokens, for all calls and for each caller, and the scopes that denied calls lacked.

    `by_caller` covers the callers whose calls were all counted, and `by_caller_is_exact` states whether these are all callers.
    """

    granted: Rows[ScopeUse]
    by_caller: Rows[CallerScope]
    by_caller_is_exact: bool
    missing: Rows[MissingScope]


class Unknown(NamedTuple):
    """The scopes in valid tokens that the policy doesn't have. `different` is their number; a lower bound unless `is_exact`."""

    scopes: Rows[UnknownScope]
    by_caller: Rows[UnknownScopeBy]
    by_caller_is_exact: bool
    different: int
    is_exact: bool


class Unauthenticated(NamedTuple):
    """The calls without a valid token.

    `malformed_without_token` calls have no token, and `malformed_with_invalid_token` calls have a token of unknown kind. Their
    reason is `malformed_request`, because that is checked first.
    """

    routes: Rows[ProbedRoute]
    malformed_without_token: int
    malformed_with_invalid_token: int


class Tokens(NamedTuple):
    """The tokens that are used in a suspicious way, in a log with a column for their fingerprints. Unless `is_exact`, some tokens aren't
    counted. Of `refused` calls of named callers, which the policy allows, `renewed` are those whose caller was served soon after. `early`
    are the calls that the server refused for a token shortly before it expired, and `turned` the tokens that it refused as expired after
    the next ones of their callers were used.
    """

    uses: Rows[TokenUse]
    is_exact: bool
    early: Early
    turned: Turned
    refused: int = 0
    renewed: int = 0


class Callers(NamedTuple):
    """The callers. Those with the most denials come first. `different` is their number; a lower bound unless `is_exact`.
    `without` calls name no caller.
    """

    counts: Rows[CallerCount]
    denials: Rows[CallerDenial]
    different: int
    is_exact: bool
    without: int


class CallTimes(NamedTuple):
    """The calls from `first` to `last`, in `spans` of a `unit`, in order.

    Calls in `outlying` are left out: a few at each end of the log whose times are farther from all others than the others are
    from each other. With `has_days_alone`, some times are dates without a time of day.
    """

    spans: Rows[Span]
    unit: Unit | None
    first: datetime | None
    last: datetime | None
    outlying: Rows[OutlyingTime]
    has_days_alone: bool


class LogFigures(NamedTuple):
    """The options for reading the log, and its unreadable rows and times.

    `other_policy` explains why the log and the policy don't belong together, if too few calls match a route; `has_other_base` if they
    would with another base path, which a part of the calls might have.
    """

    format: str
    arguments: dict[str, object]
    files: Rows[LogFile]
    warnings: tuple[str, ...]
    broken: str | None
    unread: int
    first_unread: Rows[UnreadRow]
    unread_by_reason: Rows[UnreadRows]
    unread_times: int
    other_policy: str | None
    has_other_base: bool


class Finding(NamedTuple):
    """A problem in a log: its level, a code for its kind, the number of affected calls, callers or other items (a lower bound
    unless `is_exact`), a sentence, the next step, the section of the page with the details, and whom or what it is about.
    """

    level: str
    kind: str
    affected: int
    is_exact: bool
    sentence: str
    action: str
    section: str
    subjects: tuple[str, ...] = ()


class Figures(NamedTuple):
    """The figures of the page, by section. `facts` are what would be a finding if it mattered, but nearly every log has.

    If a log has too many callers or unknown scopes to count each, the lists have those with the most denials or calls, and the
    totals are lower bounds.
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
    tokens: Tokens
    bursts: Rows[Burst]
    signs: Signs
    reconciled: Reconciled | None = None
    properties: Properties | None = None
    findings: Rows[Finding] = Rows(Finding)
    facts: Rows[Finding] = Rows(Finding)
    accepted: Rows[Acceptance] = Rows(Acceptance)

    @property
    def calls(self) -> int:
        """The number of calls."""
        return sum(outcome.calls for outcome in self.decisions.outcomes)

    @property
    def allowed(self) -> int:
        """The number of allowed calls."""
        return sum(outcome.calls for outcome in self.decisions.outcomes if outcome.decision == Effect.ALLOW)

    @property
    def denied(self) -> int:
        """The number of denied calls."""
        return self.calls - self.allowed

    @property
    def denied_for(self) -> Rows[ReasonCount]:
        """The reasons of the denied calls, which add up to `denied`."""
        return self.decisions.reasons.where(lambda row: row.decision == Effect.DENY)

    @property
    def tokenless(self) -> int:
        """The number of calls that were denied because they have no valid token."""
        return sum(row.calls for row in self.decisions.reasons if row.reason in (Reason.NO_TOKEN, Reason.INVALID_TOKEN))

    @property
    def without_token(self) -> int:
        """The number of calls without a token, including malformed calls."""
        return self.unauthenticated.malformed_without_token + sum(row.calls for row in self.decisions.reasons if row.reason == Reason.NO_TOKEN)

    @property
    def with_invalid_token(self) -> int:
        """The number of calls with a token of unknown kind, including malformed calls."""
        return self.unauthenticated.malformed_with_invalid_token + sum(row.calls for row in self.decisions.reasons if row.reason == Reason.INVALID_TOKEN)

    @property
    def consuming(self) -> int:
        """The number of calls that consume orbs."""
        return sum(outcome.calls for outcome in self.decisions.outcomes if outcome.consumes)

    @property
    def bonus_allowed(self) -> int:
        """The number of calls that might consume bonus orbs."""
        return sum(outcome.calls for outcome in self.decisions.outcomes if outcome.bonus_allowed)

    @property
    def amount(self) -> int:
        """The consumed orbs for which the policy states an amount."""
        return sum(outcome.calls * (outcome.amount or 0) for outcome in self.decisions.outcomes)

    @property
    def without_amount(self) -> int:
        """The number of calls that consume orbs without a stated amount."""
        return sum(outcome.calls for outcome in self.decisions.outcomes if outcome.consumes and outcome.amount is None)

    @property
    def without_time(self) -> int:
        """The number of calls without a time."""
        return self.calls - self.outlying_calls - sum(span.allowed + span.denied for span in self.times.spans)

    @property
    def outlying_calls(self) -> int:
        """The number of calls whose time is far from all others."""
        return sum(row.calls for row in self.times.outlying)

    @property
    def unused(self) -> Rows[ScopeUse]:
        """The scopes of the policy that were granted but never used."""
        return self.scopes.granted.where(lambda use: not use.used)

    @property
    def unused_by_caller(self) -> Rows[CallerScope]:
        """The scopes of the policy that a caller had but never used."""
        return self.scopes.by_caller.where(lambda use: not use.used)

    @property
    def needed(self) -> dict[tuple[str | None, str], int]:
        """The number of denied calls in groups in which each caller lacked each scope, or a user's token for it; lower bounds if
        groups of denials aren't exact.
        """
        calls: Counter[tuple[str | None, str]] = Counter()
        for row in self.denials.groups:
            for scope in row.lacked:
                calls[row.caller, scope] += row.calls
        return calls
