"""Dates without a time of day say on which day a call was made: they are counted, and nothing is said of how near calls came."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, audit, logs, report

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("vl_convert")

pytestmark = pytest.mark.once

POLICY = Policy.external()
DAY = "2026-10-29"
WARNING = "{} calls have a date without a time of day. First: row {}. Numbers within an hour are therefore not reported."


def log(days: Sequence[str]) -> Any:
    """Ten calls at times of day, and on each of the days one to another path, by a caller most of whose calls are to a route."""
    times = [f"2026-10-{20 + at}T12:00:00Z" for at in range(10)]
    every = [*times, *days, *[None] * 200]
    targets = ["/api/v1/external/orbs"] * 10 + [f"/s{chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(len(days))] + ["/api/v1/external/orbs"] * 200
    return pa.table({
        "method": ["GET"] * len(every), "target": targets, "kind": ["user"] * len(every), "scopes": ["read:orbs"] * len(every),
        "caller": ["scan"] * len(every), "time": pa.array(every, pa.string()),
    })  # fmt: skip


def of_type(table: Any, kind: Any) -> Any:
    """The calls on days alone, with a column of dates."""
    table = table.filter(pa.compute.equal(pa.compute.utf8_length(table["time"]), 10))
    return table.set_column(table.column_names.index("time"), "time", table["time"].cast(pa.date32()).cast(kind))


LOGS: dict[str, tuple[Any, int, int]] = {
    "texts": (log([DAY] * 51), 51, 11),
    "one of many": (log([f"{DAY}T12:00:00Z"] * 50 + [DAY]), 1, 61),
    "texts and spaces": (log([f" {DAY} "] * 51), 51, 11),
    "date32": (of_type(log([DAY] * 51), pa.date32()), 51, 1),
    "date64": (of_type(log([DAY] * 51), pa.date64()), 51, 1),
}


@pytest.mark.parametrize("name", LOGS)
def test_they_are_counted_and_nothing_rests_on_an_hour(name: str) -> None:
    table, calls, row = LOGS[name]
    sentence = WARNING.format(calls, row).replace("1 calls have", "1 call has") if calls == 1 else WARNING.format(calls, row)
    made = report(table, POLICY)
    assert [warning for warning in made.figures.log.warnings if "a date without a time of day" in warning] == [sentence] and sentence in made.html
    assert sentence in logs.replay(logs.read(table), POLICY).to_dict()["warnings"]
    assert sentence in audit.privileges(table, POLICY).warnings
    for group in made.figures.denials.groups:
        assert (group.paths_in_hour, group.calls) == (None, 51)
        # Most of its calls are to other paths only where nothing else is in the log.
        assert group.looks_like == ("probe" if name in ("date32", "date64") else None)
    assert "of these paths within an hour" not in made.html


def test_the_same_calls_at_times_of_day_are_a_probe() -> None:
    figures = report(log([f"{DAY}T00:00:00Z"] * 51), POLICY).figures
    [group] = figures.denials.groups
    assert (group.looks_like, group.paths_in_hour) == ("probe", 20) and not figures.log.warnings


@pytest.mark.parametrize("write", ["csv", "json", "parquet"])
def test_a_file_says_it_as_its_table_does(tmp_path: Path, write: str) -> None:
    days = [date(2026, 10, 1) + timedelta(days=at // 2) for at in range(40)]
    table = of_type(log([str(day) for day in days]), pa.date32())
    path = tmp_path / f"calls.{write}"
    if write == "parquet":
        pq.write_table(table, path)
    else:
        row: Callable[[dict[str, Any]], str] = lambda call: ",".join(map(str, call.values()))  # noqa: E731
        if write == "json":
            import json

            row = lambda call: json.dumps({**call, "time": str(call["time"])})  # noqa: E731
        head = [",".join(table.column_names)] if write == "csv" else []
        path.write_text("\n".join([*head, *map(row, table.to_pylist())]) + "\n")
    figures = report(path, POLICY, format="json" if write == "json" else None).figures
    assert WARNING.format(40, 1) in figures.log.warnings and [group.paths_in_hour for group in figures.denials.groups] == [None]


def test_a_row_that_cannot_be_read_has_no_part_in_it(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    path.write_text(f'time,method,target\n{DAY},GET,"/a\n2026-10-29T00:00:00Z,GET,/b\n')
    assert not [warning for warning in report(path, POLICY).figures.log.warnings if "a date without a time of day" in warning]
