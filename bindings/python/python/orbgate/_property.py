"""Properties of all requests, and the requests that refute them: named tuples."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from ._errors import PolicyError
from ._native import Token
from ._rows import Rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._policy import Policy


class Allowed(NamedTuple):
    """A request that is allowed: a method and a target, or else a scope; `rule` is what allows it, at this place of the policy."""

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
    A `warning` says why a property that holds says little, as of callers who may call nothing at all. `line` and `column` are its place in the file.
    """

    text: str
    holds: bool
    rules: int | None
    witnesses: tuple[Witness, ...]
    error: str | None
    line: int
    column: int
    warning: str | None


class Properties(NamedTuple):
    """The properties of a file, in its order: `text` is all of it, `rows` say what was found."""

    file: str
    text: bytes
    rows: Rows[PropertyResult]

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file."""
        return sha256(self.text).hexdigest()

    @property
    def failed(self) -> Rows[PropertyResult]:
        """Those that do not hold, or say nothing about the policy."""
        return self.rows.where(lambda row: not row.holds)


def properties_of(policy: Policy, path: str | os.PathLike[str]) -> Properties:
    """Proves or refutes the properties of a test file."""
    with open(path, "rb") as file:
        return prove(policy, os.path.basename(os.fspath(path)), file.read())


def prove(policy: Policy, file: str, text: bytes) -> Properties:
    """The same of a file's text. Without any property nothing would be proved, so that is a fault of the file, too."""
    try:
        rows = policy.properties(text)
    except PolicyError as error:
        raise PolicyError(error.faults, file) from None
    if not rows:
        raise PolicyError([(1, 1, "the file has no `properties`, so there is nothing to prove")], file)
    return Properties(file, text, rows)


def witnesses_of(rows: Iterable[dict[str, Any]]) -> tuple[Witness, ...]:
    """Witnesses, from the native module's."""
    return tuple(
        Witness(Token(row["kind"], row["scopes"]), tuple(Allowed(**allowed) for allowed in row["requests"]), row["text"])
        for row in rows
    )
