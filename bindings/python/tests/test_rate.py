"""How much faster a table is than a loop, as ratios within one run: figures of one machine mean nothing on another."""

from __future__ import annotations

import pytest
from orbgate import Policy

pytest.importorskip("pyarrow")
from ratios import LOOPED, loop, made_up_log, ratio, table  # noqa: E402

pytestmark = [pytest.mark.once, pytest.mark.alone, pytest.mark.published]

POLICY = Policy.external()
ROWS = 400_000


def of_a_table(targets: int, dictionaries: bool) -> float:
    """How many rows of a table of so many different targets cost as much as a call."""
    log = made_up_log(POLICY, ROWS, targets)
    data = table(log, dictionaries)
    assert len(POLICY.decide_table(data)) == ROWS
    cost = ratio(loop(POLICY, log), LOOPED, lambda: POLICY.decide_table(data), ROWS)
    print(f"a call costs {cost:.1f} times what a row costs")
    return cost


def test_a_table_of_one_row_costs_less_than_sixty_calls() -> None:
    """It asked the system for the number of processors, which took as long as deciding dozens of rows."""
    log = made_up_log(POLICY, LOOPED, targets=5_000)
    row = table(log, dictionaries=False).slice(0, 1)

    def tables() -> None:
        for _ in range(500):
            POLICY.decide_table(row)

    many = 1 / ratio(loop(POLICY, log), LOOPED, tables, 500)
    print(f"a table of one row takes as long as {many:.1f} calls")
    assert many < 60


def test_plain_strings_are_five_times_as_fast_as_a_loop() -> None:
    assert of_a_table(targets=100_000, dictionaries=False) >= 5


def test_dictionaries_are_twenty_times_as_fast_as_a_loop() -> None:
    assert of_a_table(targets=500, dictionaries=True) >= 20
