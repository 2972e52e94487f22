"""What a decision takes from Python: see `cargo xtask bench --bindings`.

    python bench.py FILE FOLDER

answers the requests of the file, METHOD TAB TARGET TAB SCOPES, all of which must be allowed, and the questions of the folder. It prints
the nanoseconds of a call, of a decision in a table that is there, of an empty call, and of `explain` and `reach`: each the best of some
rounds, because noise only adds.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from orbgate import Policy, Token, _native

ROUNDS = 5
ASKED = 100
POLICY = Policy.external()


def measure(name: str, count: int, allowed: Callable[[], int]) -> None:
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        right = allowed()
        best = min(best, (time.perf_counter_ns() - start) / count)
        if right != count:
            sys.exit(f"bench: {name}: {right} of {count} were allowed")
    print(f"{name} {best:.2f}")


def ask(folder: Path, question: str) -> None:
    """Asks a question of the folder, and compares each answer: as objects, and as JSON."""
    policy = Policy.from_file(folder / "policy.yaml")
    given, expected = ((folder / f"{question}{name}").read_text(encoding="utf-8") for name in (".json", ".answer.json"))
    arguments, answer = json.loads(given), json.loads(expected)
    best = best_of_json = sys.maxsize
    for _ in range(ASKED):
        start = time.perf_counter_ns()
        typed = policy.ask(question, arguments)
        between = time.perf_counter_ns()
        text = _native.ask(policy, question, given)
        best_of_json = min(best_of_json, time.perf_counter_ns() - between)
        best = min(best, between - start)
        if (typed, text) != (answer, expected):
            sys.exit(f"bench: {question}: another answer")
    print(f"{question} {best}\n{question}-json {best_of_json}")


def main(file: str, folder: str) -> None:
    tokens: dict[str, Token] = {}
    requests = []
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        method, target, scopes = line.split("\t")
        requests.append((method, target, tokens.setdefault(scopes, Token("user", scopes))))
    count = len(requests)
    measure("single", count, lambda: sum(POLICY.decide(*request).is_allow for request in requests))
    measure("empty", count, lambda: sum(len(request[:1]) for request in requests))
    ask(Path(folder), "explain")
    ask(Path(folder), "reach")
    try:
        import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return
    columns = {
        "method": [method for method, _, _ in requests],
        "target": [target for _, target, _ in requests],
        "kind": ["user"] * count,
        "scopes": [token.scopes for _, _, token in requests],
    }
    table = pa.table(columns)
    # `is_allow` of every row is looked at through Arrow, as a filter of a log does.
    measure("batch", count, lambda: _allowed(table))


def _allowed(table: object) -> int:
    decided = POLICY.decide_table(table, allow_bonus_orbs_use=False, threads=1).to_pyarrow()  # type: ignore[arg-type]
    return int(sum(count["counts"] for count in decided["decision"].value_counts().to_pylist() if count["values"] == "allow"))


if __name__ == "__main__":
    main(*sys.argv[1:])
