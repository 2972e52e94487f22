"""Routes that need any of several scopes, or several at once: in decisions, tables, the audit and the report."""

from __future__ import annotations

import json
import pickle
import random
from collections import Counter
from datetime import datetime, timedelta, timezone
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
    made_up = []
    for _ in range(count):
        route = choose.choice(POLICY.routes())
        scopes = [*choose.choice(route.scopes), *choose.sample(SCOPES, choose.randrange(4))]
        choose.shuffle(scopes)
        target = route.template.replace("{id}", "7")
        kept = " ".join(scopes[choose.randrange(2) :])
        made_up.append({"method": route.method, "target": target, "kind": choose.choice(["user", "user", "organisation", None]), "scopes": kept, "caller": f"app {choose.randrange(150)}"})
    return made_up


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


def test_tables_and_reach_list_the_alternatives() -> None:
    rows = {(row.method, row.template): row.scopes for row in POLICY.table() if row.method}
    assert rows == {(route.method, route.template): route.scopes for route in POLICY.routes()} and ORDERS in rows.values()
    admin = POLICY.reach(Token("user", "admin"))
    assert [row.scopes for row in admin if row.route == "GET /r/orders"] == [ORDERS]
    by_scope = POLICY.reach(Token("user", "root")).where(lambda row: row.route is None)
    assert [row.scopes for row in by_scope] == [(("root",),)]
    assert POLICY.table()[:1].to_markdown(["scopes"]).endswith("| read:orders, admin, audit:logs read:logs |")
    assert POLICY.table().to_pyarrow()["scopes"].to_pylist()[0] == [list(scopes) for scopes in ORDERS]


def test_a_table_has_the_alternatives_of_each_decision() -> None:
    decided = POLICY.decide_table(TABLE)
    needs = decided.to_pyarrow()["needs"].to_pylist()
    counts: Counter[bool] = Counter()
    for row, text, decision in zip(ROWS, needs, decided):
        token = None if row["kind"] is None else Token(row["kind"], row["scopes"])
        expected = POLICY.decide(row["method"], row["target"], token)
        assert decision == expected and (text and json.loads(text)) == expected.to_dict().get("scopes")
        counts[text is None] += 1
    assert min(counts.values()) > 100 and len(counts) == 2
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


def lacks(row: dict[str, Any]) -> tuple[str, set[str]] | None:
    """The route of a denied call, and the scopes of its owner's alternative that the token lacks."""
    decision = row["kind"] and POLICY.decide(row["method"], row["target"], Token(row["kind"], row["scopes"]))
    if not isinstance(decision, Decision) or decision.reason != "scope_missing" or decision.scope is None:
        return None
    return decision.route or "", set((decision.scopes or ((decision.scope,),))[0]) - set(row["scopes"].split())


def test_the_report_names_the_scopes_that_tokens_lacked() -> None:
    calls: Counter[str] = Counter()
    routes: dict[str, Counter[str]] = {}
    by_caller: dict[tuple[str, str], set[str]] = {}
    denied = 0
    for row in ROWS:
        if lacked := lacks(row):
            route, scopes = lacked
            denied += 1
            for scope in scopes:
                calls[scope] += 1
                routes.setdefault(scope, Counter())[route] += 1
            by_caller.setdefault((row["caller"], POLICY.route_of(row["method"], row["target"]).scope), set()).update(scopes)
    made = report(TABLE, POLICY)
    missing = made.figures.scopes.missing
    assert {row.scope: row.calls for row in missing} == calls and sum(calls.values()) > denied > 100
    assert all(set(row.routes) == set(routes[row.scope]) and sorted(row.routes, key=lambda route: (-routes[row.scope][route], route)) == list(row.routes) for row in missing)
    groups = made.figures.denials.groups.where(lambda row: row.pattern == "missing scope")
    assert {(row.caller, row.scope): set(row.lacked) for row in groups} == by_caller
    assert any(row.scope not in row.lacked for row in groups) and any(len(row.lacked) > 1 for row in groups)
    assert f"{denied:,} calls were denied only because a scope was missing, {len(calls)} scopes in total." in made.html


def test_a_failing_client_lacks_what_it_is_told_to_ask_for() -> None:
    """The owner of the route was named, although the token has it."""
    rows = [{"method": "POST", "target": "/r/orders/export", "kind": "user", "scopes": f"read:orders{'' if at > 100 else ' export:data'}", "caller": "exporter", "time": f"2026-01-01T{at // 60:02}:{at % 60:02}:00Z"} for at in range(300)]
    made = report(pa.Table.from_pylist(rows), POLICY)
    [group] = made.figures.denials.groups
    assert (group.scope, group.lacked, group.looks_like) == ("read:orders", ("export:data",), "misconfigured client")
    assert group.caller_carried == 101 and "lack export:data" in made.html


def test_the_audit_keeps_what_alternatives_need() -> None:
    privileges = audit.privileges(TABLE, POLICY)
    uses = POLICY.scope_usage(VALID, by="caller")
    for row in privileges.rows:
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
    assert len(privileges.rows) == 150 and any(row.unused for row in privileges.rows)


def test_scopes_that_must_be_earned_are_not_grants() -> None:
    policy = Policy.from_file(Path(__file__).resolve().parents[3] / "policy" / "cases" / "policies" / "derive.yaml")
    row = {"kind": "user", "caller": "app", "method": "GET"}
    log = [
        {**row, "target": "/d/me", "scopes": "earned:any-token earned:admin read:level"},
        {**row, "target": "/d/keys", "scopes": "read:users earned:admin earned:unknown"},
        {**row, "target": "/d/level", "scopes": "read:users"},
        {**row, "target": "/d/levels", "scopes": "earned:level"},
    ]
    made = report(pa.Table.from_pylist(log), policy).figures
    assert {(use.scope, use.granted, use.used) for use in made.scopes.granted} == {("read:users", 2, 1), ("read:level", 1, 0)}
    assert {(use.scope, use.granted, use.used) for use in made.scopes.by_caller} == {("read:users", 2, 1), ("read:level", 1, 0)}
    assert [use.scope for use in made.unused] == ["read:level"] and not made.unknown.scopes
    # A denial needs its cause nevertheless.
    assert {row.scope for row in made.scopes.missing} == {"read:level", "earned:admin", "earned:level"}


def test_a_login_that_is_too_old_is_no_invalid_token_and_no_lost_scope() -> None:
    """A gate answers 401 to a valid token, which may have no scopes at all, if the route wants a newer login."""
    policy = Policy.from_file(Path(__file__).resolve().parents[3] / "policy" / "cases" / "policies" / "derive.yaml")
    start = datetime(2026, 11, 2, tzinfo=timezone.utc)
    log = [
        {"time": start + timedelta(minutes=at), "kind": "user", "caller": f"user-{at % 6}", "method": method, "target": target, "scopes": scopes, "status": status}
        for at in range(480)
        for method, target, scopes, status in (
            ("GET", "/d/me", "earned:any-token", 200),
            # The login gets old after the first half.
            ("POST", "/d/transfers", "earned:verified", 200) if at < 240 else ("POST", "/d/transfers", "", 401),
            ("GET", "/d/keys", "read:users earned:admin", 200) if at < 240 else ("GET", "/d/keys", "read:users", 403),
        )
    ]
    figures = report(pa.Table.from_pylist(log), policy, columns={"served_status": "status"}).figures
    outcomes = {row.outcome for row in figures.denials.failures}
    assert "insufficient_user_authentication" in outcomes and not outcomes & {"invalid_token", "no_token"}
    assert not {row.kind for row in figures.findings} & {"lost_scope", "guesses", "unequal_answers"}
    assert any("came with an older or weaker login than their route wants since 2026-11-02 04:00" in row.sentence for row in figures.findings)
