"""What a server answered against what the policy decides, by brute force over `decide`."""

from __future__ import annotations

import html
import re
import json
import random
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, Token, logs, report
from orbgate.__main__ import main

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")

from made_up_calls import POLICY, Page, about, check_harmless, rows, table  # noqa: E402
from orbgate._count import served  # noqa: E402
from orbgate._report.findings.words import SERVER  # noqa: E402

STATUSES = [200, 204, 302, 304, 400, 401, 403, 404, 405, 409, 500, 503, None]
CALLS = [row for row in rows(4_000, seed=8) if row["method"] is not None and row["target"] is not None]
ANSWERED = random.Random(8).choices(STATUSES, k=len(CALLS))
TABLE = table(CALLS).append_column("status", pa.array(ANSWERED, pa.int64()))
NAMED = {"served_status": "status"}


def expected() -> list[tuple[Any, ...]]:
    """For each call with a status: what it is, its status, its decision and its row."""
    listed = []
    for number, (row, status) in enumerate(zip(CALLS, ANSWERED), start=1):
        token = None if row["kind"] is None else Token(row["kind"], row["scopes"] or "")
        decision = POLICY.decide(row["method"], row["target"], token, allow_bonus_orbs_use=bool(row["allow_bonus_orbs_use"]))
        if status is not None:
            # An absent object and a wrong body are no refusals of a call that is allowed.
            refusals = (401, 403, 405) if decision else (400, 401, 403, 404, 405)
            below = "redirected" if status == 302 else "served"
            response = below if status < 400 else "refused" if status in refusals else "unclear"
            what = {("served", False): "served though denied", ("refused", True): "refused though allowed"}.get((response, bool(decision)))
            listed.append((what, response, status, decision, number, row))
    return listed


def test_statuses_that_refuse_are_those_of_the_reasons() -> None:
    assert served.REFUSALS == (400, 401, 403, 404, 405)


def test_counts_are_those_of_decide() -> None:
    calls = expected()
    made = report(TABLE, POLICY, columns=NAMED, top=10_000)
    compared = made.figures.served
    assert {row[:2]: row.calls for row in compared.counts} == Counter((response, str(d.decision)) for _, response, _, d, _, _ in calls)
    assert (compared.calls, compared.without_status) == (len(calls), len(CALLS) - len(calls))
    assert compared.redirected == sum(status == 302 for _, _, status, *_ in calls) > 0
    groups: dict[Any, list[Any]] = {}
    for what, _, status, d, number, row in calls:
        if what is not None:
            groups.setdefault((what, status, d.reason, d.detail, d.route or about(row, d), d.scope), []).append((number, row))
    assert {row[:6]: (row.calls, row.row) for row in compared.mismatches} == {key: (len(of), of[0][0]) for key, of in groups.items()}
    for one in compared.mismatches:
        first = groups[one[:6]][0][1]
        assert (one.caller, one.method, one.target) == (first["caller"], first["method"], first["target"].partition("?")[0])
        names = [*dict.fromkeys(row["caller"] for _, row in groups[one[:6]] if row["caller"] is not None)]
        assert (one.callers, one.first_callers) == (len(names), tuple(names[:4]))
        assert one.without_caller == sum(row["caller"] is None for _, row in groups[one[:6]])
        times = [row["time"].replace(tzinfo=None) for _, row in groups[one[:6]] if row["time"] is not None]
        assert (one.first, one.last) == (min(times, default=None), max(times, default=None))
    assert max(one.callers for one in compared.mismatches) > 1
    wrong = Counter((row["caller"], what) for what, _, _, _, _, row in calls if what is not None)
    callers = {(one.caller, what): calls for one in compared.callers for what, calls in zip(("served though denied", "refused though allowed"), one[1:3])}
    assert +Counter(callers) == wrong and any(caller is None for caller, _ in wrong) and all(one.is_exact for one in compared.callers)
    timed = [what for what, _, _, _, _, row in calls if what is not None and row["time"] is not None]
    assert sum(span.served_though_denied for span in compared.times) == timed.count("served though denied") > 0
    assert sum(span.refused_though_allowed for span in compared.times) == timed.count("refused though allowed") > 0
    page = check_harmless(made.html)
    texts = " ".join(html.unescape(" ".join(page.texts)).split())
    denied = sum(what == "served though denied" for what, *_ in calls)
    refused = sum(what == "refused though allowed" for what, *_ in calls)
    redirected = f"{compared.redirected:,}"
    assert re.search(rf"mismatches {denied + refused:,} {denied:,} served [^;]*; {refused:,} rejected [^;]*; {redirected} redirected, ", texts)
    assert re.search(rf" {len(calls):,} calls [^.]*\. [^.,]*, {denied:,} were served [^.,]*, {refused:,} were refused [^.,]*, and {redirected} were redirected\.", texts)
    assert " status below 300 " in texts
    # The first of all sections, and nothing of a query on the page.
    headings = [text for text in page.texts if text in (SERVER, "Allowed and denied")]
    assert [*dict.fromkeys(headings)] == [SERVER, "Allowed and denied"] and "hidden" not in texts


def test_a_malformed_call_stands_with_its_detail_in_every_table() -> None:
    """Served though it is denied, of a probe, and decided otherwise by another policy: nowhere is it the well-formed call that it looks like."""
    apis = "apis: {shop: {base_path: /v1, scopes: {users: {orbs: false, routes: [POST /users, 'GET /users/{id}']}}}}"
    policy, base = (Policy.from_yaml(f"orbgate: 1\ntarget: {target}\n{apis}") for target in ("strict", "encoded_params"))
    start = datetime(2026, 11, 2)
    odd = [("POST", "/v1/users#x"), ("GET", "/v1/users/a%20b"), *(("GET", f"/v1/{'abcdefghijklmnopqrstuvwxyz'[at]}#1") for at in range(25))]
    log = [{"method": method, "target": target, "kind": "user", "scopes": "users", "caller": "ann", "served_status": 200, "time": start + timedelta(seconds=at)} for at, (method, target) in enumerate(odd)]
    made = report(pa.Table.from_pylist(log), policy, base=base, top=100)
    figures = made.figures
    served = {(row.detail, row.method, row.target): row.calls for row in figures.served.mismatches}
    assert served == {("fragment", "POST", "/v1/users#…"): 26, ("percent", "GET", "/v1/users/a%20b"): 1}
    (probe,) = figures.denials.groups
    assert (probe.looks_like, probe.method, probe.target, probe.detail) == ("probe", "POST", "/v1/users#…", "fragment")
    assert figures.changes is not None and [(row.target, row.detail) for row in figures.changes.rows] == [("/v1/users/a%20b", "percent")]
    cells = [" ".join(html.unescape(re.sub("<[^>]*>", " ", row)).split()) for row in re.findall(r"<tr.*?</tr>", made.html.replace("<wbr>", ""), re.DOTALL)]
    of_call = [cell for cell in cells if "/v1/users#…" in cell or "/v1/users/a%20b" in cell]
    # Served though denied, the probe, decided otherwise, denied by reason.
    assert len(of_call) == 6 and all("fragment" in cell or "percent" in cell for cell in of_call), of_call
    assert "POST /v1/users#… (malformed: fragment)" in " ".join(of_call) and "GET /v1/users/a%20b (malformed: percent)" in " ".join(of_call)
    summary = str(logs.replay(logs.read(pa.Table.from_pylist(log)), policy, base=base))
    assert "GET /v1/users/a%20b (user: users, ann, malformed: percent)" in summary


def test_the_summary_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counted = Counter(what for what, *_ in expected())
    path = tmp_path / "calls.parquet"
    pytest.importorskip("pyarrow.parquet").write_table(TABLE, path)
    arguments = ["replay", str(path), "--column", "served_status=status"]
    out = tmp_path / "out.parquet"
    assert main([*arguments, "--json", "--out", str(out)]) == 0
    summary = json.loads(capsys.readouterr().out)["served"]
    assert (summary["served_though_denied"], summary["refused_though_allowed"]) == (counted["served though denied"], counted["refused though allowed"])
    parts = ("served_though_denied", "refused_though_allowed", "served_and_allowed", "refused_and_denied", "redirected", "unclear")
    assert sum(summary[name] for name in parts) == summary["calls_with_status"] == len(expected())
    assert main(arguments) == 0
    assert f"  {counted['served though denied']:,}  served though denied\n" in capsys.readouterr().out
    # The log's status is written next to the engine's.
    written = pytest.importorskip("pyarrow.parquet").read_table(out)
    assert written["served_status"].to_pylist() == ANSWERED and set(written["status"].to_pylist()) <= {None, *served.REFUSALS}


def test_an_access_log_has_a_status(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    line = '::1 - ann [20/Nov/2026:13:05:00 +0000] "GET /api/v1/external/keys?key=hidden HTTP/1.1" {} 17\n'
    path.write_text("".join(line.format(status) for status in ("200", "403", "200", "-", "999")))
    reader = logs.read(path, kind="user", scopes="read:orbs")
    made = report(reader, POLICY)
    [one] = made.figures.served.mismatches
    assert one[:7] == ("served though denied", 200, "scope_missing", None, "GET /api/v1/external/keys", "read:keys", 2)
    assert one[7:] == (1, "::1", "GET", "/api/v1/external/keys", 1, ("::1",), 0, datetime(2026, 11, 20, 13, 5), datetime(2026, 11, 20, 13, 5), False)
    [warning] = made.figures.log.warnings
    assert warning.startswith("1 value in `served_status` ") and warning.endswith(" `999` (row 5).")


def test_a_mismatch_says_who_and_when() -> None:
    """In the verdict and in its row: an auditor had to look for both in the log."""
    start = datetime(2026, 11, 2, 9)
    call = {"method": "GET", "target": "/api/v1/external/keys", "kind": "user", "scopes": "", "served_status": 200}
    # Not in the order of time.
    log = [{**call, "caller": caller, "time": start + timedelta(hours=at)} for at, caller in ((3, "ann"), (0, "bob"), (5, None), (1, "eve"))]
    made = report(pa.Table.from_pylist(log), POLICY)
    [finding] = made.figures.findings.where(lambda row: row.kind == "served_though_denied")
    pairs = ", ".join(f"1 to GET /api/v1/external/keys by {caller}" for caller in ("(no caller)", "ann", "bob"))
    assert re.search(rf": {re.escape(pairs)}, [^;]* 1 more [^;]*; [^;]* 200 in row 1, from 2026-11-02 09:00 to 2026-11-02 14:00\.$", finding.sentence)
    assert '<td class="words wide" data-column="when (UTC)">from 2026-11-02 09:00 to 2026-11-02 14:00</td>' in made.html
    # Without times, and with days alone, no more is said than the log has.
    untimed = report(pa.Table.from_pylist([{**call, "caller": "ann"}]), POLICY)
    assert untimed.figures.findings[0].sentence.endswith(" row 1.") and "when (UTC)" not in untimed.html
    days = report(pa.Table.from_pylist([{**call, "time": day} for day in ("2026-11-02", "2026-11-04")]), POLICY)
    assert days.figures.findings[0].sentence.endswith(" row 1, from 2026-11-02 to 2026-11-04.")


@pytest.mark.parametrize("token", ["user", None])
def test_a_redirect_is_neither_served_nor_refused(token: str | None) -> None:
    """One to a login was counted as served though denied."""
    statuses = [101, 200, 299, 300, 301, 302, 303, 304, 305, 307, 308, 399]
    columns = {"method": "GET", "target": "/api/v1/external/orbs", "kind": token, "scopes": "read:orbs"}
    log = pa.table({**{name: [value] * len(statuses) for name, value in columns.items()}, "served_status": statuses})
    compared = report(log, POLICY).figures.served
    assert {row.served: row.calls for row in compared.counts} == {"redirected": 8, "served": 4} and compared.redirected == 8
    assert compared.of("served though denied") == (0 if token else 4)
    assert logs.replay(logs.read(log), POLICY).to_dict()["served"]["redirected"] == 8


def test_the_page_has_the_rule() -> None:
    assert served.RULE in report(TABLE, POLICY, columns=NAMED).html


@pytest.mark.parametrize(
    ("status", "token", "response"),
    [
        (status, token, "refused" if status in (401, 403, 405) or token is None and status in (400, 404) else "unclear")
        for status in (400, 401, 403, 404, 405, 409, 500)
        for token in ("user", None)
    ],
)
def test_an_absent_object_is_no_refusal(status: int, token: str | None, response: str) -> None:
    columns = {"method": ["GET"], "target": ["/api/v1/external/orbs"], "kind": [token], "scopes": ["read:orbs"], "served_status": [status]}
    compared = report(pa.table(columns), POLICY).figures.served
    [row] = compared.counts
    assert row[:2] == (response, "allow" if token else "deny") and compared.of("refused though allowed") == int(response == "refused" and token is not None)


def test_a_row_of_many_callers_names_the_first_and_how_many_more() -> None:
    """The first call's caller is not that of all."""
    names = [*(f"app-{at % 1_200}" for at in range(2_400)), None]
    columns = {"method": "POST", "target": "/api/v1/external/keys", "kind": "user", "scopes": ""}
    log = pa.table({**{name: [value] * len(names) for name, value in columns.items()}, "caller": names, "served_status": [200] * len(names)})
    for rows, callers, shown in (
        (log.slice(0, 12), 12, "12 app-0 +11 1 POST"), (log.slice(0, 4), 4, "4 app-0 +3 1 POST"),
        (log, 1_000, "at least 1,000 app-0 +999 or more (no caller) 1 POST"), (log.slice(2_400), 0, "0 (no caller) 1 POST"),
    ):  # fmt: skip
        made = report(rows, POLICY)
        [one] = made.figures.served.mismatches
        texts = " ".join(" ".join(Page(made.html).texts).split())
        assert (one.calls, one.callers) == (rows.num_rows, callers) and shown in texts.partition("first caller")[2]


def test_statuses_of_every_type() -> None:
    calls = pa.table({"method": ["GET"] * 4, "target": ["/"] * 4})
    start = datetime(2026, 11, 2, tzinfo=timezone.utc)
    for column, wanted, unread in (
        (pa.array([200, 404, None, 99]), [200, 404, None, None], 1),
        (pa.array([200.0, 404.5, None, 1e300]), [200, None, None, None], 2),
        (pa.array([200, 2**62, -1, 600]), [200, None, None, None], 3),
        (pa.array(["200", "404 ", "", None]), [200, 404, None, None], 1),
        # As pandas and other programs write them.
        (pa.array(["200.0", "  404", "404.5", "2000"]), [200, 404, None, None], 2),
        (pa.array([b"403.00 ", b"1e2", b"99.0", b"600.0"]), [403, None, None, None], 3),
        (pa.array(["200", "404", "200", None]).dictionary_encode(), [200, 404, 200, None], 0),
        (pa.array([b"200", b"\xff", b"500", None]), [200, None, 500, None], 1),
        (pa.array([start, start + timedelta(1), None, None]), [None] * 4, 2),
    ):
        reader = logs.read(calls.append_column("status", column), columns=NAMED)
        assert pa.table(reader)["served_status"].to_pylist() == wanted
        warnings = [warning for warning in reader.warnings if "status" in warning]
        assert len(warnings) == bool(unread)
        if unread:
            assert warnings[0].startswith(f"{unread} value{'s' if unread > 1 else ''} in `status` ")


def test_a_status_that_was_not_read_is_named() -> None:
    """It may be an engine's decision, so it is not guessed to be the server's."""
    assert "`served_status=status`" in report(TABLE, POLICY).figures.log.warnings[-1]
    assert SERVER not in Page(report(TABLE, POLICY).html).texts


def keys(status: list[int | None], caller: str = "thief") -> Any:
    """Hourly calls without the scope that they need."""
    start = datetime(2026, 10, 20, tzinfo=timezone.utc)
    return pa.table({
        "time": [start + timedelta(hours=at) for at in range(len(status))], "method": ["GET"] * len(status),
        "target": ["/api/v1/external/keys"] * len(status), "kind": ["user"] * len(status), "scopes": ["read:orbs"] * len(status),
        "caller": [caller] * len(status), "served_status": pa.array(status, pa.int64()),
    })  # fmt: skip


@pytest.mark.parametrize(
    ("status", "served", "phrase"),
    [([200] * 200, 200, "200"), ([403, 200, 304, 302, 404, None] * 20, 40, "40"), ([403] * 100, 0, "none")],
)
def test_who_is_served_though_denied_does_not_look_harmless(status: list[int | None], served: int, phrase: str) -> None:
    made = report(keys(status), POLICY)
    [caller], [sign] = made.figures.callers.counts, made.figures.denials.groups
    # Calls that were served are one finding, which is not that the client fails.
    looks = None if served == len(status) else "misconfigured client"
    assert (sign.looks_like, sign.served_though_denied, caller.served_though_denied) == (looks, served, served)
    assert bool(served) == any(row.kind == "served_though_denied" for row in made.figures.findings)
    assert bool(looks) == (f"the server served {phrase} of its denied calls" in made.html)
    assert made.html.count(">served anyway<") == 2 and made.html.count("denied by this policy, ") == 2
    assert (caller.denied, caller.denied_for, sign.caller_calls) == (len(status), "scope_missing", len(status))


def test_without_statuses_nobody_knows_who_was_served() -> None:
    made = report(keys([None] * 50).drop_columns(["served_status"]), POLICY)
    assert made.figures.callers.counts[0].served_though_denied is made.figures.denials.groups[0].served_though_denied is None
    assert "served anyway" not in made.html and "the server served" not in made.html
