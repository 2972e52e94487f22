"""What is said of a policy before it is in force: the answers of `orbgate diff`, `lint`, `fmt` and `test`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import orbgate
import pytest
from orbgate import OrbgateError, Policy, PolicyError, Token

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
    found = Policy.from_yaml(SHOP).diff(Policy.from_yaml(NEXT))
    said = json.loads(command("diff", str(old), str(new), "--json").stdout)
    assert (found.verdict, found.widens, found.complete) == (said["verdict"], said["widens"], said["complete"])
    asked = [{k: v for k, v in (("method", c.method), ("target", c.target), ("scope", c.scope)) if v is not None} for c in found.changes]
    by_text = sorted(map(str, asked))
    assert by_text == sorted(str(change["asked"]) for change in said["changes"]) and len(by_text) == 4
    [wider] = [change for change in found.changes if change.wider is not None]
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
    said = json.loads(command("lint", str(file), "--json").stdout)["files"][0]["findings"]
    found = Policy.from_yaml(SHOP).lint()
    places = [(row.code, row.level, row.line, row.column) for row in found]
    assert places == [(row["code"], row["level"], row["place"]["line"], row["place"]["column"]) for row in said] and places
    assert str(found[0]) == f"{found[0].line}:{found[0].column}: {found[0].level}[{found[0].code}]: {found[0].message}"
    with pytest.raises(OrbgateError, match="no text here"):
        Policy.external().lint()


def test_the_layout_is_that_of_the_command(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(SHOP)
    once = Policy.from_yaml(SHOP).laid_out()
    assert command("fmt", str(file)).returncode == 0 and file.read_text() == once
    assert Policy.from_yaml(once).laid_out() == once and Policy.from_yaml(once) == Policy.from_yaml(SHOP)
    with pytest.raises(OrbgateError, match="no text here"):
        Policy.external().laid_out()


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


def test_the_types_are_public() -> None:
    for name in ("CaseResult", "Change", "Diff", "Finding"):
        assert name in orbgate.__all__ and getattr(orbgate, name).__name__ == name
