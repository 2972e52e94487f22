"""Puts every case of policy/cases through the installed package: `python conformance.py FOLDER`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from orbgate import Charge, Decision, Policy, Token

COLUMNS = "name policy method target by_scope kind scopes bonus decision status reason detail api route scope orbs".split()


def cases(folder: Path) -> Iterator[tuple[Path, int, dict[str, str]]]:
    """Every case with its file and line."""
    files = sorted(folder.glob("*.tsv"))
    if not files:
        sys.exit(f"no cases in {folder}")
    for path in files:
        lines = enumerate(path.read_bytes().decode().split("\n"), start=1)
        header = next(line for _, line in lines if not line.startswith("#"))
        assert header.split("\t") == COLUMNS, path
        names: set[str] = set()
        for number, line in lines:
            if line:
                cells = line.split("\t")
                assert len(cells) == len(COLUMNS) and cells[0] not in names, f"{path}:{number}"
                names.add(cells[0])
                yield path, number, dict(zip(COLUMNS, cells))


ESCAPE = re.compile(rb"\\(\\|x[0-9A-Fa-f]{2})?")


def unescape(text: str) -> bytes:
    r"""Left to right: `\\` is a backslash, `\xNN` is one byte, a backslash before anything else is an error."""

    def byte(match: re.Match[bytes]) -> bytes:
        assert match[1], f"an escape of `{text}`"
        return b"\\" if match[1] == b"\\" else bytes.fromhex(match[1][1:].decode())

    return ESCAPE.sub(byte, text.encode())


def ask(policy: Policy, case: dict[str, str]) -> Decision:
    """The decision of a case, through the call that users have."""
    token = Token(case["kind"], unescape(case["scopes"])) if case["kind"] else None
    bonus = case["bonus"] == "yes"
    if case["by_scope"]:
        return policy.decide_scope(unescape(case["by_scope"]), token, allow_bonus_orbs_use=bonus)
    method, target = unescape(case["method"]), unescape(case["target"])
    return policy.decide(method, target, token, allow_bonus_orbs_use=bonus)


def orbs(charge: Charge | None) -> str:
    """What is consumed, as the cases write it."""
    if charge is None:
        return ""
    if not charge.consumes:
        assert charge.amount == 0 and not charge.bonus_allowed
        return "free"
    amount = "unstated" if charge.amount is None else str(charge.amount)
    return f"{amount} bonus" if charge.bonus_allowed else amount


def wrong(policy: Policy, case: dict[str, str]) -> list[str]:
    """What a policy answers otherwise than the case says."""
    decision = ask(policy, case)
    found = {**decision.to_dict(), "orbs": orbs(decision.orbs)}
    return [
        f"{field} is `{'' if found[field] is None else found[field]}`, not `{case[field]}`"
        for field in COLUMNS[8:]
        if ("" if found[field] is None else str(found[field])) != case[field]
    ]


def about(policy: Policy, case: dict[str, str]) -> list[str]:
    """Whether a decision is about the route that the same request is decided by when its token is some user's."""
    named = ask(policy, {**case, "kind": "user", "scopes": ""})
    expected = None if case["by_scope"] or named.scope is None else named.route
    found = ask(policy, case).about
    return [] if found == expected else [f"it is about `{found}`, not `{expected}`"]


def read(folder: Path, name: str) -> list[Policy]:
    """The policies of a name; the specification's has two: read from its file, and compiled in."""
    if name == "external":
        return [Policy.from_file(folder.parent / "external.yaml"), Policy.external()]
    return [Policy.from_file(folder / "policies" / f"{name}.yaml")]


def main(folder: Path) -> int:
    policies: dict[str, list[Policy]] = {}
    ran = failed = 0
    for path, number, case in cases(folder):
        name = case["policy"]
        if name not in policies:
            policies[name] = read(folder, name)
        for policy in policies[name]:
            ran += 1
            if errors := wrong(policy, case) + about(policy, case):
                failed += 1
                print(f"{path}:{number}: {case['name']}: {'; '.join(errors)}")
    print(f"ran {ran} cases")
    return int(failed > 0 or ran == 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
