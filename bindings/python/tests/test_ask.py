"""Each answer to a question is the command's: the rows of policy/cases/questions.jsonl."""

from __future__ import annotations

import json
import typing
from pathlib import Path
from typing import Any, is_typeddict

import pytest
from orbgate import Policy, PolicyError, questions

CASES = Path(__file__).parents[3] / "policy" / "cases"
ROWS = [json.loads(line) for line in (CASES / "questions.jsonl").read_text("utf-8").splitlines()]


def policy_of(row: dict[str, Any]) -> Policy:
    return Policy.from_file(CASES / "policies" / f"{row['engine']}.yaml") if "engine" in row else Policy.external()


def typed(row: dict[str, Any]) -> Any:
    """The answer of the typed function."""
    function = getattr(questions, row["question"])
    return function(policy_of(row), row["arguments"]) if row["arguments"] else function(policy_of(row))


@pytest.mark.parametrize("row", ROWS, ids=[f"{at}-{row['question']}" for at, row in enumerate(ROWS, 1)])
def test_an_answer_is_the_commands(row: dict[str, Any]) -> None:
    """As text, because the order of the fields is part of it."""
    answer = policy_of(row).ask(row["question"], row["arguments"])
    assert json.dumps(answer) == json.dumps(row["answer"]) == json.dumps(typed(row))


def test_every_question_has_a_row() -> None:
    assert {row["question"] for row in ROWS} == set("check diff explain lint needs reach table unused who".split())


def has_type(value: Any, of: Any) -> bool:
    """Whether a value has exactly the fields and types that a function's signature promises."""
    arguments = typing.get_args(of)
    if is_typeddict(of):
        fields = typing.get_type_hints(of)
        return isinstance(value, dict) and of.__required_keys__ <= set(value) <= set(fields) and all(has_type(inner, fields[name]) for name, inner in value.items())
    if typing.get_origin(of) is list:
        return isinstance(value, list) and all(has_type(inner, arguments[0]) for inner in value)
    if typing.get_origin(of) is dict:
        return isinstance(value, dict) and all(has_type(inner, arguments[1]) for inner in value.values())
    if arguments:
        return any(has_type(value, one) for one in arguments)
    return type(value) is of


@pytest.mark.parametrize("row", ROWS, ids=[f"{at}-{row['question']}" for at, row in enumerate(ROWS, 1)])
def test_a_typed_answer_has_its_type(row: dict[str, Any]) -> None:
    scope = vars(questions) | {"Policy": Policy}
    signature = typing.get_type_hints(getattr(questions, row["question"]), scope)
    assert has_type(typed(row), signature["return"])
    assert has_type(row["arguments"], signature.get("arguments", questions.TableArguments))
    assert not has_type({**row["answer"], "unknown": 1}, signature["return"])


def test_a_question_that_cannot_be_answered_is_an_error() -> None:
    policy = Policy.external()
    with pytest.raises(ValueError, match="`why`"):
        policy.ask("why", {})
    with pytest.raises(ValueError, match="`token`"):
        policy.ask("reach", {})
    with pytest.raises(ValueError, match="arguments: .*column"):
        policy.ask("who", {"method": "GET\ud800", "target": "/", "tokens": []})
    with pytest.raises(PolicyError) as raised:
        questions.diff(policy, {"policy": "orbgate: 2\n"})
    assert raised.value.line == 1
