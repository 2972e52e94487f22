"""Answers about a policy before it is in force: named tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ._native import Decision, Token
    from ._rows import Rows


class Change(NamedTuple):
    """A change of an answer, with a request that shows it: a method and a target, or else a scope.

    `labels` says what it is: "wider", "narrower", "cheaper", "costlier", "other cost", "removed". `before` and `after` say what is
    demanded, None where nobody is allowed. `wider` and `narrower` are tokens that are newly allowed and newly denied, `payer` is one
    that pays another cost.
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
    """What a new policy changes. `widens` is true where somebody may do more, or for less.

    `verdict` is "equivalent", "wider", "narrower" or "incomparable"; None where too many templates overlap to compare all, and
    `complete` is false. Of very many changes the first are listed, and `left_out` counts the rest.
    """

    verdict: str | None
    widens: bool
    complete: bool
    changes: Rows[Change]
    left_out: int


class Finding(NamedTuple):
    """Something legal in a policy that is likely not meant; `suppressed` is the reason why somebody finds it all right."""

    code: str
    level: str
    message: str
    line: int
    column: int
    suppressed: str | None

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.level}[{self.code}]: {self.message}"


class CaseResult(NamedTuple):
    """A case of a test file and what was decided; without `differences` it passed. A property has no decision, and a difference for
    each request that refutes it."""

    name: str
    decision: Decision | None
    differences: tuple[str, ...]
    line: int
    column: int

    @property
    def passed(self) -> bool:
        """Whether it was decided as expected, or holds."""
        return not self.differences


class CoveredRow(NamedTuple):
    """A row of the policy's table, a route or a scope without routes, and how often each of its outcomes was decided as expected.

    `name` is "METHOD /template" or the scope, `line` and `column` are its location in the policy. An outcome is a reason, or "bonus":
    allowed, and bonus orbs may be used.
    """

    name: str
    line: int
    column: int
    outcomes: dict[str, int]

    @property
    def lacking(self) -> tuple[str, ...]:
        """The outcomes that no case has covered."""
        return tuple(name for name, times in self.outcomes.items() if not times)


class Coverage(NamedTuple):
    """What cases that passed have covered of a policy: each row of its table, and the outcomes of the policy as a whole."""

    rows: Rows[CoveredRow]
    outcomes: dict[str, int]

    @property
    def share(self) -> float:
        """The share of all outcomes that are covered, from 0 to 1."""
        times = [*self.outcomes.values(), *(times for row in self.rows for times in row.outcomes.values())]
        return sum(map(bool, times)) / len(times)
