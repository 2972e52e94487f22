"""Explains a decision step by step, in named tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ._rows import Rows
from ._terms import Detail

if TYPE_CHECKING:
    from ._native import Charge, Decision


class TargetRule(NamedTuple):
    """A rule for targets. `rule` is its number in ARCHITECTURE.md, for example "P10"; `state` is "pass", "fail" or
    "not_reached".

    A rule passes if it was checked completely and is satisfied. It isn't reached if the call was denied before that.
    """

    rule: str
    detail: Detail
    state: str


class NearMiss(NamedTuple):
    """A route that almost matches a call, with the difference. `meant` is a target that the route decides, if the call's
    target seems to be misspelt.

    `line` and `column` are the route's location in the policy.
    """

    route: str
    line: int
    column: int
    why: str
    meant: str | None


class Explanation(NamedTuple):
    """A decision and the steps that led to it.

    `missing_step` is the step that is missing for a denied call's scope: "not_declared", "not_requested", "both",
    "token_older", "token_kind" or "not_known"; None if no step is missing. `orbs_if_allowed` is what a denied call
    would consume if a user's token with the scope made it; None if no token may make it. `in_order` is the length of
    a malformed target's valid prefix in bytes. `rules` and `near` are empty for a decision by scope.
    """

    decision: Decision
    missing_step: str | None
    orbs_if_allowed: Charge | None
    in_order: int | None
    rules: Rows[TargetRule]
    near: Rows[NearMiss]


def explanation(found: dict[str, Any]) -> Explanation:
    """Converts the native module's result to named tuples."""
    rules = (TargetRule(f"P{number}", Detail(detail), state) for number, detail, state in found["rules"])
    near = (NearMiss(**row) for row in found["near"])
    return Explanation(**{**found, "rules": Rows(TargetRule, rules), "near": Rows(NearMiss, near)})
