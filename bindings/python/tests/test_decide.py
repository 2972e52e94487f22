"""One decision, and what can be done with it."""

from __future__ import annotations

import copy
import enum
import hashlib
import json
import pickle
from pathlib import Path
from typing import Any

import orbgate
import pytest
from orbgate import Charge, Decision, Detail, Effect, Policy, PolicyError, Reason, Token, TokenKind

RUN = ("POST", "/api/v1/external/voxies/prompt/run")
VOXIES = Token("user", "read:voxies write:voxies")

AMOUNTS = """
orbgate: 1
apis:
  shop:
    base_path: /v1
    scopes:
      write:orders:
        orbs: true
        routes:
          - POST /orders
          - route: POST /orders/express
            orbs: 9223372036854775807
      read:orders: { orbs: false, routes: [GET /orders] }
      read:later: { routes: [] }
"""


def decisions() -> list[Decision]:
    """One of each kind."""
    policy, amounts = Policy.external(), Policy.from_yaml(AMOUNTS)
    return [
        policy.decide(*RUN, VOXIES),
        policy.decide(*RUN, VOXIES, allow_bonus_orbs_use=True),
        policy.decide(*RUN, Token("user", "read:voxies")),
        policy.decide(*RUN),
        policy.decide(*RUN, Token("root", "write:voxies")),
        policy.decide("GET", *RUN[1:], VOXIES),
        policy.decide("POST", "/nowhere", VOXIES),
        policy.decide("POST", "/api//v1", VOXIES),
        policy.decide_scope("read:inference", Token("user", "read:inference")),
        policy.decide_scope("read:inference", Token("organisation", "read:inference")),
        amounts.decide("POST", "/v1/orders/express", Token("user", "write:orders"), allow_bonus_orbs_use=True),
        amounts.decide("GET", "/v1/orders", Token("user", "read:orders")),
        amounts.decide_scope("read:later", Token("user", "read:later")),
    ]


def test_a_decision_says_everything(policy: Policy) -> None:
    decision = policy.decide(*RUN, VOXIES, allow_bonus_orbs_use=True)
    assert decision.decision is Effect.ALLOW
    assert decision.reason is Reason.SCOPE_HELD
    assert (decision.detail, decision.status, decision.is_allow) == (None, None, True)
    assert decision.api == "external"
    assert decision.route == " ".join(RUN)
    assert decision.scope == "write:voxies"
    assert decision.orbs == Charge(True, None, True)
    assert decision.policy == policy.digest


def test_a_denial_is_an_answer(policy: Policy) -> None:
    decision = policy.decide("GET", "/api/v1/external/../keys", VOXIES)
    assert decision.decision is Effect.DENY
    assert decision.reason is Reason.MALFORMED_REQUEST
    assert decision.detail is Detail.DOT_SEGMENT
    assert (decision.status, decision.orbs, decision.route) == (400, None, None)


def test_a_decision_is_true_where_the_call_is_allowed(policy: Policy) -> None:
    assert policy.decide(*RUN, VOXIES)
    assert not policy.decide(*RUN, Token("user", ""))
    assert not policy.decide(*RUN)


def test_allowed_is_decide_without_why(policy: Policy) -> None:
    for token in (VOXIES, Token("user", "read:voxies"), None):
        assert policy.allowed(*RUN, token) is policy.decide(*RUN, token).is_allow


def test_bytes_and_text_are_one(policy: Policy) -> None:
    method, target = (part.encode() for part in RUN)
    assert policy.decide(method, target, Token("user", b"write:voxies")) == policy.decide(*RUN, VOXIES)
    assert policy.decide_scope(b"write:voxies", VOXIES) == policy.decide_scope("write:voxies", VOXIES)


@pytest.mark.parametrize("target", ["/api/v1/external/ä", "/\ud800", b"/\xff", "/\0", "/a b", ""])
def test_any_text_gets_an_answer(policy: Policy, target: str | bytes) -> None:
    decision = policy.decide("GET", target, VOXIES)
    assert decision.reason is Reason.MALFORMED_REQUEST
    assert policy.decide("G\udcffT", "/", VOXIES).detail is Detail.METHOD
    assert policy.decide_scope("\ud800", VOXIES).reason is Reason.NO_ROUTE


def test_other_types_are_refused(policy: Policy) -> None:
    ask: Any = policy.decide
    for arguments in [(1, "/"), ("GET", None), ("GET", "/", "write:voxies"), ("GET",), ("GET", "/", None, True)]:
        with pytest.raises(TypeError):
            ask(*arguments)
    make: Any = Token
    for arguments in [("user",), ("user", 1), ("user", None), ("user", ["a", 1]), (1, ""), ()]:
        with pytest.raises(TypeError):
            make(*arguments)


def test_scopes_come_as_text_or_one_by_one() -> None:
    assert Token("user", "a  b ").scopes == ("a", "b")
    assert Token("user", "a b") != Token("user", ["a", "b c"])
    mixed: list[str | bytes] = ["a", b"b"]
    assert Token("user", iter(mixed)).scopes == ("a", "b")
    policy = Policy.external()
    assert not policy.allowed(*RUN, Token("user", ["read:voxies write:voxies"])), "one scope, with a space in it"
    assert policy.allowed(*RUN, Token("user", {"read:voxies", "write:voxies"}))
    assert not policy.allowed(*RUN, Token("user", ["write", ":voxies"]))


def test_a_denial_declares_the_methods_of_its_path() -> None:
    policy, other = Policy.external(), Policy.from_yaml("orbgate: 1\napis: {}\n")
    voxie = "/api/v1/external/voxies/7"
    denied = policy.decide("PUT", voxie, Token("user", ""))
    assert policy.declared_methods(denied) == ["DELETE", "GET", "PATCH"]
    assert other.declared_methods(denied) == []
    for method, target in [("GET", voxie), ("GET", "/nowhere")]:
        assert policy.declared_methods(policy.decide(method, target, Token("user", ""))) == []
    with pytest.raises(TypeError):
        policy.declared_methods("405")  # type: ignore[arg-type]


def test_the_kind_is_a_member() -> None:
    assert Token("user", "").kind is TokenKind.USER
    assert Token(TokenKind.ORGANISATION, "").kind is TokenKind.ORGANISATION
    assert Token("User", "").kind is TokenKind.UNKNOWN


@pytest.mark.parametrize("members", [Effect, Reason, Detail, TokenKind])
def test_codes_are_members_of_real_enumerations(members: type[enum.Enum]) -> None:
    assert issubclass(members, enum.Enum) and issubclass(members, str)
    for member in members:
        assert member.name == member.value.upper()
        assert f"{member}" == str(member) == member.value == member
        assert json.dumps(member) == f'"{member.value}"'
        assert pickle.loads(pickle.dumps(member)) is copy.deepcopy(member) is member


def test_codes_are_those_of_the_engine() -> None:
    for codes in ([*Reason], [*Detail]):
        assert [code.number for code in codes] == list(range(1, len(codes) + 1))
    assert Reason.SCOPE_MISSING.status == 403 and Reason.SCOPE_HELD.status is None
    assert all(code.explanation for code in [*Reason, *Detail])


@pytest.mark.parametrize("decision", decisions(), ids=lambda decision: decision.reason)
def test_decisions_are_values(decision: Decision) -> None:
    names = {"Decision": Decision, "Charge": Charge}
    twins = [eval(repr(decision), names), copy.copy(decision), copy.deepcopy(decision)]
    twins += [pickle.loads(pickle.dumps(decision, protocol)) for protocol in range(6)]
    for twin in twins:
        assert twin == decision and hash(twin) == hash(decision) and repr(twin) == repr(decision)
        assert twin.to_dict() == decision.to_dict()
    assert sum(decision == other for other in decisions()) == 1
    assert decision != "scope_held"
    with pytest.raises(AttributeError):
        decision.reason = Reason.SCOPE_HELD  # type: ignore[misc]


@pytest.mark.parametrize("decision", decisions(), ids=lambda decision: decision.reason)
def test_html_shows_the_answer(decision: Decision) -> None:
    html = decision._repr_html_()
    assert decision.reason.explanation.replace("'", "&#x27;") in html and html.count("<table>") == 1
    for text in (decision.route, decision.scope, decision.policy):
        assert text is None or text in html


def test_a_decision_cannot_be_made_that_no_policy_makes() -> None:
    for arguments in [
        {"reason": "allowed"},
        {"reason": "no_route", "detail": "byte"},
        {"reason": "malformed_request"},
        {"reason": "malformed_request", "detail": "bytes"},
        {"reason": "scope_missing", "orbs": Charge(False, 0)},
    ]:
        with pytest.raises(ValueError):
            Decision(policy="sha256:0", **arguments)  # type: ignore[arg-type]


def test_a_decision_can_be_matched(policy: Policy) -> None:
    match policy.decide(*RUN):
        case Decision(Effect.DENY, Reason.NO_TOKEN):
            pass
        case other:
            raise AssertionError(other)


def test_the_dictionary_is_the_json_of_the_command(policy: Policy, root: Path) -> None:
    document = (root / "crates/orbgate/README.md").read_text(encoding="utf-8")
    example = next(line for line in document.splitlines() if line.startswith('{"decision"'))
    token = Token("user", "write:voxies")
    decision = policy.decide("POST", "/api/v1/external/voxies", token, allow_bonus_orbs_use=True)
    assert json.loads(example) == {**decision.to_dict(), "policy": "sha256:…"}
    assert list(json.loads(example)) == list(decision.to_dict())


def test_policies_are_values() -> None:
    policy, other = Policy.from_yaml(AMOUNTS), Policy.from_yaml(AMOUNTS.encode())
    assert policy == other and hash(policy) == hash(other)
    assert policy != Policy.external() and policy != "sha256"
    assert Policy.external() == Policy.external()
    assert (policy.name, policy.target, policy.headings) == (None, "strict", [])
    assert Policy.external().headings == ["Sessions", "Organisations"]
    assert "37 routes" in repr(Policy.external())


@pytest.mark.parametrize("token", [None, Token("service", ""), Token("user", "")])
def test_a_decision_says_what_it_is_about(token: Token | None) -> None:
    decision = Policy.external().decide("GET", "/api/v1/external/voxies/7", token)
    assert decision.about == "GET /api/v1/external/voxies/{voxieId}"
    assert decision.route == (decision.about if decision.reason == "scope_missing" else None)
    twin = pickle.loads(pickle.dumps(decision))
    assert twin.about == decision.about and twin == decision
    assert "about" not in decision.to_dict()
    assert Policy.external().decide("TRACE", "/api/v1/external/voxies/7", token).about is None


def test_a_pickle_of_another_built_in_policy_is_refused() -> None:
    from orbgate._policy import _restore

    with pytest.raises(orbgate.OrbgateError, match="the pickled policy has the digest"):
        _restore(Policy, None, "sha256:0")


def test_a_policy_knows_whether_its_text_had_an_end() -> None:
    text = "orbgate: 1\napis: {}\n"
    assert not Policy.from_yaml(text).has_end_marker
    assert Policy.from_yaml(text + "...\n").has_end_marker and Policy.external().has_end_marker


def test_a_policy_knows_whether_its_text_was_sealed() -> None:
    text = "orbgate: 1\napis: {}\n"
    seal = f"... # sha256:{hashlib.sha256(text.encode()).hexdigest()}\n"
    assert Policy.from_yaml(text + seal).is_sealed and Policy.external().is_sealed
    assert not Policy.from_yaml(text + "...\n").is_sealed
    with pytest.raises(PolicyError, match="3:5: the seal"):
        Policy.from_yaml(text.replace("{}", "{ }") + seal)


def test_the_examples_of_the_core_hold_here(root: Path) -> None:
    """The specification's own table, read from the repository, is the built-in one."""
    assert Policy.from_file(root / "policy" / "external.yaml") == Policy.external()
