"""Answers about a policy before it is active: those of `orbgate diff`, `lint`, `fmt`, `test`, `explain` and `openapi`."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orbgate
import pytest
from orbgate import NoPropertyError, Policy, PolicyError, PropertyError, PropertyWarning, Token, TokenKind, openapi

SHOP = """\
orbgate: 1
apis:
  shop:
    base_path: /v1
    scopes:
      read:items:
        orbs: false
        routes: [GET /items, 'GET /items/{id}']
      write:items:
        orbs: 5
        routes: ['POST /items/{id}', POST /items/order]
      later: { routes: [] }
"""
NEXT = SHOP.replace("orbs: 5", "orbs: 2").replace("GET /items,", "GET /items, DELETE /items,")


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = os.environ.get("ORBGATE_COMMAND")
    if program is None:
        pytest.skip("ORBGATE_COMMAND names no `orbgate` command")
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


def test_a_diff_is_that_of_the_command(tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(SHOP)
    new.write_text(NEXT)
    diff = Policy.from_yaml(SHOP).diff(Policy.from_yaml(NEXT))
    answer = json.loads(command("diff", str(old), str(new), "--json").stdout)
    assert (diff.verdict, diff.widens, diff.complete) == (answer["verdict"], answer["widens"], answer["complete"])
    questions = [{k: v for k, v in (("method", c.method), ("target", c.target), ("scope", c.scope)) if v is not None} for c in diff.changes]
    by_text = sorted(map(str, questions))
    assert by_text == sorted(str(change["asked"]) for change in answer["changes"]) and len(by_text) == 4
    [wider] = [change for change in diff.changes if change.wider is not None]
    assert (wider.method, wider.target, wider.before) == ("DELETE", "/v1/items", None) and "wider" in wider.labels
    assert wider.method is not None and wider.target is not None
    assert Policy.from_yaml(NEXT).decide(wider.method, wider.target, wider.wider).is_allow
    assert not Policy.from_yaml(SHOP).decide(wider.method, wider.target, wider.wider).is_allow
    assert str(wider).startswith("wider: DELETE /v1/items: denied -> ")
    same = Policy.from_yaml(SHOP).diff(Policy.from_yaml(SHOP))
    assert same.verdict == "equivalent" and not same.changes and not same.widens


def test_findings_are_those_of_the_command(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(SHOP)
    answer = json.loads(command("lint", str(file), "--json").stdout)["files"][0]["findings"]
    findings = Policy.from_yaml(SHOP).lint()
    locations = [(row.code, row.level, row.line, row.column) for row in findings]
    assert locations == [(row["code"], row["level"], row["location"]["line"], row["location"]["column"]) for row in answer] and locations
    assert str(findings[0]) == f"{findings[0].line}:{findings[0].column}: {findings[0].level}[{findings[0].code}]: {findings[0].message}"
    assert {row.suppressed is None for row in Policy.external().lint()} <= {False}


def test_the_layout_is_that_of_the_command(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(SHOP)
    once = Policy.from_yaml(SHOP).laid_out()
    assert command("fmt", str(file)).returncode == 0 and file.read_text() == once
    assert Policy.from_yaml(once).laid_out() == once and Policy.from_yaml(once) == Policy.from_yaml(SHOP)
    assert Policy.from_yaml(Policy.external().laid_out()) == Policy.external()


def test_cases_are_put_to_the_policy() -> None:
    cases = """\
orbgate_test: 1
cases:
  - GET /v1/items/7 | user read:items | allow free
  - POST /v1/items/7 | user write:items | allow 7
"""
    [passed, failed] = Policy.from_yaml(SHOP).test(cases)
    assert passed.passed and passed.line == 3 and passed.decision == Policy.from_yaml(SHOP).decide(
        "GET", "/v1/items/7", Token("user", "read:items")
    )
    assert not failed.passed and failed.differences == ("orbs: expected 7, found 5",)
    with pytest.raises(PolicyError, match="1:1"):
        Policy.external().test(b"cases: []")


def test_properties_are_those_of_the_command(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(SHOP)
    text = """\
orbgate_test: 1
policy: policy.yaml
properties:
  - never | organisation * | POST /v1/*
  - only | user read:items | GET /v1/*
  - at most 1 orbs | any * | /v2/*
  - never | user | POST /v1/*
  - never | user "" | POST /v1/*
"""
    file = tmp_path / "policy.test.yaml"
    file.write_text(text)
    [answer] = json.loads(command("test", str(file), "--json").stdout)["files"]
    rows = Policy.from_yaml(SHOP).properties(text)
    assert [row.holds for row in rows] == [False, True, False, False, True]
    # A kind alone is everybody of that kind, and without scopes there is nothing to hold.
    assert rows[3].witnesses[0].token.scopes and [row.text for row in rows if row.warning is not None] == [rows[4].text]
    for row, theirs in zip(rows, answer["properties"]):
        assert (row.text, row.holds, row.rules, row.error, row.warning) == tuple(theirs[name] for name in ("property", "holds", "rules", "error", "warning"))
        assert {"line": row.line, "column": row.column} == theirs["location"]
        for witness, their in zip(row.witnesses, theirs["witnesses"], strict=True):
            assert (str(witness.token.kind), " ".join(witness.token.scopes)) == (their["caller"]["kind"], their["caller"]["scopes"])
            [request] = witness.requests
            assert their["requests"][0]["asked"] == {"method": request.method, "target": request.target}
            assert their["requests"][0]["rule"]["location"] == {"line": request.line, "column": request.column}
            assert Policy.from_yaml(SHOP).allowed(request.method or "", request.target or "", witness.token)
    # They are among the cases that a caller of `test` asks for.
    tested = Policy.from_yaml(SHOP).test(text)
    assert [case.passed for case in tested] == [row.holds for row in rows] and tested[0].decision is None
    assert tested[0].differences == tuple(map(str, rows[0].witnesses)) and tested[2].differences == (rows[2].error,)


def test_what_is_asserted_holds_or_has_its_witnesses() -> None:
    policy = Policy.from_yaml(SHOP)
    policy.assert_never("POST /v1/*", scopes="read:items")
    policy.assert_never(route=["POST /v1/*"], kind="user", scopes=["read:items"])
    policy.assert_only("read:items", ["GET /v1/items", "GET /v1/items/{id}"])
    policy.assert_orbs_at_most(0, "GET /v1/*")
    policy.assert_orbs_at_most(5, "/v1/items/*", kind="organisation", scopes="read:items")
    policy.assert_only("", [])
    policy.assert_apart("GET /v1/items/*", "POST /v1/*")
    violated: list[tuple[Callable[[], None], int]] = [
        (lambda: policy.assert_never("POST /v1/items/{id}", kind=TokenKind.ORGANISATION), 5),
        (lambda: policy.assert_only("write:items", "POST /v1/items/order"), 5),
        (lambda: policy.assert_orbs_at_most(4, "POST /v1/items/1"), 5),
        (lambda: policy.assert_apart("GET /v1/items", "GET /v1/items/7", kind="user"), 0),
    ]
    for wrong, orbs in violated:
        with pytest.raises(PropertyError, match=f" may call .*, {orbs} orbs") as raised:
            wrong()
        assert isinstance(raised.value, AssertionError) and str(raised.value) == "\n".join(map(str, raised.value.witnesses))
        assert pickle.loads(pickle.dumps(raised.value)).witnesses == raised.value.witnesses
        for request in raised.value.witnesses[0].requests:
            assert policy.allowed(request.method or "", request.target or "", raised.value.witnesses[0].token)
    undecided: list[tuple[Callable[[], None], str]] = [
        (lambda: policy.assert_never("/v2/*"), "no route of the policy decides `/v2/\\*`"),
        (lambda: policy.assert_never("*", scopes="read:itms"), "did you mean `read:items`"),
        (lambda: policy.assert_never("v1"), "calls are `/path`"),
        (lambda: policy.assert_never("*", kind="unknown"), "callers are `user`"),
        (lambda: policy.assert_never([]), "it names no calls"),
        (lambda: policy.assert_orbs_at_most(0, []), "it names no calls"),
    ]
    for nothing, message in undecided:
        with pytest.raises(NoPropertyError, match=message) as unsaid:
            nothing()
        assert isinstance(unsaid.value, ValueError) and not isinstance(unsaid.value, PropertyError)
        assert str(pickle.loads(pickle.dumps(unsaid.value))) == str(unsaid.value)
    with pytest.raises(ValueError, match="nobody"):
        policy.assert_never("*", kind="nobody")


def test_what_holds_and_says_little_is_a_warning() -> None:
    policy = Policy.from_yaml(SHOP)
    little: list[tuple[Callable[[], None], str]] = [
        (lambda: policy.assert_never("POST /v1/*", scopes=""), "never: these callers may call nothing at all"),
        (lambda: policy.assert_only("", "GET /v1/items"), "only: these callers may call nothing at all"),
        (lambda: policy.assert_only("read:items", "*"), "only: these calls are all that the policy has"),
        (lambda: policy.assert_orbs_at_most(0, "POST /v1/*", scopes="read:items"), "at most: these callers may make none of these calls"),
        (lambda: policy.assert_apart("GET /v1/items", "POST /v1/*", scopes="read:items"), "apart: .* no call of one of the two kinds"),
    ]
    for hollow, message in little:
        with pytest.warns(PropertyWarning, match=message) as warned:
            hollow()
        assert warned[0].filename == __file__


def test_coverage_is_that_of_the_command(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(SHOP)
    files = []
    for number, case in enumerate(("GET /v1/items/7 | user read:items | allow", "POST /v1/items/7 | user | deny", "GET /no | user | deny")):
        files.append(tmp_path / f"{number}.test.yaml")
        files[-1].write_text(f"orbgate_test: 1\npolicy: policy.yaml\ncases: [{case}]\n")
    coverage = Policy.from_yaml(SHOP).coverage(*(file.read_text() for file in files))
    [answer] = json.loads(command("test", *map(str, files), "--json").stdout)["coverage"]
    lacking = [{"row": r.name, "location": {"line": r.line, "column": r.column}, "outcomes": list(r.lacking)} for r in coverage.rows if r.lacking]
    whole = [name for name, times in coverage.outcomes.items() if not times]
    assert answer["lacking"] == [*lacking, {"row": None, "location": None, "outcomes": whole}]
    assert answer["rows"] == {"covered": sum(any(r.outcomes.values()) for r in coverage.rows), "total": len(coverage.rows)}
    assert coverage.share == answer["outcomes"]["covered"] / answer["outcomes"]["total"] > 0
    assert Policy.from_yaml(SHOP).coverage().share == 0
    with pytest.raises(PolicyError, match="1:1"):
        Policy.external().coverage(b"cases: []")


def test_an_explanation_is_that_of_the_command(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(SHOP)
    policy = Policy.from_yaml(SHOP)
    for method, target, scopes, grant in (
        ("GET", "/v1/items", "read:items", {}),
        ("GET", "/v1/item/7", "", {}),
        ("GET", "/v1//items#", "", {}),
        ("get", "/v1/items", "", {}),
        ("POST", "/v1/items/7", "read:items", {"declared": "write:items", "requested": "read:items"}),
        ("GET", "/V1/items/\N{SNOWMAN}", "", {}),
    ):
        steps = [word for name, text in grant.items() for word in (f"--{name}", text)]
        arguments = ("--token", "user", "--scopes", scopes, *steps, "--policy", str(file), "--json")
        answer = json.loads(command("explain", method, target, *arguments).stdout)
        declared, requested = grant.get("declared"), grant.get("requested")
        check_explanation(policy.explain(method, target, Token("user", scopes), declared=declared, requested=requested), answer)
    answer = json.loads(command("explain", "--scope", "later", "--token", "user", "--policy", str(file), "--json").stdout)
    explanation = policy.explain_scope("later", Token("user", ""))
    check_explanation(explanation, answer)
    assert explanation.rules == [] and explanation.decision == policy.decide_scope("later", Token("user", ""))
    assert {rule.state for rule in policy.explain("GET", "/v1/items").rules} == {"pass", "not_reached"}


def check_explanation(explanation: orbgate.Explanation, answer: dict[str, Any]) -> None:
    orbs = explanation.orbs_if_allowed
    near = [{"route": n.route, "location": {"line": n.line, "column": n.column}, "why": n.why, "meant": n.meant} for n in explanation.near]
    more = {
        "orbs_if_allowed": orbs and orbs.to_dict(),
        "in_order": explanation.in_order,
        "rules": [rule._asdict() for rule in explanation.rules] or None,
        "near": near or None,
    }
    more = {name: value for name, value in more.items() if value is not None}
    assert {**explanation.decision.to_dict(), "missing_step": explanation.missing_step, **more} == answer


DOCUMENT = """\
openapi: 3.1.0
info: { title: Items, version: '1' }
servers: [{ url: https://items.example/v1 }]
paths:
  /items: { get: { security: [{ login: [read:items] }] }, put: { security: [{ login: [other] }] } }
  /items/{id}.json: { get: { security: [{ login: [read:items] }] } }
components:
  securitySchemes: { login: { type: oauth2, flows: {} } }
"""


def test_documents_are_read_as_by_the_command(tmp_path: Path) -> None:
    document, file = tmp_path / "openapi.yaml", tmp_path / "policy.yaml"
    document.write_text(DOCUMENT)
    file.write_text(SHOP)
    for orbs in (False, True, 5):
        answer = json.loads(command("openapi", "import", str(document), "--orbs", str(orbs).lower(), "--json").stdout)
        imported = openapi.import_policy(DOCUMENT, orbs=orbs)
        counts = [[imported.operations, imported.with_scopes, imported.with_scopes_imported], [2, 3, 2]]
        assert counts == [[answer[name] for name in ("operations", "with_scopes", "with_scopes_imported")], [2, 3, 2]]
        assert imported.policy == answer["policy"]
        assert list(map(placed, imported.left_out)) == answer["left_out"] and imported.left_out
    answer = json.loads(command("openapi", "check", str(document), str(file), "--json").stdout)["drift"]
    drift = openapi.check(DOCUMENT.encode(), Policy.from_yaml(SHOP))
    assert [{**row._asdict(), "document": location(row.document), "policy": location(row.policy)} for row in drift] == answer and answer
    for as_json in (False, True):
        exported = openapi.export_policy(Policy.from_yaml(SHOP), json=as_json)
        assert exported == command("openapi", "export", str(file), *["--json"] * as_json).stdout
        assert Policy.from_yaml(openapi.import_policy(exported).policy) == Policy.from_yaml(SHOP)


def location(at: tuple[int, int] | None) -> dict[str, int] | None:
    return at and {"line": at[0], "column": at[1]}


OPTIONAL = """\
openapi: 3.0.0
paths:
  /a: { get: { security: [{}, { login: [r] }] } }
  /b/{id}: { get: { security: [{ login: [r, s] }, { login: [r] }, { key: [] }] } }
  /b/c: { put: { security: [] } }
components:
  securitySchemes: { login: { type: oauth2, flows: { password: { scopes: { s: x } } } }, key: { type: apiKey } }
"""


def test_optional_security_and_notes_are_those_of_the_command(tmp_path: Path) -> None:
    document, file = tmp_path / "openapi.yaml", tmp_path / "policy.yaml"
    document.write_text(OPTIONAL)
    for require, left_out in ((False, ["optional", "open"]), (True, ["open"])):
        options = ["--orbs", "false", *["--optional", "require"] * require]
        answer = json.loads(command("openapi", "import", str(document), *options, "--json").stdout)
        imported = openapi.import_policy(OPTIONAL, orbs=False, require_optional=require)
        assert (imported.policy, [left.kind for left in imported.left_out]) == (answer["policy"], left_out)
        assert list(map(placed, imported.notes)) == answer["notes"]
        file.write_text(imported.policy)
        drift = openapi.check(OPTIONAL, Policy.from_yaml(imported.policy), orbs=False, require_optional=require)
        assert [row.kind for row in drift] == ["unclear"] * len(left_out)
        answer = json.loads(command("openapi", "check", str(document), str(file), *options, "--json").stdout)["drift"]
        assert [row.kind for row in drift] == [row["kind"] for row in answer]
    kinds = {note.kind for note in imported.notes}
    assert kinds == {"required_optional", "undeclared_scope", "dropped_alternative", "redundant_alternative", "closed"}
    policy = Policy.from_yaml(imported.policy)
    assert (policy.decide("GET", "/a", None).reason, policy.decide("GET", "/b/c", Token("user", "r")).status) == ("no_token", 405)


SCHEMES = """\
openapi: 3.0.0
paths:
  /a/{id}:
    parameters: [{ name: id, in: path, description: 'as `projects/{project}`' }]
    get: { security: [{ user: [r, s], app: [], key: [] }] }
components:
  securitySchemes: { user: { type: oauth2 }, app: { type: oauth2 }, key: { type: apiKey } }
"""


def test_several_schemes_are_a_list_of_names(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="`--scheme user --scheme app --elsewhere key`"):
        openapi.import_policy(SCHEMES, orbs=False)
    (tmp_path / "openapi.yaml").write_text(SCHEMES)
    options = ["--scheme", "user", "--scheme", "app", "--elsewhere", "key", "--orbs", "false"]
    for all_of_as_any in (False, True):
        ran = command("openapi", "import", str(tmp_path / "openapi.yaml"), "--json", *options, *["--all-of-as-any"] * all_of_as_any)
        answer = json.loads(ran.stdout)
        imported = openapi.import_policy(SCHEMES, scheme=["user", "app"], elsewhere="key", orbs=False, all_of_as_any=all_of_as_any)
        assert (imported.policy, imported.multi_segment) == (answer["policy"], answer["multi_segment"])
        assert [note.kind for note in imported.notes] == [note["kind"] for note in answer["notes"]] and imported.operations == 1
        policy = Policy.from_yaml(imported.policy)
        checked = openapi.check(SCHEMES, policy, scheme=("user", "app"), elsewhere=["key"], orbs=False, all_of_as_any=all_of_as_any)
        assert not checked
    (left,) = openapi.import_policy(SCHEMES, scheme="user", orbs=False).left_out
    assert left.kind == "several_schemes"
    for scheme, elsewhere in (("nothing", None), (["user", "user"], None), ("user", ["user"])):
        with pytest.raises(PolicyError):
            openapi.import_policy(SCHEMES, scheme=scheme, elsewhere=elsewhere, orbs=False)


def placed(row: openapi.LeftOut | openapi.Note) -> dict[str, Any]:
    return {"location": location((row.line, row.column)), "operation": row.operation, "kind": row.kind, "message": row.message}


def test_documents_that_cannot_be_read_say_why() -> None:
    with pytest.raises(PolicyError, match="x-orbs"):
        openapi.import_policy(DOCUMENT)
    with pytest.raises(PolicyError):
        openapi.check("nothing", Policy.from_yaml(SHOP))
    for orbs in (0, -1, 1 << 63, "true"):
        with pytest.raises(ValueError, match="from 1 on"):
            openapi.import_policy(DOCUMENT, orbs=orbs)  # type: ignore[arg-type]
    assert Policy.from_yaml(openapi.import_policy(openapi.export_policy(Policy.external())).policy) == Policy.external()


def test_the_types_are_public() -> None:
    for name in ("CaseResult", "Change", "Coverage", "CoveredRow", "Diff", "Explanation", "Finding", "NearMiss", "PropertyResult", "TargetRule", "Witness"):
        assert name in orbgate.__all__ and getattr(orbgate, name).__name__ == name
