"""What a policy answers: results as named tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ._native import Token
from ._rows import Rows
from ._terms import Detail

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._native import Charge, Decision
    from ._terms import Reason


class Diagnostic(NamedTuple):
    """An error in a policy, with its location. Line and column start at 1; the column counts characters."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}"


class Route(NamedTuple):
    """A route and its requirements. `amount` is None if the policy states none.

    `scope` owns the route. `scopes` are the alternatives that a call needs: all scopes of one of them. The owner's comes
    first, and begins with `scope`. Most routes need only `scope`.
    """

    method: str
    template: str
    scope: str
    scopes: tuple[tuple[str, ...], ...]
    api: str
    consumes: bool
    amount: int | None
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.method} {self.template}"


class Scope(NamedTuple):
    """A scope and what it allows. `consumes` is None if the policy doesn't state it.

    `organisation` is what an organisation's token gets if the scope applies only to a user's token: "deny" or
    "allow_without_scope".
    """

    scope: str
    api: str
    consumes: bool | None
    amount: int | None
    organisation: str | None
    permits: str | None
    routes: tuple[str, ...]
    line: int
    column: int

    def __str__(self) -> str:
        return self.scope


class TableRow(NamedTuple):
    """A row of the table: a route with its scope and its alternatives, as `Route` has them, or a scope without routes."""

    api: str
    scope: str
    scopes: tuple[tuple[str, ...], ...]
    permits: str | None
    organisation: str | None
    method: str | None
    template: str | None
    consumes: bool | None
    amount: int | None


class Reach(NamedTuple):
    """A call that a token can make; `route` is None for a decision by scope without a route, which needs only `scope`.

    `scopes` are the route's alternatives, as `Route` has them. The token has one of them whole.
    """

    route: str | None
    scope: str
    scopes: tuple[tuple[str, ...], ...]
    api: str
    reason: Reason
    consumes: bool | None
    amount: int | None


class Need(NamedTuple):
    """A required scope. The first call that needs it is the evidence."""

    scope: str
    method: str
    target: str
    calls: int


class Refusal(NamedTuple):
    """Calls with the same denial that no scope allows: the first of them, the denial, and their number."""

    method: str
    target: str
    decision: Decision
    calls: int


class LeastScopes(NamedTuple):
    """The least set of scopes for some calls, allowed or denied, and the calls that no scope allows, grouped by denial.

    `earned` are the scopes that the token must earn as well: no client requests them.

    Only if more than 20 scopes of routes with alternatives have to be weighed, `is_smallest` can be False: no scope is too
    many, but other scopes might be fewer.
    """

    needs: Rows[Need]
    refusals: Rows[Refusal]
    is_smallest: bool
    earned: Rows[Need]

    @property
    def scope(self) -> str:
        """The scopes in the format of the `scope` parameter of an authorization request."""
        return " ".join(sorted(need.scope for need in self.needs))


def least_of(
    needs: Iterable[tuple[str, str, str, int]],
    earned: Iterable[tuple[str, str, str, int]],
    is_smallest: bool,
    refusals: Iterable[tuple[str, str, Decision, int]],
) -> LeastScopes:
    """Makes the least set of scopes from tuples."""
    needed, also = (Rows(Need, (Need(*need) for need in rows)) for rows in (needs, earned))
    return LeastScopes(needed, Rows(Refusal, (Refusal(*refusal) for refusal in refusals)), is_smallest, also)


class ScopeUse(NamedTuple):
    """The number of calls whose token had the scope, of those that were allowed because of it, by itself or with others, and of
    those that would have been denied without it.

    All scopes that weren't used can be removed together. Of those that were used but not needed, any one can be.
    """

    scope: str
    granted: int
    used: int
    needed: int
    in_policy: bool


class ScopeUseBy(NamedTuple):
    """The same for calls with the same value in the column `by`, such as a caller; None for calls without a value."""

    by: str | None
    scope: str
    granted: int
    used: int
    needed: int
    in_policy: bool


class TargetRule(NamedTuple):
    """A rule for targets. `rule` is its number in ARCHITECTURE.md, for example "P10"; `state` is "pass", "fail" or
    "not_reached".

    A rule passes if it was checked completely and is satisfied. It isn't reached if the call was denied before that.
    """

    rule: str
    detail: Detail
    state: str


class NearMiss(NamedTuple):
    """A route that almost matches a call, with the difference. `meant` is a target that the route decides, if the call's
    target seems to be misspelt.

    `line` and `column` are the route's location in the policy.
    """

    route: str
    line: int
    column: int
    why: str
    meant: str | None


class Explanation(NamedTuple):
    """A decision and the steps that led to it.

    `missing_step` is the step that is missing for a denied call's scope: "not_declared", "not_requested", "both",
    "token_older", "token_kind", "not_known" or "not_earned"; None if none is. `orbs_if_allowed` is what a denied call
    would consume if a user's token with the scope made it; None if no token may make it. `in_order` is the length of
    a malformed target's valid prefix in bytes. `rules` and `near` are empty for a decision by scope.
    """

    decision: Decision
    missing_step: str | None
    orbs_if_allowed: Charge | None
    in_order: int | None
    rules: Rows[TargetRule]
    near: Rows[NearMiss]


def explanation(result: dict[str, Any]) -> Explanation:
    """Converts the native module's result to named tuples."""
    rules = (TargetRule(f"P{number}", Detail(detail), state) for number, detail, state in result["rules"])
    near = (NearMiss(**row) for row in result["near"])
    return Explanation(**{**result, "rules": Rows(TargetRule, rules), "near": Rows(NearMiss, near)})


class Change(NamedTuple):
    """A changed decision, with a request that shows it: a method and a target, or else a scope.

    `labels` are the kinds of change: "wider", "narrower", "cheaper", "costlier", "other cost", "removed". `before`
    and `after` are the requirements; None if all callers are denied. `wider` and `narrower` are tokens that become
    allowed or denied, and `payer` is a token for which the cost changes.
    """

    method: str | None
    target: str | None
    scope: str | None
    labels: tuple[str, ...]
    before: str | None
    after: str | None
    wider: Token | None
    narrower: Token | None
    payer: Token | None

    def __str__(self) -> str:
        question = f"scope {self.scope}" if self.method is None else f"{self.method} {self.target}"
        return f"{', '.join(self.labels)}: {question}: {self.before or 'denied'} -> {self.after or 'denied'}"


class Diff(NamedTuple):
    """The changes in a new policy. `widens` is true if some call becomes allowed, or cheaper, for some token.

    `verdict` is "equivalent", "wider", "narrower" or "incomparable". If too many templates overlap to compare
    everything, it is None, and `complete` is false. If there are very many changes, the first ones are listed, and
    `left_out` counts the rest.
    """

    verdict: str | None
    widens: bool
    complete: bool
    changes: Rows[Change]
    left_out: int


class Finding(NamedTuple):
    """A likely mistake in a valid policy. `suppressed` is the reason in a comment that suppresses the finding."""

    code: str
    level: str
    message: str
    line: int
    column: int
    suppressed: str | None

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.level}[{self.code}]: {self.message}"


class CaseResult(NamedTuple):
    """A case in a test file, and the decision on it. It passed if it has no `differences`. A property has no decision,
    and one difference for each request that refutes it.
    """

    name: str
    decision: Decision | None
    differences: tuple[str, ...]
    line: int
    column: int

    @property
    def passed(self) -> bool:
        """Whether the decision was as expected, or the property holds."""
        return not self.differences


class CoveredRow(NamedTuple):
    """A row of the policy's table (a route, or a scope without routes), and how often each of its outcomes was decided
    as expected.

    `name` is "METHOD /template" or the scope; `line` and `column` are its location in the policy. An outcome is a
    reason, or "bonus": the call is allowed, and bonus orbs may be used.
    """

    name: str
    line: int
    column: int
    outcomes: dict[str, int]

    @property
    def lacking(self) -> tuple[str, ...]:
        """The outcomes that no case covers."""
        return tuple(name for name, times in self.outcomes.items() if not times)


class Coverage(NamedTuple):
    """The coverage of a policy by passing cases: each row of its table, and the outcomes of the whole policy."""

    rows: Rows[CoveredRow]
    outcomes: dict[str, int]

    @property
    def share(self) -> float:
        """The share of outcomes that are covered, from 0 to 1."""
        times = [*self.outcomes.values(), *(times for row in self.rows for times in row.outcomes.values())]
        return sum(map(bool, times)) / len(times)


class Allowed(NamedTuple):
    """An allowed request: a method and a target, or else a scope. `rule` is the rule that allows it, at this location in
    the policy.
    """

    method: str | None
    target: str | None
    scope: str | None
    rule: str
    line: int
    column: int


class Witness(NamedTuple):
    """A token, and the requests that it may make although a property forbids them: one request, or the two that should
    be apart.
    """

    token: Token
    requests: tuple[Allowed, ...]
    text: str

    def __str__(self) -> str:
        return self.text


class PropertyResult(NamedTuple):
    """A property in a test file, whether it holds for all requests, and the number of `rules` of the policy that it
    applies to.

    It holds if it has no `witnesses` and no `error`. An error explains why the property doesn't apply to the policy;
    `rules` is then None. A `warning` explains why a property holds trivially, for example because the callers may
    call nothing at all. `line` and `column` are its location in the file.
    """

    text: str
    holds: bool
    rules: int | None
    witnesses: tuple[Witness, ...]
    error: str | None
    line: int
    column: int
    warning: str | None


def witnesses_of(rows: Iterable[dict[str, Any]]) -> tuple[Witness, ...]:
    """Converts the native module's witnesses."""
    return tuple(
        Witness(Token(row["kind"], row["scopes"]), tuple(Allowed(**allowed) for allowed in row["requests"]), row["text"])
        for row in rows
    )
