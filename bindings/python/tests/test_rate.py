"""How much faster a table is than a loop, as ratios within one run: figures of one machine mean nothing on another."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest
from orbgate import Policy, Token

pa = pytest.importorskip("pyarrow")

pytestmark = [pytest.mark.once, pytest.mark.alone, pytest.mark.published]

POLICY = Policy.external()
ROWS = 400_000
LOOPED = 100_000


def log(targets: int) -> dict[str, list[str]]:
    """A log with this many different targets."""
    choose = random.Random(11)
    routes = POLICY.routes()
    names = [scope.scope for scope in POLICY.scopes()]
    texts = [" ".join(choose.sample(names, choose.randrange(1, 8))) for _ in range(20)]
    known = []
    for _ in range(targets):
        route = choose.choice(routes)
        parts = (f"{choose.randrange(10**6)}" if part.startswith("{") else part for part in route.template.split("/"))
        known.append((route.method, "/".join(parts)))
    calls = [choose.choice(known) for _ in range(ROWS)]
    return {
        "method": [method for method, _ in calls],
        "target": [target for _, target in calls],
        "kind": [choose.choice(["user", "organisation"]) for _ in calls],
        "scopes": [choose.choice(texts) for _ in calls],
    }


def nanoseconds(run: Callable[[], object], rows: int) -> float:
    """The best of some runs, for each row: what disturbs only ever adds."""
    best = float("inf")
    for _ in range(25):
        start = time.perf_counter_ns()
        run()
        best = min(best, time.perf_counter_ns() - start)
    return best / rows


def ratio(columns: dict[str, list[str]], dictionaries: bool) -> float:
    requests = list(zip(*(column[:LOOPED] for column in columns.values())))

    def loop() -> None:
        decide = POLICY.decide
        for method, target, kind, scopes in requests:
            decide(method, target, Token(kind, scopes))

    arrays = {name: pa.array(column) for name, column in columns.items()}
    if dictionaries:
        arrays = {name: array.dictionary_encode() for name, array in arrays.items()}
    table = pa.table(arrays)
    assert len(POLICY.decide_table(table)) == ROWS
    one = nanoseconds(loop, LOOPED)
    all_at_once = nanoseconds(lambda: POLICY.decide_table(table), ROWS)
    print(f"a row takes {one:.0f} ns in a loop, {all_at_once:.1f} ns in a table: {one / all_at_once:.1f} times")
    return one / all_at_once


def test_a_table_of_one_row_costs_less_than_sixty_calls() -> None:
    """It asked the system for the number of processors, which took as long as deciding dozens of rows."""
    columns = log(targets=5_000)
    requests = list(zip(*(column[:20_000] for column in columns.values())))
    table = pa.table({name: column[:1] for name, column in columns.items()})

    def calls() -> None:
        for method, target, kind, scopes in requests:
            POLICY.decide(method, target, Token(kind, scopes))

    def tables() -> None:
        for _ in range(500):
            POLICY.decide_table(table)

    many = nanoseconds(tables, 500) / nanoseconds(calls, len(requests))
    print(f"a table of one row takes as long as {many:.1f} calls")
    assert many < 60


def test_plain_strings_are_five_times_as_fast_as_a_loop() -> None:
    assert ratio(log(targets=100_000), dictionaries=False) >= 5


def test_dictionaries_are_twenty_times_as_fast_as_a_loop() -> None:
    assert ratio(log(targets=500), dictionaries=True) >= 20
