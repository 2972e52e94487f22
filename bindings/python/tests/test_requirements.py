"""Routes that need any of several scopes, or several at once: in decisions, tables, the audit and the report."""

from __future__ import annotations

import json
import pickle
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from orbgate import Charge, Decision, Policy, Token, audit, report

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

POLICY = Policy.from_file(Path(__file__).resolve().parents[3] / "policy" / "cases" / "policies" / "requirements.yaml")
SCOPES = [scope.scope for scope in POLICY.scopes()]
ORDERS = (("read:orders",), ("admin",), ("audit:logs", "read:logs"))


def calls(count: int, seed: int) -> list[dict[str, Any]]:
    """Calls of all routes with tokens of each alternative, or nearly, and other scopes."""
    choose = random.Random(seed)
    found = []
    for _ in range(count):
        route = choose.choice(POLICY.routes())
        scopes = [*choose.choice(route.scopes), *choose.sample(SCOPES, choose.randrange(4))]
        choose.shuffle(scopes)
        target = route.template.replace("{id}", "7")
        kept = " ".join(scopes[choose.randrange(2) :])
        found.append({"method": route.method, "target": target, "kind": choose.choice(["user", "user", "organisation", None]), "scopes": kept, "caller": f"app {choose.randrange(150)}"})
    return found


ROWS = calls(3_000, 57)
TABLE = pa.Table.from_pylist(ROWS)
VALID = pa.Table.from_pylist([row for row in ROWS if row["kind"] is not None])


def test_routes_and_decisions_list_the_alternatives() -> None:
    route = POLICY.route_of("GET", "/r/orders")
    assert (route.scope, route.scopes) == ("read:orders", ORDERS)
    assert POLICY.route_of("GET", "/r/orders/7/own").scopes == (("read:orders",),)
    for scopes in ("admin", ""):
        decision = POLICY.decide("GET", "/r/orders", Token("user", scopes))
        assert (decision.scope, decision.scopes) == ("read:orders", ORDERS)
        assert json.loads(json.dumps(decision.to_dict()))["scopes"] == [list(scopes) for scopes in ORDERS]
        copies = eval(repr(decision), {"Decision": Decision, "Charge": Charge}), pickle.loads(pickle.dumps(decision))
        assert all(copy == decision and hash(copy) == hash(decision) and copy.scopes == ORDERS for copy in copies)
        assert decision != Decision(decision.reason, decision.policy, scope="read:orders", scopes=ORDERS[:2])
    alone = Token("user", "read:orders")
    for decision in (
        POLICY.decide("GET", "/r/orders"), POLICY.decide("PUT", "/r/orders", alone),
        POLICY.decide_scope("read:orders", alone), POLICY.decide("GET", "/r/orders/7/own", alone),
    ):  # fmt: skip
        assert decision.scopes is None and "scopes" not in decision.to_dict()


def test_a_table_has_the_alternatives_of_each_decision() -> None:
    decided = POLICY.decide_table(TABLE)
    needs = decided.to_pyarrow()["needs"].to_pylist()
    found: Counter[bool] = Counter()
    for row, text, decision in zip(ROWS, needs, decided):
        token = None if row["kind"] is None else Token(row["kind"], row["scopes"])
        expected = POLICY.decide(row["method"], row["target"], token)
        assert decision == expected and (text and json.loads(text)) == expected.to_dict().get("scopes")
        found[text is None] += 1
    assert min(found.values()) > 100 and len(found) == 2
    assert pickle.loads(pickle.dumps(decided))[:9].to_pyarrow() == decided[:9].to_pyarrow()


def held(row: dict[str, Any]) -> list[tuple[str, ...]]:
    """The alternatives that a row's token has whole."""
    return [scopes for scopes in POLICY.route_of(row["method"], row["target"]).scopes if set(scopes) <= set(row["scopes"].split())]


def test_the_report_counts_what_calls_used_and_needed() -> None:
    used: Counter[str] = Counter()
    needed: Counter[str] = Counter()
    for row in ROWS:
        decision = row["kind"] and POLICY.decide(row["method"], row["target"], Token(row["kind"], row["scopes"]))
        if decision and decision.reason == "scope_held":
            whole = held(row)
            used.update(set().union(*whole))
            needed.update(set(whole[0]).intersection(*whole))
    assert used != needed and min(used.values()) > 0
    granted = report(TABLE, POLICY).figures.scopes.granted
    assert {use.scope: (use.used, use.needed) for use in granted} == {scope: (used[scope], needed[scope]) for scope in (use.scope for use in granted)}
    assert {use.scope: use for use in granted} == {use.scope: use for use in POLICY.scope_usage(VALID)}


def test_the_audit_keeps_what_alternatives_need() -> None:
    found = audit.privileges(TABLE, POLICY)
    uses = POLICY.scope_usage(VALID, by="caller")
    for row in found.rows:
        assert set(row.used) == {use.scope for use in uses if use.by == row.caller and use.used}
        lacking: set[str] = set()
        for call in ROWS:
            if call["caller"] == row.caller and call["kind"] is not None:
                before = POLICY.decide(call["method"], call["target"], Token(call["kind"], call["scopes"]))
                kept = set(call["scopes"].split()) & set(row.used)
                assert bool(before) == bool(POLICY.decide(call["method"], call["target"], Token(call["kind"], kept)))
                if before.reason == "scope_missing":
                    lacking |= set((before.scopes or ((before.scope or "",),))[0]) - set(call["scopes"].split())
        assert set(row.missing) == lacking
    assert len(found.rows) == 150 and any(row.unused for row in found.rows)
