"""Proves the properties of a test file."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from .._answers import PropertyResult
from .._errors import PolicyError
from .._rows import Rows

if TYPE_CHECKING:
    from .._policy import Policy


class Properties(NamedTuple):
    """The properties of a file. `text` is the file, and `rows` has the result for each property, in order."""

    file: str
    text: bytes
    rows: Rows[PropertyResult]

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file."""
        return sha256(self.text).hexdigest()

    @property
    def failed(self) -> Rows[PropertyResult]:
        """The properties that don't hold, or don't apply to the policy."""
        return self.rows.where(lambda row: not row.holds)


def properties_of(policy: Policy, path: str | os.PathLike[str]) -> Properties:
    """Proves or refutes the properties of a test file."""
    with open(path, "rb") as file:
        return prove(policy, os.path.basename(os.fspath(path)), file.read())


def prove(policy: Policy, file: str, text: bytes) -> Properties:
    """Proves or refutes the properties in a file's text. A file without properties is an error."""
    try:
        rows = policy.properties(text)
    except PolicyError as error:
        raise PolicyError(error.diagnostics, file) from None
    if not rows:
        raise PolicyError([(1, 1, "the file has no `properties`, so there is nothing to prove")], file)
    return Properties(file, text, rows)
