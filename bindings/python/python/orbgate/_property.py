"""Properties of all requests, and the requests that refute them: named tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ._native import Token
from ._rows import Rows

if TYPE_CHECKING:
    from collections.abc import Iterable


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
