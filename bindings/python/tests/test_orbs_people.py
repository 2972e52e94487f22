"""Accounts, statements and totals of a ledger, as the command writes them."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from orbgate import TableError, orbs

pa = pytest.importorskip("pyarrow")

TIMES = ("at", "expires_at", "last_used")
DIGEST = "sha256:" + "0f" * 32


def plain(table: Any) -> list[dict[str, object]]:
    """Rows with milliseconds, as in JSON."""
    for name in set(TIMES) & set(table.column_names):
        assert table.schema.field(name).type == pa.timestamp("ms", "UTC")
        table = table.set_column(table.column_names.index(name), name, table[name].cast(pa.int64()))
    rows: list[dict[str, object]] = table.to_pylist()
    return rows


@pytest.mark.once
def test_what_people_read_is_that_of_the_command(tmp_path: Path, command: str) -> None:
    def run(*words: str) -> bytes:
        return subprocess.run([command, "orbs", "--db", "orbs.db", *words], cwd=tmp_path, capture_output=True, check=True).stdout

    run("grant", "bob", "5", "--id", "g0")
    run("grant", "alice", "100", "--id", "g1")
    run("grant", "alice", "7", "--id", "g2", "--bonus", "--expires", "2999-01-01T00:00:00Z")
    run("hold", "alice", "30", "--id", "c1", "--bonus", "--note", f"POST /run {DIGEST}")
    run("settle", "c1", "--capture", "2")
    run("hold", "alice", "50", "--id", "c2")
    accounts, statement, totals = run("accounts", "--json"), run("account", "alice", "--json"), run("totals", "--json")
    path = tmp_path / "statement.json"
    path.write_bytes(statement)
    page, total = json.loads(statement), json.loads(totals)
    assert plain(orbs.accounts(io.BytesIO(accounts))) == [json.loads(line) for line in accounts.splitlines()]
    assert plain(orbs.movements(path)) == [{"account": "alice", **movement} for movement in page["movements"]]
    assert plain(orbs.grants(path)) == [{"account": "alice", **grant} for grant in page["grants"]]
    assert plain(orbs.totals(io.BytesIO(totals))) == [{"at": total["at"], "bucket": bucket, **total[bucket]} for bucket in ("paid", "bonus")]
    movements = orbs.movements(path)
    assert movements["policy"].to_pylist() == [None, None, DIGEST, DIGEST, None]
    assert movements["posted"].to_pylist()[-1] == page["balance"]["posted"] == 105


def test_other_files_are_refused() -> None:
    for read in (orbs.accounts, orbs.movements, orbs.grants, orbs.totals):
        assert read(io.BytesIO(b"")).num_rows == 0
        for text in (b"no", b"{}", b'{"account": 1}'):
            with pytest.raises(TableError, match="of a ledger"):
                read(io.BytesIO(text))
