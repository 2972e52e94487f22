"""The exceptions of the package, all of them an `OrbgateError`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._answers import Diagnostic, Witness
    from ._native import Decision


class OrbgateError(Exception):
    """The base of every exception of this package."""


class PolicyError(OrbgateError, ValueError):
    """An invalid policy, with all its errors in the order of the file.

    >>> from orbgate import Policy
    >>> Policy.from_yaml("orbgate: 2\\napis: {}")
    Traceback (most recent call last):
        ...
    orbgate.PolicyError: 1:10: `orbgate` must be the plain number 1, the version of the format, not `2`
    """

    def __init__(self, diagnostics: Iterable[tuple[int, int, str]], file: str | None = None) -> None:
        from ._answers import Diagnostic

        self.diagnostics: tuple[Diagnostic, ...] = tuple(Diagnostic(*diagnostic) for diagnostic in diagnostics)
        self.file = file
        super().__init__(self.diagnostics, file)

    @property
    def line(self) -> int:
        """The line of the first error, from 1."""
        return self.diagnostics[0].line

    @property
    def column(self) -> int:
        """The column of the first error in characters, from 1."""
        return self.diagnostics[0].column

    def __str__(self) -> str:
        prefix = "" if self.file is None else f"{self.file}:"
        return "\n".join(f"{prefix}{diagnostic}" for diagnostic in self.diagnostics)


class PropertyError(OrbgateError, AssertionError):
    """A property that doesn't hold. `witnesses` are the allowed requests that violate it; never empty.

    >>> from orbgate import Policy
    >>> Policy.external().assert_never("GET /api/v1/external/account", kind="organisation")
    Traceback (most recent call last):
        ...
    orbgate.PropertyError: organisation with `read:account` may call GET /api/v1/external/account: `GET /api/v1/external/account` for `read:account`, 0 orbs
    """

    def __init__(self, message: str, witnesses: Iterable[Witness]) -> None:
        self.message = message
        self.witnesses: tuple[Witness, ...] = tuple(witnesses)
        super().__init__(message, self.witnesses)

    def __str__(self) -> str:
        return self.message


class NoPropertyError(OrbgateError, ValueError):
    """A property that can't be checked: it has a syntax error, or names something that the policy doesn't define.

    >>> from orbgate import Policy
    >>> Policy.external().assert_never("GET /api/v2/*")
    Traceback (most recent call last):
        ...
    orbgate.NoPropertyError: no route of the policy decides `GET /api/v2/*`
    """


class PropertyWarning(UserWarning):
    """A property that holds trivially, for example because its callers may call nothing at all."""


class ConfigError(PolicyError):
    """An invalid token configuration, with all its errors in the order of the file."""


class NoRouteError(OrbgateError, LookupError):
    """A call that reaches no route, or an unknown scope. `decision` gives the reason, and `methods` the methods that the
    path declares.
    """

    def __init__(
        self, message: str, decision: Decision | None = None, methods: Iterable[str] = ()
    ) -> None:
        self.message = message
        self.decision = decision
        self.methods: tuple[str, ...] = tuple(methods)
        super().__init__(message, decision, self.methods)

    def __str__(self) -> str:
        return self.message


class TableError(OrbgateError, ValueError):
    """A table that can't be decided: a column that is missing or doesn't contain strings, a stream that was already
    read, or an incomplete log.
    """


class InternalError(OrbgateError, RuntimeError):
    """A bug in this package. The call returns no result, so nothing is allowed."""

    def __init__(self, message: str) -> None:
        super().__init__(message)

    def __str__(self) -> str:
        return f"internal error in orbgate, please report it: {self.args[0]}"


