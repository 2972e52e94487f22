"""Reports of files: the same as of tables, what cannot be read, and `python -m orbgate report`."""

from __future__ import annotations

import gzip
import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, TableError, logs, report
from orbgate.__main__ import main

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

pytestmark = pytest.mark.once

POLICY = Policy.external()
ORBS, KEYS = "/api/v1/external/orbs", "/api/v1/external/keys"
CALLS = [
    {"method": method, "target": target, "kind": kind, "scopes": scopes, "caller": f"app {at % 3}"}
    for at in range(40)
    for method, target in [("GET", ORBS), ("GET", KEYS), ("PUT", KEYS), ("GET", f"{KEYS}/../orbs")]
    for kind, scopes in [("user", "read:orbs"), ("organisation", "read:keys"), (None, None)]
]


def requests(*lines: str) -> str:
    token = {"kind": "user", "scopes": "read:orbs read:inference write:inference"}
    called = {"method": "GET", "target": ORBS, "token": token}
    by_scope = {"scope": "read:inference", "token": token}
    refused = {"scope": "read:inference", "token": {"kind": "organisation", "scopes": "read:inference"}}
    return "".join(f"{line}\n" for line in [*map(json.dumps, (called, by_scope, by_scope, refused)), *lines])


def texts(page: str) -> str:
    return html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL))


def test_a_file_has_the_report_of_its_table(tmp_path: Path) -> None:
    path = tmp_path / "calls.parquet"
    pq.write_table(pa.Table.from_pylist(CALLS), path)
    of_table = report(pa.Table.from_pylist(CALLS), POLICY)
    assert of_table.figures.calls == len(CALLS) and of_table.figures.consuming == 40
    for log in (path, str(path), logs.read(path)):
        assert re.sub(r"<div><dt>Log</dt>.*?</div>\n", "", report(log, POLICY).html) == of_table.html


def test_it_counts_what_a_replay_counts(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    path.write_text(requests("{}") * 7, encoding="utf-8")
    figures, summary = report(path, POLICY).figures, logs.replay(logs.read(path), POLICY).to_dict()
    assert (figures.allowed, figures.denied, figures.log.unread) == (summary["allowed"], summary["denied"], summary["errors"])
    assert {row.reason: row.calls for row in figures.decisions.reasons} == {
        row["reason"]: row["count"] for row in summary["reasons"]
    }
    assert (
        figures.consuming == summary["orbs"]["calls"]
        and figures.bonus_allowed == summary["orbs"]["calls_that_allow_bonus_orbs"]
    )


def test_what_is_asked_by_scope_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    path.write_text(requests(), encoding="utf-8")
    made = report(path, POLICY)
    figures = made.figures
    assert (figures.calls, figures.allowed, figures.consuming) == (4, 3, 1)
    used = {use.scope: (use.granted, use.used) for use in figures.scopes.granted}
    assert used == {"read:orbs": (3, 1), "read:inference": (4, 2), "write:inference": (3, 0)}
    assert {(row.route, row.scope): (row.allowed, row.denied) for row in figures.decisions.routes} == {
        (f"GET {ORBS}", "read:orbs"): (1, 0),
        (None, "read:inference"): (2, 1),
    }
    page = texts(made.html)
    for sentence in ("1 of the policy's 37 routes was called. ", "read:inference (by scope)", "decided by scope"):
        assert sentence in page
    assert "Denied before a route was known" not in page


def test_rows_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    path.write_text(requests("<b>", *["{}"] * 9), encoding="utf-8")
    made = report(path, POLICY)
    assert (made.figures.calls, made.figures.log.unread) == (4, 10)
    assert [row.row for row in made.figures.log.first_unread] == [5, 6, 7, 8, 9]
    page = texts(made.html)
    for sentence in ("10 rows could not be read, so they were not decided", "and 10 unread rows", "6, 7, 8, 9, 10, …"):
        assert sentence in page
    assert [(row.rows, row.first) for row in made.figures.log.unread_by_reason] == [(9, (6, 7, 8, 9, 10)), (1, (5,))]
    path.write_text("<b>\n", encoding="utf-8")
    nothing = texts(report(path, POLICY).html)
    assert "1 row could not be read, so it was not decided" in nothing and "The log has no calls" in nothing


def test_a_log_that_breaks_off_has_a_report_of_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl.gz"
    whole = gzip.compress((requests() * 40_000).encode(), mtime=0)
    path.write_bytes(whole[: len(whole) // 2])
    made = report(path, POLICY)
    assert made.figures.calls > 0 and made.figures.log.broken
    assert "After the rows that were read, the log breaks off" in texts(made.html)
    path.write_bytes(whole[:12])
    with pytest.raises(TableError):
        report(path, POLICY)
    with pytest.raises(FileNotFoundError):
        report(tmp_path / "nowhere.csv", POLICY)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["report", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command_writes_the_page(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log, out = tmp_path / "access.log", tmp_path / "report.html"
    line = f'::1 - ann [20/Nov/2026:13:05:00 +0000] "GET {ORBS} HTTP/1.1" 200 17\n'
    log.write_text(line * 1_500, encoding="utf-8")
    options = [
        "--column",
        "caller=user",
        "--kind",
        "user",
        "--scopes",
        "read:keys",
        "--title",
        "One <week>",
        "--top",
        "3",
    ]
    code, output, errors = run(capsys, log, *options, "--out", out)
    assert (code, output.partition("\n")[0], errors) == (0, f"{out}: 1,500 calls, 0 allowed, 1,500 denied", "")
    read = logs.read(log, columns={"caller": "user"}, kind="user", scopes="read:keys")
    same = report(read, POLICY, title="One <week>", top=3)
    assert out.read_text(encoding="utf-8") == same.html
    assert same.figures.callers.counts[0].caller == "ann" and "2026-11-20 13:05" in texts(same.html)
    again = subprocess.run(
        [sys.executable, "-m", "orbgate", "report", "-", "--format", "access", *options, "--out", str(out)],
        input=log.read_bytes(),
        capture_output=True,
        check=True,
    )
    # Standard input has no name, and the same bytes.
    assert b"1,500 denied" in again.stdout and out.read_text(encoding="utf-8") == same.html.replace(
        "access.log <", "standard input <"
    ).replace("<code>column caller=user", "<code>format=access</code>, <code>column caller=user")


def test_the_command_says_what_went_wrong(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log, out = tmp_path / "requests.jsonl", tmp_path / "report.html"
    log.write_text(requests("{}"), encoding="utf-8")
    code, output, _ = run(capsys, log, "--out", out)
    assert (code, output.partition("\n")[0]) == (2, f"{out}: 4 calls, 3 allowed, 1 denied, 1 row unread") and out.exists()
    assert "\nmedium: 1 of 5 rows could not be read, so the results might be incomplete; 1 of them for one reason, first in row " in output
    policy = tmp_path / "policy.yaml"
    policy.write_text("orbgate: 2\napis: {}\n", encoding="utf-8")
    code, _, errors = run(capsys, log, "--policy", policy, "--out", out)
    assert code == 2 and f"{policy}:1:10:" in errors
    code, _, errors = run(capsys, tmp_path / "nowhere.csv", "--out", out)
    assert code == 2 and "nowhere.csv" in errors
    for wrong in ([log, "--out", log], [log], [log, "--out", out, "--top", "0"], [log, "--policy", out, "--out", out]):
        with pytest.raises(SystemExit) as exit:
            main(["report", *map(str, wrong)])
        assert exit.value.code == 2
    assert log.read_text(encoding="utf-8") == requests("{}")
    assert main(["report", str(log), "--out", os.fspath(tmp_path / "no" / "folder.html")]) == 2


def test_the_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["report", "--help"])
    output: Any = capsys.readouterr().out
    assert "python -m orbgate report access.log.gz" in output and "exit codes:" in output
