"""Logs of invented companies that are odd but healthy, by seed. Their author knew neither the rules of the report nor its pages, so that no rule
is made for them: change them only if they contradict themselves.
"""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

from .domains import D
from .oddities import ODD
from .world import COLUMNS, World

# The logs of a seed. Each has one to three oddities, and together they have all.
COUNT = 50


def write(seed: int, number: int, folder: Path) -> str:
    """Writes `log.csv` and `policy.yaml` of one log. Returns what is odd in it."""
    odd = _plan(random.Random(f"plan-{seed}"))[number]
    for attempt in range(6):
        world = World(f"{seed}-{number}-{attempt}", [(name, ODD[name]) for name in odd])
        try:
            world.build()
        except (IndexError, ValueError, StopIteration):
            # This policy has no route of a kind, so the next one is tried.
            continue
        if 10_000 <= len(world.rows) <= 80_000:
            break
    else:
        raise AssertionError(f"log {number}: no good log with {odd}")
    (folder / "policy.yaml").write_text(world.policy_yaml(), "utf-8")
    with (folder / "log.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(world.csv_rows())
    return str(world.note_text())


def _plan(choose: random.Random) -> list[list[str]]:
    """The oddities of each log: each is used about equally often, and no two of one group are together."""
    used = dict.fromkeys(sorted(ODD), 0)
    plan = []
    for _ in range(COUNT):
        want = choose.choice((1, 2, 2, 2, 3, 3))
        got: list[str] = []
        groups: set[str] = set()
        domains: set[Any] = {*D}
        for name in sorted(used, key=lambda name: (used[name], choose.random())):
            of, both = ODD[name]["groups"], domains & {*(ODD[name]["hints"].get("domains") or D)}
            if len(got) < want and not of & groups and both:
                got.append(name)
                domains = both
                groups |= of
                used[name] += 1
        plan.append(got)
    choose.shuffle(plan)
    return plan
