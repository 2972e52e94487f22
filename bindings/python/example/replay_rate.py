"""How many rows a replay decides in a second of one processor, by format: `python replay_rate.py [ROWS]`. Needs numpy and
`orbgate[logs]`.

Every format holds the same log of `access_log.py`, and must give the same counts. What is measured is the processor time of
all threads together, so other work on the machine counts little. The last line says what it would take to decide each
different request once: how many there are, and how long finding them takes, compared with deciding all.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.csv  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]
from access_log import access_log
from orbgate import Policy, logs

ACCESS = '10.0.0.1 - {caller} [{time:%d/%b/%Y:%H:%M:%S +0000}] "{method} {target} HTTP/1.1" 200 17 "-" "curl/8" "{scopes}" {kind} {bonus}\n'
EXTRA = {"caller": "user", "scopes": "extra1", "kind": "extra2", "allow_bonus_orbs_use": "extra3"}
ROUNDS = 3


def write(folder: Path, log: pa.Table) -> dict[str, dict[str, Any]]:
    """Writes the log in every format: the files, and how to read them."""
    pyarrow.parquet.write_table(log, folder / "calls.parquet")
    pyarrow.csv.write_csv(log, folder / "calls.csv")
    with open(folder / "calls.log", "w") as access, open(folder / "calls.jsonl", "w") as requests, open(folder / "calls.json", "w") as flat:
        for row in log.to_pylist():
            kind, bonus = row["kind"], row["allow_bonus_orbs_use"]
            access.write(ACCESS.format(**{**row, "kind": kind or "-"}, bonus=str(bonus).lower()))
            token = None if kind is None else {"kind": kind, "scopes": row["scopes"]}
            call = {"method": row["method"], "target": row["target"]}
            requests.write(json.dumps({**call, "token": token, "allow_bonus_orbs_use": bonus}) + "\n")
            flat.write(json.dumps({**row, "time": row["time"].isoformat()}) + "\n")
    return {
        "calls.parquet": {},
        "calls.csv": {},
        "calls.log": {"columns": EXTRA},
        "calls.jsonl": {},
        "calls.json": {"format": "json"},
    }


def seconds(run: Callable[[], object]) -> float:
    """The processor time of the shortest of some runs: what disturbs only ever adds."""
    taken = []
    for _ in range(ROUNDS):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return min(taken)


def main(rows: int) -> None:
    policy = Policy.external()
    log = access_log(policy, rows)
    counts: list[Any] = []
    with tempfile.TemporaryDirectory() as name:
        for file, options in write(Path(name), log).items():

            def replay() -> None:
                found = logs.replay(logs.read(Path(name, file), **options), policy).to_dict()
                counts.append([found[part] for part in ("rows", "allowed", "denied", "errors", "reasons", "routes", "orbs")])

            size = Path(name, file).stat().st_size
            print(f"{file:14} {rows / seconds(replay) / 1e6:5.2f} million rows a second of one processor, {size / 1e6:.0f} MB")
    assert all(found == counts[0] for found in counts), "the formats do not agree"
    keys = ["method", "target", "kind", "scopes", "allow_bonus_orbs_use"]
    inputs = log.select(keys).combine_chunks()
    different = inputs.group_by(keys).aggregate([]).num_rows
    finding = seconds(lambda: inputs.group_by(keys).aggregate([([], "count_all")]))
    deciding = seconds(lambda: policy.decide_table(inputs))
    print(f"{different:,} of {rows:,} requests are different: {finding / rows * 1e9:.0f} ns a row to find them,", end=" ")
    print(f"{deciding / rows * 1e9:.0f} ns a row to decide them all")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
