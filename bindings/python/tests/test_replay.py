"""`python -m orbgate replay`: what it counts, by brute force once more; equal to the `orbgate` command; its exit codes."""

from __future__ import annotations

import gzip
import json
import os
import random
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, Token, audit, logs, report
from orbgate.__main__ import main
from orbgate._count import text, unread
from orbgate._count.heavy import Heavy

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pc = pytest.importorskip("pyarrow.compute")

NEW = """
orbgate: 1
name: new
apis:
  external:
    base_path: /api/v1/external
    scopes:
      read:orbs: { orbs: 5, routes: [GET /orbs, GET /orbs/offers] }
      read:keys: { orbs: false, routes: [GET /keys] }
      read:secrets: { orbs: false, routes: [GET /account] }
      read:later: { orbs: true, routes: [] }
"""

Request = dict[str, Any]


def requests(count: int) -> list[Request]:
    """Requests of which some are denied in every way, with few callers."""
    choose = random.Random(3)
    routes = Policy.external().routes()
    scopes = ["read:orbs", "read:keys read:account", " ".join(scope.scope for scope in Policy.external().scopes()), ""]
    made_up: list[Request] = []
    for number in range(count):
        route = choose.choice(routes)
        target = route.template.replace("{", "").replace("}", "")
        made_up.append(
            {
                "method": choose.choice([route.method] * 4 + ["PUT"]),
                "target": choose.choice([target] * 4 + ["/nowhere", target + "/", f"/{number}"]),
                "kind": choose.choice(["user", "organisation", "robot", None]),
                "scopes": choose.choice(scopes),
                "allow_bonus_orbs_use": choose.random() < 0.5,
                "caller": choose.choice(["ann", "bob", None]),
            }
        )
    return made_up


REQUESTS = requests(3_000)


def decide(policy: Policy, request: Request) -> Any:
    token = None if request["kind"] is None else Token(request["kind"], request["scopes"])
    bonus = request["allow_bonus_orbs_use"]
    return policy.decide(request["method"], request["target"], token, allow_bonus_orbs_use=bonus)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "calls.parquet"
    pq.write_table(pa.Table.from_pylist(REQUESTS), path)
    return path


@pytest.fixture
def new(tmp_path: Path) -> Path:
    path = tmp_path / "new.yaml"
    path.write_text(NEW)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["replay", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def summary(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    result: dict[str, Any] = json.loads(out)
    return result


def test_what_is_counted(capsys: pytest.CaptureFixture[str], log: Path) -> None:
    policy = Policy.external()
    decisions = [decide(policy, request) for request in REQUESTS]
    counted = summary(capsys, log, "--top", 1_000)
    assert counted["rows"] == len(REQUESTS) and counted["errors"] == 0 and counted["policy"] == policy.digest
    assert counted["allowed"] == sum(map(bool, decisions)) and counted["denied"] == len(REQUESTS) - counted["allowed"]
    reasons = {row["reason"]: row["count"] for row in counted["reasons"]}
    assert reasons == Counter(str(decision.reason) for decision in decisions) and len(reasons) == 7
    calls = Counter(decision.route for decision in decisions)
    allowed = Counter(decision.route for decision in decisions if decision)
    consuming = Counter(decision.route for decision in decisions if decision.orbs and decision.orbs.consumes)
    assert [row["route"] for row in counted["routes"]] == sorted(calls, key=lambda route: (-calls[route], route or ""))
    for row in counted["routes"]:
        route = row["route"]
        counts = {"calls": calls[route], "allowed": allowed[route], "denied": calls[route] - allowed[route]}
        amounts = {"stated_amount": 0, "calls_without_stated_amount": consuming[route]}
        assert row == {"route": route, **counts, "consuming": consuming[route], **amounts}
    assert counted["orbs"] == {
        "calls": consuming.total(),
        "stated_amount": 0,
        "calls_without_stated_amount": consuming.total(),
        "calls_that_allow_bonus_orbs": sum(d.orbs is not None and d.orbs.bonus_allowed for d in decisions),
    }
    denied = Counter(
        (str(decision.reason), decision.detail and str(decision.detail), decision.about or f"{request['method']} {decision.route or request['target']}")
        for decision, request in zip(decisions, REQUESTS)
        if not decision
    )
    assert {(row["reason"], row["detail"], row["call"]): row["count"] for row in counted["top_denied"]} == dict(denied.most_common(1_000))
    callers = Counter(r["caller"] for decision, r in zip(decisions, REQUESTS) if not decision and r["caller"])
    assert {row["caller"]: row["count"] for row in counted["top_denied_callers"]} == callers
    unnamed = sum(not decision and r["caller"] is None for decision, r in zip(decisions, REQUESTS))
    assert counted["denied_without_caller"] == unnamed == counted["denied"] - sum(callers.values()) > 0
    assert counted["top_denied_is_exact"] and counted["top_denied_callers_is_exact"]
    assert len(summary(capsys, log, "--top", 2)["top_denied"]) == 2


def outcome(decision: Any) -> str:
    if not decision:
        return f"deny: {decision.reason}"
    if not (decision.orbs and decision.orbs.consumes):
        return "allow"
    amount = "orbs" if decision.orbs.amount is None else f"{decision.orbs.amount} orbs"
    return f"allow, {amount}" + (" or bonus orbs" if decision.orbs.bonus_allowed else "")


@pytest.mark.parametrize("examples", [0, 1, 4])
def test_what_would_change(capsys: pytest.CaptureFixture[str], log: Path, new: Path, examples: int) -> None:
    old_policy, new_policy = Policy.external(), Policy.from_yaml(NEW)
    changes: dict[tuple[str, str, str | None], list[int]] = {}
    for number, request in enumerate(REQUESTS, start=1):
        before, after = decide(old_policy, request), decide(new_policy, request)
        if outcome(before) != outcome(after):
            changes.setdefault((outcome(before), outcome(after), after.route or before.route), []).append(number)
    compared = summary(capsys, log, "--policy", new, "--examples", examples)["changes"]
    assert compared["base"] == old_policy.digest
    assert compared["changed"] == sum(map(len, changes.values())) == len(REQUESTS) - compared["unchanged"]
    pairs = [(bool(decide(old_policy, request)), bool(decide(new_policy, request))) for request in REQUESTS]
    alike = [(before, outcome(decide(old_policy, request)) != outcome(decide(new_policy, request))) for (before, after), request in zip(pairs, REQUESTS) if before == after]
    assert compared["otherwise_charged"] == alike.count((True, True)) and compared["otherwise_denied"] == alike.count((False, True))
    assert compared["newly_allowed"] == pairs.count((False, True)) and compared["newly_denied"] == pairs.count((True, False)) > 0
    rows = compared["by_decision_and_route"]
    assert [row["count"] for row in rows] == sorted(map(len, changes.values()), reverse=True)
    for row in rows:
        numbers = changes.pop((row["old"], row["new"], row["route"]))
        assert row["count"] == len(numbers)
        assert [example["row"] for example in row["examples"]] == numbers[:examples]
        for example in row["examples"]:
            request = REQUESTS[example["row"] - 1]
            assert all(example[name] == request[name] for name in ("method", "target", "kind", "scopes", "caller"))
    assert not changes
    there_and_back = summary(capsys, log, "--base", new, "--examples", examples)["changes"]
    assert {(row["new"], row["old"]) for row in there_and_back["by_decision_and_route"]} == {
        (row["old"], row["new"]) for row in rows
    }
    assert "changes" not in summary(capsys, log, "--policy", new, "--no-base")
    assert "changes" not in summary(capsys, log)


def test_batches_change_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path, new: Path) -> None:
    """The same rows in other pieces have the same summary, and examples."""
    summaries = []
    for size in (7, 3_000):
        path = tmp_path / "calls.parquet"
        pq.write_table(pa.Table.from_pylist(REQUESTS), path, row_group_size=size)
        summaries.append(summary(capsys, path, "--policy", new))
    assert summaries[0] == summaries[1]


def test_what_is_written(capsys: pytest.CaptureFixture[str], log: Path, new: Path, tmp_path: Path) -> None:
    outs = [tmp_path / f"out{number}.parquet" for number in range(2)]
    for out in outs:
        summary(capsys, log, "--policy", new, "--out", out)
    assert outs[0].read_bytes() == outs[1].read_bytes()
    rows = pq.read_table(outs[0]).to_pylist()
    assert [row["row"] for row in rows] == list(range(1, len(REQUESTS) + 1))
    old_policy, new_policy = Policy.external(), Policy.from_yaml(NEW)
    for row, request in zip(rows, REQUESTS):
        assert {name: row[name] for name in request} == request
        for prefix, policy in (("", new_policy), ("base_", old_policy)):
            decision = decide(policy, request)
            expected = decision.to_dict()
            orbs = expected.pop("orbs") or dict.fromkeys(["consumes", "amount", "bonus_allowed"])
            expected |= {**orbs, "about": decision.about}
            assert {name: row[prefix + name] for name in expected} == expected
    assert sorted(os.listdir(tmp_path)) == ["calls.parquet", "new.yaml", "out0.parquet", "out1.parquet"]


def test_nothing_half_written_is_left(tmp_path: Path, log: Path, policy: Policy) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        logs.replay(logs.read(log), policy, out=tmp_path / "out.parquet", watch=stop)
    assert os.listdir(tmp_path) == ["calls.parquet"]


SHORT = """\
method,target,kind,scopes,time,caller
GET,/api/v1/external/orbs,user,read:orbs,2026-11-20T13:05:00Z,ann
GET,/api/v1/external/orbs,user,read:orbs,2026-11-20T13:06:00Z,ann
GET,/api/v1/external/orbs,user,,2026-11-20T13:07:00Z,bob
GET,/\x1b[31m,user,,,bob
GET
"""

UNREAD = "error: 1 of 5 rows could not be read, so results might be incomplete (allow this with --tolerate)\n"
EXPECTED = """\
5 rows of short.csv, under policy sha256:c675e88c4582
from 2026-11-20T13:05:00+00:00 to 2026-11-20T13:07:00+00:00
  2  allowed
  2  denied
  1  errors

by reason:
  1  malformed_request
  1  scope_missing
  2  scope_held

by route:
  calls  allowed  denied  consuming  orbs  unstated  route
      3        2       1          2    10         0  GET /api/v1/external/orbs
      1        0       1          0     0         0  (none)

orbs:
  2  calls consume orbs
  0  orbs with a stated amount
  2  calls without a stated amount
  0  calls allow bonus orbs

denied most:
  1  malformed_request: byte  GET /\\x1b[31m
  1  scope_missing            GET /api/v1/external/orbs

callers denied most:
  2  bob

2 would change from policy sha256:c675e88c4582, 2 not
0 newly allowed, 0 newly denied,
2 allowed with other orbs, 0 denied for another reason:
  2  allow, orbs → allow, 5 orbs  GET /api/v1/external/orbs
    row 1: GET /api/v1/external/orbs (user: read:orbs, ann)

rows that could not be read, by reason:
  1  row 5: 1 value where the header has 6
"""


def test_a_summary_for_people(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("short.csv").write_text(SHORT)
    code, out, err = run(capsys, "short.csv", "--policy", "new.yaml", "--examples", 1)
    first = EXPECTED.replace("c675e88c4582\nfrom", f"{Policy.from_yaml(NEW).digest[7:19]}\nfrom")
    assert (code, err) == (2, UNREAD)
    assert out.splitlines()[:2] == first.splitlines()[:2]
    sections = {part.split("\n")[0]: part for part in out.split("\n\n")}
    wanted = {part.split("\n")[0]: part for part in first.split("\n\n")}
    wanted.pop("orbs:")
    assert {heading: sections[heading] for heading in wanted} == wanted
    assert sections["orbs:"].split("\n")[1:3] == ["   2  calls consume orbs", "  10  orbs with a stated amount"]


def test_exit_codes(capsys: pytest.CaptureFixture[str], tmp_path: Path, log: Path, new: Path) -> None:
    assert run(capsys, log)[0] == 0
    code, out, err = run(capsys, tmp_path / "none.csv")
    assert (code, out) == (2, "") and err.startswith("error: cannot open `") and "No such file" in err
    (tmp_path / "bad.yaml").write_text("orbgate: 2\napis: {}")
    code, out, err = run(capsys, log, "--policy", tmp_path / "bad.yaml")
    assert (code, out) == (2, "") and "bad.yaml:1:10: `orbgate` must be the plain number 1" in err
    (tmp_path / "bad.csv").write_text("method\nGET\n")
    code, out, err = run(capsys, tmp_path / "bad.csv")
    assert (code, out) == (2, "") and err.startswith("error: there is no column `target`")
    assert err.endswith("; the columns are `method`; name the right one: --column target=NAME\n")
    code, out, err = run(capsys, tmp_path / "bad.csv", "--column", "target=path")
    assert (code, out) == (2, "") and err.endswith("there is no column `path` for `target` in `bad.csv`; the columns are `method`\n")
    code, out, err = run(capsys, tmp_path / "unclear")
    assert (code, out) == (2, "") and "does not show its format" in err
    (tmp_path / "bad.jsonl").write_text("nothing\n")
    code, out, err = run(capsys, tmp_path / "bad.jsonl")
    assert code == 2 and "row 1: not JSON" in out and err == UNREAD.replace("5 rows", "1 row")


def test_many_rows_of_one_kind_do_not_hide_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = '::1 - - [20/Nov/2026:13:05:00 +0000] "{}" 200 17\n'
    lines = [line.format("GET /"), *[line.format(f"2{letter}") for letter in "abcdefg"], line.format("GET /"), "oops\n", line.format("2h"), "\n"]
    path = tmp_path / "access.log"
    for names in ([path], [path, tmp_path / "second.log"]):
        for name in names:
            name.write_text("".join(lines))
        _, out, _ = run(capsys, *names)
        heading = "rows that could not be read, by reason:\n"
        rows = "  8  row 2: the request is `2a`, no method and target; similar: row 3, 4, 5, 6 and others\n  1  row 10: no host at the start\n  1  row 12: blank line\n"
        if len(names) > 1:
            rows = (
                "  16  row 2: `access.log`, row 2 of it: the request is `2a`, no method and target; similar: row 3, 4, 5, 6 and others\n"
                "   2  row 10: `access.log`, row 10 of it: no host at the start; also row 22\n   2  row 12: `access.log`, row 12 of it: blank line; also row 24\n"
            )
        assert out.endswith(heading + rows)
        result = json.loads(run(capsys, *names, "--json")[1])
        assert [(kind["reason"], kind["count"], len(kind["first"])) for kind in result["errors_by_reason"]] == [
            ("the request is `…`, no method and target", 8 * len(names), 5), ("no host at the start", len(names), len(names)), ("blank line", len(names), len(names)),
        ]
        pytest.importorskip("vl_convert")
        made = report(names, Policy.external()).figures
        assert {10, 12} <= {row.row for row in made.log.first_unread}
    # However the log is cut, and with more reasons than have a location.
    errors = [None if at % 7 == 0 else f"why {chr(97 + at % 90)}{'x' * (at % 60)}" for at in range(5_000)]
    table = pa.table({"row": range(1, 5_001), "error": pa.array(errors, pa.string())}).filter(pc.field("error").is_valid())
    counted: list[dict[str, Any]] = []
    for size in (5_000, 17):
        kinds: dict[str, Any] = {}
        for batch in table.to_batches(max_chunksize=size):
            unread.count(kinds, batch["row"], batch["error"])
        counted.append(kinds)
    assert counted[0] == counted[1] and len(counted[0]) == unread.MOST_REASONS + 1
    assert sum(rows for rows, _ in counted[0].values()) == table.num_rows
    # Of what a value of any length says, only the start is kept.
    kinds = {}
    unread.count(kinds, pa.array([7]), pa.array([f"`{'x' * 100_000}`, neither true nor false"]))
    assert [len(why) for _, first in kinds.values() for _, why in first] == [unread.LONGEST + 1] and all(len(name) <= unread.LONGEST + 1 for name in kinds)


def test_a_log_without_a_call_is_said_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A check in CI was green about a log that nothing was written to."""
    path, page = tmp_path / "access.log", tmp_path / "page.html"
    for text, code, message in (("", 0, "the log has no rows"), ("oops\noops\n", 2, "none of its 2 rows could be read")):
        path.write_text(text)
        message = f"No call was decided: {message}."
        exit_code, out, _ = run(capsys, path, "--column", "kind=extra1")
        assert exit_code == code and out.splitlines()[1:3] == [f"warning: {message}", "warning: No row could be read, so the log might not have `extra1`, which was named for `kind`."]
        assert main(["report", str(path), "--out", str(page)]) == code
        assert f"\nwarning: {message}\n" in capsys.readouterr().out and f"<li>{message}</li>" in page.read_text()
        for tolerate in ("0", "100%"):
            assert main(["privileges", str(path), "--tolerate", tolerate, "--most-unused", "99"]) == 2
            told = capsys.readouterr()
            assert told.out.startswith(f"warning: {message}\n") and "error: no call was decided" in told.err
        checked = audit.check(path, Policy.external(), most_unused=99)
        assert not checked.passed and checked.why[0] == message
    assert audit.privileges(path, Policy.external()).not_counted == ("2 rows that could not be read",)
    path.write_text('::1 - - [20/Nov/2026:13:05:00 +0000] "GET / HTTP/1.1" 200 17\n')
    assert not [warning for warning in logs.replay(logs.read(path), Policy.external()).to_dict()["warnings"] if "No call" in warning]


def test_a_log_that_breaks_off_is_said_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = tmp_path / "calls.csv.gz", tmp_path / "page.html"
    rows = "".join(f"GET,/api/v1/external/orbs,user,read:orbs,app{at * 7919 % 10007}\n" for at in range(300_000))
    whole = gzip.compress(f"method,target,kind,scopes,caller\n{rows}".encode())
    path.write_bytes(whole[: len(whole) * 3 // 4])
    exit_code, out, err = run(capsys, path)
    assert exit_code == 2 and out.splitlines()[1].startswith("warning: The log breaks off after ") and "cannot read `calls.csv.gz`" in err
    [first, *_] = json.loads(run(capsys, path, "--json")[1])["warnings"]
    assert out.splitlines()[1] == f"warning: {first}"
    assert main(["report", str(path), "--out", str(page)]) == 2 and f"\nwarning: {first}\n" in capsys.readouterr().out
    warnings, after = page.read_text().split("<h2>Warnings</h2>")[1].split("</section>", 1)
    assert "The log breaks off after " in warnings and after
    assert main(["privileges", str(path)]) == 2 and capsys.readouterr().out.startswith(f"warning: {first}\n")
    checked = audit.check(path, Policy.external(), most_unused=99)
    assert not checked.passed and checked.why == (f"not counted: {checked.found.not_counted[0]}",) and str(checked.found.broken) in checked.why[0]


@pytest.mark.parametrize(
    ("tolerated", "code"), [("0", 2), ("2", 2), ("3", 0), ("0.2%", 2), ("0.3%", 0), ("100%", 0)]
)
def test_garbage_of_the_internet_may_be_tolerated(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, tolerated: str, code: int
) -> None:
    """Every log of a server that faces it ended in exit code 2."""
    line = '::1 - - [20/Nov/2026:13:05:00 +0000] "{}" 400 17\n'
    garbage = [line.format(r"\x16\x03\x01"), line.format("-"), "\n"]
    path = tmp_path / "access.log"
    path.write_text(line.format("GET / HTTP/1.1") * 997 + "".join(garbage))
    exit_code, out, err = run(capsys, path, "--tolerate", tolerated)
    assert exit_code == code and "  3  errors" in out and "  2  row 998: the request is" in out and "; similar: row 999\n  1  row 1,000: blank line\n" in out
    message = f"3 of 1,000 rows could not be read, as allowed by --tolerate {tolerated}\n"
    message = UNREAD.replace("1 of 5", "3 of 1,000") if code else message
    assert err == message
    page = main(["report", str(path), "--out", str(tmp_path / "a.html"), "--tolerate", tolerated])
    assert (page, capsys.readouterr().err) == (code, message)
    whole = gzip.compress(path.read_bytes() * 100)
    (tmp_path / "broken.log.gz").write_bytes(whole[: len(whole) // 2])
    assert run(capsys, tmp_path / "broken.log.gz", "--tolerate", "100%")[0] == 2


def test_several_logs_are_one(capsys: pytest.CaptureFixture[str], log: Path, tmp_path: Path) -> None:
    one = summary(capsys, log)
    twice = summary(capsys, log, log)
    assert twice["rows"] == 2 * one["rows"] and twice["allowed"] == 2 * one["allowed"]
    folder = summary(capsys, tmp_path)
    assert {**folder, "log": one["log"]} == one


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a.csv", "--column", "path=target"],
        ["a.csv", "--column", "target"],
        ["a.csv", "--kind", "root"],
        ["a.csv", "--top", "-1"],
        ["a.csv", "--tolerate", "1.5"],
        ["a.csv", "--tolerate", "x%"],
        ["a.csv", "--base", "a", "--no-base"],
        ["calls.parquet", "--out", "calls.parquet"],
    ],
)
def test_bad_usage(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, log: Path, arguments: list[str]
) -> None:
    monkeypatch.chdir(log.parent)
    with pytest.raises(SystemExit) as stopped:
        main(["replay", *arguments])
    assert stopped.value.code == 2 and "usage: " in capsys.readouterr().err


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["replay", "--help"])
    out = capsys.readouterr().out
    assert stopped.value.code == 0 and out.count("python -m orbgate replay ") >= 6
    assert all(f"  {name} " in out for name in logs.FORMATS)


def command(*arguments: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    line = [sys.executable, "-m", "orbgate", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, check=False, **options)


def test_standard_input() -> None:
    ran = command("replay", "-", "--format", "csv", "--json", input=SHORT.encode())
    assert (ran.returncode, ran.stderr) == (2, UNREAD.encode())
    assert json.loads(ran.stdout)["rows"] == 5 and json.loads(ran.stdout)["log"] == "-"


def test_names_that_are_no_text(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff.csv"
    Path(os.fsdecode(path)).write_text(SHORT)
    for option in ("--json", "--top=3"):
        ran = command("replay", os.fsdecode(path), option, env={**os.environ, "PYTHONIOENCODING": "ascii"})
        assert (ran.returncode, ran.stderr) == (2, UNREAD.encode()) and b"\\udcff.csv" in ran.stdout


def test_nobody_reads_the_summary(log: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    line = [sys.executable, "-m", "orbgate", "replay", str(log)]
    ran = subprocess.run(line, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (2, b"")


def test_what_is_not_installed_is_named(log: Path) -> None:
    script = "import sys; sys.modules['pyarrow'] = None; from orbgate.__main__ import main; sys.exit(main(sys.argv[1:]))"
    line = [sys.executable, "-c", script, "replay", str(log)]
    ran = subprocess.run(line, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr == "error: this needs pyarrow, which is not installed: pip install 'pyarrow>=16' tqdm\n"


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of Unix")
def test_a_progress_bar_is_for_terminals(log: Path) -> None:
    pytest.importorskip("tqdm")
    import fcntl
    import pty
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    line = [sys.executable, "-m", "orbgate", "replay", str(log)]
    ran = subprocess.run(line, stdout=subprocess.PIPE, stderr=theirs, check=False)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 1 << 16):
            shown += part
    except OSError:
        pass  # how a terminal ends whose other side is closed
    os.close(ours)
    assert ran.returncode == 0 and b"%|" in shown and ran.stdout.startswith(b"3,000 rows")
    assert command("replay", log).stderr == b""


def test_counts_of_too_many_things_are_lower_bounds() -> None:
    heavy = Heavy(distinct=10)
    heavy.add("first", 1_000)
    for number in range(1_000):
        heavy.add(f"{number}", 1)
        heavy.settle()
    for number in range(1_000):
        heavy.add(f"again {number}", 1)
        heavy.add("late", 2)
        heavy.settle()
    entries = dict(heavy.first(2))
    assert not heavy.is_exact and 20 < len(heavy) < 40 and list(entries) == ["late", "first"]
    assert (entries["late"].count, entries["late"].is_exact) == (2_000, False) and entries["late"].missed <= 2_000 / 10
    assert (entries["first"].count, entries["first"].is_exact) == (1_000, True)
    few = Heavy(distinct=10)
    for name in "baab":
        few.add(name, 1)
    assert few.is_exact and [(name, entry.count) for name, entry in few.first(5)] == [("a", 2), ("b", 2)]


@pytest.mark.parametrize("seed", range(20))
def test_heavy_hitters_are_there_with_bounds_that_hold(seed: int) -> None:
    """Against counting everything: what has more than its part is there, and no count is above the true one."""
    choose = random.Random(seed)
    heavy, true, total = Heavy(distinct=8), Counter[int](), 0
    for _ in range(3_000):
        thing, count = int(choose.paretovariate(0.5)) + choose.randrange(2), choose.randrange(1, 5)
        heavy.add(thing, count)
        true[thing] += count
        total += count
        if choose.random() < 0.1:
            heavy.settle()
    heavy.settle()
    entries = dict(heavy)
    assert {thing for thing, count in true.items() if count > total / 8} <= entries.keys() and len(heavy) <= len(true)
    for thing, entry in entries.items():
        assert entry.count <= true[thing] <= entry.count + entry.missed <= entry.count + total / 8
        assert not entry.is_exact or entry.count == true[thing]


def test_what_is_not_printable_is_shown() -> None:
    assert text.shown("a\x1b[2J\u202eb\n\u2028é") == "a\\x1b[2J\\u202eb\\n\\u2028é"


@pytest.mark.alone
@pytest.mark.once
@pytest.mark.skipif(sys.platform != "linux", reason="what /proc says")
def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    line = '10.0.0.{} - - [20/Nov/2026:13:05:{:02} +0000] "GET /api/v1/external/keys/{} HTTP/1.1" 200 17 "-" "{}"\n'
    block = "".join(line.format(at % 256, at % 60, at, "x" * 200) for at in range(20_000)).encode()
    peaks = []
    for times in (2, 12):
        (tmp_path / "access.log").write_bytes(block * times)
        script = (
            "import sys; from orbgate.__main__ import main; main(sys.argv[1:]);"
            "print(*(line for line in open('/proc/self/status') if line.startswith('VmHWM')), file=sys.stderr)"
        )
        arguments = [sys.executable, "-c", script, "replay", str(tmp_path / "access.log"), "--kind", "user"]
        ran = subprocess.run(arguments, capture_output=True, check=True)
        assert ran.stdout.startswith(f"{20_000 * times:,} rows".encode())
        peaks.append(int(ran.stderr.split()[1]))
    # The longer log is 60 MB longer.
    assert peaks[1] - peaks[0] < 20_000, peaks
