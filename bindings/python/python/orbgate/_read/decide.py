"""Decisions for the batches of a log, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._extras import needs
from .._native import Decision, PublicRoutes, Token
from .._policy import Policy
from .._terms import Effect, Reason

# These columns determine all others. Only denials have a status.
KEY = ("reason", "detail", "route", "scope", "about", "bonus_allowed")
FOLLOWERS = ("status", "consumes", "amount")
# The most different questions in the cache.
MOST = 10_000


class Decider:
    """Decides the exact batches of a reader. Calls to public routes are allowed, and their `about` is the route.

    Raises `ValueError` for a public route that can't be one under this policy.
    """

    def __init__(self, policy: Policy, public: Sequence[str] = ()) -> None:
        self.policy = policy
        self._public = PublicRoutes(public) if public else None
        self._public_calls: dict[tuple[bytes, bytes], str | None] = {}
        if self._public is not None:
            self._public.check(policy)
        self._pa = needs("pyarrow", "logs")
        self._pc = needs("pyarrow.compute", "logs")
        self._scopes: dict[tuple[Any, ...], dict[str, Any]] = {}

    def decide(self, batch: Any) -> Any:
        """The columns of `Policy.decide_table`. Unreadable rows have no decision."""
        decided = self.policy.decide_table(batch).to_pyarrow().combine_chunks()
        unread = batch.num_rows - batch.column("error").null_count
        by_scope = batch.num_rows - batch.column("by_scope").null_count
        if by_scope:
            decided = self._by_scope(batch, decided)
        if self._public is not None:
            decided = self._without_token(self._public, batch, decided)
        if unread:
            locations = self._pc.if_else(self._pc.is_null(batch["error"]), _locations(self._pc, batch), None)
            digest = decided["policy"]
            decided = decided.take(locations).set_column(decided.column_names.index("policy"), "policy", digest)
        return decided

    def plain(self, decided: Any) -> Any:
        """The columns without dictionary encoding, so that their types are the same for every policy."""
        types = self._pa.types
        columns = [
            column.cast(self._pa.string()) if types.is_dictionary(column.type) else column for column in decided.columns
        ]
        return self._pa.table(columns, names=decided.column_names)

    def _by_scope(self, batch: Any, decided: Any) -> Any:
        """Inserts the decisions by scope in their rows."""
        pa, pc = self._pa, self._pc
        decided = self.plain(decided)
        questions = batch.filter(pc.is_valid(batch["by_scope"]))
        columns = ("by_scope", "kind", "scopes", "allow_bonus_orbs_use")
        answers = [self._scope(*question) for question in zip(*(questions[name].to_pylist() for name in columns))]
        answers_table = pa.Table.from_pylist(answers, schema=decided.schema)
        # The answers are appended after the other rows, in the order of their rows.
        is_asked = pc.is_valid(batch["by_scope"])
        behind = pc.add(pc.cumulative_sum(is_asked.cast(pa.int64())), batch.num_rows - 1)
        locations = pc.if_else(is_asked, behind, _locations(pc, batch))
        return pa.concat_tables([decided, answers_table]).take(locations).combine_chunks()

    def _without_token(self, public: PublicRoutes, batch: Any, decided: Any) -> Any:
        """Allows the calls that need no token."""
        pa, pc = self._pa, self._pc
        decided = self.plain(decided)
        # A route of the policy isn't public, and a malformed call is denied first.
        is_route = pc.or_(pc.is_valid(decided["route"]), pc.is_valid(decided["about"]))
        has_path = pc.and_(pc.is_valid(batch["target"]), pc.is_valid(batch["method"]))
        is_asked = pc.and_not(has_path, pc.or_(is_route, pc.equal(decided["reason"], Reason.MALFORMED_REQUEST.value)))
        rows = pc.indices_nonzero(is_asked.combine_chunks())
        calls = zip(*(batch[name].take(rows).to_pylist() for name in ("method", "target")))
        routes = {row: route for row, route in zip(rows.to_pylist(), (self._public_route(public, *call) for call in calls)) if route is not None}
        if not routes:
            return decided
        allowed = {"decision": Effect.ALLOW.value, "reason": Reason.PUBLIC_ROUTE.value, "policy": self.policy.digest}
        allows = pa.Table.from_pylist([{**allowed, "about": route} for route in routes.values()], schema=decided.schema)
        behind = dict(zip(routes, range(batch.num_rows, batch.num_rows + len(routes))))
        locations = pa.array([behind.get(row, row) for row in range(batch.num_rows)], pa.int64())
        return pa.concat_tables([decided, allows]).take(locations).combine_chunks()

    def _public_route(self, public: PublicRoutes, method: bytes, target: bytes) -> str | None:
        if (method, target) not in self._public_calls:
            if len(self._public_calls) >= MOST:
                self._public_calls.clear()
            self._public_calls[method, target] = public.route(self.policy, method, target)
        return self._public_calls[method, target]

    def _scope(self, scope: bytes, kind: bytes | None, scopes: bytes | None, bonus: bool) -> dict[str, Any]:
        question = (scope, kind, scopes, bonus)
        if question not in self._scopes:
            token = None if kind is None else Token(kind.decode("utf-8", "replace"), scopes or b"")
            decision = self.policy.decide_scope(scope, token, allow_bonus_orbs_use=bonus)
            if len(self._scopes) >= MOST:
                self._scopes.clear()
            self._scopes[question] = row_of(decision)
        return self._scopes[question]


def row_of(decision: Decision) -> dict[str, Any]:
    """A decision as a row of `Policy.decide_table`."""
    row = decision.to_dict()
    orbs = row.pop("orbs") or dict.fromkeys(("consumes", "amount", "bonus_allowed"))
    # A table's `scopes` are the token's. A decision by scope has no alternatives.
    return {**row, **orbs, "about": decision.about, "needs": None}


def _locations(pc: Any, batch: Any) -> Any:
    return pc.subtract(batch["row"], batch["row"][0])
