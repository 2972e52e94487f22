"""Results of checking a policy before you activate it, as named tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ._native import Decision, Token
    from ._rows import Rows


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
        asked = f"scope {self.scope}" if self.method is None else f"{self.method} {self.target}"
        return f"{', '.join(self.labels)}: {asked}: {self.before or 'denied'} -> {self.after or 'denied'}"


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
