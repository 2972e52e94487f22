"""Logs of a clinic's service with one incident each, and what happened, by seed. Their author knew neither the rules of the report nor its
pages, so that no rule is made for them: change them only if they contradict themselves.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from . import data
from .behaviour import KINDS
from .world import World, policy_yaml

# Each module adds its kinds.
__all__ = ["KINDS", "data", "write"]

LOG = ("time", "method", "target", "client", "subject", "scopes", "token_kind", "status", "address", "instance", "account", "orbs", "authorization_error")
LEDGER = ("seq", "time", "account", "kind", "id", "hold", "amount", "paid", "bonus", "held")


def write(seed: int, name: str, folder: Path) -> str:
    """Writes `log.csv`, `policy.yaml` and, if credits matter, `entries.csv` of one kind of incident. Returns what happened."""
    world, steps, has_entries = _built(seed, name)
    clock = world.clockf or (lambda row: world.when(row.t))
    with (folder / "log.csv").open("w", encoding="utf-8", newline="") as file:
        file.write(f"{','.join(LOG)}\n")
        for row in world.rows:
            orbs = str(row.orbs) if row.account else ""
            fields = [
                clock(row), row.method, row.target, row.client, row.subject, row.scopes, row.kind, str(row.status), row.address, row.instance, row.account, orbs, row.err,
            ]  # fmt: skip
            if world.fields:
                fields = world.fields(row, fields)
                is_unquoted = "," in row.target and len(fields) > len(LOG) and row.target not in fields
                text = ",".join(fields if is_unquoted else map(_quoted, fields))
            else:
                text = ",".join(map(_quoted, fields))
            file.write(f"{world.line(row, text) if world.line else text}\n")
    if has_entries:
        with (folder / "entries.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(LEDGER)
            writer.writerows([entry[0], world.when(entry[1]), *entry[2:]] for entry in world.entries)
    # Incidents that count while the rows are written end now.
    next(steps, None)
    (folder / "policy.yaml").write_text(policy_yaml(world.routes), "utf-8")
    return "\n".join(world.text)


def _quoted(field: str) -> str:
    return '"' + field.replace('"', '""') + '"' if "," in field or '"' in field or "\n" in field else field


def _built(seed: int, name: str) -> tuple[Any, Any, bool]:
    make, days, count, has_entries = KINDS[name]
    factor, rows = 1.0, 0
    for _ in range(12):
        world = World(seed, name, days, count)
        world.n = int(world.n * factor)
        world.fields = world.clockf = None
        steps = make(world)
        next(steps, None)
        world.make_pods()
        world.make_people()
        world.base()
        next(steps, None)
        world.settle()
        next(steps, None)
        rows = len(world.rows)
        if 20_000 <= rows <= 120_000:
            return world, steps, has_entries
        factor *= 1.25 if rows < 20_000 else 0.8
    raise AssertionError(f"{name}: {rows} rows")
