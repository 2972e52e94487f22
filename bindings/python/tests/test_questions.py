"""Questions about a policy, each by brute force over `decide` once more: Rust's property tests do it over random policies."""

from __future__ import annotations

import itertools
import pickle

import orbgate
import pytest
from orbgate import NoRouteError, Policy, TableError, Token

POLICIES = {
    "external": Policy.external(),
    "organisation": Policy.from_yaml(
        """
orbgate: 1
name: two kinds
apis:
  chat:
    base_path: /v1
    token: user
    organisation: allow_without_scope
    scopes:
      read:chat: { orbs: 3, routes: [GET /chats, "GET /chats/{id}"] }
      write:chat: { orbs: true, permits: "writes | talks", routes: [] }
  work:
    base_path: ""
    token: user
    organisation: deny
    scopes:
      read:work: { orbs: false, routes: [GET /work] }
"""
    ),
}


@pytest.fixture(params=POLICIES, scope="module")
def policy(request: pytest.FixtureRequest) -> Policy:
    return POLICIES[request.param]


def calls(policy: Policy) -> list[tuple[str, str]]:
    """A call to every route, and some that reach none."""
    segments = (route.template.split("/") for route in policy.routes())
    targets = ["/".join("7" if part.startswith("{") else part for part in parts) for parts in segments]
    known = zip((route.method for route in policy.routes()), targets)
    return [*known, ("PUT", targets[0]), ("GET", "/nowhere"), ("GET", "//")]


def tokens(policy: Policy) -> dict[str, Token]:
    scopes = [scope.scope for scope in policy.scopes()]
    texts = ["", " ".join(scopes), *scopes]
    kinds = ("user", "organisation", "unknown")
    return {f"{kind}: {text}": Token(kind, text) for kind, text in itertools.product(kinds, texts)}


def test_the_route_of_a_target(policy: Policy) -> None:
    everything = Token("user", [scope.scope for scope in policy.scopes()])
    for method, target in calls(policy):
        decision = policy.decide(method, target, everything)
        if decision:
            route = policy.route_of(method, target)
            assert (str(route), route.scope, route.api) == (decision.route, decision.scope, decision.api)
            assert decision.orbs is not None
            assert (route.consumes, route.amount) == (decision.orbs.consumes, decision.orbs.amount)
        else:
            with pytest.raises(NoRouteError) as caught:
                policy.route_of(method, target)
            assert caught.value.decision == decision


def test_the_routes_of_a_scope(policy: Policy) -> None:
    for scope in policy.scopes():
        token = Token("user", scope.scope)
        opened = [policy.decide(*call, token).route for call in calls(policy) if policy.allowed(*call, token)]
        assert sorted(map(str, policy.routes(scope.scope))) == sorted(map(str, opened))
        assert scope.routes == tuple(map(str, policy.routes(scope.scope)))


def test_everything_that_a_token_may_call(policy: Policy) -> None:
    for token in tokens(policy).values():
        reach = policy.reach(token)
        by_scope = [policy.decide_scope(scope.scope, token) for scope in policy.scopes() if not scope.routes]
        decisions = [policy.decide(*call, token) for call in calls(policy)] + by_scope
        expected = {
            (d.route, d.scope, d.scopes or ((d.scope,),), d.api, d.reason, d.orbs and d.orbs.consumes, d.orbs and d.orbs.amount)
            for d in decisions
            if d
        }
        assert set(reach) == expected and len(reach) == len(expected)


@pytest.mark.parametrize("kind", ["user", "organisation", "unknown"])
def test_the_least_set_of_scopes(policy: Policy, kind: str) -> None:
    log = calls(policy) * 2
    least = policy.least_scopes(log, kind)
    everything = Token(kind, [scope.scope for scope in policy.scopes()])
    enough = Token(kind, least.scope)
    assert [policy.allowed(*call, enough) for call in log] == [policy.allowed(*call, everything) for call in log]
    for need in least.needs:
        fewer = Token(kind, [other.scope for other in least.needs if other != need])
        lost = [call for call in log if policy.allowed(*call, enough) and not policy.allowed(*call, fewer)]
        assert (lost[0], len(lost)) == ((need.method, need.target), need.calls)
    refused = [call for call in log if not policy.allowed(*call, everything)]
    # Grouped by their denials, each with the first of its calls.
    grouped: dict[object, list[tuple[str, str]]] = {}
    for call in refused:
        grouped.setdefault(policy.decide(*call, Token(kind, "")), []).append(call)
    assert list(least.refusals) == [(*alike[0], denial, len(alike)) for denial, alike in grouped.items()]
    assert sum(refusal.calls for refusal in least.refusals) == len(refused) > len(least.refusals)


def test_scopes_that_a_token_earns_are_apart() -> None:
    pa = pytest.importorskip("pyarrow")
    policy = Policy.from_yaml(
        "orbgate: 1\napis: { a: { base_path: '', scopes: { write: { orbs: false, and: 'earned:new', routes: [PUT /me] }, "
        "'earned:new': { orbs: false, routes: [GET /me] } } } }\n"
    )
    asked = [("PUT", "/me"), ("GET", "/me")]
    least = policy.least_scopes(asked)
    assert (least.scope, [tuple(need) for need in least.earned]) == ("write", [("earned:new", "PUT", "/me", 2)])
    table = pa.table({"method": [method for method, _ in asked], "target": [target for _, target in asked]})
    assert policy.least_scopes(table, "user") == least
    assert policy.explain("GET", "/me", Token("user", "write")).missing_step == "not_earned"


def test_calls_may_be_bytes(policy: Policy) -> None:
    in_bytes = [(method.encode(), target.encode()) for method, target in calls(policy)] + [(b"GET", b"/\xff")]
    least = policy.least_scopes(in_bytes)
    assert least.needs == policy.least_scopes(calls(policy)).needs
    assert [row.target for row in policy.least_scopes(in_bytes[-1:]).refusals] == ["/\\xff"] and least.refusals[0].method == "PUT"


def test_scopes_that_are_granted_and_never_used(policy: Policy) -> None:
    log = [
        (*call, kind, scopes, times)
        for times, (call, kind, scopes) in enumerate(
            itertools.product(calls(policy), ("user", "organisation"), ("read:voxies read:work", "read:chat extra"))
        )
    ]
    expected: dict[str, list[int]] = {}
    for method, target, kind, scopes, times in log:
        decision = policy.decide(method, target, Token(kind, scopes))
        for scope in scopes.split():
            counts = expected.setdefault(scope, [0, 0])
            counts[0] += times
            counts[1] += times if decision.scope == scope and decision.reason == "scope_held" else 0
    usage = policy.scope_usage(log)
    assert {use.scope: [use.granted, use.used] for use in usage} == expected
    known = {scope.scope for scope in policy.scopes()}
    assert all(use.in_policy == (use.scope in known) for use in usage)
    assert policy.scope_usage(call[:4] for call in log)[0].granted == len(log) / 2
    # A token of another kind is refused, so it was granted nothing.
    refused = [("GET", "/api/v1/external/orbs", kind, "read:orbs extra") for kind in ("service", "unknown", "")]
    assert not policy.scope_usage(refused)


def test_who_may_call(policy: Policy) -> None:
    people = tokens(policy)
    for method, target in calls(policy):
        expected = {name: policy.decide(method, target, token) for name, token in people.items()}
        allowed = policy.who_may(method, target, people)
        assert allowed == {name: decision for name, decision in expected.items() if decision}


def test_the_table(policy: Policy) -> None:
    table = policy.table()
    routes = [f"{row.method} {row.template}" for row in table if row.method]
    assert routes == [str(route) for route in policy.routes()]
    assert [row.scopes for row in table if row.method] == [route.scopes for route in policy.routes()]
    assert all(row.scopes == ((row.scope,),) for row in table if not row.method)
    assert {row.scope for row in table} == {scope.scope for scope in policy.scopes()}
    assert table.to_dicts()[0] == table[0]._asdict()

    assert pickle.loads(pickle.dumps(table)) == table
    assert pickle.loads(pickle.dumps(table)).columns == table.columns


def test_tables_print() -> None:
    markdown = POLICIES["organisation"].table().to_markdown(["scope", "permits", "consumes", "amount"])
    assert markdown.splitlines() == [
        "| scope | permits | consumes | amount |",
        "|---|---|---|---|",
        "| read:chat |  | yes | 3 |",
        "| read:chat |  | yes | 3 |",
        "| write:chat | writes \\| talks | yes |  |",
        "| read:work |  | no | 0 |",
    ]
    html = POLICIES["organisation"].table()._repr_html_()
    assert html.count("<tr>") == 5 and "writes | talks" in html
    assert "&lt;b&gt;" in Policy.external().scope_usage([("GET", "/", "user", "<b>")])._repr_html_()


def test_tables_become_data_frames(policy: Policy) -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    table = policy.table()
    frame = table.to_polars()
    assert isinstance(frame, polars.DataFrame) and frame.columns == list(table.columns)
    assert [(*row[:2], tuple(map(tuple, row[2])), *row[3:]) for row in frame.rows()] == table
    other = table.to_pandas()
    assert isinstance(other, pandas.DataFrame) and list(other.columns) == list(table.columns)
    assert list(other["scope"]) == [row.scope for row in table]


def test_parts_of_tables_are_tables() -> None:
    routes = Policy.external().routes()
    for part in (routes[:3], routes.sorted(key=str), routes.where(lambda route: route.consumes), routes.copy()):
        assert type(part) is type(routes) and part.columns == routes.columns and part.to_markdown()
    assert routes[:3] == list(routes)[:3] and routes.sorted(key=str, reverse=True) == sorted(routes, key=str, reverse=True)
    assert routes[0] == list(routes)[0]


def test_tables_show_their_first_rows() -> None:
    """At a prompt, the table of a policy with 1,220 routes once had 211,797 characters."""
    scopes = "".join(f"s{at}: {{orbs: false, routes: ['GET /{at}']}}, " for at in range(1_220))
    policy = Policy.from_yaml(f"{{orbgate: 1, apis: {{a: {{base_path: '', scopes: {{{scopes}}}}}}}}}")
    routes = policy.routes()
    assert len(repr(routes)) < 2_000 and repr(routes).endswith("… and 1,210 more]")
    assert eval(repr(routes[:2]), {"Route": type(routes[0])}) == routes[:2]
    html = policy._repr_html_()
    assert html.count("<tr>") == 61 and html.endswith("<p>and 1,160 more rows</p>")
    assert routes.to_html().count("<tr>") == 1_221


def test_a_call_without_a_kind_has_no_token_in_every_answer() -> None:
    """Two answers to one table once differed: `no_token`, and `invalid_token`."""
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"method": ["GET"], "target": ["/api/v1/external/orbs"], "kind": pa.array([None], pa.string()), "scopes": ["read:orbs"]})
    for data in (table, table.set_column(2, "kind", pa.nulls(1))):
        [decision] = Policy.external().decide_table(data).to_pyarrow()["reason"].to_pylist()
        [refusal] = Policy.external().least_scopes(data).refusals
        assert decision == refusal.decision.reason == "no_token"


def test_a_column_of_a_type_that_nobody_knows_is_named() -> None:
    polars = pytest.importorskip("polars")
    who = polars.Series("who", [1], dtype=polars.Int128)
    frame = polars.DataFrame({"method": ["GET"], "target": ["/"], "kind": ["user"], "scopes": [""], "who": who})
    with pytest.raises(TableError, match="^column `who` .* `_pli128`$"):
        Policy.external().scope_usage(frame, by="who")
