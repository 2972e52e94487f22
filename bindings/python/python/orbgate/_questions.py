"""The results of audit questions, as named tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._native import Decision
    from ._rows import Rows
    from ._terms import Reason


class Diagnostic(NamedTuple):
    """An error in a policy, with its location. Line and column start at 1; the column counts characters."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}"


class Route(NamedTuple):
    """A route and its requirements. `amount` is None if the policy states none."""

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
    """A scope and what it allows. `consumes` is None if the policy states no orb column.

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
    """A row of the table: a route with its scope, or a scope without routes."""

    api: str
    scope: str
    permits: str | None
    organisation: str | None
    method: str | None
    template: str | None
    consumes: bool | None
    amount: int | None


class Reach(NamedTuple):
    """A call that a token can make; `route` is None for a decision by scope without a route."""

    route: str | None
    scope: str
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
    """The least set of scopes for some calls, allowed or denied, and the calls that no scope allows, grouped by denial."""

    needs: Rows[Need]
    refusals: Rows[Refusal]

    @property
    def scope(self) -> str:
        """The scopes in the format of the `scope` parameter of an authorization request."""
        return " ".join(sorted(need.scope for need in self.needs))


def least_of(
    needs: Iterable[tuple[str, str, str, int]], refusals: Iterable[tuple[str, str, Decision, int]]
) -> LeastScopes:
    """Makes the least set of scopes from tuples."""
    from ._rows import Rows

    return LeastScopes(
        Rows(Need, (Need(*need) for need in needs)), Rows(Refusal, (Refusal(*refusal) for refusal in refusals))
    )


class ScopeUse(NamedTuple):
    """The number of calls whose token had the scope, and the number of calls that were allowed because of it."""

    scope: str
    granted: int
    used: int
    in_policy: bool


class ScopeUseBy(NamedTuple):
    """The same for calls with the same value in the column `by`, such as a caller; None for calls without a value."""

    by: str | None
    scope: str
    granted: int
    used: int
    in_policy: bool
