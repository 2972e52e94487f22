"""What a row of a table costs, divided by what a call of `decide` costs: only ratios mean something on another machine.

    python bench/ratios.py [ROWS]

decides a made-up log in a loop, with a `Token` made for each row, and as tables: plain text and dictionaries of few and of many
values, with one thread and with all, for a policy of 37 routes and one of 1,221. Then small tables. Loop and table take turns, and the
median of the turns counts. Needs pyarrow.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]
from orbgate import Policy, Token

TURNS = 15
LOOPED = 20_000

Log = dict[str, list[str]]


def made_up_log(policy: Policy, rows: int, targets: int) -> Log:
    """A log with this many different targets, of tokens with seven scopes at most."""
    choose = random.Random(11)
    names = [scope.scope for scope in policy.scopes()]
    texts = [" ".join(choose.sample(names, choose.randrange(1, 8))) for _ in range(20)]
    known = []
    for route in choose.choices(policy.routes(), k=targets):
        parts = (str(choose.randrange(10**6)) if part.startswith("{") else part for part in route.template.split("/"))
        known.append((route.method, "/".join(parts)))
    calls = choose.choices(known, k=rows)
    kinds, scopes = choose.choices(["user", "organisation"], k=rows), choose.choices(texts, k=rows)
    return {"method": [call[0] for call in calls], "target": [call[1] for call in calls], "kind": kinds, "scopes": scopes}


def table(log: Log, dictionaries: bool) -> Any:
    arrays = {name: pa.array(column) for name, column in log.items()}
    return pa.table({name: array.dictionary_encode() if dictionaries else array for name, array in arrays.items()})


def loop(policy: Policy, log: Log) -> Callable[[], None]:
    requests = list(zip(*(column[:LOOPED] for column in log.values())))

    def run() -> None:
        for method, target, kind, scopes in requests:
            policy.decide(method, target, Token(kind, scopes))

    return run


def nanoseconds(run: Callable[[], object], units: int) -> float:
    start = time.perf_counter_ns()
    run()
    return (time.perf_counter_ns() - start) / units


def ratio(one: Callable[[], object], ones: int, other: Callable[[], object], others: int) -> float:
    """How many times a unit of the other is in a unit of the one: the median of turns."""
    return statistics.median(nanoseconds(one, ones) / nanoseconds(other, others) for _ in range(TURNS))


def wide_policy() -> Policy:
    """The built-in scopes' like, with 1,221 routes."""
    routes = [f"GET /api/{name}{number}/{{id}}" for name in "abcdefghijk" for number in range(111)]
    scopes = (f"      read:{n}: {{ orbs: false, routes: {sorted(routes[n::37])} }}\n" for n in range(37))
    return Policy.from_yaml("orbgate: 1\napis:\n  wide:\n    base_path: ''\n    scopes:\n" + "".join(scopes))


def main(rows: int) -> None:
    print(f"{rows:,} rows: how many rows of a table cost as much as a call of `decide` with a Token of its own")
    for name, policy in {"37 routes": Policy.external(), "1,221 routes": wide_policy()}.items():
        for what, targets, dictionaries in [
            ("plain text", rows // 4, False),
            ("dictionaries, few values", 500, True),
            ("dictionaries, many values", rows // 4, True),
        ]:
            log = made_up_log(policy, rows, targets)
            data, looped = table(log, dictionaries), loop(policy, log)
            for threads in (1, None):
                cost = ratio(looped, LOOPED, lambda: policy.decide_table(data, threads=threads), rows)
                print(f"  {name}, {what}, {'one thread' if threads else 'all threads'}: {cost:.1f}")
    print("how many calls of `decide` cost as much as a call of `decide_table`")
    policy = Policy.external()
    log = made_up_log(policy, LOOPED, 5_000)
    for small in (1, 10, 100, 1_000):
        data, looped, times = table(log, False).slice(0, small), loop(policy, log), max(1, 2_000 // small)

        def tables() -> None:
            for _ in range(times):
                policy.decide_table(data)

        print(f"  of {small:,} rows: {1 / ratio(looped, LOOPED, tables, times):.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400_000)
