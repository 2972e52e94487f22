"""Entries of a ledger as tables, and logs that are compared with them, whose differences are known."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import sqlite3
import subprocess
import threading
from collections.abc import Sequence
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, TableError, audit, orbs, report

pa = pytest.importorskip("pyarrow")
for needed in ("vl_convert", "jinja2"):
    pytest.importorskip(needed)

POLICY = Policy.from_yaml("""
orbgate: 1
apis:
  shop:
    base_path: ""
    scopes:
      run: { orbs: 30, routes: [POST /run, POST /walk] }
      any: { orbs: true, routes: [POST /any] }
      read: { orbs: false, routes: [GET /orders] }
...
""")
START = 1_795_863_000_000
MINUTE = 60_000


class World:
    """A ledger and a log, both of hours. Every two minutes there is a call."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self.calls: list[dict[str, Any]] = []
        self.now = START
        self._log("GET /orders", None, 200)
        self._entry("grant", "g", available=1_000_000)

    def call(self, route: str, hold: str | None, status: int = 200, *, amount: int = 30, captured: int | None = 30, logged: bool = True, void: str = "void") -> World:
        self.now += 2 * MINUTE
        if hold is not None:
            self._entry("hold", hold, route, available=-amount, held=amount)
            if captured is not None:
                self._entry("capture", hold, route, available=amount - captured, held=-amount, captured=captured)
            elif void:
                self._entry(void, hold, route, available=amount, held=-amount)
        if logged:
            self._log(route, hold, status)
        return self

    def _entry(self, cause: str, id: str, route: str = "", **orbs: int) -> None:
        line = {"grant": "g", "bucket": "paid", "available": 0, "held": 0, "captured": 0, **orbs}
        seq, note = len(self.entries) + 1, f"{route} sha256:{'0' * 64}" if route else ""
        after = {name: sum(entry["lines"][0][of] for entry in self.entries) + line[of] for name, of in (("paid", "available"), ("held", "held"))}
        self.entries.append({"cursor": f"{seq}-00000000000000ff", "account": "a", "seq": seq, "at": self.now, "cause": cause, "id": id, "lines": [line], "note": note, "bonus": 0, "shortfall": 0, **after})

    def _log(self, route: str, hold: str | None, status: int) -> None:
        method, target = route.split()
        self.calls.append({"method": method, "target": target, "kind": "user", "scopes": "run any read", "served_status": status, "hold_id": hold, "time": self.now})

    def report(self, **options: Any) -> Any:
        self.now += 2 * MINUTE
        self._log("GET /orders", None, 200)
        text = "\n".join(map(json.dumps, self.entries))
        table = pa.Table.from_pylist(self.calls)
        return report(table, POLICY, columns={"hold": "hold_id"}, time_unit="ms", entries=orbs.entries(io.BytesIO(text.encode())), **options)


def clean() -> World:
    """Calls as they should be: captured, voided after a failure, denied by the ledger, stated by a function, and free."""
    world = World()
    for at in range(40):
        world.call("POST /run", f"run{at}")
    world.call("POST /walk", "failed", 500, captured=None).call("POST /run", None, 402).call("POST /any", "stated", captured=7)
    return world.call("POST /walk", "left", 499).call("GET /orders", None).call("POST /any", None, 402)


def ours(made: Any) -> list[tuple[str, str, int]]:
    return [(row.kind, row.level, row.affected) for row in made.figures.findings if row.kind in ("held_without_call", "called_without_hold", "captured_otherwise")]


def test_a_clean_log_has_no_finding() -> None:
    made = clean().report()
    assert ours(made) == []
    assert made.figures.reconciled[:3] == (43, 43, 0) and not made.figures.reconciled.differences
    assert "The ledger has 43 holds in the time of the log, of which 43 have their call in it. Each call that consumes orbs has its hold" in made.html


def test_each_difference_is_found() -> None:
    world = clean()
    world.call("POST /run", "unlogged", logged=False).call("POST /run", "killed", captured=None, logged=False, void="hold_expired")
    first = len(world.calls) + 1
    world.call("POST /walk", None).call("POST /any", None, 302).calls.append({**world.calls[5], "time": world.now})
    world.call("POST /run", "unknown").entries[-2:] = []
    world.call("POST /run", "more", captured=31).call("POST /run", "never", captured=None).call("POST /walk", "error", 500).call("POST /run", "pending", captured=None, void="")
    made = world.report()
    assert ours(made) == [("held_without_call", "high", 2), ("called_without_hold", "high", 4), ("captured_otherwise", "medium", 4)]
    differences = {(row.what.split()[0], row.route): row[2:] for row in made.figures.reconciled.differences}
    assert differences == {
        ("held", "POST /run"): (2, 0, 30, "unlogged", None),
        ("called", "POST /run"): (2, 60, 0, "run4", first + 2),
        ("called", "POST /walk"): (1, 30, 0, None, first),
        ("called", "POST /any"): (1, 0, 0, None, first + 1),
        ("captured", "POST /run"): (3, 90, 31, "more", first + 4),
        ("captured", "POST /walk"): (1, 30, 30, "error", first + 6),
    }
    assert "2 holds have no call in the log, and 30 orbs of them were captured: 2 for POST /run, the first is unlogged." in made.html


@pytest.mark.parametrize("kind", ["held_without_call", "called_without_hold", "captured_otherwise"])
def test_one_difference_is_one_finding(kind: str) -> None:
    world = clean()
    world.call("POST /run", None if kind == "called_without_hold" else "one", captured=29 if kind == "captured_otherwise" else 30, logged=kind != "held_without_call")
    assert [finding[0] for finding in ours(world.report())] == [kind]


def test_holds_outside_the_time_of_the_log_are_only_looked_up() -> None:
    world = clean()
    world.calls = world.calls[10:-5]
    world.now = world.calls[-1]["time"] - 2 * MINUTE
    reconciled = world.report().figures.reconciled
    assert not reconciled.of("held without a call")
    assert reconciled.outside == 43 - reconciled.holds > 10


def test_what_is_needed(tmp_path: Path) -> None:
    world = clean()
    table = orbs.entries(io.BytesIO("\n".join(map(json.dumps, world.entries)).encode()))
    with pytest.raises(ValueError, match="`hold`"):
        report(pa.Table.from_pylist(world.calls), POLICY, entries=table)
    with pytest.raises(ValueError, match="could not say which they are"):
        report(pa.Table.from_pylist(world.calls), POLICY, columns={"hold": "hold_id"}, time_unit="ms", entries=table.replace_schema_metadata(None)).bundle()
    (tmp_path / "evidence.zip").write_bytes(report(pa.Table.from_pylist(world.calls), POLICY, columns={"hold": "hold_id"}, time_unit="ms", entries=table).bundle())
    assert not [row for row in audit.verify(tmp_path / "evidence.zip") if row.is_same is False]
    for text, why in ((b"{}", "is missing"), (b"no", "no entries of a ledger"), (b'{"cursor": "1"}', "is missing"), (b'{"seq": "x"}', "no entries")):
        with pytest.raises(TableError, match=why):
            orbs.entries(io.BytesIO(text))
    path = tmp_path / "entries.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, world.entries)).encode()))
    assert orbs.entries(path) == table
    assert orbs.entries(io.BytesIO(b"")).num_rows == 0 == orbs.balance(orbs.entries(io.BytesIO(b""))).num_rows


@pytest.mark.once
def test_entries_and_balances_are_those_of_the_command(tmp_path: Path, command: str) -> None:
    def run(line: str) -> bytes:
        return subprocess.run([command, "orbs", "--db", "orbs.db", *line.split()], cwd=tmp_path, capture_output=True, check=True).stdout

    for line in ("grant bob 5 --id g0", "grant alice 100 --id g1", "grant alice 7 --id g2 --bonus", "hold alice 30 --id c1 --bonus", "settle c1 --capture 12", "hold alice 50 --id c2", "freeze bob --id f1", "settle c9 --void"):
        run(line)
    path = tmp_path / "entries.jsonl"
    path.write_bytes(run("entries --format json"))
    entries = orbs.entries(path)
    assert entries["cause"].to_pylist() == ["grant", "grant", "grant", "hold", "capture", "hold", "freeze"]
    assert entries["captured"].to_pylist() == [0, 0, 0, 0, 12, 0, 0]
    assert {line["grant"]: line["held"] for line in entries["lines"][3].as_py()} == {"g1": 23, "g2": 7}
    told = [json.loads(run(f"balance {account} --json")) for account in ("alice", "bob")]
    assert orbs.balance(entries).drop_columns("at").to_pylist() == told
    assert entries.schema.field("at").type == pa.timestamp("ms", "UTC")


class Meter(HTTPServer):
    """Bills events, and counts each source and id once. `failing` is the number of the event that it doesn't answer well."""

    def __init__(self, db: Path) -> None:
        super().__init__(("127.0.0.1", 0), MeterHandler)
        self.db, self.received, self.failing = db, 0, 0
        self.run("CREATE TABLE event (source TEXT, id TEXT, type TEXT, subject TEXT, paid INTEGER, bonus INTEGER, UNIQUE (source, id))")
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def run(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with closing(sqlite3.connect(self.db)) as connection, connection:
            return connection.execute(sql, values).fetchall()

    def billed(self, bucket: str = "paid") -> dict[str, int]:
        return dict(self.run(f"SELECT subject, sum({bucket}) FROM event WHERE type = 'orbgate.orbs.captured' GROUP BY subject"))


class MeterHandler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        meter = self.server
        assert isinstance(meter, Meter)
        event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/api/v1/events" and self.headers["Content-Type"] == "application/cloudevents+json"
        values = [event[name] for name in ("source", "id", "type", "subject")] + [event["data"][bucket] for bucket in ("paid", "bonus")]
        meter.run("INSERT OR IGNORE INTO event VALUES (?, ?, ?, ?, ?, ?)", values)
        meter.received += 1
        # It has the event, but its answer gets lost.
        self.send_response(500 if meter.received == meter.failing else 204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing."""


@pytest.mark.once
def test_the_recipe_bills_once(root: Path, tmp_path: Path, command: str) -> None:
    page = (root / "docs/orbs.md").read_text(encoding="utf-8")
    _, recipe, back = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    meter = Meter(tmp_path / "billing.db")
    path = os.pathsep.join([str(Path(command).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "METER": f"http://127.0.0.1:{meter.server_address[1]}"}

    def run(text: str) -> int:
        return subprocess.run(["sh", "-c", text], cwd=tmp_path, env=environment).returncode

    def spend(name: str, orbs: int, options: str = "") -> None:
        assert run(f"orbgate orbs --db orbs.db hold alice 30 --id {name} {options} > out && orbgate orbs --db orbs.db settle {name} --capture {orbs} > out") == 0

    assert run("orbgate orbs --db orbs.db grant alice 1000 --id g > out") == 0
    for name, orbs in (("one", 12), ("two", 5)):
        spend(name, orbs)
    # Its answer to the third of five events gets lost, so all are sent again.
    meter.failing = 3
    assert (run(recipe), meter.received) == (1, 3)
    assert (run(recipe), meter.received, meter.billed()) == (0, 8, {"alice": 17})
    assert (run(recipe), meter.received) == (0, 8)
    # Four of these are bonus orbs.
    assert run("orbgate orbs --db orbs.db grant alice 4 --bonus --id welcome > out") == 0
    spend("three", 5, "--bonus")
    # Events that can't be exported stay behind the cursor.
    failing = tmp_path / "failing"
    failing.mkdir()
    (failing / "orbgate").write_text(f'#!/bin/sh\ncase "$*" in *cloudevents) exit 1 ;; esac\nexec {command} "$@"\n')
    (failing / "orbgate").chmod(0o755)
    assert (run(f"PATH={failing}:$PATH\n{recipe}"), meter.received) == (1, 8)
    assert (run(recipe), meter.received, meter.billed()) == (0, 11, {"alice": 18})
    # All of them once more.
    (tmp_path / "cursors").unlink()
    assert (run(recipe), meter.received, meter.billed()) == (0, 19, {"alice": 18})
    assert meter.billed("bonus") == {"alice": 4}
    # A backup is restored that has forgotten one charge, and three others come before anybody knows.
    assert run("orbgate orbs --db orbs.db backup copy.db") == 0
    spend("four", 7)
    assert (run(recipe), meter.billed()) == (0, {"alice": 25})
    assert run("rm orbs.db* && cp copy.db orbs.db") == 0
    for name, orbs in (("five", 3), ("six", 2), ("seven", 1)):
        spend(name, orbs)
    received = meter.received
    assert (run(recipe), meter.received) == (1, received)
    # Whoever can't open the ledger doesn't go back.
    kept = (tmp_path / "cursors").read_text()
    assert (run(back.replace("--db orbs.db", "--db nothing.db")), (tmp_path / "cursors").read_text()) == (2, kept)
    assert run(back) == 0
    assert (run(recipe), meter.billed(), meter.billed("bonus")) == (0, {"alice": 31}, {"alice": 4})
    assert meter.received == received + 6
    assert (run(back), run(recipe), meter.received) == (0, 0, received + 6)
    # None of them is known.
    assert run("rm orbs.db* && orbgate orbs --db orbs.db grant alice 1000 --id other > out") == 0
    assert (run(recipe), run(back), (tmp_path / "cursors").read_text(), run(recipe)) == (1, 0, "", 0)
    assert meter.received == received + 7
    meter.shutdown()
    meter.server_close()
