"""For how many days of logs a grant wasn't used, over the bundles of several reports."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, TableError, audit, report
from orbgate.__main__ import main

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
for needed in ("vl_convert", "jinja2"):
    pytest.importorskip(needed)

POLICY = Policy.from_yaml("""
orbgate: 1
apis:
  shop:
    base_path: ""
    scopes:
      read: { orbs: false, routes: [GET /orders] }
      write: { orbs: false, routes: [POST /orders, {route: DELETE /orders, or: [admin]}] }
      admin: { orbs: false, routes: [GET /audit] }
...
""")
START = datetime(2026, 6, 1)
Call = tuple[datetime, str, str, str]


def log(calls: list[Call]) -> Any:
    """Calls with their time, caller, scopes and route."""
    rows = [{"time": time, "caller": caller, "scopes": scopes, "method": call.split()[0], "target": call.split()[1], "kind": "user", "served_status": 200} for time, caller, scopes, call in sorted(calls)]
    return pa.Table.from_pylist(rows)


def each_day(first: int, last: int, scopes: str = "read admin") -> list[Call]:
    return [(START + timedelta(days=day, hours=at), "ann", scopes, "GET /orders") for day in range(first, last) for at in (9, 15)]


def days(made: Any) -> dict[tuple[str, str], int | None]:
    return {(row.caller, row.scope): row.days for row in made.figures.scopes.by_caller}


def advice(made: Any) -> str:
    """The action of the finding, which is a fact until something is proposed."""
    [row] = [row for row in (*made.figures.findings, *made.figures.facts) if row.kind == "unused_grants"]
    assert (row.level == "fact") is ("nothing is proposed" in row.action)
    return str(row.action)


def test_a_short_log_proposes_nothing_and_two_together_do(tmp_path: Path) -> None:
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    one = report(log(each_day(0, 60)), POLICY, time_zone="UTC")
    first.write_bytes(one.bundle())
    assert days(one)["ann", "admin"] == 59 and "The logs show at most 59 days without a use, so nothing is proposed" in advice(one)
    alone = report(log(each_day(60, 100)), POLICY, time_zone="UTC")
    assert days(alone)["ann", "admin"] == 39
    both = report(log(each_day(60, 100)), POLICY, time_zone="UTC", since=first)
    assert days(both)["ann", "admin"] == 98 and "with 90 days without a use" in advice(both) and "admin (98 days)" in both.html
    second.write_bytes(both.bundle())
    # The last bundle has what those before it saw.
    third = report(log(each_day(110, 120)), POLICY, time_zone="UTC", since=second)
    assert days(third)["ann", "admin"] == 107
    assert not [row for row in audit.verify(second, since=first) if row.is_same is False]


def test_a_use_in_an_earlier_log_counts(tmp_path: Path) -> None:
    used = (START + timedelta(days=50), "ann", "read admin", "GET /audit")
    (tmp_path / "first.zip").write_bytes(report(log([*each_day(0, 60), used]), POLICY, time_zone="UTC").bundle())
    made = report(log(each_day(60, 100)), POLICY, time_zone="UTC", since=tmp_path / "first.zip")
    [row] = [row for row in made.figures.scopes.by_caller if row.scope == "admin"]
    assert (row.used, row.days, row.last_used) == (0, 48, used[0])


def test_a_scope_that_a_caller_got_late_is_unused_since_then() -> None:
    made = report(log([*each_day(0, 95, "read"), *each_day(95, 100, "read admin")]), POLICY, time_zone="UTC")
    assert days(made)["ann", "admin"] == 4 and "at most 4 days" in advice(made)


def test_an_alternative_is_a_use() -> None:
    """A route that accepts any of several scopes uses those that the token has, not only the one under which it is listed."""
    made = report(log([*each_day(0, 3), (START + timedelta(days=2), "ann", "read admin", "DELETE /orders")]), POLICY, time_zone="UTC")
    assert [row.last_used for row in made.figures.scopes.by_caller if row.scope == "admin"] == [START + timedelta(days=2)]


def test_a_log_without_times_shows_no_days() -> None:
    made = report(log(each_day(0, 3)).drop_columns("time"), POLICY)
    assert days(made) == {("ann", "read"): None, ("ann", "admin"): None} and "has no times of these grants" in advice(made)


def test_a_bundle_without_the_times_of_its_logs_is_refused(tmp_path: Path) -> None:
    from orbgate._report.bundle import pack, unpack

    files = unpack(report(log(each_day(0, 3)), POLICY, time_zone="UTC").bundle())
    del files["tables/signs_periods.parquet"]
    (tmp_path / "old.zip").write_bytes(pack(files))
    with pytest.raises(TableError, match="signs_periods"):
        report(log(each_day(3, 6)), POLICY, time_zone="UTC", since=tmp_path / "old.zip")


def test_only_what_was_unused_for_long_is_proposed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Over the bundle of an earlier report: without it, the same log proposes nothing."""
    bundle, calls, policy, proposal = (tmp_path / name for name in ("first.zip", "calls.parquet", "policy.yaml", "less.json"))
    bundle.write_bytes(report(log(each_day(0, 60, "read write")), POLICY, time_zone="UTC").bundle())
    parquet.write_table(log([*each_day(60, 80, "read write"), *each_day(80, 100, "read write admin openid")]), calls)
    policy.write_bytes(POLICY.text)
    command = ["privileges", str(calls), "--policy", str(policy), "--proposal", str(proposal)]
    assert main(command) == 1
    said = capsys.readouterr().out
    assert "log of 39 days: 2026-07-31T09:00:00Z to 2026-09-08T15:00:00Z\n" in said and "  never used: write (39 days)\n" in said
    written = json.loads(proposal.read_text())
    assert written["clients"] == [] and written["not_proposed"] == [{"client_id": "ann", "days_without_use": {"admin": 19, "write": 39}}]
    assert main([*command, "--since", str(bundle)]) == 1
    said = capsys.readouterr().out
    assert "2 logs, with those of earlier reports, of 98 days: 2026-06-01T09:00:00Z to 2026-07-30T15:00:00Z, " in said
    assert "  never used: write (98 days)\n" in said and "  never used: admin (19 days)\n" in said
    written = json.loads(proposal.read_text())
    assert written["clients"] == [
        {"client_id": "ann", "scope": "admin openid read", "remove": "write", "unknown": "openid", "days_without_use": {"write": 98}, "reason": "90 days without a use"}
    ]
    assert written["not_proposed"] == [{"client_id": "ann", "days_without_use": {"admin": 19}}]
    assert written["since"] == sha256(bundle.read_bytes()).hexdigest() and len(written["times"]) == 2
    # An ordinary file is no bundle.
    assert main([*command, "--since", str(calls)]) == 2


def test_an_earlier_use_counts_for_a_proposal(tmp_path: Path) -> None:
    used = (START + timedelta(days=50), "ann", "read admin", "GET /audit")
    (tmp_path / "first.zip").write_bytes(report(log([*each_day(0, 60), used]), POLICY, time_zone="UTC").bundle())
    made = audit.privileges(log(each_day(60, 160)), POLICY, time_zone="UTC", since=tmp_path / "first.zip")
    [row] = made.rows
    assert (row.unused, row.days) == (("admin",), {"admin": 108})
    # A clock that was wrong once is no first use, and no time of the log.
    wrong = (datetime(1970, 1, 1), "ann", "read admin", "GET /orders")
    [row] = audit.privileges(log([wrong, *each_day(60, 160)]), POLICY, time_zone="UTC").rows
    assert row.days == {"admin": 99}


@pytest.mark.parametrize("seed", range(4))
def test_days_are_those_of_a_count_by_hand(seed: int, tmp_path: Path) -> None:
    """Logs with gaps between them, calls and grants by chance."""
    choose = random.Random(seed)
    routes = {"read": "GET /orders", "write": "POST /orders", "admin": "GET /audit"}
    every: list[Call] = []
    periods = []
    counted: dict[tuple[str, str], int | None] = {}
    before: Path | None = None
    start = 0
    for part in range(3):
        length = choose.randrange(5, 50)
        calls: list[Call] = []
        for _ in range(60):
            held = [scope for scope in routes if choose.random() < 0.6] or ["read"]
            time = START + timedelta(days=start, seconds=choose.randrange(86_400 * length))
            scope = "read" if choose.random() < 0.95 else choose.choice([*routes])
            calls.append((time, choose.choice(["ann", "bob"]), " ".join({*held, scope}), routes[scope]))
        every += calls
        periods.append((min(calls)[0], max(calls)[0]))
        made = report(log(calls), POLICY, time_zone="UTC", since=before)
        proposed = audit.privileges(log(calls), POLICY, time_zone="UTC", since=before)
        assert {(row.caller, scope): of for row in proposed.rows for scope, of in row.days.items()}.items() <= days(made).items()
        before = tmp_path / f"{part}.zip"
        before.write_bytes(made.bundle())
        counted = days(made)
        start += length + choose.randrange(20)
    for (caller, scope), found in counted.items():
        uses = [time for time, of, _, call in every if of == caller and call == routes[scope]]
        since = max(uses) if uses else min(time for time, of, scopes, _ in every if of == caller and scope in scopes.split())
        left = sum((max(timedelta(), last - max(first, since)) for first, last in periods), timedelta())
        assert found == left.days, (caller, scope)
