"""The questions that a policy answers, typed. Each answer is the JSON of `orbgate QUESTION --json`.

Made of crates/orbgate-capi/src/tests/questions/shapes.txt by `cargo xtask codes`; not to be edited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from ._policy import Policy


class Position(TypedDict):
    """A position in a file."""

    line: int
    """Counted from 1."""

    column: int
    """In characters, counted from 1."""


class Orbs(TypedDict):
    """The orbs that a route or scope consumes."""

    consumes: bool
    """Whether it consumes orbs."""

    amount: int | None
    """0 if nothing is consumed, null if the policy states no amount."""


class OrbCharge(TypedDict):
    """The orbs that an allowed call consumes."""

    consumes: bool
    """Whether it consumes orbs."""

    amount: int | None
    """0 if nothing is consumed, null if the policy states no amount."""

    bonus_allowed: bool
    """Whether the request allows bonus orbs."""


class RequestToken(TypedDict):
    """A verified token."""

    kind: str
    """`user` or `organisation`; any other kind is unknown."""

    scopes: str
    """Its scopes, separated by spaces."""


class Request(TypedDict, total=False):
    """A call, or a scope to decide without a route."""

    method: str
    """The method of a call."""

    target: str
    """The target of a call, as received over the wire."""

    scope: str
    """The scope to decide, instead of method and target."""

    token: RequestToken
    """Its token. Without a token, the decision is `no_token`."""

    allow_bonus_orbs_use: bool
    """Whether the request allows bonus orbs."""


class PolicyDiagnostic(TypedDict):
    """An error or a warning of a policy."""

    location: Position
    """Its position in the file."""

    message: str
    """The problem."""


class _CheckArguments(TypedDict):
    """The required fields."""

    policy: str
    """The policy as a YAML document."""


class CheckArguments(_CheckArguments, total=False):
    """Arguments of `check`."""

    file: str
    """The file's name in the answer. By default `policy.yaml`."""


class Checks(TypedDict):
    """Answer of `check`."""

    files: list[CheckedFile]
    """One for each policy."""


class CheckedFile(TypedDict):
    """The errors and warnings of a file."""

    file: str
    """Its name."""

    policy: str | None
    """The policy's digest, null if it has errors."""

    diagnostics: list[PolicyDiagnostic]
    """Its errors."""

    warnings: list[PolicyDiagnostic]
    """Its warnings."""


class _LintArguments(TypedDict):
    """The required fields."""

    policy: str
    """The policy as a YAML document."""


class LintArguments(_LintArguments, total=False):
    """Arguments of `lint`."""

    file: str
    """The file's name in the answer. By default `policy.yaml`."""

    levels: dict[str, str]
    """`error`, `warning`, `note` or `off` for each code whose level you change."""


class Lints(TypedDict):
    """Answer of `lint`."""

    files: list[LintedFile]
    """One for each policy."""


class LintedFile(TypedDict):
    """The findings in a file."""

    file: str
    """Its name."""

    policy: str | None
    """The policy's digest, null if it has errors."""

    complete: bool
    """Whether all findings are listed."""

    diagnostics: list[PolicyDiagnostic]
    """Its errors. A policy with errors has no findings."""

    findings: list[LintFinding]
    """Its findings, including suppressed findings."""


class LintFinding(TypedDict):
    """A likely mistake in a policy."""

    code: str
    """Its code, as documented in `docs/lint.md`."""

    level: str
    """`error`, `warning` or `note`."""

    location: Position
    """Its position in the file."""

    message: str
    """The problem."""

    other: Position | None
    """A second position that is part of the problem."""

    suppressed: str | None
    """The reason in the comment that suppresses it."""


class _DiffArguments(TypedDict):
    """The required fields."""

    policy: str
    """The new policy as a YAML document."""


class DiffArguments(_DiffArguments, total=False):
    """Arguments of `diff`."""

    fail_on: list[str]
    """The kinds of changes that `fails` counts. By default `wider`, `cheaper` and `other-cost`."""


class Comparison(TypedDict):
    """Answer of `diff`."""

    old: str
    """The digest of the engine's policy."""

    new: str
    """The digest of the other policy."""

    verdict: str | None
    """`equivalent`, `wider`, `narrower` or `incomparable`."""

    widens: bool
    """Whether any call is allowed to more callers, or for fewer orbs."""

    complete: bool
    """Whether everything was compared. It's true in every answer."""

    left_out: int
    """The number of changes that aren't listed."""

    changes: list[PolicyChange]
    """The changes, widening changes first."""

    fails: list[str]
    """The number of changes of each kind in `fail_on`, such as `2 wider`. Kinds without changes are left out."""


class PolicyChange(TypedDict):
    """A call that the two policies decide differently."""

    asked: Request
    """The call, without a token."""

    before: DecidingRule | None
    """The rule that decides it in the engine's policy."""

    after: DecidingRule | None
    """The rule that decides it in the other policy."""

    wider: Request | None
    """A call that only the other policy allows."""

    narrower: Request | None
    """A call that only the engine's policy allows."""

    cost: str | None
    """`less`, `more`, or `unknown` if an amount is not stated."""

    payer: Request | None
    """A call that both policies allow, at a different cost."""

    removed: bool
    """Whether the other policy lacks the route or scope that decided it."""


class _DecidingRule(TypedDict):
    """The required fields."""

    route: str | None
    """The route, null for a scope without a route."""

    scope: str
    """The scope that owns the route: it needs just this one, unless there are `scopes`."""

    orbs: Orbs | None
    """The orbs that a call consumes, null if the policy doesn't state it."""

    organisation: str | None
    """`deny` or `allow_without_scope` for organisations' tokens, if the scope applies only to users' tokens."""

    location: Position
    """The rule's position in the file."""


class DecidingRule(_DecidingRule, total=False):
    """The route or scope that decides a call."""

    scopes: list[list[str]]
    """The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first."""


class _ExplainArguments(TypedDict):
    """The required fields."""

    request: Request
    """The call."""


class ExplainArguments(_ExplainArguments, total=False):
    """Arguments of `explain`."""

    issued: str
    """`user` or `organisation`: decides with the token of this kind that would be issued for `declared` and `requested`. Needs both, and a request without `token`."""

    declared: str
    """The scopes that the application declared, if you know them, separated by spaces."""

    requested: str
    """The scopes that the application requested, if you know them, separated by spaces."""


class _PolicyDecision(TypedDict):
    """The required fields."""

    decision: str
    """`allow` or `deny`."""

    status: int | None
    """The HTTP status of a denial."""

    reason: str
    """The reason, such as `scope_missing`."""

    detail: str | None
    """The rule that a malformed request breaks."""

    api: str | None
    """The api of the route or scope."""

    route: str | None
    """The route that decided."""

    scope: str | None
    """The scope that owns the route: the call needs just this one, unless there are `scopes`."""

    orbs: OrbCharge | None
    """The orbs that an allowed call consumes."""

    policy: str
    """The policy's digest."""


class PolicyDecision(_PolicyDecision, total=False):
    """A decision."""

    scopes: list[list[str]]
    """The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first."""


class _Explanation(TypedDict):
    """The required fields."""

    decision: str
    """`allow` or `deny`."""

    status: int | None
    """The HTTP status of a denial."""

    reason: str
    """The reason, such as `scope_missing`."""

    detail: str | None
    """The rule that a malformed request breaks."""

    api: str | None
    """The api of the route or scope."""

    route: str | None
    """The route that decided."""

    scope: str | None
    """The scope that owns the route: the call needs just this one, unless there are `scopes`."""

    orbs: OrbCharge | None
    """The orbs that an allowed call consumes."""

    policy: str
    """The policy's digest."""

    missing_step: str | None
    """The step that would give the token the scope, or the first of the alternatives."""


class Explanation(_Explanation, total=False):
    """Answer of `explain`: the decision, and the steps that led to it."""

    scopes: list[list[str]]
    """The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first."""

    alternatives: list[TriedAlternative]
    """The `scopes`, each with what the token lacks."""

    orbs_if_allowed: OrbCharge
    """The orbs that a denied call would consume with the scope."""

    in_order: int
    """The length of a malformed target's valid prefix, in bytes."""

    rules: list[CheckedRule]
    """The rules for targets, by number. Empty for a scope without a route."""

    near: list[NearRoute]
    """Routes that almost match the call, the nearest first."""


class TriedAlternative(TypedDict):
    """An alternative of what a route needs."""

    scopes: list[str]
    """Its scopes, which are enough together."""

    lacking: list[str]
    """Those of them that the token lacks. Empty if the token has the alternative."""


class CheckedRule(TypedDict):
    """A rule for targets."""

    rule: str
    """Its name, such as `P10`."""

    detail: str
    """The detail of a request that breaks it."""

    state: str
    """`pass`, `fail` or `not_reached`."""


class NearRoute(TypedDict):
    """A route that almost matches a call."""

    route: str
    """The route."""

    location: Position
    """Its position in the file."""

    why: str
    """The reason why it doesn't decide the call."""

    meant: str | None
    """A target that the route decides, if the call's target seems to be misspelt."""


class _NeedsArguments(TypedDict):
    """The required fields."""

    calls: list[Request]
    """The calls. Their tokens are ignored."""


class NeedsArguments(_NeedsArguments, total=False):
    """Arguments of `needs`."""

    token: str
    """`user` or `organisation`. By default `user`."""


class Needs(TypedDict):
    """Answer of `needs`: the smallest set of scopes for the calls."""

    policy: str
    """The policy's digest."""

    kind: str
    """The kind of token."""

    calls: int
    """The number of calls."""

    scopes: list[str]
    """The scopes, in the order of the calls that first need them."""

    is_smallest: bool
    """Whether no smaller set is enough. False only if more than 20 scopes of alternatives have to be weighed."""

    needs: list[NeededScope]
    """The same scopes, each with its calls."""

    refusals: list[RefusedCalls]
    """Calls that no scope allows."""


class NeededScope(TypedDict):
    """A scope that calls need."""

    scope: str
    """The scope."""

    calls: int
    """The number of calls that need it."""

    first: FirstCall
    """The first of them."""


class RefusedCalls(TypedDict):
    """Calls that no scope allows, all for the same reason."""

    reason: str
    """The reason of their denial."""

    detail: str | None
    """The rule that they break."""

    route: str | None
    """The route that decides them."""

    calls: int
    """The number of calls."""

    first: FirstCall
    """The first of them."""


class FirstCall(TypedDict):
    """The first of some calls."""

    at: int
    """Its position among all calls, counted from 1."""

    call: str
    """Method and target, shortened."""


class ReachArguments(TypedDict):
    """Arguments of `reach`."""

    token: RequestToken
    """The token."""


class Reach(TypedDict):
    """Answer of `reach`: everything that a token can call."""

    policy: str
    """The policy's digest."""

    token: RequestToken
    """The token."""

    allowed: list[ReachedRoute]
    """Routes, and scopes without routes, in the order of the policy file."""


class _ReachedRoute(TypedDict):
    """The required fields."""

    route: str | None
    """The route, null for a scope without routes."""

    scope: str
    """The scope that owns the route: the one that allows it, unless there are `scopes`."""

    orbs: Orbs | None
    """The orbs that a call consumes, null if the policy doesn't state it."""

    reason: str
    """The reason why it is allowed."""

    location: Position
    """The rule's position in the file."""


class ReachedRoute(_ReachedRoute, total=False):
    """A route or a scope that a token can call."""

    scopes: list[list[str]]
    """The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first."""


class TableArguments(TypedDict):
    """Arguments of `table`. There are none."""


class Table(TypedDict):
    """Answer of `table`: a whole policy."""

    policy: str
    """Its digest."""

    name: str | None
    """Its name."""

    target: str
    """The accepted spellings of targets: `strict` or `encoded_params`."""

    apis: list[TableApi]
    """Its apis, in the order of the file."""

    headings: list[str]
    """Scope groups without routes."""


class _TableApi(TypedDict):
    """The required fields."""

    name: str
    """Its name."""

    token: str | None
    """`user` if its scopes apply only to users' tokens."""

    organisation: str | None
    """`deny` or `allow_without_scope` for organisations' tokens in that case."""

    scopes: list[TableScope]
    """Its scopes."""


class TableApi(_TableApi, total=False):
    """An api of a policy."""

    closed: list[ClosedTemplate]
    """The templates that declare no method."""


class ClosedTemplate(TypedDict):
    """A template that declares no method, so that all its calls are denied."""

    template: str
    """The path."""

    location: Position
    """Its position in the file."""


class TableScope(TypedDict):
    """A scope of an api."""

    scope: str
    """Its name."""

    permits: str | None
    """The action that it permits, in words."""

    orbs: Orbs | None
    """The orbs that a call consumes, null if the policy doesn't state it."""

    location: Position
    """Its position in the file."""

    routes: list[TableRoute]
    """Its routes in this api."""


class _TableRoute(TypedDict):
    """The required fields."""

    route: str
    """Method and template."""

    method: str
    """Its method."""

    template: str
    """Its path."""

    orbs: Orbs
    """The orbs that a call consumes."""

    location: Position
    """Its position in the file."""


class TableRoute(_TableRoute, total=False):
    """A route of a scope."""

    scopes: list[list[str]]
    """The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first."""


class UnusedArguments(TypedDict):
    """Arguments of `unused`."""

    calls: list[Request]
    """The calls with their tokens."""


class Usage(TypedDict):
    """Answer of `unused`: how often tokens had each scope and used it."""

    policy: str
    """The policy's digest."""

    calls: int
    """The number of calls."""

    without_token: int
    """The number of calls without a token of a known kind."""

    unused: list[str]
    """The scopes that were never used."""

    scopes: list[ScopeUsage]
    """All scopes of the tokens, unused scopes first."""


class ScopeUsage(TypedDict):
    """A scope that tokens had."""

    scope: str
    """Its name."""

    granted: int
    """The number of calls whose token had it."""

    used: int
    """The number of these calls that it allowed, by itself or with others. Scopes whose number is 0 can be removed together."""

    needed: int
    """The number of these calls that would have been denied without it. Of the scopes whose number is 0, any one can be removed."""

    in_policy: bool
    """Whether the policy defines it."""

    last: LastUse | None
    """The last call that it allowed."""


class LastUse(TypedDict):
    """The last use of a scope."""

    line: int
    """The call's position, counted from 1."""

    time: str | None
    """Its time in a log."""


class WhoArguments(TypedDict):
    """Arguments of `who`."""

    method: str
    """The call's method."""

    target: str
    """The call's target, as a server would receive it over the wire."""

    tokens: list[NamedToken]
    """The tokens."""


class _NamedToken(TypedDict):
    """The required fields."""

    token: RequestToken | None
    """The token, null for a call without one."""


class NamedToken(_NamedToken, total=False):
    """A token with a name."""

    name: str
    """The name in the answer. By default its position, such as `line 2`."""


class Callers(TypedDict):
    """Answer of `who`: the decision for each token."""

    policy: str
    """The policy's digest."""

    method: str
    """The call's method."""

    target: str
    """The call's target."""

    tokens: list[CallerDecision]
    """One for each token, in order."""


class CallerDecision(TypedDict):
    """The decision for a token."""

    name: str
    """Its name."""

    line: int
    """Its position, counted from 1."""

    decision: PolicyDecision
    """The decision."""


def check(policy: Policy, arguments: CheckArguments) -> Checks:
    """Reports the errors and warnings of a policy. Raises ValueError for invalid arguments."""
    answer: Checks = policy.ask("check", arguments)
    return answer


def diff(policy: Policy, arguments: DiffArguments) -> Comparison:
    """Lists the changes for callers if another policy replaces this one. Raises ValueError for invalid arguments."""
    answer: Comparison = policy.ask("diff", arguments)
    return answer


def explain(policy: Policy, arguments: ExplainArguments) -> Explanation:
    """Explains why a call is allowed or denied. Raises ValueError for invalid arguments."""
    answer: Explanation = policy.ask("explain", arguments)
    return answer


def lint(policy: Policy, arguments: LintArguments) -> Lints:
    """Finds likely mistakes in a policy. Raises ValueError for invalid arguments."""
    answer: Lints = policy.ask("lint", arguments)
    return answer


def needs(policy: Policy, arguments: NeedsArguments) -> Needs:
    """Finds the smallest set of scopes for a list of calls. Raises ValueError for invalid arguments."""
    answer: Needs = policy.ask("needs", arguments)
    return answer


def reach(policy: Policy, arguments: ReachArguments) -> Reach:
    """Lists everything that a token can call. Raises ValueError for invalid arguments."""
    answer: Reach = policy.ask("reach", arguments)
    return answer


def table(policy: Policy) -> Table:
    """Returns the whole policy. Raises ValueError for invalid arguments."""
    answer: Table = policy.ask("table", {})
    return answer


def unused(policy: Policy, arguments: UnusedArguments) -> Usage:
    """Counts how often tokens had each scope and used it. Raises ValueError for invalid arguments."""
    answer: Usage = policy.ask("unused", arguments)
    return answer


def who(policy: Policy, arguments: WhoArguments) -> Callers:
    """Decides which tokens may make a call. Raises ValueError for invalid arguments."""
    answer: Callers = policy.ask("who", arguments)
    return answer
