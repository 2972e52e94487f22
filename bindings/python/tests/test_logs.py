"""Logs as they are: hostile bytes, broken rows, names of columns, times; a row that cannot be read is there with its reason."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from expected import Expected
from orbgate import Policy, TableError, Token, logs

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def decided(folder: Path, log: logs.Reader, policy: Policy) -> list[dict[str, Any]]:
    """The rows that a replay writes."""
    logs.replay(log, policy, out=folder / "out.parquet")
    rows: list[dict[str, Any]] = pq.read_table(folder / "out.parquet").to_pylist()
    return rows


def read_rows(path: Path, content: bytes, **options: Any) -> list[dict[str, Any]]:
    path.write_bytes(content)
    rows: list[dict[str, Any]] = pa.table(logs.read(path, **options)).to_pylist()
    assert [row["row"] for row in rows] == list(range(1, len(rows) + 1))
    return rows


def errors(path: Path, content: bytes, **options: Any) -> list[str | None]:
    return [row["error"] for row in read_rows(path, content, **options)]


LINE = b'10.0.0.1 - ann [20/Nov/2026:13:05:00 +0100] "GET /a HTTP/1.1" 200 17\n'


def test_hostile_bytes_of_an_access_log(tmp_path: Path, policy: Policy) -> None:
    """The engine judges the bytes that came over the wire, and a reader is shown that they are no text."""
    log = tmp_path / "access.log"
    targets = [b"/a\xff", rb"/a\xFF", rb"/\xE2\x80\xAE", rb"/\"", rb"/\x5c", b"/a\xc0\xaf", rb"/\x0aGET", b"/\\q"]
    log.write_bytes(b"".join(LINE.replace(b"/a ", target + b" ") for target in targets))
    meant = [b"/a\xff", b"/a\xff", "/\u202e".encode(), b'/"', b"/\\", b"/a\xc0\xaf", b"/\nGET", b"/\\q"]
    rows = decided(tmp_path, logs.read(log, kind="user", scopes="read:orbs"), policy)
    for row, target in zip(rows, meant):
        decision = policy.decide("GET", target, Token("user", "read:orbs"))
        assert (row["reason"], row["detail"]) == (decision.reason, decision.detail) and row["status"] == 400
        assert row["target"] == target.decode("utf-8", "replace")
    # Lengths are those of the bytes, not of the characters that replace them.
    log.write_bytes(LINE.replace(b"/a ", b"/" + b"\xff" * 8_000 + b" "))
    assert decided(tmp_path, logs.read(log, kind="user"), policy)[0]["detail"] == "byte"


def test_the_reason_of_a_row_has_what_the_log_has(tmp_path: Path) -> None:
    """Backslashes were doubled, so the row could not be searched for."""
    for request in (rb"\x16\x03\x01", rb"a\\b", rb"say\"it\""):
        [row] = read_rows(tmp_path / "access.log", LINE.replace(b"GET /a HTTP/1.1", request))
        assert row["error"] == f"the request is `{request.decode()}`, no method and target"


def test_an_access_log_says_who_and_when(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    [row] = read_rows(log, LINE)
    assert (row["caller"], row["kind"], row["time"].isoformat()) == ("10.0.0.1", None, "2026-11-20T12:05:00+00:00")
    [row] = read_rows(log, LINE, columns={"caller": "user"}, kind="organisation", scopes="a b", allow_bonus_orbs_use=True)
    values = [row[name] for name in ("caller", "kind", "scopes", "allow_bonus_orbs_use")]
    assert values == ["ann", "organisation", "a b", True]
    names = "access.log.1 access.log-20261120 access.LOG.2 access_log ssl_access_log.3 access_log-20261120 calls.txt"
    names += " access.log-2026-11-20 access.log.2026-11-19 access.log.gz.1 access_log.bak access.log.2.old ssl_access_log-20261120.1"
    for name in names.split():
        assert len(read_rows(tmp_path / name, LINE)) == 1


def test_a_line_of_an_access_log_is_a_call_whatever_its_time_says(tmp_path: Path, policy: Policy) -> None:
    """A time without a zone took its whole row with it, also with `time_zone`, and so did a status that pandas wrote."""
    log = tmp_path / "access.log"
    times = [b"20/Nov/2026:13:05:00 +0100", b"20/Nov/2026:13:05:00", b"2026-11-20T13:05:00.5Z", b"20/11/2026:13:05:00 +0000", b"-"]
    lines = [LINE.replace(b"20/Nov/2026:13:05:00 +0100", time) for time in times]
    log.write_bytes(b"".join([*lines, *(LINE.replace(b"200", status) for status in (b"404.0", b"200.5", b"ok", b"-"))]))
    summary = logs.replay(logs.read(log, time_zone="+05:00"), policy).to_dict()
    assert (summary["rows"], summary["errors"], summary["unread_times"], summary["zoneless_times"]) == (9, 0, 1, 1)
    assert summary["warnings"][-3:] == [
        "1 value in `time` could not be read as a time. First: `20/11/2026:13:05:00 +0000` (row 4).",
        "2 values in `served_status` are not HTTP statuses. First: `200.5` (row 7).",
        "1 time has no zone, so it was read as +05:00.",
    ]
    rows = pa.table(logs.read(log, time_zone="+05:00")).to_pylist()
    instants = [row["time"] and row["time"].isoformat() for row in rows[:5]]
    assert instants == ["2026-11-20T12:05:00+00:00", "2026-11-20T08:05:00+00:00", "2026-11-20T13:05:00.500000+00:00", None, None]
    assert [row["served_status"] for row in rows] == [200] * 5 + [404, None, None, None]
    assert {row["target"] for row in rows} == {"/a"}
    for name, text in (("a.jsonl", '{"method":"GET","target":"/a","time":"20/Nov/2026:13:05:00"}'), ("a.csv", "method,target,time\nGET,/a,20/Nov/2026:13:05:00")):
        [row] = read_rows(tmp_path / name, text.encode(), columns={"time": "time"}, time_zone="+05:00")
        assert row["time"].isoformat() == "2026-11-20T08:05:00+00:00"


@pytest.mark.parametrize("kind", ["csv", "json", "text.parquet", "float.parquet"])
def test_a_status_is_a_whole_number_however_it_is_written(tmp_path: Path, kind: str) -> None:
    path, statuses = tmp_path / f"calls.{kind}", ["200.0", "200.5", "404"]
    if kind == "csv":
        path.write_text("method,target,served_status\n" + "".join(f"GET,/a,{status}\n" for status in statuses))
    elif kind == "json":
        path.write_text("".join(f'{{"method":"GET","target":"/a","served_status":{status}}}\n' for status in statuses))
    else:
        pq.write_table(pa.table({"method": ["GET"] * 3, "target": ["/a"] * 3, "served_status": statuses if kind.startswith("text") else [*map(float, statuses)]}), path)
    reader = logs.read(path, format="json" if kind == "json" else None)
    assert pa.table(reader)["served_status"].to_pylist() == [200, None, 404]
    assert "1 value in `served_status` is not an HTTP status. First: `200.5` (row 2)." in reader.warnings


def test_the_server_before_all_others_is_no_caller(tmp_path: Path) -> None:
    """Apache's `vhost_combined` was read one field too far to the left, without a word."""
    line = b"a.example:443 " + LINE.removesuffix(b"\n") + b' "-" "curl"\n'
    for path in ("other_vhosts_access.log", "other_vhosts_access.log.1"):
        [row] = read_rows(tmp_path / path, line)
        assert (row["caller"], row["target"]) == ("10.0.0.1", "/a")
        [row] = read_rows(tmp_path / path, line, columns={"caller": "user", "kind": "vhost"})
        assert (row["caller"], row["kind"]) == ("ann", "a.example:443")


def test_several_files_are_one_log(tmp_path: Path, policy: Policy) -> None:
    lines = [LINE.replace(b"/a", b"/%d" % number) for number in range(6)]
    (tmp_path / "access.log.2.gz").write_bytes(gzip.compress(lines[0] + lines[1]))
    (tmp_path / "access.log.1").write_bytes(lines[2] + b"-\n")
    (tmp_path / "access.log").write_bytes(b"".join(lines[3:5]))
    paths = [tmp_path / name for name in ("access.log.2.gz", "access.log.1", "access.log")]
    rows = pa.table(logs.read(paths)).to_pylist()
    assert [row["target"] for row in rows] == ["/0", "/1", "/2", None, "/3", "/4"]
    assert [row["row"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert rows[3]["error"].startswith(f"`{Path(paths[1]).name}`, row 2 ")
    by_pattern = pa.table(logs.read(tmp_path / "access.log*"))["target"].to_pylist()
    assert by_pattern == ["/3", "/4", "/2", None, "/0", "/1"]
    assert pa.table(logs.read(tmp_path))["target"].to_pylist() == by_pattern
    reader = logs.read(paths)
    summary = logs.replay(reader, policy).to_dict()
    assert (summary["rows"], summary["errors"], summary["format"]) == (6, 1, "access")
    assert summary["log"] == ", ".join(map(str, paths)) and reader.paths == list(map(str, paths))
    assert reader.position == reader.size == sum(path.stat().st_size for path in paths)


def test_a_folder_of_parquet_is_one_log(tmp_path: Path) -> None:
    folder = tmp_path / "calls"
    for name in ("part-0.parquet", "day=2/part-1.snappy.parquet", "_temporary/part-9.parquet", "_SUCCESS"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"method": ["GET"], "target": [f"/{name}"]}), folder / name)
    targets = pa.table(logs.read(folder))["target"].to_pylist()
    assert targets == ["/day=2/part-1.snappy.parquet", "/part-0.parquet"]
    (folder / "notes.md").write_text("what this is")
    with pytest.raises(ValueError, match="notes.md`.* `format`"):
        logs.read(folder)
    (tmp_path / "empty").mkdir()
    for nothing in (tmp_path / "empty", tmp_path / "*.csv"):
        with pytest.raises(FileNotFoundError, match="(empty|csv)"):
            logs.read(nothing)
    with pytest.raises(FileNotFoundError):
        logs.read([folder / "part-0.parquet", tmp_path / "none.csv"])
    with pytest.raises(ValueError, match="standard input"):
        logs.read(["-", str(folder / "part-0.parquet")], format="csv")


def test_nothing_is_no_log() -> None:
    """A pattern of one's own that finds no file would make a clean page."""
    with pytest.raises(TableError, match="nothing"):
        list(logs.read([]))


def test_names_of_callers_are_read_alike(tmp_path: Path) -> None:
    """An empty name is nobody's, in files and in tables; whole numbers are names, also where one is missing."""
    (tmp_path / "calls.csv").write_text('method,target,caller\nGET,/a,""\nGET,/a,7\n')
    (tmp_path / "calls.jsonl").write_text('{"method":"GET","target":"/a","caller":""}\n{"method":"GET","target":"/a","caller":"7"}\n')
    table = pa.table({"method": ["GET"] * 2, "target": ["/a"] * 2, "caller": ["", "7"]})
    doubles = table.set_column(2, "caller", pa.array([None, 7.0]))
    for log in (tmp_path / "calls.csv", table, doubles):
        assert pa.table(logs.read(log))["caller"].to_pylist() == [None, "7"]
    assert pa.table(logs.read(tmp_path / "calls.jsonl", format="json"))["caller"].to_pylist() == [None, "7"]
    with pytest.raises(TableError, match="`caller`.* double"):
        list(logs.read(table.set_column(2, "caller", pa.array([7.5, 8.0]))))


def test_values_of_json_are_shown_as_json_has_them(tmp_path: Path, policy: Policy) -> None:
    """A caller `true` was shown as `True`, and 1e3 as 1000.0."""
    values = ["true", "false", "null", "1.0", "1e3", "-0", "9007199254740993", "12345678901234567890.5", '"True"']
    path = tmp_path / "calls.jsonl"

    def row(value: str) -> str:
        return f'{{"method":"GET","target":"/","caller":{value},"served_status":{value},"time":{value},"allow_bonus_orbs_use":true}}\n'

    path.write_text("".join(map(row, values)))
    rows = pa.table(logs.read(path, format="json")).to_pylist()
    shown = [None if value == "null" else value.strip('"') for value in values]
    assert [row["caller"] for row in rows] == shown and {row["allow_bonus_orbs_use"] for row in rows} == {True}
    assert [row["caller"] for row in decided(tmp_path, logs.read(path, format="json"), policy)] == shown
    path.write_text(row("true"))
    summary = logs.replay(logs.read(path, format="json"), policy)
    assert "True" not in str(summary) and [row["caller"] for row in summary.to_dict()["top_denied_callers"]] == ["true"]
    lines = [line for line in str(summary).splitlines() if line.endswith(": `true` (row 1).")]
    assert len(lines) == 2, summary
    # Of no other column a value is taken for text that is none.
    for member, value, kind in (("kind", "true", "a boolean"), ("scopes", "1.0", "a number"), ("target", "-0", "a number")):
        [error] = errors(path, f'{{"method":"GET","target":"/","{member}":{value}}}\n'.replace('"target":"/","target"', '"target"').encode(), format="json")
        assert error and error.startswith(f"`{member}` is {kind}")


def test_values_of_tables_are_shown_as_arrow_has_them() -> None:
    calls = {"method": ["GET"], "target": ["/"]}
    reader = logs.read(pa.table({**calls, "caller": [2**53 + 1], "time": [True], "served_status": [False]}))
    assert pa.table(reader)["caller"].to_pylist() == [str(2**53 + 1)]
    assert [warning.rpartition(": ")[2] for warning in reader.warnings if "(row 1)" in warning] == ["`true` (row 1).", "`false` (row 1)."]
    for wrong in ({"caller": [True]}, {"kind": [True]}, {"scopes": [1.0]}):
        with pytest.raises(TableError, match="(caller|kind|scopes)`.* strings.*, not "):
            list(logs.read(pa.table({**calls, **wrong})))


def test_views_and_categories_are_texts() -> None:
    views = pa.array(["GET", "GET"], pa.string_view())
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array(["/a"], pa.string_view()))
    lists = pa.array([["a", "b"], None], pa.large_list(pa.string_view()))
    categories = pa.ListArray.from_arrays(pa.array([0, None, 2]), pa.array(["a", "b"]).dictionary_encode())
    for scopes, joined in ((lists, ["a b", None]), (categories, ["a b", None])):
        [*rows] = pa.table(logs.read(pa.table({"method": views, "target": coded, "scopes": scopes}))).to_pylist()
        assert [(row["method"], row["target"], row["scopes"]) for row in rows] == [("GET", "/a", joined) for joined in joined]


def test_flags_are_no_times() -> None:
    log = logs.read(pa.table({"method": ["GET"] * 2, "target": ["/a"] * 2, "time": [True, None]}), time_unit="s")
    assert pa.table(log)["time"].to_pylist() == [None, None] and log.unread_times == 1


def test_broken_rows_are_there(tmp_path: Path, expected: Expected) -> None:
    access = b"nothing\n" + LINE + b"\n" + LINE.replace(b"GET /a HTTP/1.1", b"-") + LINE.replace(b"] ", b" ")
    expected(*errors(tmp_path / "a.log", access))
    rows = read_rows(tmp_path / "a.log", LINE.replace(b"GET /a HTTP/1.1", b"-"))
    assert (rows[0]["caller"], rows[0]["method"]) == ("10.0.0.1", None)
    table = b"method,target,allow_bonus_orbs_use\nGET,/a,true\nGET\n\n,,\nGET,/a,maybe\nGET,/a,1,2\nGET,,FALSE\n"
    expected(*errors(tmp_path / "a.csv", table))
    bytes_of_rows = b"method,target\nGET,/\xe9,\xff\n\xff\nGET,/\xff\nG\xc3\xa9T,/\n"
    rows = read_rows(tmp_path / "a.csv", bytes_of_rows)
    assert [row["target"] for row in rows] == [None, None, "/\ufffd", "/"] and rows[3]["method"] == "G\xe9T"
    flat = (
        b'{"method":"GET","target":"/a"}\n[1]\n{\n\n{"method":"GET"}\n{"method":"GET","method":"PUT","target":"/"}\n'
        b'{"method":["GET"],"target":"/"}\n\xff\n{"method":"GET","target":"/","by_scope":"a"}\n{"target":"/"}\n'
        b'{"method":"GET","target":"/","allow_bonus_orbs_use":1}\n' + b'{"a":' * 200_000 + b"\n"
        b'{"method":"GET","target":"/api/v1/external/orbs\\ud800"}\n'
    )
    expected(*errors(tmp_path / "a.json", flat, format="json"))
    columns = {"method": ["GET", None, None, "GET"], "target": ["/a", "/a", None, None], "by_scope": [None, None, None, "a"]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    expected(*pa.table(logs.read(tmp_path / "a.parquet"))["error"].to_pylist())


def test_a_row_that_cannot_be_read_has_no_decision(tmp_path: Path, policy: Policy) -> None:
    (tmp_path / "a.csv").write_text("method,target,by_scope\nGET,/a,\nGET\n,,read:orbs\nGET,/b,\n")
    rows = decided(tmp_path, logs.read(tmp_path / "a.csv", kind="user", scopes="read:orbs"), policy)
    assert [row["decision"] for row in rows] == ["deny", None, "allow", "deny"]
    assert [row["scope"] for row in rows] == [None, None, "read:orbs", None]
    assert {row["policy"] for row in rows} == {policy.digest}
    assert [number for number in rows[1]["error"].split() if number.isdigit()] == ["1", "3"]


def test_an_empty_log(tmp_path: Path, policy: Policy) -> None:
    nothing = pa.table({"method": pa.array([], pa.string()), "target": pa.array([], pa.string())})
    pq.write_table(nothing, tmp_path / "a.parquet")
    parquet = (tmp_path / "a.parquet").read_bytes()
    for name, content in {"a.log": b"", "a.csv": b"method,target\n", "a.jsonl": b"", "a.parquet": parquet}.items():
        assert read_rows(tmp_path / name, content) == []
        assert decided(tmp_path, logs.read(tmp_path / name), policy) == []
        columns = pq.read_schema(tmp_path / "out.parquet").names
        assert columns[:3] == ["method", "target", "kind"] and columns[-3:] == ["policy", "about", "needs"]
        if name != "a.parquet":
            assert read_rows(tmp_path / name, gzip.compress(content)) == []


def test_what_is_no_parquet_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1" + bytes(100))
    with pytest.raises(TableError, match="cannot read"):
        list(logs.read(tmp_path / "a.parquet"))
    with pytest.raises(ValueError, match="standard input"):
        logs.read("-", format="parquet")


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    column = pa.array(["GET"])
    pq.write_table(pa.table([column] * 4, names=["method", "target", "method", "target"]), tmp_path / "a.parquet")
    with pytest.raises(TableError, match="two .*`method`"):
        list(logs.read(tmp_path / "a.parquet"))


def test_a_line_that_is_too_long(tmp_path: Path) -> None:
    vast = b"x" * (17 << 20)
    for name, options in (("a.log", {}), ("a.jsonl", {}), ("b.jsonl", {"format": "json"})):
        messages = errors(tmp_path / name, LINE + vast + b"\n" + LINE + vast, **options)
        assert [messages[1], messages[3], len(messages)] == ["longer than 16 MiB"] * 2 + [4], name


TIMES = [
    ("2026-11-20T13:05:00Z", None, "2026-11-20T13:05:00+00:00"),
    ("2026-11-20T13:05:00.123456789+01:00", None, "2026-11-20T12:05:00.123456+00:00"),
    ("2026-11-20 13:05:00", None, "2026-11-20T13:05:00+00:00"),
    ("20/Nov/2026:13:05:00 -0130", None, "2026-11-20T14:35:00+00:00"),
    ("1700000000", "s", "2023-11-14T22:13:20+00:00"),
    ("1700000000.5", "s", "2023-11-14T22:13:20.500000+00:00"),
    ("1700000000123", "ms", "2023-11-14T22:13:20.123000+00:00"),
    ("1700000000", None, None),
    ("20/Foo/2026:13:05:00 +0000", None, None),
    ("20-Nov-2026:13:05:00 +0000", None, None),
    ("31/Feb/2026:13:05:00 +0000", None, None),
    ("20/Nov/2026:13:05:00 +9999", None, None),
    ("yesterday", "s", None),
    ("nan", "s", None),
    ("1e300", "s", None),
]


@pytest.mark.parametrize(("written", "unit", "expected"), TIMES)
def test_times(tmp_path: Path, written: str, unit: str | None, expected: str | None) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"method,target,time\nGET,/,{written}\nGET,/,\n")
    reader = logs.read(path, time_unit=unit)
    times = [row["time"] and row["time"].isoformat() for batch in reader for row in batch.to_pylist()]
    assert times == [expected, None]
    assert reader.unread_times == (expected is None)


def test_times_of_every_kind_in_one_log(tmp_path: Path) -> None:
    """One by one, and all at once where all are alike."""
    read = [(written, expected) for written, unit, expected in TIMES if unit is None]
    for chosen in (read, read[:2], read[:1] * 3, read[2:3] * 3, read[3:4] * 3):
        rows = "".join(f"GET,/,{written}\n" for written, _ in chosen)
        logged = read_rows(tmp_path / "a.csv", f"method,target,time\n{rows}".encode())
        assert [row["time"] and row["time"].isoformat() for row in logged] == [expected for _, expected in chosen]
    lines = [{"method": "GET", "target": "/", "time": time} for time in (1_700_000_000, 1.7e9, "1700000000", 10**30, True)]
    text = "\n".join(map(json.dumps, lines)).encode()
    logged = read_rows(tmp_path / "a.json", text, format="json", time_unit="s")
    assert [row["time"] and row["time"].isoformat() for row in logged] == ["2023-11-14T22:13:20+00:00"] * 3 + [None] * 2


@pytest.mark.parametrize(
    "times",
    [
        pa.array([1_700_000_000_000_000_000], pa.timestamp("ns")),
        pa.array([1_700_000_000], pa.timestamp("s", "Europe/Berlin")),
        pa.array([1_700_000_000], pa.int64()),
        pa.array([1_700_000_000.0]),
        pa.array(["2023-11-14T22:13:20Z"]).dictionary_encode(),
    ],
)
def test_times_of_tables(tmp_path: Path, times: Any) -> None:
    pq.write_table(pa.table({"method": ["GET"], "target": ["/"], "time": times}), tmp_path / "a.parquet")
    [row] = pa.table(logs.read(tmp_path / "a.parquet", time_unit="s")).to_pylist()
    assert row["time"].isoformat() == "2023-11-14T22:13:20+00:00"


@pytest.mark.parametrize(("unit", "is_doubted"), [("s", False), ("ms", True), ("us", True)])
def test_a_unit_that_puts_the_log_into_1970_is_doubted(unit: str, is_doubted: bool) -> None:
    times = [1_700_000_000, 1_700_000_100]
    log = logs.read(pa.table({"method": ["GET"] * 2, "target": ["/"] * 2, "time": times}), time_unit=unit)
    list(log)
    assert any("1970" in warning and f"`{unit}`" in warning for warning in log.warnings) == is_doubted
    # One time of another year is enough to believe it.
    log = logs.read(pa.table({"method": ["GET"] * 2, "target": ["/"] * 2, "time": [1, 1_700_000_000_000_000]}), time_unit="us")
    list(log)
    assert not any("1970" in warning for warning in log.warnings)


def test_columns_of_a_table(tmp_path: Path) -> None:
    """Names, structures, dictionaries, lists of scopes, numbers for callers."""
    token = [{"kind": "user", "scp": ["read:orbs", "read:keys write:keys"]}, None]
    table = pa.table({"verb": pa.array(["GET", "GET"]).dictionary_encode(), "target": ["/a", "/b"], "token": token, "who": [7, None]})
    pq.write_table(table, tmp_path / "a.parquet")
    columns = {"method": "verb", "kind": "token.kind", "scopes": "token.scp", "caller": "who"}
    rows = pa.table(logs.read(tmp_path / "a.parquet", columns=columns)).to_pylist()
    names = ("method", "kind", "scopes", "caller")
    # One scope in a list does not become two.
    assert [rows[0][name] for name in names] == ["GET", "user", "read:orbs read:keys\u2420write:keys", "7"]
    assert [rows[1][name] for name in names] == ["GET", None, None, None]
    line = {"verb": "GET", "target": "/a", "token": token[0], "who": 7}
    [row] = read_rows(tmp_path / "a.jsonl", json.dumps(line).encode(), columns=columns)
    assert [row[name] for name in names] == [rows[0][name] for name in names]


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("method", pa.array([1])),
        ("target", pa.array([["/a", "/b"]])),
        ("scopes", pa.array([[1]])),
        ("scopes", pa.array([{"read": "orbs"}])),
        ("kind", pa.array([1.5])),
        ("allow_bonus_orbs_use", pa.array([1.5])),
    ],
)
def test_columns_that_are_no_text(tmp_path: Path, name: str, column: Any) -> None:
    table = {"method": pa.array(["GET"]), "target": pa.array(["/a"]), name: column}
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    with pytest.raises(TableError, match=f"`{name}` .*strings.*, not "):
        list(logs.read(tmp_path / "a.parquet"))


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("a.csv", b"method,path\n", {}),
        ("a.csv", b"method,target\n", {"columns": {"kind": "k"}}),
        ("a.csv", b"time;method\n", {}),
        ("a.csv", "method,target\n".encode("utf-16"), {}),
        ("a.tsv", "method\ttarget\n".encode("utf-16-be"), {}),
        ("a.csv", b"method,target,target\n", {}),
        ("a.csv", b"", {}),
        ("a.csv", b'method,"tar\nget"\n', {}),
        ("a.log", LINE, {"columns": {"kind": "extra"}}),
        ("a.log", LINE, {"columns": {"target": "extra1"}}),
    ],
)
def test_columns_that_are_not_there(tmp_path: Path, expected: Expected, name: str, content: bytes, options: dict[str, Any]) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError) as caught:
        list(logs.read(tmp_path / name, **options))
    expected(str(caught.value).replace(str(tmp_path), "…"))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.dat", {}),
        ("a.csv", {"format": "xml"}),
        ("a.csv", {"columns": {"path": "target"}}),
        ("a.csv", {"kind": "user", "columns": {"kind": "k"}}),
        ("a.csv", {"kind": "root"}),
        ("a.csv", {"time_unit": "h"}),
        ("a.jsonl", {"format": "requests", "kind": "user"}),
    ],
)
def test_arguments_that_do_not_fit(tmp_path: Path, expected: Expected, name: str, options: dict[str, Any]) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        logs.read(tmp_path / name, **options)
    expected(str(caught.value).replace(str(tmp_path), "…"))


def test_a_reader_is_a_table(tmp_path: Path, policy: Policy) -> None:
    path = tmp_path / "a.csv"
    path.write_text("method,target\nGET,/api/v1/external/orbs\nGET,/\n")
    table = policy.decide_table(logs.read(path, kind="user", scopes="read:orbs")).to_pyarrow()
    assert table["decision"].to_pylist() == ["allow", "deny"]
    reader = logs.read(path)
    assert next(reader).schema == reader.schema and reader.position == reader.size == path.stat().st_size


def broken_rows() -> Iterator[tuple[int, set[int]]]:
    choose = random.Random(5)
    for rows in (1, 2, 50, 3_000):
        yield rows, {row for row in range(rows) if choose.random() < 0.2}
        yield rows, set(range(rows))


@pytest.mark.parametrize(("rows", "broken"), list(broken_rows()), ids=lambda value: str(value)[:12])
def test_broken_rows_of_a_table_keep_their_locations(tmp_path: Path, rows: int, broken: set[int]) -> None:
    """Also where whole blocks are broken, and quotes have ends of lines in them."""
    filler = "x" * 2_000
    lines = ("oops" if row in broken else f'GET,"/{row}\n{filler}",u' for row in range(rows))
    logged = read_rows(tmp_path / "a.csv", "\n".join(["method,target,caller", *lines]).encode())
    assert len(logged) == rows
    for row in logged:
        at = row["row"] - 1
        assert (row["target"] is None) == (at in broken) == (row["error"] is not None)
        assert row["target"] is None or row["target"].startswith(f"/{at}\n")


@pytest.mark.parametrize(
    ("times", "unit"),
    [
        (["2026-11-02", "32/Nov/2026", "x"], None),
        ([None, 5, 7], None),
        (["oops", "12", None], None),
        # It was said, and is not what is wrong.
        ([None, None, 1e300], "s"),
        ([b"\xff" * 99, None, None], None),
    ],
)
def test_a_time_that_cannot_be_read_is_shown(times: list[Any], unit: str | None, expected: Expected) -> None:
    """It advised a unit of numbers for a day that no month has."""
    rows = {"method": ["GET"] * 3, "target": ["/"] * 3, "time": times}
    warned = []
    for size in (3, 1):
        log = logs.read(pa.table(rows).to_batches(max_chunksize=size), time_unit=unit)
        list(log)
        warned.append([warning for warning in log.warnings if "`time`" in warning])
    assert warned[0] == warned[1] and len(warned[0]) == 1
    expected(*warned[0])


def test_what_is_no_json_is_said_once(tmp_path: Path, expected: Expected) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": "x\n{"a" 1}\n')
    messages = pa.table(logs.read(path, format="json"))["error"].to_pylist()
    assert [error.rpartition(" ")[2] for error in messages] == ["7", "6"]
    expected(*messages)
