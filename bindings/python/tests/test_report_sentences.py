"""What the page says of a log in words: each sentence holds for it, also where something is odd."""

from __future__ import annotations

import gzip
import html
import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, audit, logs, report
from orbgate._read import private

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

from orbgate._report import bundle  # noqa: E402

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
    # Long routes may be broken after each `/`.
    return report(pa.Table.from_pylist(list(calls), schema), policy, **options).html.replace("<wbr>", "")


def words(made: str) -> str:
    return " ".join(html.unescape(re.sub(r"<svg.*?</svg>|<style>.*?</style>|<[^>]*>", " ", made, flags=re.DOTALL)).split())


def test_a_call_without_a_token_is_at_its_route_in_every_table() -> None:
    made = page(*[{**CALL, "kind": kind, "method": method} for kind in (None, "USER") for method in ("GET", "HEAD")])
    [denials] = re.findall(r"Denied calls by reason and route</caption>(.*?)</table>", made, re.DOTALL)
    rows = [re.findall("<td[^>]*>(.*?)</td>", row)[:2] for row in denials.split("<tr>")[2:]]
    assert sorted(rows) == [[reason, route] for reason in ("invalid_token", "no_token") for route in ("/api/v1/external/orbs", "GET /api/v1/external/orbs")]


def test_preflights_are_at_their_paths() -> None:
    """701 served preflights were one line, (no route), and no route was said to be called without a token."""
    asked = [{**CALL, "kind": kind, "method": "OPTIONS", "target": target, "served_status": 204} for kind in (None, "USER") for target in ("/api/v1/external/voxies/7?x=1", "/api/v1/external/orbs", "/nowhere")]
    made = page(*asked, asked[0], {**CALL, "method": "HEAD"})
    text = words(made)
    assert "No route was called without a valid token, by a method that the policy declares for it. To a path of the policy, by a method that it does not declare for it, as a preflight's OPTIONS: 5 such calls. To no path of the policy: 2 such calls." in text
    assert "With those that have no valid token, at the route or path that they ask for: 5 calls. Denied before a route was known: 2 calls." in text
    for caption in ("Calls served though denied, by route", "Calls by route", "Denied calls by reason and route", "Routes and paths called without a valid token"):
        [table] = re.findall(rf"{caption}</caption>(.*?)</table>", made, re.DOTALL)
        rows = re.findall(r'data-column="route">(.*?)</td>', table)
        assert {"/api/v1/external/voxies/{voxieId}", "/api/v1/external/orbs"} <= {*rows}, caption
    # It is not said where a token is asked for first, or the target is none.
    assert "To a path of the policy" not in words(page({**CALL, "kind": None}, {**CALL, "kind": None, "method": "OPTIONS", "target": "/api/v1/external/../orbs"}))
    found = report(pa.Table.from_pylist([*asked, {**CALL, "kind": None}]), POLICY).figures
    assert {row.route for row in found.unauthenticated.routes} == {"GET /api/v1/external/orbs", "/api/v1/external/orbs", "/api/v1/external/voxies/{voxieId}"} and found.without_token == 4


def test_calls_without_a_caller_are_in_every_table_under_one_name() -> None:
    lacking = {**CALL, "target": "/api/v1/external/keys"}
    unnamed = [{**lacking, "caller": None}, {**CALL, "caller": None, "scopes": "read:orbs made:up"}, {**CALL, "caller": None, "served_status": 403}]
    made = page(*unnamed, CALL, lacking, {**lacking, "caller": "(no caller)"}, {**CALL, "caller": "(no caller)", "scopes": "read:orbs made:up"}, lacking)
    for caption, nobody, called_so in (
        ("Calls served or refused against the policy, by caller", ["1", "1"], ["1", "0"]), ("Orbs by caller", ["2", "1"], ["1", "1"]),
        ("Denied calls by caller and what they have in common", ["missing scope"], ["missing scope"]), ("Who carries scopes that the policy does not have", None, ["made:up", "1"]),
    ):  # fmt: skip
        [table] = re.findall(rf"{caption}</caption>(.*?)</table>", made, re.DOTALL)
        rows = {cells[0]: cells[1:] for row in re.split("<tr[^>]*>", table)[2:] for cells in [re.findall("<td[^>]*>(.*?)</td>", row)]}
        assert rows.get("(no caller)", [])[: len(nobody or [])] == (nobody or []) and rows["\\x28no caller)"][: len(called_so)] == called_so, caption
    first = re.findall(r'data-column="first caller">([^<]*)</td>', made)
    assert sorted(first) == ["(no caller)", "ann +1\n(no caller)"]
    text = words(made)
    assert text.count("By caller, those that name none are left out: 3 calls.") == 2 and "not named" not in text and "“(no caller)” for calls that name none" in text
    assert "By caller, those" not in words(page(CALL))


def test_a_replay_counts_denied_calls_without_a_caller() -> None:
    calls = [{**CALL, "kind": None, "caller": caller} for caller in (None, None, "(no caller)", "ann")]
    summary = logs.replay(logs.read(pa.Table.from_pylist(calls)), POLICY)
    assert str(summary).endswith("callers denied most:\n  1  \\x28no caller)\n  1  ann\n  2  (no caller)\n") and summary.to_dict()["denied_without_caller"] == 2
    assert [row["caller"] for row in summary.to_dict()["top_denied_callers"]] == ["(no caller)", "ann"]
    unnamed = logs.replay(logs.read(pa.Table.from_pylist(calls[:2], pa.schema([(name, pa.string()) for name in CALL if name not in ("time", "served_status")]))), POLICY)
    assert "(no caller)" not in str(unnamed) and unnamed.to_dict()["denied_without_caller"] == 2


def test_malformed_calls_are_called_so_with_their_rule() -> None:
    bad = [{**CALL, "target": target} for target in ("/api/v1/external/orbs#x", "/api/v1/external/orbs?x=1#y", "https://host/api/v1/external/orbs")]
    common = re.compile(r'data-column="in common">(.*?)</td>')
    assert common.findall(page(*bad)) == ["malformed"] and common.findall(page(*bad, {**CALL, "target": "/x"})) == ["unknown paths, 3 malformed"]
    assert common.findall(page(CALL, {**CALL, "target": "/x"})) == ["unknown paths"]
    summary = logs.replay(logs.read(pa.Table.from_pylist([*bad, {**CALL, "target": "/x"}])), POLICY)
    assert all(f"  1  malformed_request: fragment  GET /api/v1/external/orbs{sign}\n" in str(summary) for sign in ("#…", "?…#…"))
    assert "  1  no_route                     GET /x\n" in str(summary)
    assert {row["detail"] for row in summary.to_dict()["top_denied"]} == {"fragment", "form", None}


def test_a_sign_says_when_its_calls_were_made() -> None:
    """A client that has long moved on looked like one that has not."""
    old = Policy.from_yaml("orbgate: 1\napis: {shop: {base_path: /v1, scopes: {look: {orbs: false, routes: ['GET /items/{id}']}}}}")
    aged = [{**CALL, "target": f"/v1/items/{at}", "time": START + timedelta(hours=at)} for at in range(24)]
    others = [{**CALL, "caller": "bob", "time": START + timedelta(days=at)} for at in range(30)]
    because = re.compile(r'data-column="because">(.*?)</td>')

    def said(*calls: dict[str, Any]) -> str:
        [found] = because.findall(page(*calls, *others, base=old))
        return html.unescape(found).partition(": GET /v1/items/{id}")[2].partition("; the server")[0]

    assert said(*aged) == "; the first at 2026-11-02 00:00:00, the last at 2026-11-02 23:00:00, 28 days 1 hour before the log ends: it has stopped, check whether it was fixed"
    never, far = {**aged[0], "time": None}, {**aged[0], "time": datetime(1970, 1, 1)}
    assert said(*aged, never, far).endswith("; the first at 1970-01-01 00:00:00, the last at 2026-11-02 23:00:00 (1 without a time; some far from all other times), 28 days 1 hour before the log ends")
    assert because.findall(page(*[{**call, "time": None} for call in aged], base=old))[0].endswith("{id}; the server served 24 of these calls")
    tried = [{**CALL, "target": f"/{chr(97 + at)}", "time": START + timedelta(minutes=at)} for at in range(25)]
    assert "; the first at 2026-11-02 00:00:00, the last at 2026-11-02 00:24:00; the server served 25" in because.findall(page(*tried))[0]


def test_calls_of_no_route_are_said_where_they_have_no_bar() -> None:
    nowhere = [{**CALL, "target": "/nowhere"}] * 3
    assert "(no route), with 3 calls, has no bar" in words(page(CALL, {**CALL, "target": "/api/v1/external/keys"}, *nowhere)) and "has no bar" not in words(page(*nowhere)) + words(page(CALL))


def test_all_files_are_named_with_their_rows(tmp_path: Path) -> None:
    for at in range(403):
        (tmp_path / f"{at:03}.csv").write_text("method,target\n" + "GET,/\n" * (1 + at % 2))
    made = report([tmp_path / f"{at:03}.csv" for at in range(403)], POLICY)
    text = words(made.html)
    for file in made.figures.log.files[:400]:
        rows = f"row {file.first_row}" if file.first_row == file.last_row else f"rows {file.first_row} to {file.last_row}"
        assert f"{file.name}, {rows} sha256:{file.sha256}" in text
    assert "and 390 more files, rows 16 to 600 010.csv, row 16 sha256:" in text and "400.csv" not in text
    assert "Log and 3 more files, rows 601 to 604: the table log_files of a bundle has each" in text
    assert made.html.count("<details>") == 1 and made.html.count("<details") == made.html.count("</details>") and '<ol start="11">' in made.html
    few = report([tmp_path / f"{at:03}.csv" for at in range(10)], POLICY).html
    assert "<details>" not in few and "more file" not in words(few)


def test_signs_and_the_clients_that_have_them_are_counted_apart() -> None:
    def lacks(caller: str | None, *targets: str) -> list[dict[str, Any]]:
        return [{**CALL, "caller": caller, "scopes": "", "target": f"/api/v1/external/{target}", "time": START + timedelta(hours=at)} for target in targets for at in range(40)]

    tile = re.compile(r"<dt>Flagged callers</dt><dd><strong>(.*?)</strong> <span>(.*?)</span>")
    assert tile.findall(page(*lacks("ann", "orbs", "keys"))) == [("1", "1 misconfigured client, from 2 groups of denied calls")]
    assert tile.findall(page(*lacks(None, "orbs"))) == [("0", "a misconfigured client, (no caller), from 1 group of denied calls")]
    assert tile.findall(page(*lacks(None, "orbs"), *lacks("ann", "keys"), *lacks("bob", "keys"))) == [("2", "2 misconfigured clients, a misconfigured client, (no caller), from 3 groups of denied calls")]


def test_what_tokens_of_no_known_kind_carry_is_left_out_and_counted() -> None:
    odd = {**CALL, "kind": "USER", "scopes": "read:orbs foo:bar"}
    left, said = "What tokens of no known kind carry is left out: 3 calls.", ("No valid token of the log carries a scope of the policy.", "Valid tokens carry no scope that the policy does not have.")
    text = words(page(odd, odd, odd))
    assert all(f"{sentence} {left}" in text for sentence in said) and " No token of the log" not in text and " Tokens carry" not in text
    text = words(page(odd, odd, odd, {**CALL, "scopes": "read:orbs read:keys foo:bar"}))
    assert text.count(left) == 2 and not any(sentence in text for sentence in said)
    assert "known kind carry" not in words(page(CALL)) and "Valid tokens carry no scope that the policy does not have. " in words(page(CALL))


def test_calls_that_are_in_no_span_of_time_are_counted() -> None:
    timed = [{**ASKED, "time": START + timedelta(minutes=at)} for at in range(300)]
    far, never = {"time": datetime(1970, 1, 1)}, {"time": None}
    odd = words(page(*timed, {**ASKED, **far}, {**LOOKED, **far}, {**ASKED, **never}, {**ASKED, **never}, {**LOOKED, **never}, policy=SHOP))
    assert "Left out over time: 3 of the 303 calls that consume orbs, 2 because they have no time and 1 because their times are far from all others." in odd
    assert "Left out over time" not in words(page(*timed, {**LOOKED, **far}, {**LOOKED, **never}, policy=SHOP)) and "all else has them" not in odd
    assert "Left out over time: 1 of the 301 calls that consume orbs, 1 because their times are far" in words(page(*timed, {**ASKED, **far}, policy=SHOP))


def test_what_several_have_alike_is_not_that_of_one() -> None:
    hours = [timedelta(hours=at) for at in range(3)]
    for call, said in ((ASKED, "Most such calls"), (BOUGHT, "Most orbs would be charged")):
        calls = [{**call, "time": START + hour} for hour in hours]
        assert said not in words(page(*calls, policy=SHOP))
        assert said in words(page(*calls, calls[1], policy=SHOP))
    denied = [{**CALL, "kind": None}, {**CALL, "scopes": ""}]
    assert "most often" not in words(page(*denied)) and "most often because no token" in words(page(*denied, denied[0]))


def test_orbs_are_those_of_decisions_and_the_page_says_so() -> None:
    answered = [{**ASKED, "served_status": status} for status in (200, 403, 401, 500, 404, 302, None)]
    said = "Orbs follow from the decisions, even for a call that the server did not serve"
    table = "Orbs by what the server did server calls served 1 refused 2 unknown: redirected 1 unknown: status says neither 2 unknown: no status 1 total 7 Orbs by route"
    assert table in words(page(*answered, {**LOOKED, "served_status": 403}, policy=SHOP))
    both = [*answered, *[{**BOUGHT, "served_status": status} for status in (200, 302, 302, 500)]]
    text = words(page(*both, policy=SHOP))
    parts = "served 2 3 1 refused 2 0 2 unknown: redirected 3 6 1 unknown: status says neither 3 3 2 unknown: no status 1 0 1 total 11 12 7"
    assert f"{said}: a table says which. Definitions" in text and f"server calls orbs stated calls with no price stated {parts} " in text
    assert "calls orbs stated unknown: no status 1 3 total 1 3" in words(page({**BOUGHT, "served_status": None}, {**LOOKED, "served_status": 200}, policy=SHOP))
    # A call that the policy denies has no price, whatever the server did.
    text = words(page(*both, *[{**BOUGHT, "scopes": "", "served_status": 200}] * 2, policy=SHOP))
    assert "2 calls served though denied are not counted." in text and parts in text
    assert f"{said}; the log has no status that would say so." in words(page({**ASKED, "served_status": None}, policy=SHOP))
    assert said not in words(page(LOOKED, policy=SHOP))
    found = report(pa.Table.from_pylist(answered), SHOP).figures.orbs
    assert (found.total.calls, found.without_time) == (7, 0)
    assert [tuple(row) for row in found.answered] == [("served", 1, 0, 1), ("redirected", 1, 0, 1), ("refused", 2, 0, 2), ("unclear", 2, 0, 2)]


def test_a_policy_without_amounts_has_the_served_calls_in_its_tile() -> None:
    answered = [{**ASKED, "served_status": status} for status in (200, 200, 403)]
    assert "Consume orbs 3 75.0% of all, of which the server served 2 " in words(page(*answered, LOOKED, policy=SHOP))
    assert "Consume orbs 1 50.0% of all Unused" in words(page({**ASKED, "served_status": None}, {**LOOKED, "served_status": None}, policy=SHOP))


def test_options_are_whole_so_that_they_can_be_given_again() -> None:
    """A long mapping of columns was cut in its middle."""
    order = ("method", "target", "kind", "scopes", "time", "caller", "served_status")
    names = {name: f"request.context.authorizer.{name}_of_the_gateway" for name in order}
    table = pa.Table.from_pylist([{names[name]: value for name, value in CALL.items()}])
    made = report(table, POLICY, columns=names).html
    options = re.search(r'<dd class="options">(.*?)</dd>', made)
    assert options and re.sub("<[^>]*>", "", options[1]) == ", ".join(f"column {name}={of_log}" for name, of_log in names.items())
    assert options[1].count("<code>") == len(names)


def test_the_page_names_the_other_policy_and_how_to_get_what_is_cut() -> None:
    other = Policy.from_yaml("{orbgate: 1, name: the older one, apis: {}}")
    rows = [{**CALL, "caller": f"app {at}", "scopes": ""} for at in range(9)]
    made = page(*rows, base=other, top=3)
    assert f"Other policy the older one {other.digest}" in words(made) and "Other policy" not in words(page(CALL))
    # Each table that is cut, and has all its rows in a bundle, links to the sentence about it.
    cut = re.findall(r'<p class="more">([^<]*)(.*?)</p>', made)
    assert len(cut) > 3 and all(('<a href="#bundle">' in link) is ("of a bundle" in said) for said, link in cut)
    assert '<p id="bundle">' in made and "with --bundle evidence.zip , or with bundle() in Python" in words(made)


def test_every_table_that_is_cut_names_a_table_of_the_bundle(tmp_path: Path) -> None:
    """Properties, their witnesses and reasons of unread rows were cut without a word of where the rest is."""
    properties = tmp_path / "policy.test.yaml"
    properties.write_text("orbgate_test: 1\nproperties: ['never | any * | POST /*', 'never | any * | GET /']\n")
    odd: list[dict[str, Any]] = [{"scopes": ""}, {"kind": None}, {"kind": "USER"}, {"served_status": 403}, {"method": None}, {"target": None}, {"target": "/no"}, {"scopes": "openid email"}]
    log = [{**call, "caller": f"app {at}", **more} for at in range(30) for call in (ASKED, BOUGHT, LOOKED) for more in odd]
    log += [{**LOOKED, "time": START + timedelta(hours=at)} for at in range(200)] + [{**LOOKED, "target": f"/{at:c}", "time": START} for at in range(97, 123)]
    other = Policy.from_yaml("{orbgate: 1, apis: {shop: {base_path: '', scopes: {look: {orbs: 2, routes: [GET /, GET /no]}}}}}")
    made = report(pa.Table.from_pylist(log), SHOP, base=other, properties=properties, top=1)
    cut = [html.unescape(re.sub("<[^>]*>", "", said)) for said in re.findall(r'class="more">(.*?)</p>', made.html, re.DOTALL) if "without a " not in said]
    names = [name for said in cut if re.search(r"\d more", said) for name in re.findall(r"(\w+) of a bundle", said) or [said]]
    tables = {name for name, _ in bundle.tables(made.figures)}
    assert set(names) <= tables and len({*names}) > 12 and {"properties_rows", "log_unread_by_reason"} < {*names}


def test_long_routes_are_broken_after_a_slash() -> None:
    """`/files/213/n` and `ame` were in two lines."""
    made = report(pa.Table.from_pylist([CALL]), POLICY).html
    assert "GET /<wbr>api/<wbr>v1/<wbr>external/<wbr>orbs</td>" in made
    assert report(pa.Table.from_pylist([LOOKED]), SHOP).html.count("<wbr>") == 0


def test_one_orb_is_no_orbs() -> None:
    prices = [Policy.from_yaml(f"{{orbgate: 1, apis: {{shop: {{base_path: '', scopes: {{buy: {{orbs: {price}, routes: [POST /buy]}}}}}}}}}}") for price in (1, 2)]
    made = words(page(BOUGHT, policy=prices[0], base=prices[1]))
    assert "allow, 2 orbs allow, 1 orb POST /buy" in made
    # The verdict tells which differences these are.
    assert "The other policy decides 1 call differently: 0 allowed here that it denies, 0 denied here that it allows, 1 allowed by both with other orbs." in made


def test_orbs_of_served_and_refused_calls_are_apart() -> None:
    """Two calls that the server refused "consumed 24 orbs"."""
    of_status: dict[Any, str] = {200: "served", 304: "served", 401: "refused", 403: "refused", 404: "unknown", 302: "unknown", 500: "unknown", None: "unknown"}
    log = [
        {**call, "served_status": status, "caller": caller, "time": START + timedelta(days=at)}
        for at, status in enumerate(of_status) for call in (ASKED, BOUGHT, BOUGHT, LOOKED) for caller in ("ann", "bob", None)
    ]  # fmt: skip
    made = report(pa.Table.from_pylist(log), SHOP)
    of = made.figures.orbs

    def wanted(kept: Callable[[dict[str, Any]], bool]) -> list[int]:
        sums = {"all": [0, 0, 0], "served": [0, 0, 0], "refused": [0, 0, 0], "unknown": [0, 0, 0]}
        for call in log:
            if kept(call) and call["target"] != "/":
                for name in ("all", of_status[call["served_status"]]):
                    is_stated = call["target"] == "/buy"
                    sums[name] = [sum + more for sum, more in zip(sums[name], (1, 3 * is_stated, not is_stated))]
        return [count for counts in sums.values() for count in counts]

    assert list(of.total[:12]) == wanted(lambda call: True) and of.total[:12] == (72, 144, 24, 18, 36, 6, 18, 36, 6, 36, 72, 12)
    for row in of.routes:
        assert list(row[2:14]) == wanted(lambda call: row.route == f"{call['method']} {call['target']}")
    for scope in of.scopes:
        assert list(scope[1:13]) == wanted(lambda call: call["target"] == f"/{scope.scope}")
    for caller in of.callers:
        assert list(caller[1:13]) == wanted(lambda call: call["caller"] == caller.caller)
    for span in of.times:
        assert list(span[2:14]) == wanted(lambda call: span.start <= call["time"] < span.end)
    assert (len(of.routes), len(of.scopes), len(of.callers), sum(span.calls > 0 for span in of.times)) == (2, 2, 3, 8)
    assert pa.table(of.callers.to_pyarrow()).column_names[1:13] == list(of.total._fields[:12])
    text = words(made.html)
    assert "Would be charged: 144 orbs, of which served 36, refused 36, unknown 72, by 48 calls for which the policy states an amount; 24 calls more" in text
    assert "would be charged 144 orbs, of which served 36, 24 calls with no price stated" in text and "orbs served orbs refused orbs unknown calls served served with no price stated refused with no price stated unknown with no price stated" in text
    bob = re.search(r'Orbs by caller</caption>.*?data-column="caller">bob</td>(.*?)</tr>', made.html, re.DOTALL)
    assert bob and re.findall(r'data-column="([^"]*)">(.*?)</td>', bob[1])[3:] == [
        ("orbs served", "12"), ("orbs refused", "12"), ("orbs unknown", "24"), ("calls served", "6"),
        ("served with no price stated", "2"), ("refused with no price stated", "2"), ("unknown with no price stated", "4"),
    ]
    # Without any amount, calls are all that can be reconciled.
    text = words(page(*[call for call in log if call["target"] == "/ask"], policy=SHOP))
    assert "Orbs by caller caller calls calls served calls refused calls unknown (no caller) 8 2 2 4 ann 8 2 2 4 bob 8 2 2 4 " in text
    assert "orbs served" not in words(page({**BOUGHT, "served_status": None}, policy=SHOP))


def test_a_malformed_call_is_shown_as_what_it_was() -> None:
    """`GET /#x` appeared as `GET /`, which is in order."""
    odd = [{**LOOKED, "target": target} for target in ("/#s3cr3t", "/?a#s3cr3t", "/look;v=s3cr3t")]
    text = words(page(*odd, LOOKED, policy=SHOP))
    for said in ("malformed_request: fragment (no route) 2 GET /#…", "malformed_request: matrix_param (no route) 1 GET /look;…"):
        assert said in text, said
    assert "GET /?…#…" in words(page(odd[1], policy=SHOP)) and "s3cr3t" not in text
    assert "malformed_request: fragment" in str(logs.replay(logs.read(pa.Table.from_pylist(odd)), SHOP)) and "/#…" in str(logs.replay(logs.read(pa.Table.from_pylist(odd)), SHOP))


def test_policies_that_differ_in_orbs_alone_are_not_said_to_differ_in_access() -> None:
    costlier = Policy.from_yaml("orbgate: 1\napis: {shop: {base_path: '', scopes: {ask: {orbs: true, routes: [POST /ask]}, buy: {orbs: 5, routes: [POST /buy]}, look: {orbs: false, routes: [GET /]}}}}")
    none = {**LOOKED, "target": "/none"}
    said = "0 allowed here that the other policy denies, 0 denied here that it allows, 2 allowed by both with other orbs"
    made = words(page(BOUGHT, BOUGHT, ASKED, none, policy=SHOP, base=costlier))
    assert said in made and "2 against the other policy: 0 only allowed here, 0 only denied here, 2 with other orbs" in made
    other = Policy.from_yaml("orbgate: 1\napis: {shop: {base_path: '', scopes: {more: {orbs: true, routes: [GET /none]}, look: {orbs: false, routes: [GET /]}}}}")
    said = "0 allowed here that the other policy denies, 0 denied here that it allows, 1 denied by both for another reason"
    made = words(page(LOOKED, none, policy=SHOP, base=other))
    assert said in made and "1 against the other policy: 0 only allowed here, 0 only denied here, 1 denied for another reason" in made


def test_shares_are_of_the_rows_that_were_read(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    for unread, is_warned in ((0, False), (9, False), (10, True), (11, True)):
        log.write_text('{"method":"GET","target":"/","kind":"user","scopes":"look"}\n' * 10 + '{"method":"GET"}\n' * unread)
        text = words(report(log, SHOP, format="json").html)
        assert f"100% of {'readable calls' if unread else 'all'}" in text
        warning = f"Of {10 + unread} rows, {unread} could not be read: no number has anything of them."
        assert (warning in text) == is_warned == (warning in str(logs.replay(logs.read(log, format="json"), SHOP)))


def test_rows_that_lack_different_things_are_told_apart(tmp_path: Path) -> None:
    rows: list[dict[str, Any] | bytes] = [{}, {"verb": None}, {"url": None}, {"client": ["x"]}, {"auth": {"kind": "user", "scopes": ["a", 1]}}, {"auth": {"kind": ["user"]}}, {"verb": None}, b"\xff", b"\xff"]
    log = tmp_path / "calls.jsonl"
    call = {"verb": "GET", "url": "/", "auth": {"kind": "user", "scopes": ["look"]}, "client": "ann"}
    log.write_bytes(b"".join(row + b"\n" if isinstance(row, bytes) else json.dumps({**call, **row}).encode() + b"\n" for row in rows))
    columns = {"method": "verb", "target": "url", "kind": "auth.kind", "scopes": "auth.scopes", "caller": "client"}
    made = report(log, SHOP, columns=columns)
    reasons = {
        "no `verb`": (2, 7), "no `url`": (3,), "`client` is an array, not a string": (4,), "`auth.scopes` is an array with a number in it, and may contain only strings": (5,),
        "`auth.kind` is an array, not a string": (6,), "not UTF-8 at byte …": (8, 9),
    }  # fmt: skip
    assert {row.reason: row.first for row in made.figures.log.unread_by_reason} == reasons and made.figures.log.unread == 8
    [table] = re.findall(r"Rows that could not be read, by reason</caption>(.*?)</table>", made.html, re.DOTALL)
    cells = [[html.unescape(cell) for cell in re.findall("<td[^>]*>(.*?)</td>", row)] for row in re.split("<tr[^>]*>", table)[2:]]
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


SECRET = "s3cret"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJzM2NyZXQifQ.c2lnbmF0dXJl"
TARGETS = [
    f"https://bob:{SECRET}@host/orbs?x=1", f"https://bob:p/{SECRET}@host/", f"//bob:{SECRET}@host/", f"bob:{SECRET}@host:443", f"/orbs#token={SECRET}", f"orbs?token={SECRET}", f"?token={SECRET}",
    f"/nowhere/%3Ftoken={SECRET}", f"/nowhere%3ftoken={SECRET}", f"/nowhere;jsessionid={SECRET}", f"/nowhere%3Bjsessionid={SECRET}/more", f"/nowhere&token={SECRET}", f"/nowhere%26token={SECRET}", f"/reset/{JWT}",
]  # fmt: skip


def test_what_the_page_says_that_it_leaves_out_is_not_on_it(tmp_path: Path) -> None:
    calls = [{**CALL, "target": target, "caller": f"a{at}", "served_status": 200} for at, target in enumerate(TARGETS)]
    calls += [{**CALL, "method": method, "target": "/x"} for method in (f"GET /?token={SECRET}", f"GET?token={SECRET}", JWT)]
    calls += [{**CALL, "scopes": f"Bearer {JWT}"}, {**CALL, "scopes": f"{SECRET}{'x' * 300}"}, *[{**CALL, "kind": JWT}] * 30]
    schema = pa.schema([(name, pa.timestamp("us") if name == "time" else pa.int64() if name == "served_status" else pa.string()) for name in CALL])
    made = report(pa.Table.from_pylist(calls, schema), POLICY, base=SHOP)
    access = tmp_path / "access.log"
    access.write_text(f'::1 - - [20/Nov/2026:13:05:00 +0000] "GET /?token={SECRET}" 200 17\n::1 - - [20/Nov/2026:13:05:00 +0000] "{JWT}" 200 17\n')
    of_access = report(access, POLICY)
    for each in (made, of_access):
        tables = [str(cell) for _, rows in bundle.tables(each.figures) for row in rows for cell in row]
        for text in (html.unescape(each.html), *tables, each.bundle().decode("latin-1")):
            assert SECRET not in text and JWT not in text and JWT[:36] not in text
    for log in (pa.Table.from_pylist(calls, schema), access):
        replayed = logs.replay(logs.read(log), POLICY, base=SHOP, top=99, examples=99)
        held = audit.privileges(log, POLICY)
        for text in (str(replayed), json.dumps(replayed.to_dict()), json.dumps(held.proposal())):
            assert SECRET not in text and JWT not in text and JWT[:36] not in text
    assert of_access.figures.log.unread_by_reason and all("…`" in row.why for row in of_access.figures.log.unread_by_reason)
    assert sorted(row.scope.partition("…")[0] for row in made.figures.unknown.scopes) == ["(like a token)", "(long)", "Bearer"]
    assert private.RULE in words(made.html)


def test_scopes_that_are_digests_stay_different() -> None:
    made = report(pa.Table.from_pylist([{**CALL, "scopes": f"{'x' * 300}{at} api.some-service-of-ours.example/{at}"} for at in range(3)]), POLICY)
    assert len({row.scope for row in made.figures.unknown.scopes}) == 6 and sum(row.scope.startswith("api.") for row in made.figures.unknown.scopes) == 3


def test_a_token_that_carries_nothing_is_not_taken_for_one_that_holds_little() -> None:
    for wrong, said in (({"kind": "USER"}, "With a kind in other letters"), ({"scopes": "read:orbs,read:keys"}, "With commas in the scopes"), ({"scopes": '["read:orbs"]'}, "With a list written as a string")):
        calls = [{**CALL, **wrong, "caller": f"a{at}"} for at in range(4)] + [{**CALL, "caller": f"b{at}"} for at in range(96)]
        zone, warnings = "Without a zone", audit.check(pa.Table.from_pylist(calls), POLICY).found.warnings
        [warning] = [warning for warning in warnings if not warning.startswith(zone)]
        assert warning.startswith(said) and ": 4 calls of 100 with a value" in warning
        assert all(warning.startswith(zone) for warning in audit.check(pa.Table.from_pylist(calls[4:]), POLICY).found.warnings)


def test_a_file_that_is_counted_twice_is_named(tmp_path: Path) -> None:
    line = '::1 - - [20/Nov/2026:13:05:00 +0000] "GET / HTTP/1.1" 200 17\n'
    for name, text in (("a.log", line), ("b.log", line * 2), ("copy.log", line), ("empty.log", ""), ("empty2.log", "")):
        (tmp_path / name).write_text(text)
    (tmp_path / "link.log").hardlink_to(tmp_path / "b.log")
    said = "Files with the same content are counted more than once: `a.log` twice, also as `copy.log`; `b.log` twice, also as `link.log`."
    assert said in report([tmp_path], SHOP, kind="user", scopes="look").figures.log.warnings
    assert said in logs.replay(logs.read(tmp_path, kind="user", scopes="look"), SHOP).to_dict()["warnings"]
    assert not [warning for warning in logs.replay(logs.read([tmp_path / "a.log", tmp_path / "b.log"], kind="user", scopes="look"), SHOP).to_dict()["warnings"] if "more than once" in warning]
    reader = logs.read(tmp_path, kind="user")
    assert list(reader) and any("`b.log` twice, also as `link.log`." in warning for warning in reader.warnings)
    # Ten copies were ten lines of "counted twice".
    ten = report([tmp_path / "b.log"] * 10, SHOP, kind="user", scopes="look").figures.log.warnings
    assert "Files with the same content are counted more than once: `b.log` 10 times, also as `b.log`, `b.log`, `b.log`, …." in ten


def test_a_file_that_is_another_one_compressed_is_named(tmp_path: Path) -> None:
    text = '::1 - - [20/Nov/2026:13:05:00 +0000] "GET / HTTP/1.1" 200 17\n' * 3
    packed = gzip.compress(text.encode())
    files = {
        "a.log": text.encode(), "b.log.gz": packed, "c.log.gz": gzip.compress(text.encode(), 1), "d.log.gz": gzip.compress(text[:99].encode()) + gzip.compress(text[99:].encode()),
        "e.log.gz": gzip.compress(b"\n" + text.encode()), "f.log.gz": gzip.compress(b""), "g.log.gz": gzip.compress(b"", 1), "h.log.zst": pa.compress(text.encode(), "zstd", asbytes=True),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)

    def warned(*names: str) -> list[str]:
        paths = [tmp_path / name for name in names]
        found = [logs.replay(logs.read(paths, kind="user", scopes="look"), SHOP).to_dict()["warnings"], report(paths, SHOP, kind="user", scopes="look").figures.log.warnings]
        [said, again] = [[warning.partition(" more than once: ")[2] for warning in each if " counted more than once: " in warning] for each in found]
        assert said == again
        return said

    assert warned("a.log", "b.log.gz", "e.log.gz") == ["`a.log` twice, also as `b.log.gz`."]
    assert warned("b.log.gz", "a.log") == ["`b.log.gz` twice, also as `a.log`."]
    assert warned("b.log.gz", "c.log.gz", "d.log.gz", "h.log.zst") == ["`b.log.gz` 4 times, also as `c.log.gz`, `d.log.gz`, `h.log.zst`."]
    assert not warned("a.log", "e.log.gz", "f.log.gz", "g.log.gz")
    # A log that breaks off is not taken for another one.
    (tmp_path / "half.log.gz").write_bytes(packed[:-9])
    assert not warned("a.log", "half.log.gz")


def test_the_same_path_twice_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"method":"GET","target":"/","token":null}\n')
    assert any("`a.jsonl` twice, also as `a.jsonl`." in warning for warning in logs.replay(logs.read([path, path]), SHOP).to_dict()["warnings"])


def test_a_member_of_what_is_no_object_is_said(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    calls: list[dict[str, Any]] = [{"auth": {"kind": "user", "scopes": []}}, {"auth": "user"}, {"auth": None}, {"auth": "user", "auth.kind": "user"}, {}]
    log.write_text("".join(json.dumps({"method": "GET", "target": "/", **call}) + "\n" for call in calls))
    found = logs.replay(logs.read(log, columns={"kind": "auth.kind", "scopes": "auth.scopes"}), SHOP).to_dict()["warnings"]
    assert [warning for warning in found if warning.startswith("Without")] == [
        "Without `auth.kind`, because `auth` is there and no object: 1 row.", "Without `auth.scopes`, because `auth` is there and no object: 2 rows."
    ]


def test_a_time_that_was_there_twice_is_said() -> None:
    def warnings(time: datetime) -> list[str]:
        return list(report(pa.Table.from_pylist([{**CALL, "time": time}]), POLICY, time_zone="Europe/Berlin").figures.log.warnings)

    assert any("Some of Europe/Berlin were there twice or never, because clocks were changed." in warning for warning in warnings(datetime(2026, 10, 25, 2, 30)))
    assert not any("clocks" in warning for warning in warnings(datetime(2026, 10, 25, 4, 30)))
