"""Each answer to a question is the command's: the rows of policy/cases/questions.jsonl."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, PolicyError

CASES = Path(__file__).parents[3] / "policy" / "cases"
ROWS = [json.loads(line) for line in (CASES / "questions.jsonl").read_text("utf-8").splitlines()]


def policy_of(row: dict[str, Any]) -> Policy:
    return Policy.from_file(CASES / "policies" / f"{row['engine']}.yaml") if "engine" in row else Policy.external()


@pytest.mark.parametrize("row", ROWS, ids=[f"{at}-{row['question']}" for at, row in enumerate(ROWS, 1)])
def test_an_answer_is_the_commands(row: dict[str, Any]) -> None:
    """As text, because the order of the fields is part of it."""
    answer = policy_of(row).ask(row["question"], row["arguments"])
    assert json.dumps(answer) == json.dumps(row["answer"])


def test_every_question_has_a_row() -> None:
    assert {row["question"] for row in ROWS} == set("check diff explain lint needs reach table unused who".split())


def test_a_question_that_cannot_be_answered_is_an_error() -> None:
    policy = Policy.external()
    with pytest.raises(ValueError, match="`why`"):
        policy.ask("why", {})
    with pytest.raises(ValueError, match="`token`"):
        policy.ask("reach", {})
    with pytest.raises(ValueError, match="arguments: .*column"):
        policy.ask("who", {"method": "GET\ud800", "target": "/", "tokens": []})
    with pytest.raises(PolicyError) as raised:
        policy.ask("diff", {"policy": "orbgate: 2\n"})
    assert raised.value.line == 1
