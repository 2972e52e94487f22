"""The properties of a file, proved or refuted."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from .._errors import PolicyError
from .._property import PropertyResult
from .._rows import Rows

if TYPE_CHECKING:
    from .._policy import Policy


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
    """The same of a file's text. Without any property nothing would be proved, so that is an error of the file, too."""
    try:
        rows = policy.properties(text)
    except PolicyError as error:
        raise PolicyError(error.diagnostics, file) from None
    if not rows:
        raise PolicyError([(1, 1, "the file has no `properties`, so there is nothing to prove")], file)
    return Properties(file, text, rows)
