"""What an audit counts is exact, or says what it lacks: each row that once got lost, and each sum that once said something else."""

from __future__ import annotations

import csv
import gzip
import hashlib
import html
import io
import json
import random
import re
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from expected import Expected
from orbgate import Policy, TableError, Token, logs, report
from orbgate.__main__ import main

pa = pytest.importorskip("pyarrow")

from made_up_calls import POLICY, Page  # noqa: E402
from orbgate._read import times as _times  # noqa: E402

HEADER = "method,target,kind,scopes,caller\n"
ROW = "GET,/api/v1/external/orbs,user,read:orbs,{}\n"


def rows_of(path: Path, **options: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pa.table(logs.read(path, **options)).to_pylist()
    return rows


def words_of(page: str) -> str:
    return " ".join(html.unescape(" ".join(Page(page.replace("<wbr>", "")).texts)).split())


def test_a_stray_quote_takes_no_row_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str], expected: Expected) -> None:
    """Of these thousand rows ten were read, without an error."""
    lines = [ROW.format(f"app{at}") for at in range(1_000)]
    lines[10] = ROW.format('"app10')
    path = tmp_path / "calls.csv"
    path.write_text(HEADER + "".join(lines))
    rows = rows_of(path)
    assert [row["caller"] for row in rows] == [None if at == 10 else f"app{at}" for at in range(1_000)]
    expected(rows[10]["error"])
    assert main(["replay", str(path)]) == 2
    out = capsys.readouterr().out
    assert "  999  allowed" in out and "    1  errors" in out and "row 11: line 12: " in out
    path.write_text(HEADER + "".join(lines[5:15]))
    errors = [row["error"] for row in rows_of(path)]
    assert [error is None for error in errors] == [True] * 5 + [False] + [True] * 4
    expected(errors[5])
    # Two of them, one after the other: what is between them was one value.
    lines[12] = ROW.format('"app12')
    path.write_text(HEADER + "".join(lines[5:15]))
    assert [row["error"] is None for row in rows_of(path)] == [True] * 5 + [False, True, False, True, True]


def dirty(choose: random.Random) -> tuple[str, list[list[str]]]:
    """A file of CSV as loggers write it, quoted well, and its values."""
    values = ["", "a", "a b", 'say "x"', "a,b", "two\nlines", "\r", "é", " x ", '"', "a\r\nb", "'"]
    table = [[choose.choice(values) for _ in range(5)] for _ in range(choose.randrange(1, 200))]
    end, is_all_quoted = choose.choice(["\n", "\r\n"]), choose.choice([True, False])

    def written(value: str) -> str:
        # Older writers of Python leave a `\r` bare, and their own readers end a row there.
        is_quoted = is_all_quoted or any(sign in value for sign in ',"\r\n')
        return '"' + value.replace('"', '""') + '"' if is_quoted else value

    rows = [HEADER.strip().split(","), *table]
    return "".join(",".join(map(written, row)) + end for row in rows), table


@pytest.mark.parametrize("seed", range(30))
def test_values_are_those_that_were_written(tmp_path: Path, seed: int) -> None:
    """As Python's own reader has them."""
    choose = random.Random(seed)
    text, table = dirty(choose)
    path = tmp_path / "calls.csv"
    path.write_bytes(text.encode())
    assert list(csv.reader(io.StringIO(text, newline="")))[1:] == table
    values = [[row[name] or "" for name in HEADER.strip().split(",")] for row in rows_of(path)]
    assert values == table
    # With a stray quote in one line, every line that is not in a value of several is still there.
    plain = [ROW.format(at) for at in range(300)]
    at = choose.randrange(300)
    plain[at] = plain[at].replace("user", choose.choice(['"user', 'us"er', '"us"er', 'user"']))
    path.write_text(HEADER + "".join(plain))
    rows = rows_of(path)
    assert [row["caller"] for row in rows if row["row"] != at + 1] == [str(other) for other in range(300) if other != at]


@pytest.mark.once
@pytest.mark.parametrize("seed", range(5))
def test_duckdb_reads_the_same_values(tmp_path: Path, seed: int) -> None:
    duckdb = pytest.importorskip("duckdb")
    text, table = dirty(random.Random(1_000 + seed))
    # It takes the kind of the line's end for granted, and trims nothing.
    path = tmp_path / "calls.csv"
    path.write_bytes(text.encode())
    names = HEADER.strip().split(",")
    types = "{" + ", ".join(f"'{name}': 'VARCHAR'" for name in names) + "}"
    sql = f"from read_csv('{path}', header=true, delim=',', quote='\"', escape='\"', columns={types}, auto_detect=false)"
    theirs = [[value or "" for value in row] for row in duckdb.sql(sql).fetchall()]
    assert theirs == table == [[row[name] or "" for name in names] for row in rows_of(path)]


def test_a_member_of_a_value_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    path.write_text("method,target,token\nGET,/,x\n")
    with pytest.raises(TableError, match="`token.kind` for `kind` in `.*`: .* nested columns"):
        list(logs.read(path, columns={"kind": "token.kind"}))


INSTANT = "2026-11-20T13:05:00+00:00"
# What is written, and the instant; without a zone it is in UTC.
FORMS = [
    ("2026-11-20T13:05:00Z", INSTANT),
    ("2026-11-20t13:05:00z", INSTANT),
    ("2026-11-20 14:05:00+0100", INSTANT),
    ("2026-11-20 14:05:00 +01:00", INSTANT),
    ("2026-11-20T14:05+01", INSTANT),
    ("2026-11-20T13:05:00.0000009Z", INSTANT),
    ("2026-11-20T13:05:00,000", INSTANT),
    ("20261120T130500Z", INSTANT),
    ("20261120T1305", INSTANT),
    ("20/Nov/2026:14:35:00 +0130", INSTANT),
    ("20/Nov/2026:13:05:00", INSTANT),
    ("20/Nov/2026:13:05:00 Z", INSTANT),
    ("20/Nov/2026:13:05:00Z", INSTANT),
    ("20/Nov/2026:14:05:00.0000009 +01:00", INSTANT),
    ("2026-11-20", "2026-11-20T00:00:00+00:00"),
    ("2026-11-20T13", "2026-11-20T13:00:00+00:00"),
    ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999+00:00"),
    ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+00:00"),
    # These killed the command.
    ("9999-12-31T23:59:59-05:00", None),
    ("0000-01-01T00:00:00Z", None),
    ("31/Dec/9999:23:59:59 -0100", None),
    ("0001-01-01T00:00:00+00:01", None),
    ("2026-11-20T24:00:00Z", None),
    ("2026-11-20T13:05:60Z", None),
    ("2026-02-30T13:05:00Z", None),
    ("2026-11-20T13:05:00+24:00", None),
    ("2026-11-20T13:05:00+00:60", None),
    ("20/Nov/2026:13:05:00 +0060", None),
    ("20/Nov/2026:13:05:00 CET", None),
    ("20/11/2026:13:05:00 +0000", None),
    ("2026-W47-5", None),
    ("20261120", None),
    ("2026-11-20T13:05:00 UTC", None),
    ("", None),
]


def read_times(texts: list[str], zone: str | None = None) -> tuple[list[str | None], int, int]:
    calls = pa.table({"method": ["GET"] * len(texts), "target": ["/"] * len(texts), "time": texts})
    reader = logs.read(calls, time_zone=zone)
    instants = [row["time"] and row["time"].isoformat() for row in pa.table(reader).to_pylist()]
    return instants, reader.unread_times, reader.zoneless_times


def test_a_time_that_cannot_be_told_is_absent_and_counted() -> None:
    """With any times next to it, and in every Python."""
    for written, expected in FORMS:
        for others in ([], [FORMS[0]], [("yesterday", None)], [("20/Nov/2026:13:05:00 +0000", INSTANT)]):
            chosen = [(written, expected), *others]
            instants, unread, _ = read_times([text for text, _ in chosen])
            assert instants == [time for _, time in chosen], chosen
            assert unread == sum(time is None for _, time in chosen)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_arrow_reads_times_as_we_do(seed: int) -> None:
    """Columns of one form are read by Arrow, all others one by one."""
    choose = random.Random(seed)
    times = _times.Times(None)

    def two(limit: int) -> str:
        return f"{choose.choice([choose.randrange(limit), choose.randrange(100)]):02}"

    for _ in range(2_000):
        year = f"{choose.choice([0, 1, 1969, 1970, 2026, 9999]):04}"
        clock, zone = f"{two(24)}:{two(60)}:{two(60)}", f"{choose.choice('+-')}{two(24)}"
        part = choose.choice(["", f".{choose.randrange(10**6):06}", f".{choose.randrange(10**8):08}"])
        iso = f"{year}-{two(13)}-{two(30)}{choose.choice('T ')}{clock}{part}"
        text = choose.choice([iso, f"{iso}Z", f"{iso}{zone}:{two(60)}", f"{iso}{zone}{two(60)}"])
        text = choose.choice([text, f"{two(30)}/{choose.choice([*_times.MONTHS, 'Foo'])}/{year}:{clock} {zone}{two(60)}"])
        one, *_ = times._one(text)
        instants, unread, _ = read_times([text])
        if one is None or not _times.FIRST <= one <= _times.LAST:
            assert (instants, unread) == ([None], 1), text
        else:
            assert instants == [(_times.EPOCH + timedelta(microseconds=one)).isoformat()], text


def test_products_of_dates_do_not_wrap_around() -> None:
    """Arrow's own times of seconds and days, as microseconds."""
    for times in (
        pa.array([1 << 50, -(1 << 50), 0], pa.timestamp("s")),
        pa.array([1 << 55, -(1 << 55), 0], pa.timestamp("ms", "UTC")),
        pa.array([1 << 62, -(1 << 62), 0], pa.timestamp("us")),
        pa.array([2**31 - 1, -(2**31), 0], pa.date32()),
    ):
        reader = logs.read(pa.table({"method": ["GET"] * 3, "target": ["/"] * 3, "time": times}))
        assert [row["time"] for row in pa.table(reader).to_pylist()] == [None, None, _times.EPOCH] and reader.unread_times == 2
    early = pa.array([-1, -1_000, 999], pa.timestamp("ns", "UTC"))
    column = pa.table(logs.read(pa.table({"method": ["GET"] * 3, "target": ["/"] * 3, "time": early})))["time"]
    assert column.cast(pa.int64()).to_pylist() == [-1, -1, 0]


def test_the_zone_of_times_that_name_none_is_said() -> None:
    local = ["2026-07-01T12:00:00", "2026-10-25 02:30:00", "2026-03-29 02:30:00", "2026-11-20T13:05:00Z"]
    assert read_times(local[:1]) == (["2026-07-01T12:00:00+00:00"], 0, 1)
    assert read_times(local[:1], "+05:30") == (["2026-07-01T06:30:00+00:00"], 0, 1)
    pytest.importorskip("zoneinfo").ZoneInfo("Europe/Berlin")
    # Where clocks were changed, a time was there twice, or never.
    assert read_times(local, "Europe/Berlin") == (["2026-07-01T10:00:00+00:00", None, None, INSTANT], 2, 1)
    stamps = pa.array([datetime(2026, 7, 1, 12)], pa.timestamp("ms"))
    calls = pa.table({"method": ["GET"], "target": ["/"], "time": stamps})
    reader = logs.read(calls, time_zone="Europe/Berlin")
    assert pa.table(reader)["time"].cast(pa.int64()).to_pylist() == [1_782_900_000_000_000]
    assert reader.warnings[-1].startswith("1 time ") and reader.warnings[-1].endswith(" Europe/Berlin.")
    for bad in ("Nowhere", "../etc", "+25:00", "+02:60", ""):
        with pytest.raises(ValueError, match="time zone"):
            logs.read(calls, time_zone=bad)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    choose = random.Random(2)
    text = HEADER + "".join(ROW.format(f"app{choose.randrange(10**9)}") for _ in range(150_000))
    whole = gzip.compress(text.encode())
    path = tmp_path / "calls.csv.gz"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    return path


@pytest.mark.long
def test_a_digest_is_of_a_whole_file(broken: Path) -> None:
    """It was of what happened to be read: one file had five."""
    wanted = hashlib.sha256(broken.read_bytes()).hexdigest()
    pytest.importorskip("vl_convert")
    pages = [report(broken, POLICY) for _ in range(3)]
    assert {page.html for page in pages} == {pages[0].html}
    assert pages[0].figures.log.files == [("calls.csv.gz", wanted, 1, pages[0].figures.calls)] and pages[0].figures.log.broken is not None
    assert pages[0].figures.calls > 50_000 and wanted in pages[0].html
    after = broken.with_name("later.csv")
    after.write_text(HEADER + ROW.format("later"))
    made = report([broken, after], POLICY)
    assert made.figures.log.files == [("calls.csv.gz", wanted, 1, made.figures.calls), ("later.csv", None, None, None)]
    assert re.search(r"later\.csv, no rows \(.*?\)", words_of(made.html))


def test_a_torn_quote_is_never_tolerated(tmp_path: Path, capsys: pytest.CaptureFixture[str], expected: Expected) -> None:
    """Who can write into a value of a log could end a row there, and write the next ones."""
    path = tmp_path / "calls.csv"
    forged = "\n" * 100 + "GET,/forged,user,admin,root\n"
    path.write_text(HEADER + ROW.format("ann") * 500 + f'GET,/,user,read,"{forged}"\n')
    for tolerated in ("50%", "1000"):
        assert main(["replay", str(path), "--json", "--tolerate", tolerated]) == 2
        captured = capsys.readouterr()
        summary = json.loads(captured.out)
        assert summary["arguments"]["tolerate"] == tolerated
        expected(summary["warnings"][0])
        assert "--tolerate never allows" in captured.err
    path.write_text(HEADER + ROW.format("ann") * 500 + "GET\n")
    assert main(["replay", str(path), "--tolerate", "1"]) == 0 and "tolerate=1\n" in capsys.readouterr().out


def test_pieces_of_gzip_are_large(tmp_path: Path) -> None:
    """Python 3.10 and 3.11 decompress 8 KiB at once, and each was a batch of its own."""
    path = tmp_path / "access.log.gz"
    line = '::1 - - [20/Nov/2026:13:05:00 +0000] "GET / HTTP/1.1" 200 17\n'
    path.write_bytes(gzip.compress(line.encode() * 100_000))
    assert [batch.num_rows >= 10_000 for batch in logs.read(path)].count(False) <= 2 * (100_000 // (1 << 16) + 1)
    assert len(list(logs.read(path))) < 20


def test_what_was_said_is_on_the_page_and_in_the_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str], expected: Expected) -> None:
    path = tmp_path / "calls.csv"
    path.write_text(HEADER + ROW.format("ann"))
    options = ["--kind", "organisation", "--scopes", "read:keys", "--column", "caller=scopes"]
    assert main(["replay", str(path), "--json", *options]) == 0
    summary = json.loads(capsys.readouterr().out)
    arguments = {"columns": {"caller": "scopes"}, "kind": "organisation", "scopes": "read:keys"}
    assert {name: value for name, value in summary["arguments"].items() if value is not None} == {**arguments, "top": 10, "examples": 3}
    overruled = summary["warnings"]
    assert len(overruled) == 2
    expected(*overruled)
    assert main(["replay", str(path), *options]) == 0
    assert f"warning: {overruled[0]}" in capsys.readouterr().out
    pytest.importorskip("vl_convert")
    assert main(["report", str(path), *options, "--top", "7", "--out", str(tmp_path / "page.html")]) == 0
    page = words_of((tmp_path / "page.html").read_text())
    assert "caller=scopes , kind=organisation , scopes=read:keys , top=7" in page and overruled[1] in page


LINE = {"method": "GET", "target": "/api/v1/external/orbs", "auth": {"kind": "user", "scp": "read:orbs"}}
ACCESS = '::1 - - [20/Nov/2026:13:05:00 +0000] "GET / HTTP/1.1" 200 17 "-" "-" "user"\n'


@pytest.mark.parametrize(
    ("name", "content", "columns"),
    [
        ("a.jsonl", f"{json.dumps(LINE)}\n" * 3, {"kind": "auth.knd"}),
        ("a.log", ACCESS * 3, {"kind": "extra2"}),
        ("a.log", ACCESS * 3, {"caller": "vhost"}),
    ],
)
def test_a_column_that_was_named_and_that_no_row_has(
    tmp_path: Path, name: str, content: str, columns: dict[str, str], expected: Expected, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every call was decided as one without a token."""
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(TableError) as caught:
        list(logs.read(path, columns=columns))
    message = str(caught.value)
    expected(message)
    [(column, theirs)] = columns.items()
    out = tmp_path / "out.parquet"
    assert main(["replay", str(path), "--column", f"{column}={theirs}", "--out", str(out)]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"error: {message}\n") and not out.exists()


def test_a_column_that_some_row_has_is_there(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    null = {**LINE, "auth": {"kind": None}}
    path.write_text(f"{json.dumps({'method': 'GET', 'target': '/'})}\n" * 3 + json.dumps(null))
    assert len(rows_of(path, columns={"kind": "auth.kind"})) == 4
    path.write_text("")
    assert rows_of(path, columns={"kind": "auth.kind"}) == []


@pytest.mark.parametrize(
    "change",
    [{"kind": "Kind"}, {"scopes": "scope"}, {"scopes": "roles"}],
    ids=lambda change: "-".join(*change.items()),
)
def test_columns_that_are_misspelt_are_named(tmp_path: Path, change: dict[str, str], expected: Expected) -> None:
    names = [change.get(name, name) for name in ("method", "target", "kind", "scopes")]
    table = pa.table(dict(zip(names, (["GET"], ["/api/v1/external/orbs"], ["user"], ["read:orbs"]))))
    (tmp_path / "a.csv").write_text(f"{','.join(names)}\nGET,/api/v1/external/orbs,user,read:orbs\n")
    (tmp_path / "a.json").write_text(json.dumps(table.to_pylist()[0]))
    messages = set()
    for log in (table, table.to_pandas(), logs.read(tmp_path / "a.csv"), logs.read(tmp_path / "a.json", format="json")):
        reader = log if isinstance(log, logs.Reader) else logs.read(log)
        summary = logs.replay(reader, POLICY)
        warnings = summary.to_dict()["warnings"]
        assert warnings and all(f"warning: {warning}" in str(summary) for warning in warnings)
        messages.add("\n".join(warnings))
    expected(*messages)
    assert len(messages) == 1


SLIPS = {
    "kind": ("user", "unknown", "invalid_token"),
    "dash": ("user", "-", "invalid_token"),
    "letters": ("user", " USER", "invalid_token"),
    "empty": ("user", "", "invalid_token"),
    "scopes": ("read:orbs", "read:orbs,read:keys", "scope_missing"),
    "list": ("read:orbs", '["read:orbs"]', "scope_missing"),
    "method": ("GET", "get", "malformed_request"),
    "target": ("/api/v1/external/orbs", "https://ann:hidden@h.example/api/v1/external/orbs?key=hidden", "malformed_request"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_log_that_is_denied_for_how_it_is_written_says_so(slip: str, tmp_path: Path, expected: Expected) -> None:
    right, wrong, reason = SLIPS[slip]
    column = {"list": "scopes", "letters": "kind", "empty": "kind", "dash": "kind"}.get(slip, slip)
    whole = {"method": "GET", "target": "/api/v1/external/orbs", "kind": "user", "scopes": "read:orbs"}

    def summary(wrongs: int, rights: int) -> Any:
        rows = [{**whole, column: wrong}] * wrongs + [{**whole, column: right}] * rights
        path = tmp_path / "calls.json"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return logs.replay(logs.read(path, columns={"method": "method"}), POLICY).to_dict()

    result = summary(6, 4)
    assert {row["reason"]: row["count"] for row in result["reasons"]} == {reason: 6, "scope_held": 4}
    [warning] = result["warnings"]
    # What helps is named, and it is an option.
    assert warning.startswith("6 calls " if slip == "empty" else "6 of 10 calls ") and "hidden" not in warning
    assert f"`{column}`" in warning or slip in ("empty", "dash")
    expected(warning)
    # A call of a client that is wrong is no slip of the log; a token is told of, because it may look like one that holds nothing.
    fewer = [warning.replace("6 ", "2 ", 1)] if column in ("kind", "scopes") else []
    assert summary(2, 8)["warnings"] == fewer and summary(0, 3)["warnings"] == []


def test_every_command_warns_of_the_same_tokens(tmp_path: Path, capsys: pytest.CaptureFixture[str], expected: Expected) -> None:
    """`replay` and `report` were quiet where `privileges` warned, an empty kind had no word at all, and a comma was called a misspelling."""
    tokens = [("user", "read:orbs")] * 9 + [("USER", "read:orbs"), ("", "read:orbs"), ("robot", "read:orbs"), ("user", "read:orbs,read:keys"), ("user", "reed:orbs"), ("user", "openid https://id.example/read")]
    path, page = tmp_path / "calls.jsonl", tmp_path / "page.html"
    row = {"method": "GET", "target": "/api/v1/external/orbs", "caller": "ann"}
    path.write_text("".join(json.dumps({**row, "kind": kind, "scopes": scopes}) + "\n" for kind, scopes in tokens))
    printed = []
    for command in (["replay"], ["report", "--out", str(page)], ["privileges"]):
        main([*command, str(path), "--format", "json"])
        printed.append([line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: ")])
    assert printed[0] == printed[1] == printed[2] and len(printed[0]) == 4
    expected(*printed[0])
    text = page.read_text()
    expected.sentences(words_of(text), "misspelt: 3")
    cells = re.findall("<td[^>]*>([^<]*)</td>", text.replace("<wbr>", ""))
    diagnostics = {scope: cells[cells.index(scope) + 1] for scope in ("reed:orbs", "openid", "https://id.example/read")}
    assert "read:orbs" in diagnostics["reed:orbs"] and diagnostics["openid"] == diagnostics["https://id.example/read"] != diagnostics["reed:orbs"]
    expected(*diagnostics.values())
    assert all(line.removeprefix("warning: ") in text for line in printed[0])


def test_an_empty_kind_is_said(tmp_path: Path, expected: Expected) -> None:
    path = tmp_path / "calls.csv"
    path.write_text(HEADER + ROW.format("ann") + ROW.format("bob").replace("user", "") * 2 + "GET,/,,,ann\n")
    reader = logs.read(path)
    summary = logs.replay(reader, POLICY).to_dict()
    assert {row["reason"]: row["count"] for row in summary["reasons"]} == {"no_token": 3, "scope_held": 1}
    assert len(summary["warnings"]) == 1
    expected(*summary["warnings"])


def test_an_empty_kind_is_absent_in_csv_and_a_value_elsewhere(tmp_path: Path) -> None:
    call = {"method": "GET", "target": "/api/v1/external/orbs", "kind": "", "scopes": "read:orbs"}
    (tmp_path / "calls.csv").write_text(HEADER + ROW.format("ann").replace("user", ""))
    (tmp_path / "calls.json").write_text(json.dumps(call) + "\n" + json.dumps({**call, "kind": None}) + "\n")
    # As the README has it.
    for log, reasons in (
        (logs.read(tmp_path / "calls.csv"), {"no_token"}),
        (logs.read(tmp_path / "calls.json", format="json"), {"invalid_token", "no_token"}),
        (logs.read(pa.Table.from_pylist([call])), {"invalid_token"}),
    ):
        assert {row["reason"] for row in logs.replay(log, POLICY).to_dict()["reasons"]} == reasons


def test_times_are_counted_of_rows_that_are_decided(tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    lines = [{**call, "time": time} for call in ({"method": "GET", "target": "/"}, {"target": "/"}) for time in ("yesterday", "2026-11-20T13:05:00")]
    path.write_text("\n".join(map(json.dumps, lines)))
    reader = logs.read(path, format="json")
    list(reader)
    assert (reader.unread_times, reader.zoneless_times) == (1, 1)


def test_a_kind_keeps_its_word() -> None:
    token = Token("service", "read:orbs")
    assert repr(token) == "Token('service', ['read:orbs'])" and eval(repr(token)) == token
    assert token.kind == "unknown" and POLICY.decide("GET", "/api/v1/external/orbs", token).reason == "invalid_token"
    assert Token("service", "") != Token("robot", "")


CHARGES = Policy.from_yaml(
    """
orbgate: 1
apis:
  shop:
    base_path: ''
    scopes:
      buy: { orbs: 9007199254740993, routes: [POST /buy] }
      some: { orbs: unstated, routes: [POST /some] }
      free: { orbs: false, routes: [GET /free] }
""".replace("orbs: unstated", "orbs: true")
)


def test_whole_numbers_stay_whole_in_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    calls = pa.table({"method": ["POST", "POST", "GET", "GET"], "target": ["/buy", "/some", "/free", "/none"]})
    decided = CHARGES.decide_table(calls, token=Token("user", "buy some free")).to_pandas()
    assert decided["amount"].tolist() == [2**53 + 1, pandas.NA, 0, pandas.NA]
    assert decided["consumes"].tolist() == [True, True, False, pandas.NA]
    assert [str(decided[name].dtype) for name in ("amount", "consumes", "status")] == ["Int64", "boolean", "Int16"]
    frame = CHARGES.routes().to_pandas()
    assert frame["amount"].tolist() == [2**53 + 1, pandas.NA, 0] and str(frame["amount"].dtype) == "Int64"
    assert str(CHARGES.scopes().to_pandas()["consumes"].dtype) == "boolean"
    assert list(CHARGES.routes()[:0].to_pandas().columns) == list(CHARGES.routes().columns)


def test_sums_of_orbs_are_in_orbs() -> None:
    """The page named the span with most calls for the one with most orbs."""
    pytest.importorskip("vl_convert")
    start = datetime(2026, 11, 2, tzinfo=timezone.utc)
    calls = [("/some", 0)] * 5 + [("/buy", 3_600)] * 2 + [("/some", 3_600)] * 3
    table = pa.table({
        "method": ["POST"] * len(calls),
        "target": [path for path, _ in calls],
        "time": pa.array([start + timedelta(seconds=at) for _, at in calls], pa.timestamp("us", "UTC")),
    })
    made = report(table, CHARGES, kind="user", scopes="buy some")
    text = words_of(made.html)
    assert re.search(r"minute [^.]* 2026-11-02 01:00 on: 18,014,398,509,481,986 orbs, [^.]* 3 calls ", text)
    assert " 18,014,398,509,481,986 orbs, 8 calls " in text and "986 orbs, 8 calls" in made.html
    # In a tile, a long sum goes on in the next line.
    assert "18,<wbr>014,<wbr>398,<wbr>509,<wbr>481,<wbr>986 orbs" in made.html
    routes = {row.route: (row.calls, row.orbs, row.unstated) for row in made.figures.orbs.routes}
    assert routes == {"POST /some": (8, 0, 8), "POST /buy": (2, 2 * (2**53 + 1), 0)}
    assert sum(span.orbs for span in made.figures.orbs.times) == made.figures.amount == 2 * (2**53 + 1)
    only = words_of(report(table.slice(0, 5), CHARGES, kind="user", scopes="buy some").html)
    assert re.search(r" 5 calls [^.]* orbs\. .*second from 2026-11-02 00:00:00 on: 5\.", only)
    summary = logs.replay(logs.read(table, kind="user", scopes="buy some"), CHARGES).to_dict()
    assert {row["route"]: (row["stated_amount"], row["calls_without_stated_amount"]) for row in summary["routes"]} == {
        "POST /some": (0, 8), "POST /buy": (2 * (2**53 + 1), 0)
    }


def test_unused_scopes_are_those_of_each_caller() -> None:
    """What one caller uses hid what all others hold."""
    pytest.importorskip("vl_convert")
    choose = random.Random(4)
    routes = POLICY.routes()
    scopes = sorted({route.scope for route in routes})
    # Each calls what needs two of its four scopes.
    holders = {f"app{at}": choose.sample(scopes, 4) for at in range(30)}
    rows: list[dict[str, Any]] = []
    for _ in range(3_000):
        caller = choose.choice([*holders, None])
        route = choose.choice([route for route in routes if caller is None or route.scope in holders[caller][:2]])
        held = " ".join(choose.sample(holders[caller], 3)) if caller else "read:orbs"
        rows.append({"method": route.method, "target": route.template.replace("{", "").replace("}", ""), "kind": "user", "scopes": held, "caller": caller})
    granted: Counter[Any] = Counter()
    used: Counter[Any] = Counter()
    for row in rows:
        decision = POLICY.decide(row["method"], row["target"], Token("user", row["scopes"]))
        for scope in row["scopes"].split():
            granted[row["caller"], scope] += 1
        if decision and decision.reason == "scope_held":
            used[row["caller"], decision.scope] += 1
    made = report(pa.Table.from_pylist(rows), POLICY)
    expected = {(*pair, granted[pair], used[pair]) for pair in granted if pair[0] is not None}
    assert {use[:4] for use in made.figures.scopes.by_caller} == expected and made.figures.scopes.by_caller_is_exact
    unused = {pair[0] for pair in granted if pair[0] is not None and not used[pair]}
    pairs = sum(1 for pair in granted if pair[0] is not None and not used[pair])
    assert re.search(rf" {len(unused)} of 30 callers [^.]*, {pairs} pairs [^.]*\.", words_of(made.html))
    assert len(made.figures.unused_by_caller) == pairs >= 60 > len(made.figures.unused)


def test_refused_calls_are_counted() -> None:
    calls = pa.table({"method": ["GET"] * 1_000, "target": [f"/nowhere/{at % 7}" for at in range(1_000)], "kind": ["user"] * 1_000})
    [refusal] = POLICY.least_scopes(calls).refusals
    assert (refusal.method, refusal.target, refusal.calls, refusal.decision.reason) == ("GET", "/nowhere/0", 1_000, "no_route")
