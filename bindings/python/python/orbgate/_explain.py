"""The whole way of one decision: named tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ._rows import Rows
from ._terms import Detail

if TYPE_CHECKING:
    from ._native import Charge, Decision


class TargetRule(NamedTuple):
    """A rule of the target. `rule` is its number in ARCHITECTURE.md, as "P10"; `state` is "pass", "fail" or "not_reached".

    It passes where all of it was tried and holds; it is not reached where the call was denied before that.
    """

    rule: str
    detail: Detail
    state: str


class NearMiss(NamedTuple):
    """A route that nearly decides a call: why it does not, and `meant`, a target that it decides, where the call's seems misspelt.

    `line` and `column` are the route's location in the policy.
    """

    route: str
    line: int
    column: int
    why: str
    meant: str | None


class Explanation(NamedTuple):
    """A decision and how it came about.

    `missing_step` is which of the two steps to its scope a denied call lacks: "not_declared", "not_requested", "both",
    "token_older", "token_kind" or "not_known"; None where no step is missing. `orbs_if_allowed` is what a denied call would consume if
    a user's token with the scope made it, None where no token may make it. `in_order` is how many bytes of a malformed target are in
    order. `rules` and `near` are empty where a scope was asked about.
    """

    decision: Decision
    missing_step: str | None
    orbs_if_allowed: Charge | None
    in_order: int | None
    rules: Rows[TargetRule]
    near: Rows[NearMiss]


def explanation(found: dict[str, Any]) -> Explanation:
    """The answer of the native module, named."""
    rules = (TargetRule(f"P{number}", Detail(detail), state) for number, detail, state in found["rules"])
    near = (NearMiss(**row) for row in found["near"])
    return Explanation(**{**found, "rules": Rows(TargetRule, rules), "near": Rows(NearMiss, near)})
