"""Properties of all requests, and the requests that refute them: named tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ._native import Token
from ._rows import Rows

if TYPE_CHECKING:
    from collections.abc import Iterable


class Allowed(NamedTuple):
    """A request that is allowed: a method and a target, or else a scope; `rule` is what allows it, at this location of the policy."""

    method: str | None
    target: str | None
    scope: str | None
    rule: str
    line: int
    column: int


class Witness(NamedTuple):
    """A token, and the requests that it may make against a property: one, or the two that should be apart."""

    token: Token
    requests: tuple[Allowed, ...]
    text: str

    def __str__(self) -> str:
        return self.text


class PropertyResult(NamedTuple):
    """A property of a test file, whether it holds for all requests, and how many `rules` of the policy it is about.

    It holds without `witnesses` and without an `error`. The error says why the property says nothing about the policy; `rules` is None then.
    A `warning` says why a property that holds says little, as of callers who may call nothing at all. `line` and `column` are its location in the file.
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
    """Witnesses, from the native module's."""
    return tuple(
        Witness(Token(row["kind"], row["scopes"]), tuple(Allowed(**allowed) for allowed in row["requests"]), row["text"])
        for row in rows
    )
