"""Decisions for the batches of a log, row by row."""

from __future__ import annotations

from typing import Any

from .._extras import needs
from .._native import Decision, Token
from .._policy import Policy

# From these follow all the others. Denials, and only they, have a status.
KEY = ("reason", "detail", "route", "scope", "about", "bonus_allowed")
FOLLOWERS = ("status", "consumes", "amount")


class Decider:
    """Decides the exact batches of a reader."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._pa = needs("pyarrow", "logs")
        self._pc = needs("pyarrow.compute", "logs")
        self._scopes: dict[tuple[Any, ...], dict[str, Any]] = {}

    def decide(self, batch: Any) -> Any:
        """The columns of `Policy.decide_table`; a row that could not be read has no decision."""
        decided = self.policy.decide_table(batch).to_pyarrow().combine_chunks()
        unread = batch.num_rows - batch.column("error").null_count
        by_scope = batch.num_rows - batch.column("by_scope").null_count
        if by_scope:
            decided = self._by_scope(batch, decided)
        if unread:
            places = self._pc.if_else(self._pc.is_null(batch["error"]), _places(self._pc, batch), None)
            digest = decided["policy"]
            decided = decided.take(places).set_column(decided.column_names.index("policy"), "policy", digest)
        return decided

    def plain(self, decided: Any) -> Any:
        """The columns without dictionaries, the same for every policy."""
        types = self._pa.types
        columns = [
            column.cast(self._pa.string()) if types.is_dictionary(column.type) else column for column in decided.columns
        ]
        return self._pa.table(columns, names=decided.column_names)

    def _by_scope(self, batch: Any, decided: Any) -> Any:
        """Puts the decisions of the requests that ask by scope in their rows."""
        pa, pc = self._pa, self._pc
        decided = self.plain(decided)
        asked = batch.filter(pc.is_valid(batch["by_scope"]))
        columns = ("by_scope", "kind", "scopes", "allow_bonus_orbs_use")
        answers = [self._scope(*question) for question in zip(*(asked[name].to_pylist() for name in columns))]
        answers_table = pa.Table.from_pylist(answers, schema=decided.schema)
        # The answers come after the other rows, in the order of their own rows.
        is_asked = pc.is_valid(batch["by_scope"])
        behind = pc.add(pc.cumulative_sum(is_asked.cast(pa.int64())), batch.num_rows - 1)
        places = pc.if_else(is_asked, behind, _places(pc, batch))
        return pa.concat_tables([decided, answers_table]).take(places).combine_chunks()

    def _scope(self, scope: bytes, kind: bytes | None, scopes: bytes | None, bonus: bool) -> dict[str, Any]:
        question = (scope, kind, scopes, bonus)
        if question not in self._scopes:
            token = None if kind is None else Token(kind.decode("utf-8", "replace"), scopes or b"")
            decision = self.policy.decide_scope(scope, token, allow_bonus_orbs_use=bonus)
            if len(self._scopes) >= 10_000:
                self._scopes.clear()
            self._scopes[question] = row_of(decision)
        return self._scopes[question]


def row_of(decision: Decision) -> dict[str, Any]:
    """A decision as a row of `Policy.decide_table`."""
    row = decision.to_dict()
    orbs = row.pop("orbs") or dict.fromkeys(("consumes", "amount", "bonus_allowed"))
    return {**row, **orbs, "about": decision.about}


def _places(pc: Any, batch: Any) -> Any:
    return pc.subtract(batch["row"], batch["row"][0])
