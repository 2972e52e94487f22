"""What auditors get for answers: named tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._native import Decision
    from ._rows import Rows
    from ._terms import Reason


class Diagnostic(NamedTuple):
    """One thing that is wrong with a policy, and where; both numbers start at 1, the column counts characters."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}"


class Route(NamedTuple):
    """A route and what it needs. `amount` is None where the policy states none."""

    method: str
    template: str
    scope: str
    api: str
    consumes: bool
    amount: int | None
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.method} {self.template}"


class Scope(NamedTuple):
    """A scope and what it opens. `consumes` is None where the policy states no orb column.

    `organisation` is what an organisation's token gets where the scope applies only to a user's token: "deny" or
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
    """A row of the table: a route with its scope, or a scope that has no route."""

    api: str
    scope: str
    permits: str | None
    organisation: str | None
    method: str | None
    template: str | None
    consumes: bool | None
    amount: int | None


class Reach(NamedTuple):
    """A call that a token may make; `route` is None for a scope that is asked for without one."""

    route: str | None
    scope: str
    api: str
    reason: Reason
    consumes: bool | None
    amount: int | None


class Need(NamedTuple):
    """A scope that is needed: the first call that needs it is the evidence."""

    scope: str
    method: str
    target: str
    calls: int


class Refusal(NamedTuple):
    """Calls that no scope allows and that are denied alike: the first of them, why, and how many they are."""

    method: str
    target: str
    decision: Decision
    calls: int


class LeastScopes(NamedTuple):
    """The least set of scopes for some calls, whether they were allowed or denied, and the calls that no scope allows, grouped by their denials."""

    needs: Rows[Need]
    refusals: Rows[Refusal]

    @property
    def scope(self) -> str:
        """The scopes as the `scope` parameter of an authorization request has them."""
        return " ".join(sorted(need.scope for need in self.needs))


def least_of(
    needs: Iterable[tuple[str, str, str, int]], refusals: Iterable[tuple[str, str, Decision, int]]
) -> LeastScopes:
    """The least set of scopes, from tuples."""
    from ._rows import Rows

    return LeastScopes(
        Rows(Need, (Need(*need) for need in needs)), Rows(Refusal, (Refusal(*refusal) for refusal in refusals))
    )


class ScopeUse(NamedTuple):
    """How many calls were made with a token that carries the scope, and how many were allowed because of it."""

    scope: str
    granted: int
    used: int
    in_policy: bool


class ScopeUseBy(NamedTuple):
    """The same of the calls that have `by` in common, as a caller; None where they have nothing there."""

    by: str | None
    scope: str
    granted: int
    used: int
    in_policy: bool
