"""What `replay --out` writes of a log: its other columns, too, in every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, logs

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.once

POLICY = Policy.external()
ORBS = "/api/v1/external/orbs"


def written(log: Any, folder: Path, **options: Any) -> Any:
    reader = logs.read(log, **options)
    summary = logs.replay(reader, POLICY, out=folder / "out.parquet")
    table = pq.read_table(folder / "out.parquet")
    assert table.num_rows == summary.rows
    return [{name: row[name] for name in table.column_names if name.startswith("log_")} for row in table.to_pylist()], reader.warnings


def test_values_between_delimiters(tmp_path: Path) -> None:
    (tmp_path / "calls.csv").write_text(
        f'method,path,kind,scopes,status,decision,note\nGET,{ORBS},user,read:orbs,200,mine,"a ""b"", c"\nGET\n,,user,,,,\nGET,{ORBS},user,,403,,é\n'
    )
    rows, _ = written(tmp_path / "calls.csv", tmp_path, columns={"target": "path"}, kind="organisation")
    nothing = dict.fromkeys(("log_kind", "log_status", "log_decision", "log_note"))
    # The kind is one that was said for all, so the log's own is another column.
    assert rows == [
        {"log_kind": "user", "log_status": "200", "log_decision": "mine", "log_note": 'a "b", c'},
        nothing, {**nothing, "log_kind": "user"}, {**nothing, "log_kind": "user", "log_status": "403", "log_note": "é"},
    ]  # fmt: skip
    # Whether a row is one does not depend on what comes along.
    table = pq.read_table(tmp_path / "out.parquet")
    assert [why and why[:7] for why in table["error"].to_pylist()] == [None, "1 value", "neither", None]
    assert pa.table(logs.read(tmp_path / "calls.csv", columns={"target": "path"}, kind="user"))["error"].to_pylist() == table["error"].to_pylist()


def test_columns_of_tables_keep_their_types(tmp_path: Path) -> None:
    calls: dict[str, Any] = {"method": ["GET"], "target": [ORBS], "token": [{"kind": "user", "scopes": "read:orbs", "iat": 7}], "bytes": [2**60], "tags": [["a"]]}
    pq.write_table(pa.table(calls), tmp_path / "a.parquet")
    columns = {"kind": "token.kind", "scopes": "token.scopes"}
    kept = {"log_token": calls["token"][0], "log_bytes": 2**60, "log_tags": ["a"]}
    assert written(tmp_path / "a.parquet", tmp_path, columns=columns)[0] == [kept] == written(pa.table(calls), tmp_path, columns=columns)[0]
    pd = pytest.importorskip("pandas")
    assert written(pd.DataFrame({"method": ["GET"], "target": [ORBS], "cost": [0.5]}), tmp_path)[0] == [{"log_cost": 0.5}]
    pq.write_table(pa.table({"method": ["GET"], "target": [ORBS], "bytes": ["many"], "more": [1]}), tmp_path / "b.parquet")
    rows, warnings = written([tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path)
    assert rows[1] == {"log_token": None, "log_bytes": None, "log_tags": None}
    assert [warning.partition(",")[0] for warning in warnings if "not written" in warning] == [f"Values of `{name}` were not written" for name in ("more", "bytes")]


def test_members_of_objects(tmp_path: Path) -> None:
    lines = [{"method": "GET", "target": ORBS, "agent": "é", "size": [1, {"a": None}]}, {"method": "GET", "target": ORBS, "kind": None}]
    (tmp_path / "calls.json").write_text("".join(json.dumps(line) + "\n" for line in lines) + "{}\nno\n")
    rows, _ = written(tmp_path / "calls.json", tmp_path, format="json")
    assert [row["log_members"] and json.loads(row["log_members"]) for row in rows] == [{"agent": "é", "size": [1, {"a": None}]}, None, None, None]


def test_numbers_of_objects_are_as_they_were_written(tmp_path: Path) -> None:
    """Python wrote 1e3 as 1000.0, dropped digits, and had no word for a number of thousands of digits."""
    members = f'{{"a": 1e3, "b": [1.10, -0, 12345678901234567890.123], "c": {{"d": 9007199254740993, "e": true}}, "f": {"7" * 5_000}, "g": "é"}}'
    deep = '{"h": ' + "[" * 1_200 + "1.5" + "]" * 1_200 + "}"
    start = f'{{"method": "GET", "target": "{ORBS}", '
    (tmp_path / "calls.json").write_text(f"{start}{members[1:]}\n{start}{deep[1:]}\n")
    rows, _ = written(tmp_path / "calls.json", tmp_path, format="json")
    assert [row["log_members"] for row in rows] == [members, deep]


def test_fields_of_an_access_log(tmp_path: Path) -> None:
    line = f'::1 - ann [20/Nov/2026:13:05:00 +0000] "GET {ORBS} HTTP/1.1" 200 17 "https://a.example/" "curl \\"8\\"" '
    (tmp_path / "access.log").write_text(f'{line}"read:orbs" user -\n-\n{line}"read:orbs" user 3 4\n')
    rows, warnings = written(tmp_path / "access.log", tmp_path, columns={"scopes": "extra1", "kind": "extra2"})
    fields = {"log_identity": None, "log_user": "ann", "log_size": "17", "log_vhost": None, "log_referer": "https://a.example/", "log_agent": 'curl "8"'}
    assert {**rows[0], **fields} == rows[0] and {name for name in rows[0] if name not in fields} == {"log_extra3", "log_extra4", "log_extra5"}
    assert rows[1] == dict.fromkeys(rows[0]) and (rows[2]["log_extra3"], rows[2]["log_extra4"]) == ("3", "4") and not [warning for warning in warnings if "not written" in warning]
