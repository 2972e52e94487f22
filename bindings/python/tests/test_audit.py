"""What callers hold and never use, by brute force over `decide`."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from expected import Expected
from orbgate import Token, audit, logs, report
from orbgate.__main__ import main

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

from made_up_calls import POLICY  # noqa: E402

START = datetime(2026, 11, 2)
KNOWN = [scope.scope for scope in POLICY.scopes()]


def calls(count: int, seed: int) -> list[dict[str, Any]]:
    choose = random.Random(seed)
    held = {f"app {at}": choose.sample([*KNOWN, "made:up"], 6) for at in range(25)}
    made_up = []
    for _ in range(count):
        caller, route = choose.choice(list(held)), choose.choice(POLICY.routes())
        path = "/".join("7" if part.startswith("{") else part for part in route.template.split("/"))
        time = choose.choice([*[START + timedelta(minutes=choose.randrange(10_000))] * 4, None])
        kind, scopes = choose.choice(["user", "organisation", "service", None]), " ".join(choose.sample(held[caller], 4))
        made_up.append({"method": route.method, "target": path, "kind": kind, "scopes": scopes, "caller": caller, "time": time})
    return made_up


def table(rows: list[dict[str, Any]]) -> Any:
    return pa.Table.from_pylist(rows)


ROWS = calls(3_000, 1)
# Without those whose token is of no known kind. All have scopes, also those without a kind.
VALID = [row for row in ROWS if row["kind"] in ("user", "organisation")]


def test_scopes_are_those_of_decide() -> None:
    held, used, missing = (defaultdict[str, set[str]](set) for _ in range(3))
    last: dict[tuple[str, str], Any] = {}
    for row in ROWS:
        token = Token(row["kind"], row["scopes"]) if row["kind"] else None
        decision = POLICY.decide(row["method"], row["target"], token)
        held[row["caller"]] |= set(row["scopes"].split()) if row["kind"] in ("user", "organisation") else set()
        if decision.reason == "scope_held" and decision.scope:
            used[row["caller"]].add(decision.scope)
            times = [time for time in (last.get((row["caller"], decision.scope)), row["time"]) if time]
            last[row["caller"], decision.scope] = max(times, default=None)
        if decision.reason == "scope_missing" and decision.scope:
            missing[row["caller"]].add(decision.scope)
    privileges = audit.privileges(table(ROWS), POLICY)
    unknown = len(ROWS) - len(VALID)
    assert len(privileges.rows) == 25 and privileges.with_unknown_token == unknown and privileges.with_valid_token == len(VALID)
    assert [part.partition(" ")[0] for part in privileges.not_counted] == [f"{unknown:,}"] and not privileges.is_complete
    for one in privileges.rows:
        assert set(one.held) == held[one.caller] & set(KNOWN) and set(one.unknown) == held[one.caller] - set(KNOWN)
        assert set(one.used) == used[one.caller] and set(one.unused) == set(one.held) - set(one.used) and set(one.missing) == missing[one.caller]
        assert one.last_used == {scope: last[one.caller, scope] for scope in one.used}
    assert sum(row.calls for row in privileges.rows) == len(ROWS)
    unused = [len(row.unused) for row in privileges.rows]
    assert unused == sorted(unused, reverse=True) and unused[0] > unused[-1]


@pytest.mark.parametrize("size", [1_000, 7])
def test_a_time_far_from_all_others_is_not_when_a_scope_was_last_used(tmp_path: Path, size: int, capsys: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(size)
    rows, route = [], {"method": "GET", "target": "/api/v1/external/account", "kind": "user", "scopes": "read:account"}
    # More different hours than are told apart, in any order.
    hours = rng.sample(range(2_000), 995)
    rows += [{**route, "caller": f"app {hour % 3}", "time": START + timedelta(hours=hour)} for hour in hours]
    last = {f"app {at}": START + timedelta(hours=max(hour for hour in hours if hour % 3 == at)) for at in range(3)}
    odd = [datetime(1970, 1, 1), datetime(2031, 1, 1), *[datetime(9999, 12, 31, 23, 59, at) for at in (1, 2, 59)]]
    rows += [{**route, "caller": "app 1", "time": time} for time in odd]
    rows += [{**route, "method": "GET", "target": "/api/v1/external/keys", "scopes": "read:keys", "caller": "app 2", "time": odd[1]}]
    rng.shuffle(rows)
    log = pa.concat_tables(table(rows[at : at + size]) for at in range(0, len(rows), size))
    reader = pa.RecordBatchReader.from_batches(log.schema, log.to_batches())
    privileges = audit.privileges(reader, POLICY, time_zone="UTC")
    assert {row.caller: row.last_used for row in privileges.rows} == {
        "app 0": {"read:account": last["app 0"]},
        "app 1": {"read:account": last["app 1"]},
        "app 2": {"read:account": last["app 2"], "read:keys": None},
    }
    [warning] = [warning for warning in privileges.warnings if warning.startswith("6 calls ") and ": 1970-01-01 00:00:00 (row " in warning]
    assert warning in privileges.proposal()["warnings"]
    path = tmp_path / "calls.parquet"
    parquet.write_table(log, path)
    assert main(["privileges", str(path)]) == 0
    assert f"warning: {warning}" in capsys.readouterr().out


def test_a_token_of_an_unknown_kind_was_granted_nothing() -> None:
    row = {"method": "GET", "target": "/api/v1/external/orbs", "scopes": "read:orbs read:keys made:up", "caller": "ann"}
    refused = table([{**row, "kind": kind} for kind in ("service", "unknown", "", "USER")])
    [privilege] = audit.privileges(refused, POLICY).rows
    assert (privilege.calls, privilege.held, privilege.unused, privilege.unknown) == (4, (), (), ())
    assert not POLICY.scope_usage(refused) and not POLICY.scope_usage(refused, by="caller")
    figures = report(refused, POLICY).figures
    assert not figures.scopes.granted and not figures.scopes.by_caller and not figures.unknown.scopes and not figures.unknown.by_caller


def test_what_is_proposed_changes_no_allowed_call() -> None:
    """And with any one scope less, a call that was allowed is denied."""
    least = {row.caller: set(row.used) for row in audit.privileges(table(ROWS), POLICY).rows}
    lost: dict[tuple[str, str], int] = defaultdict(int)
    for row in ROWS:
        if row["kind"] is None:
            continue
        carried = set(row["scopes"].split())
        before, kept = POLICY.decide(row["method"], row["target"], Token(row["kind"], carried)), carried & least[row["caller"]]
        assert bool(POLICY.decide(row["method"], row["target"], Token(row["kind"], kept))) == bool(before)
        for scope in kept:
            lost[row["caller"], scope] += bool(before) and not POLICY.decide(row["method"], row["target"], Token(row["kind"], kept - {scope}))
    assert lost.keys() == {(caller, scope) for caller, scopes in least.items() for scope in scopes} and all(lost.values())


def test_it_does_not_matter_how_a_log_is_cut() -> None:
    whole = audit.privileges(table(ROWS), POLICY)
    for rows in (1_000, 77):
        assert audit.privileges(table(ROWS).to_reader(max_chunksize=rows), POLICY) == whole
    with pytest.raises(ValueError, match="`kind`"):
        audit.privileges(logs.read(table(ROWS)), POLICY, kind="user")


def test_callers_beyond_the_bound_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MOST_CALLERS", 10)
    made = audit.check(table(ROWS), POLICY, most_unused=100)
    first = list(dict.fromkeys(row["caller"] for row in ROWS))[:10]
    assert {row.caller for row in made.found.rows} == set(first)
    assert made.found.left_out == sum(row["caller"] not in first for row in ROWS) > 0
    # Nobody holds too much, and still it does not pass.
    assert not made.over and not made.passed


def test_a_check_passes_where_nobody_holds_too_much() -> None:
    most = max(len(row.unused) for row in audit.privileges(table(VALID), POLICY).rows)
    assert audit.check(table(VALID), POLICY, most_unused=most).passed
    # What tokens of no known kind hold may be more.
    refused = audit.check(table(ROWS), POLICY, most_unused=100)
    assert not refused.passed and not refused.over and len(refused.why) == 1 and f" {len(ROWS) - len(VALID):,} calls " in refused.why[0]
    made = audit.check(table(VALID), POLICY, most_unused=most - 1)
    assert not made.passed and made.over and all(len(row.unused) == most for row in made.over)
    with pytest.raises(ValueError, match="negative"):
        audit.check(table(ROWS), POLICY, most_unused=-1)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, proposal = tmp_path / "calls.parquet", tmp_path / "less.json"
    parquet.write_table(table(VALID), log)
    privileges = audit.privileges(log, POLICY)
    most = len(privileges.rows[0].unused)
    assert main(["privileges", str(log), "--most-unused", str(most)]) == 0
    assert f"\n0 of 25 callers have more than {most} " in capsys.readouterr().out
    assert main(["privileges", str(log), "--proposal", str(proposal), "--days", "0", "--top", "1"]) == 1
    out = capsys.readouterr().out
    assert f"\n{sum(len(row.unused) > 0 for row in privileges.rows)} of 25 callers have unused " in out
    assert f"\n{privileges.rows[0].caller}: {privileges.rows[0].calls:,} calls, " in out and "  never used: " in out and f"\nand {sum(len(row.unused) > 0 for row in privileges.rows) - 1} more callers\n" in out
    written = json.loads(proposal.read_text())
    assert written == json.loads(json.dumps(privileges.proposal(days=0))) and written["policy"] == POLICY.digest and written["is_complete"]
    least = {row.caller: row for row in privileges.rows}
    assert [client["client_id"] for client in written["clients"]] == sorted(row.caller for row in privileges.rows if row.unused)
    for client in written["clients"]:
        one = least[client["client_id"]]
        assert set(client["scope"].split()) == {*one.used, *one.unknown} and tuple(client["remove"].split()) == one.unused
        assert tuple(client["unknown"].split()) == one.unknown
    assert any(client["unknown"] for client in written["clients"])
    with pytest.raises(SystemExit):
        main(["privileges", str(log), "--proposal", str(log)])


@pytest.mark.parametrize("most", [0, 1, 2, 3, 6])
def test_output_exit_code_and_proposal_name_the_same_callers(tmp_path: Path, capsys: pytest.CaptureFixture[str], most: int) -> None:
    """The proposal named 48 clients where one of 60 held too much."""
    carry = [(f"app {held}", " ".join(["read:orbs", *[scope for scope in KNOWN if scope != "read:orbs"][:held]])) for held in range(6)]
    carry.append(("app u", "read:orbs openid"))
    row = {"method": "GET", "target": "/api/v1/external/orbs", "kind": "user"}
    log, proposal = tmp_path / "calls.parquet", tmp_path / "less.json"
    parquet.write_table(table([{**row, "caller": caller, "scopes": scopes, "time": START} for caller, scopes in carry]), log)
    wanted = [f"app {held}" for held in range(6) if held > most]
    code = main(["privileges", str(log), "--most-unused", str(most), "--proposal", str(proposal), "--days", "0"])
    out = capsys.readouterr().out
    assert code == bool(wanted) and [line.split(":")[0] for line in out.splitlines() if line.startswith("app ")] == wanted[::-1]
    assert f"\n{len(wanted)} of 7 callers have {f'more than {most} ' if most else ''}unused " in out
    assert "\n1 of 7 callers has scopes " in out
    written = json.loads(proposal.read_text())
    assert [client["client_id"] for client in written["clients"]] == wanted and written["most_unused"] == most
    made = audit.check(log, POLICY, most_unused=most)
    assert written == json.loads(json.dumps(made.found.proposal(most, days=0))) and made.over == made.found.over(most)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("GET,/api/v1/external/orbs,user,read:orbs,ann\n", 0),
        ("GET,/api/v1/external/orbs,user,read:orbs,\n", 2),
        ("GET,/api/v1/external/orbs,user,read:orbs,ann\nGET\n", 2),
        ("GET,/api/v1/external/orbs,user,read:orbs read:keys,ann\n", 1),
        # Both hold: what was not counted is worse.
        ("GET,/api/v1/external/orbs,user,read:orbs read:keys,ann\nGET\n", 2),
        ("GET,/api/v1/external/orbs,user,read:orbs admin,ann\n", 0),
        ("GET,/api/v1/external/orbs,user,read:keys admin,ann\n", 1),
        ("GET,/api/v1/external/orbs,USER,read:orbs read:keys,ann\n", 2),
        ("GET,/../,organization,read:keys,ann\nGET,/,user,,bob\n", 2),
        # Both hold: nobody called it, and nobody knows what it holds.
        ("GET,/api/v1/external/orbs,USER,read:orbs read:keys,\n", 2),
        ("GET,/,,read:keys,ann\nGET,/,user,,bob\n", 2),
        ("GET,/,,,ann\nGET,/,user,,bob\n", 0),
        ("GET,/,,,ann\n", 2),
    ],
)
def test_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, code: int, expected: Expected) -> None:
    path = tmp_path / "calls.csv"
    path.write_text(f"method,target,kind,scopes,caller\n{text}")
    assert main(["privileges", str(path)]) == code
    told = capsys.readouterr()
    expected(told.out.replace(str(tmp_path), "…"), told.err.replace(str(tmp_path), "…"))
    # Nobody has to guess why it is 2.
    nobody, uncounted = ("no caller " in told.err), ("error: 1" in told.err and "not counted: 1" in told.out)
    assert (nobody or uncounted) == ("error: " in told.err) == (code == 2)
    assert nobody == (",user," not in text)
    made = audit.check(path, POLICY)
    assert made.passed == (not made.why) == (code == 0)
    if "\nGET\n" in text:
        assert "  1  row 2: 1 value " in told.out and told.err.startswith("error: 1 of 2 rows ")
        assert [part.startswith("1 row ") for part in made.found.proposal()["not_counted"]] == [True] and made.found.proposal()["unread"][0]["count"] == 1


def test_what_is_not_counted_can_be_tolerated_in_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One call without a caller, or of an unknown kind, and no ordinary log could pass."""
    path, good = tmp_path / "calls.csv", "GET,/api/v1/external/orbs,user,read:orbs,ann\n"
    path.write_text(f"method,target,kind,scopes,caller\n{good * 98}GET,/api/v1/external/orbs,user,read:orbs,\nGET,/api/v1/external/orbs,USER,read:orbs,ann\n")
    for tolerated, code in (("0", 2), ("1", 2), ("1.9%", 2), ("2", 0), ("2%", 0)):
        assert main(["privileges", str(path), "--tolerate-uncounted", tolerated]) == code
        told = capsys.readouterr()
        assert told.out.count("not counted: 1 call ") == 2
        assert (f" --tolerate-uncounted {tolerated}\n" in told.err) == (code == 0) == ("error: 2 of 100 calls " not in told.err)
    for most, passed in ((0, False), (1, False), (2, True)):
        made = audit.check(path, POLICY, most_uncounted=most)
        assert made.passed == passed == (not made.why) and len(made.found.not_counted) == 2
    # A row that cannot be read is another thing, and so is a caller who holds too much.
    path.write_text(path.read_text() + "GET\n")
    assert not audit.check(path, POLICY, most_uncounted=9).passed and main(["privileges", str(path), "--tolerate-uncounted", "9"]) == 2
    path.write_text(path.read_text().replace("read:orbs,ann", "read:orbs read:keys,ann"))
    assert main(["privileges", str(path), "--tolerate-uncounted", "9", "--tolerate", "1"]) == 1
    with pytest.raises(ValueError, match="`most_uncounted`"):
        audit.check(path, POLICY, most_uncounted=-1)
    capsys.readouterr()
    assert main(["privileges", str(path), "--tolerate-uncounted", "9", "--tolerate", "1", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [(row["caller"], row["unused"], row["used"]) for row in told["over"]] == [("ann", ["read:keys"], ["read:orbs"])]
    assert (told["calls"], told["callers"], told["uncounted"], told["unread"], len(told["not_counted"])) == (100, 1, 2, 1, 3)
    assert (told["tolerate"], told["tolerate_uncounted"]) == ("1", "9")


def test_nothing_is_said_of_columns_that_are_not_used() -> None:
    """A report compares the status with the decision; what callers hold does not depend on it."""
    served = table([{**row, "status": 200} for row in ROWS[:50]])
    assert not any("status" in warning for warning in audit.privileges(served, POLICY).warnings)
    assert any("`served_status=status`" in warning for warning in report(served, POLICY).figures.log.warnings)
    # Also if a number in it is no status.
    wrong = table([{**row, "served_status": 7} for row in ROWS[:50]])
    assert not any("status" in warning for warning in audit.privileges(wrong, POLICY).warnings)
    assert any(warning.startswith("50 values in `served_status` ") and "`7` (row 1)" in warning for warning in report(wrong, POLICY).figures.log.warnings)
    # The other columns matter.
    renamed = table([{"Kinds" if name == "kind" else name: value for name, value in row.items()} for row in ROWS[:50]])
    assert any("`kind=Kinds`" in warning for warning in audit.privileges(renamed, POLICY).warnings)
