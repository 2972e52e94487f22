"""Measures a log's way through the kernel, through one process and through a cluster of Spark, and how far it collapses.

    python measure_spark.py --rows 4000000 --executors 2

Needs Linux, `pip install "pyspark[sql]>=4"` and Java 17 or 21. The executors are processes of this machine with one core each,
so what it says of a cluster is what Spark takes, not how it scales over machines. Each figure is the best of some rounds, by
the clock and by the processor time of all processes; every way must give the same counts.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orbgate.spark
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.dataset as ds  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from access_log import access_log
from orbgate import Policy
from pyspark.sql import SparkSession

POLICY = Policy.external()
INPUTS = ["method", "target", "kind", "scopes", "allow_bonus_orbs_use"]
# What a decision follows from, with the route instead of the path.
ROUTED = ["method", "route", "reason", "detail", "kind", "scopes", "allow_bonus_orbs_use"]
ROWS_A_FILE = 500_000
ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4_000_000, help="how many calls the log has")
    parser.add_argument("--executors", type=int, default=2, help="how many processes, each with one core")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as location:
        log = Path(location, "log")
        write_log(log, arguments.rows)
        expected = one_process(log, Path(location, "decided"))
        cluster(log, Path(location, "cluster"), arguments.executors, expected)
        collapse(log)


def write_log(log: Path, rows: int) -> None:
    log.mkdir()
    for seed, start in enumerate(range(0, rows, ROWS_A_FILE)):
        pq.write_table(access_log(POLICY, min(ROWS_A_FILE, rows - start), seed), log / f"{seed:04}.parquet")
    size = sum(file.stat().st_size for file in log.iterdir())
    print(f"{rows:,} calls in {size / 1e6:.0f} MB of Parquet")


def one_process(log: Path, decided: Path) -> Counter[str]:
    table = pq.read_table(log, columns=INPUTS)
    rows = len(table)
    measure("kernel, one thread", rows, lambda: POLICY.decide_table(table, threads=1))
    measure("one process, Parquet to Parquet", rows, lambda: write_decisions(log, decided))
    return Counter(pq.read_table(decided, columns=["reason"])["reason"].to_pylist())


def write_decisions(log: Path, decided: Path) -> None:
    """Reads the log batch by batch and writes it with its decisions."""
    writer = None
    for batch in ds.dataset(log).to_batches(batch_size=1 << 17):
        found = POLICY.decide_table(batch).to_pyarrow()
        table = pa.table([*batch.columns, *found.columns], names=[*batch.schema.names, *found.column_names])
        writer = writer or pq.ParquetWriter(decided, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def cluster(log: Path, location: Path, executors: int, expected: Counter[str]) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master(f"local-cluster[{executors},1,2048]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.executor.memory", "2g").config("spark.cores.max", executors)
    builder = builder.config("spark.log.level", "ERROR").config("spark.ui.showConsoleProgress", "false")
    spark = builder.config("spark.scheduler.minRegisteredResourcesRatio", "1").getOrCreate()
    frame = spark.read.parquet(str(log))
    rows = frame.count()

    def untouched(batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches

    def write(what: Any) -> None:
        what.write.mode("overwrite").parquet(str(location))

    nothing = frame.mapInArrow(untouched, frame.schema)
    measure("cluster, Parquet to Parquet, nothing decided", rows, lambda: write(nothing))
    decided = orbgate.spark.decide(frame, POLICY)
    measure("cluster, Parquet to Parquet, decided", rows, lambda: write(decided))
    found = spark.read.parquet(str(location)).groupBy("reason").count().collect()
    assert {row[0]: row[1] for row in found} == expected
    counted = orbgate.spark.count(frame, POLICY)
    measure("cluster, counted", rows, counted.collect)
    reasons: Counter[str] = Counter()
    for row in counted.collect():
        reasons[row["reason"]] += row["calls"]
    assert reasons == expected
    spark.stop()


def collapse(log: Path) -> None:
    """How many different rows there are, before and after routes replace paths."""
    table = pq.read_table(log, columns=INPUTS)
    found = POLICY.decide_table(table).to_pyarrow()
    routed = pa.table({**{name: table[name] for name in INPUTS}, **{name: found[name] for name in found.column_names}})
    for what, columns in [
        ("requests as they came", INPUTS),
        ("requests, a route for its paths", ROUTED),
        ("decisions", found.column_names),
    ]:
        different = len(routed.group_by(columns).aggregate([]))
        print(f"{what:<48}{different:>12,} different, {len(table) / different:>10,.1f} rows for each")


def measure(what: str, rows: int, run: Callable[[], object]) -> None:
    """Says how long it took by the clock and by the processors: what disturbs only ever adds, so the best round counts."""
    seconds, processors = [], []
    for _ in range(ROUNDS):
        start, start_processors = time.perf_counter(), processor_time()
        run()
        seconds.append(time.perf_counter() - start)
        processors.append(processor_time() - start_processors)
    rate, row = rows / min(seconds) / 1e6, min(processors) / rows * 1e9
    print(f"{what:<48}{rate:>8.2f} M rows/s {row:>8.0f} ns of processor time a row", flush=True)


def processor_time() -> float:
    """The processor time in seconds of this process and all that it has started, and they."""
    times: dict[str, float] = {}
    children: dict[str, list[str]] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        children.setdefault(fields[1], []).append(process.name)
        times[process.name] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    family = [str(os.getpid())]
    for process_id in family:
        family += children.get(process_id, [])
    return sum(times[process_id] for process_id in family)


if __name__ == "__main__":
    main()
