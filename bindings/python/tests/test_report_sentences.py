"""What the page says of a log in words: each sentence holds for it, also where something is odd."""

from __future__ import annotations

import html
import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, logs, report

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

pytestmark = pytest.mark.once

POLICY = Policy.external()
START = datetime(2026, 11, 2)
CALL = {"method": "GET", "target": "/api/v1/external/orbs", "kind": "user", "scopes": "read:orbs", "caller": "ann", "time": START, "served_status": 200}
# Calls that consume orbs, of which the policy states no amount or one, and one that consumes none.
SHOP = Policy.from_yaml("orbgate: 1\napis: {shop: {base_path: '', scopes: {ask: {orbs: true, routes: [POST /ask]}, buy: {orbs: 3, routes: [POST /buy]}, look: {orbs: false, routes: [GET /]}}}}")
ASKED, BOUGHT = ({**CALL, "method": "POST", "target": f"/{scope}", "scopes": scope} for scope in ("ask", "buy"))
LOOKED = {**CALL, "target": "/", "scopes": "look"}


def page(*calls: dict[str, Any], policy: Policy = POLICY, **options: Any) -> str:
    schema = pa.schema([(name, pa.timestamp("us") if name == "time" else pa.int64() if name == "served_status" else pa.string()) for name in CALL])
    return report(pa.Table.from_pylist(list(calls), schema), policy, **options).html


def words(made: str) -> str:
    return " ".join(html.unescape(re.sub(r"<svg.*?</svg>|<style>.*?</style>|<[^>]*>", " ", made, flags=re.DOTALL)).split())


def test_a_call_without_a_token_is_at_its_route_in_every_table() -> None:
    made = page(*[{**CALL, "kind": kind, "method": method} for kind in (None, "USER") for method in ("GET", "HEAD")])
    [denials] = re.findall(r"Denied calls by reason and route</caption>(.*?)</table>", made, re.DOTALL)
    rows = [re.findall("<td[^>]*>(.*?)</td>", row)[:2] for row in denials.split("<tr>")[2:]]
    assert sorted(rows) == [[reason, route] for reason in ("invalid_token", "no_token") for route in ("(no route)", "GET /api/v1/external/orbs")]


def test_signs_and_the_clients_that_have_them_are_counted_apart() -> None:
    def lacks(caller: str | None, *targets: str) -> list[dict[str, Any]]:
        return [{**CALL, "caller": caller, "scopes": "", "target": f"/api/v1/external/{target}", "time": START + timedelta(hours=at)} for target in targets for at in range(40)]

    tile = re.compile(r"<dt>Signs in denials</dt><dd><strong>(.*?)</strong> <span>(.*?)</span>")
    assert tile.findall(page(*lacks("ann", "orbs", "keys"))) == [("2", "of 1 misconfigured client")]
    assert tile.findall(page(*lacks(None, "orbs"))) == [("1", "of a misconfigured client that is not named")]
    assert tile.findall(page(*lacks(None, "orbs"), *lacks("ann", "keys"), *lacks("bob", "keys"))) == [("3", "of 2 misconfigured clients; a misconfigured client that is not named")]


def test_calls_that_are_in_no_span_of_time_are_counted() -> None:
    timed = [{**ASKED, "time": START + timedelta(minutes=at)} for at in range(300)]
    far, never = {"time": datetime(1970, 1, 1)}, {"time": None}
    odd = words(page(*timed, {**ASKED, **far}, {**LOOKED, **far}, {**ASKED, **never}, {**ASKED, **never}, {**LOOKED, **never}, policy=SHOP))
    assert "Left out over time: 3 of the 303 calls that consume orbs, 2 because they have no time and 1 because their times are far from all others." in odd
    assert "Left out over time" not in words(page(*timed, {**LOOKED, **far}, {**LOOKED, **never}, policy=SHOP)) and "all else has them" not in odd
    assert "Left out over time: 1 of the 301 calls that consume orbs, 1 because their times are far" in words(page(*timed, {**ASKED, **far}, policy=SHOP))


def test_what_several_have_alike_is_not_that_of_one() -> None:
    hours = [timedelta(hours=at) for at in range(3)]
    for call, said in ((ASKED, "Most such calls"), (BOUGHT, "Orbs were consumed most")):
        calls = [{**call, "time": START + hour} for hour in hours]
        assert said not in words(page(*calls, policy=SHOP))
        assert said in words(page(*calls, calls[1], policy=SHOP))
    denied = [{**CALL, "kind": None}, {**CALL, "scopes": ""}]
    assert "most often" not in words(page(*denied)) and "most often because no token" in words(page(*denied, denied[0]))


def test_orbs_are_those_of_decisions_and_the_page_says_so() -> None:
    answered = [{**ASKED, "served_status": status} for status in (200, 403, 401, 500, 404, None)]
    said = "Orbs follow from the decisions alone, also for a call that the server did not serve"
    assert f"{said}: 2 such calls with a status that refuses it, 2 with one that says neither." in words(page(*answered, {**LOOKED, "served_status": 403}, policy=SHOP))
    assert f"{said}; the log has no status that would say so." in words(page({**ASKED, "served_status": None}, policy=SHOP))
    assert said not in words(page(LOOKED, policy=SHOP))
    found = report(pa.Table.from_pylist(answered), SHOP).figures.orbs
    assert (found.total.calls, found.refused, found.unclear, found.without_time) == (6, 2, 2, 0)


def test_rows_that_lack_different_things_are_told_apart(tmp_path: Path) -> None:
    rows: list[dict[str, Any] | bytes] = [{}, {"verb": None}, {"url": None}, {"client": ["x"]}, {"auth": {"kind": "user", "scopes": ["a", 1]}}, {"auth": {"kind": ["user"]}}, {"verb": None}, b"\xff", b"\xff"]
    log = tmp_path / "calls.jsonl"
    call = {"verb": "GET", "url": "/", "auth": {"kind": "user", "scopes": ["look"]}, "client": "ann"}
    log.write_bytes(b"".join(row + b"\n" if isinstance(row, bytes) else json.dumps({**call, **row}).encode() + b"\n" for row in rows))
    columns = {"method": "verb", "target": "url", "kind": "auth.kind", "scopes": "auth.scopes", "caller": "client"}
    made = report(log, SHOP, columns=columns)
    reasons = {
        "no `verb`": (2, 7), "no `url`": (3,), "`client` is an array, not text": (4,), "`auth.scopes` is an array with a number in it, not of texts alone": (5,),
        "`auth.kind` is an array, not text": (6,), "not UTF-8 at byte …": (8, 9),
    }  # fmt: skip
    assert {row.reason: row.first for row in made.figures.unread_by_reason} == reasons and made.figures.unread == 8
    [table] = re.findall(r"Rows that could not be read, by reason</caption>(.*?)</table>", made.html, re.DOTALL)
    cells = [[html.unescape(cell) for cell in re.findall("<td[^>]*>(.*?)</td>", row)] for row in table.split("<tr>")[2:]]
    assert [cells[0], cells[1]] == [["2", "no `verb`", "2, 7"], ["2", "not UTF-8 at byte 1", "8, 9"]] and len(cells) == len(reasons)


def test_what_is_wrong_with_one_row_is_not_said_of_another(tmp_path: Path) -> None:
    log = tmp_path / "calls.csv"
    log.write_text("method,target,caller\nGET\nGET,/\nGET,/,a,b\nGET,/\n")
    text = str(logs.replay(logs.read(log), SHOP))
    assert text.endswith("\n  4  row 1: 1 value where the header has 3; alike, with others in its place: row 2, 3, 4\n")
    log.write_text("method,target,caller\nGET,/\nGET,/\n")
    assert str(logs.replay(logs.read(log), SHOP)).endswith("\n  2  row 1: 2 values where the header has 3; also row 2\n")
    values = [f'{{"method":"GET","target":"/","allow_bonus_orbs_use":"a`{at}`b"}}\n' for at in range(99)]
    log.with_suffix(".jsonl").write_text("".join(values))
    found = logs.replay(logs.read(log.with_suffix(".jsonl"), format="json"), SHOP).to_dict()["errors_by_reason"]
    assert [(kind["reason"], kind["count"]) for kind in found] == [("`allow_bonus_orbs_use` is `…`, neither true nor false", 99)]
