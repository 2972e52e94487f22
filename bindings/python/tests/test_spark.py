"""Spark: the same answers on a cluster as in one process, for any spread of the rows, and again when a task is run again."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, TableError, Token

pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("pyspark")

import orbgate.spark  # noqa: E402
from access_log import access_log  # noqa: E402
from pyspark import TaskContext  # noqa: E402
from pyspark.sql import DataFrame, SparkSession  # noqa: E402
from pyspark.sql.functions import col, rand  # noqa: E402

pytestmark = [
    pytest.mark.once,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

POLICY = Policy.external()
NEWER_TEXT = """
orbgate: 1
apis:
  external:
    base_path: /api/v1/external
    scopes:
      read:models: {orbs: false, routes: [GET /models, 'GET /models/{modelId}']}
      write:stores: {orbs: true, routes: [{route: 'GET /store/{storeItemId}', orbs: 5}]}
"""
NEWER = Policy.from_yaml(NEWER_TEXT)
DECISION = ["decision", "status", "reason", "detail", "api", "route", "scope", "consumes", "amount", "bonus_allowed", "policy", "about", "needs"]
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
BAD = [
    (None, "/api/v1/external/orbs", "user", "read:orbs", True),
    ("GET", None, "user", "read:orbs", False),
    ("GET", "/api/v1/external/orbs", None, "read:orbs", None),
    ("GET", "/api/v1/external/orbs", "user", None, True),
    ("GET", "/api/v1/external/orbs", "robot", "read:orbs", True),
    ("get", "/api/v1/external/orbs", "user", "read:orbs", True),
    ("GET", "/api/v1/external/ö", "user", "read:orbs", True),
    ("GET", "", "user", "", True),
    (None, None, None, None, None),
]


def calls(rows: int) -> Any:
    """A log with bad rows in it, each row with its number."""
    names = ["method", "target", "kind", "scopes", "allow_bonus_orbs_use"]
    bad = pa.table({name: [row[at] for row in BAD] for at, name in enumerate(names)})
    log = access_log(POLICY, rows)
    log = pa.concat_tables([log.slice(0, 100), bad, log.slice(100)], promote_options="default")
    return log.append_column("row", pa.array(range(len(log))))


LOG = calls(12_000)


def plain(policy: Policy, log: Any, prefix: str = "", **options: Any) -> Any:
    """The log with its decisions, by one process."""
    decided = policy.decide_table(log, **options).to_pyarrow()
    for name in decided.column_names:
        column = decided[name]
        column = column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        log = log.append_column(prefix + name, column)
    return log


EXPECTED = plain(POLICY, LOG)


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A cluster of two executors, each a process with one core."""
    home = os.environ.get("JAVA_HOME")
    if not (Path(home, "bin/java").exists() if home else shutil.which("java")):
        pytest.skip("Spark needs Java 17 or 21")
    location = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("SPARK_WORKER_DIR", str(location / "work"))
        patch.chdir(location)
        settings: dict[str, bool | float | int | str | None] = {
            "spark.ui.enabled": "false",
            "spark.cores.max": "2",
            "spark.scheduler.minRegisteredResourcesRatio": "1",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
            # So that a partition has several batches.
            "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
            # Short work: what a better compiler and collector gain would not pay for them.
            "spark.driver.extraJavaOptions": QUICK,
            "spark.executor.extraJavaOptions": QUICK,
            "spark.log.level": "ERROR",
        }
        session = SparkSession.builder.master("local-cluster[2,1,1024]").config(map=settings).getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="module")
def log(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """The log as a data set of Parquet that Spark has written."""
    location = tmp_path_factory.mktemp("log")
    pq.write_table(LOG, location / "log.parquet")
    spark.read.parquet(str(location / "log.parquet")).repartition(3, "caller").write.parquet(str(location / "log"))
    return spark.read.parquet(str(location / "log"))


def written(frame: DataFrame, location: Path) -> Path:
    frame.write.parquet(str(location))
    return location


def rows(location: Path) -> Any:
    """A data set's rows, in the order of the log."""
    table = pq.read_table(location).sort_by("row")
    return table.cast(pa.schema([field.with_nullable(True) for field in table.schema]))


@pytest.mark.parametrize("partitions", [1, 2, 7, "shuffled"])
def test_a_cluster_answers_as_one_process_does(log: DataFrame, tmp_path: Path, partitions: int | str) -> None:
    laid = log.repartition(partitions) if isinstance(partitions, int) else log.orderBy(rand(5)).repartition(5)
    decided = rows(written(orbgate.spark.decide(laid, POLICY), tmp_path / "decided"))
    assert decided.num_rows == LOG.num_rows
    assert decided.equals(EXPECTED)
    assert decided["policy"].unique().to_pylist() == [POLICY.digest]


def test_bad_rows_are_kept_with_their_reason(log: DataFrame) -> None:
    bad = orbgate.spark.decide(log.filter(col("row").between(100, 99 + len(BAD))), POLICY).orderBy("row")
    reasons = [(row["reason"], row["detail"]) for row in bad.collect()]
    assert reasons == [
        ("malformed_request", "method"),
        ("malformed_request", "length"),
        ("no_token", None),
        ("scope_missing", None),
        ("invalid_token", None),
        ("malformed_request", "method"),
        ("malformed_request", "byte"),
        ("malformed_request", "length"),
        ("malformed_request", "method"),
    ]


def test_the_columns_are_those_that_the_documentation_names(log: DataFrame) -> None:
    decided = orbgate.spark.decide(log, POLICY)
    assert decided.columns == [*log.columns, *DECISION]
    assert decided.schema.fields[: len(log.columns)] == log.schema.fields
    documented: dict[str, tuple[str, bool]] = {}
    for names, kind, null in re.findall(r"^ *\| (`.*`) \| (\w+).*? \| (.*) \|$", str(orbgate.spark.decide.__doc__), re.MULTILINE):
        documented |= {name: (kind, null != "never") for name in re.findall(r"`(\w+)`", names)}
    columns = {field.name: (field.dataType.simpleString(), field.nullable) for field in decided.schema.fields[len(log.columns) :]}
    assert columns == documented


def test_two_processes_work_at_once(log: DataFrame) -> None:
    """With a barrier, no task begins before all have; each executor has room for one."""

    def executor(batches: Iterator[Any]) -> Iterator[Any]:
        # A worker is forked from a daemon, which the executor has started.
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
        parent = daemon.rpartition(")")[2].split()[1]
        name = Path(f"/proc/{parent}/cmdline").read_text()
        for batch in batches:
            yield batch.append_column("process", pa.array([f"{parent} {name}"] * len(batch)))

    if sys.platform != "linux":
        pytest.skip("asks Linux whose process it is in")
    two = log.select("row", "method", "target", "kind", "scopes").repartition(2)
    placed = two.mapInArrow(executor, "row long, method string, target string, kind string, scopes string, process string", True)
    decided = orbgate.spark.decide(placed, POLICY).select("process", "reason").toArrow().to_pylist()
    processes = Counter(row["process"] for row in decided)
    assert len(processes) == 2 and sum(processes.values()) == len(LOG)
    assert all("CoarseGrainedExecutorBackend" in process for process in processes)
    assert Counter(row["reason"] for row in decided) == Counter(EXPECTED["reason"].to_pylist())


def parts(location: Path) -> dict[str, Any]:
    """The files of a data set, whose names begin with the number of the partition."""
    return {part.name[:10]: pq.read_table(part) for part in location.glob("part-*")}


def test_what_is_run_again_is_the_same(log: DataFrame, tmp_path: Path) -> None:
    """File by file and row by row; what a footer says of encodings has the order of a hash set in the JVM that wrote it."""
    decided = orbgate.spark.decide(log, POLICY)
    first, second = (parts(written(decided, tmp_path / name)) for name in ("first", "second"))
    assert len(first) > 1 and first.keys() == second.keys()
    assert all(first[name].equals(second[name]) for name in first)


def test_a_task_that_dies_is_run_again(log: DataFrame, tmp_path: Path) -> None:
    death = tmp_path / "death"

    def dying(batches: Iterator[Any]) -> Iterator[Any]:
        context = TaskContext.get()
        assert context is not None
        dies = context.partitionId() == 1 and context.attemptNumber() == 0
        for at, batch in enumerate(batches):
            if dies and at == 1:
                death.touch()
                os._exit(1)
            yield batch

    laid = log.repartition(2)
    decided = orbgate.spark.decide(laid.mapInArrow(dying, laid.schema), POLICY)
    assert rows(written(decided, tmp_path / "decided")).equals(EXPECTED)
    assert death.exists()


@pytest.mark.parametrize(("partitions", "by"), [(1, []), (7, ["kind", "caller"]), (2, "scopes")])
def test_decisions_are_counted(log: DataFrame, partitions: int, by: str | list[str]) -> None:
    counted = orbgate.spark.count(log.repartition(partitions), POLICY, by=by)
    names = [*([by] if isinstance(by, str) else by), *DECISION]
    assert counted.columns == [*names, "calls"]
    counts = {tuple(row[:-1]): row[-1] for row in counted.collect()}
    assert counts == Counter(zip(*(EXPECTED[name].to_pylist() for name in names)))
    assert counted.count() == len(counts)


def test_only_what_is_asked_for_is_read(log: DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["kind:string", "method:string", "scopes:string", "target:string"]
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({}, ["allow_bonus_orbs_use:boolean", *texts]),
        ({"allow_bonus_orbs_use": False}, texts),
        ({"allow_bonus_orbs_use": True, "kind": "user", "columns": {"scopes": "caller"}}, ["caller:string", "method:string", "target:string"]),
        ({"allow_bonus_orbs_use": True, "token": Token("user", "")}, ["method:string", "target:string"]),
    ]
    for options, columns in cases:
        orbgate.spark.count(log, POLICY, **options).explain()
        (read,) = re.findall(r"ReadSchema: struct<(.*)>", capsys.readouterr().out)
        assert sorted(read.split(",")) == columns


def test_what_changes_under_a_new_policy_is_counted(log: DataFrame) -> None:
    before = orbgate.spark.decide(log, POLICY, prefix="old_")
    changes = orbgate.spark.count(before, NEWER, by=["old_decision", "old_reason"]).filter("old_decision <> decision")
    counts = {(row["old_reason"], row["reason"], row["route"]): row["calls"] for row in changes.collect()}
    both = plain(NEWER, plain(POLICY, LOG, "old_"))
    changed = both.filter(pc.not_equal(both["old_decision"], both["decision"]))
    assert counts == Counter(zip(*(changed[name].to_pylist() for name in ("old_reason", "reason", "route"))))
    assert {reason for reason, _, _ in counts} == {"scope_held", "scope_missing"}


def test_columns_have_the_names_and_encodings_that_they_have(log: DataFrame) -> None:
    other = log.select(
        "row",
        col("method").cast("binary").alias("verb"),
        col("target").alias("the path"),
        col("kind").alias("who"),
        col("scopes").cast("binary").alias("scp"),
        col("allow_bonus_orbs_use").alias("bonus"),
    )
    names = {"method": "verb", "target": "the path", "kind": "who", "scopes": "scp", "allow_bonus_orbs_use": "bonus"}
    expected = plain(NEWER, LOG, "new_")
    decided = orbgate.spark.decide(other, NEWER, prefix="new_", columns=names).orderBy("row").toArrow()
    assert all(decided[f"new_{name}"].equals(expected[f"new_{name}"]) for name in DECISION)
    counted = orbgate.spark.count(other, NEWER, prefix="new_", columns=names)
    counts = {tuple(row[:-1]): row["new_calls"] for row in counted.collect()}
    assert counts == Counter(zip(*(expected[f"new_{name}"].to_pylist() for name in DECISION)))


def test_one_token_for_all_rows(log: DataFrame) -> None:
    token = Token("organisation", "read:orbs read:models")
    few = log.select("method", "target")
    counted = orbgate.spark.count(few, POLICY, token=token, allow_bonus_orbs_use=True)
    expected = plain(POLICY, LOG, token=token)
    expected = expected.filter(pc.equal(expected["decision"], "allow"))
    assert {row["route"]: row["calls"] for row in counted.filter("bonus_allowed").collect()} == Counter(expected["route"].to_pylist())


def test_what_is_wrong_is_said_before_anything_runs(log: DataFrame) -> None:
    cases: list[tuple[str, dict[str, Any]]] = [
        ("there is no column `who`; the columns are `method`, `target`, .*`row`", {"columns": {"kind": "who"}}),
        ("column `time` must contain strings, not Timestamp", {"columns": {"method": "time"}}),
        ("column `time` must contain booleans or strings, not Timestamp", {"columns": {"allow_bonus_orbs_use": "time"}}),
    ]
    for message, options in cases:
        for ask in (orbgate.spark.decide, orbgate.spark.count):
            with pytest.raises(TableError, match=message):
                ask(log, POLICY, **options)
    with pytest.raises(TypeError, match="nonsense"):
        orbgate.spark.decide(log, POLICY, nonsense=1)
    with pytest.raises(TableError, match="`day`; .* `method`, .*`row`"):
        orbgate.spark.count(log, POLICY, by=["day"])
    with pytest.raises(TableError, match="two columns `calls`: .*prefix"):
        orbgate.spark.count(log.withColumnRenamed("caller", "calls"), POLICY, by="calls")
    with pytest.raises(TableError, match="two columns `status`: .*prefix"):
        orbgate.spark.decide(log.withColumnRenamed("row", "Status"), POLICY)


def test_no_rows_are_no_rows(log: DataFrame) -> None:
    none = log.limit(0)
    assert orbgate.spark.decide(none, POLICY).collect() == []
    assert orbgate.spark.count(none, POLICY).collect() == []


def test_the_page(log: DataFrame) -> None:
    text = Path(__file__).resolve().parents[1].joinpath("docs/tables.md").read_text(encoding="utf-8")
    (block,) = [block for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) if "pyspark" in block]
    written(log, Path("access-log").absolute())
    Path("new.yaml").write_text(NEWER_TEXT)
    exec(compile(block, "tables.md", "exec"), {})
    assert rows(Path("decided")).equals(plain(POLICY, LOG))


def test_what_is_missing_is_named(log: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r"pyarrow.*: pip install 'pyspark\[sql\]>=4'"):
        orbgate.spark.decide(log, POLICY)
