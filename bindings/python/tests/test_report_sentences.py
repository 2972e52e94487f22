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
from expected import Expected
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


def test_preflights_are_at_their_paths(expected: Expected) -> None:
    """701 served preflights were one line, (no route), and no route was said to be called without a token."""
    preflights = [{**CALL, "kind": kind, "method": "OPTIONS", "target": target, "served_status": 204} for kind in (None, "USER") for target in ("/api/v1/external/voxies/7?x=1", "/api/v1/external/orbs", "/nowhere")]
    made = page(*preflights, preflights[0], {**CALL, "method": "HEAD"})
    text = words(made)
    for of_policy in (("5 calls without a valid token", "OPTIONS"), ("2 calls without a valid token", " path "), ("This includes 5 calls",), ("2 calls were denied", " route")):
        expected.sentences(text, *of_policy)
    for caption in ("Calls served though denied, by route", "Calls by route", "Denied calls by reason and route", "Routes and paths called without a valid token"):
        [table] = re.findall(rf"{caption}</caption>(.*?)</table>", made, re.DOTALL)
        rows = re.findall(r'data-column="route">(.*?)</td>', table)
        assert {"/api/v1/external/voxies/{voxieId}", "/api/v1/external/orbs"} <= {*rows}, caption
    # It is not said where a token is asked for first, or the target is none.
    assert "example OPTIONS" not in words(page({**CALL, "kind": None}, {**CALL, "kind": None, "method": "OPTIONS", "target": "/api/v1/external/../orbs"}))
    figures = report(pa.Table.from_pylist([*preflights, {**CALL, "kind": None}]), POLICY).figures
    assert {row.route for row in figures.unauthenticated.routes} == {"GET /api/v1/external/orbs", "/api/v1/external/orbs", "/api/v1/external/voxies/{voxieId}"} and figures.without_token == 4


def test_calls_without_a_caller_are_in_every_table_under_one_name(expected: Expected) -> None:
    lacking = {**CALL, "target": "/api/v1/external/keys"}
    unnamed = [{**lacking, "caller": None}, {**CALL, "caller": None, "scopes": "read:orbs made:up"}, {**CALL, "caller": None, "served_status": 403}]
    made = page(*unnamed, CALL, lacking, {**lacking, "caller": "(no caller)"}, {**CALL, "caller": "(no caller)", "scopes": "read:orbs made:up"}, lacking)
    for caption, nobody, called_so in (
        ("Calls served or refused against the policy, by caller", ["1", "1"], ["1", "0"]), ("Orbs by caller", ["2", "1"], ["1", "1"]),
        ("Denied calls by caller and pattern", ["missing scope"], ["missing scope"]), ("Callers with scopes that the policy does not have", None, ["made:up", "1"]),
    ):  # fmt: skip
        [table] = re.findall(rf"{caption}</caption>(.*?)</table>", made, re.DOTALL)
        rows = {cells[0]: cells[1:] for row in re.split("<tr[^>]*>", table)[2:] for cells in [re.findall("<td[^>]*>(.*?)</td>", row)]}
        assert rows.get("(no caller)", [])[: len(nobody or [])] == (nobody or []) and rows["\\x28no caller)"][: len(called_so)] == called_so, caption
    first = re.findall(r'data-column="first caller">([^<]*)</td>', made)
    assert sorted(first) == ["(no caller)", "ann +1\n(no caller)"]
    text = words(made)
    assert text.count(" 3 calls without a caller are not counted by caller.") == 2 and "not named" not in text and "“(no caller)” all calls" in text
    expected.sentences(text, "3 calls without a caller ")
    assert not re.search(r"\d calls? without a caller ", words(page(CALL)))


def test_a_replay_counts_denied_calls_without_a_caller() -> None:
    calls = [{**CALL, "kind": None, "caller": caller} for caller in (None, None, "(no caller)", "ann")]
    summary = logs.replay(logs.read(pa.Table.from_pylist(calls)), POLICY)
    assert str(summary).endswith("callers denied most:\n  1  \\x28no caller)\n  1  ann\n  2  (no caller)\n") and summary.to_dict()["denied_without_caller"] == 2
    assert [row["caller"] for row in summary.to_dict()["top_denied_callers"]] == ["(no caller)", "ann"]
    unnamed = logs.replay(logs.read(pa.Table.from_pylist(calls[:2], pa.schema([(name, pa.string()) for name in CALL if name not in ("time", "served_status")]))), POLICY)
    assert "(no caller)" not in str(unnamed) and unnamed.to_dict()["denied_without_caller"] == 2


def test_malformed_calls_are_called_so_with_their_rule() -> None:
    bad = [{**CALL, "target": target} for target in ("/api/v1/external/orbs#x", "/api/v1/external/orbs?x=1#y", "https://host/api/v1/external/orbs")]
    common = re.compile(r'data-column="pattern">(.*?)</td>')
    assert common.findall(page(*bad)) == ["malformed"] and common.findall(page(*bad, {**CALL, "target": "/x"})) == ["unknown paths, 3 malformed"]
    assert common.findall(page(CALL, {**CALL, "target": "/x"})) == ["unknown paths"]
    summary = logs.replay(logs.read(pa.Table.from_pylist([*bad, {**CALL, "target": "/x"}])), POLICY)
    assert all(f"  1  malformed_request: fragment  GET /api/v1/external/orbs{sign}\n" in str(summary) for sign in ("#…", "?…#…"))
    assert "  1  no_route                     GET /x\n" in str(summary)
    assert {row["detail"] for row in summary.to_dict()["top_denied"]} == {"fragment", "form", None}


def test_a_sign_says_when_its_calls_were_made(expected: Expected) -> None:
    """A client that has long moved on looked like one that has not."""
    old = Policy.from_yaml("orbgate: 1\napis: {shop: {base_path: /v1, scopes: {look: {orbs: false, routes: ['GET /items/{id}']}}}}")
    aged = [{**CALL, "target": f"/v1/items/{at}", "time": START + timedelta(hours=at)} for at in range(24)]
    others = [{**CALL, "caller": "bob", "time": START + timedelta(days=at)} for at in range(30)]
    because = re.compile(r'data-column="because">(.*?)</td>')

    def note(*calls: dict[str, Any]) -> str:
        [cell] = because.findall(page(*calls, *others, base=old))
        return html.unescape(cell).partition(": GET /v1/items/{id}")[2].partition("; the server")[0]

    stopped = note(*aged)
    assert re.findall(r"[\d-]+ [\d:]{8}", stopped) == ["2026-11-02 00:00:00", "2026-11-02 23:00:00"] and " 28 days 1 hour " in stopped
    never, far = {**aged[0], "time": None}, {**aged[0], "time": datetime(1970, 1, 1)}
    unsure = note(*aged, never, far)
    assert re.search(r" 1970-01-01 00:00:00, .* 2026-11-02 23:00:00 \(1 [^()]*\), 28 days 1 hour [^:]*$", unsure)
    expected(stopped, unsure)
    assert re.search(r"\{id\}; the server served 24 [^;:]*$", because.findall(page(*[{**call, "time": None} for call in aged], base=old))[0])
    tried = [{**CALL, "target": f"/{chr(97 + at)}", "time": START + timedelta(minutes=at)} for at in range(25)]
    assert re.search("; [^;]* 2026-11-02 00:00:00, [^;,]* 2026-11-02 00:24:00; the server served 25 ", because.findall(page(*tried))[0])


def test_calls_of_no_route_are_said_where_they_have_no_bar() -> None:
    nowhere = [{**CALL, "target": "/nowhere"}] * 3
    assert "(no route), with 3 calls," in words(page(CALL, {**CALL, "target": "/api/v1/external/keys"}, *nowhere)) and " no bar" not in words(page(*nowhere)) + words(page(CALL))


def test_all_files_are_named_with_their_rows(tmp_path: Path) -> None:
    for at in range(403):
        (tmp_path / f"{at:03}.csv").write_text("method,target\n" + "GET,/\n" * (1 + at % 2))
    made = report([tmp_path / f"{at:03}.csv" for at in range(403)], POLICY)
    text = words(made.html)
    for file in made.figures.log.files[:400]:
        rows = f"row {file.first_row}" if file.first_row == file.last_row else f"rows {file.first_row} to {file.last_row}"
        assert f"{file.name}, {rows} sha256:{file.sha256}" in text
    assert " 390 more files, rows 16 to 600 010.csv, row 16 sha256:" in text and "400.csv" not in text
    assert re.search(" 3 more files, rows 601 to 604: .* log_files ", text)
    assert made.html.count("<details>") == 1 and made.html.count("<details") == made.html.count("</details>") and '<ol start="11">' in made.html
    few = report([tmp_path / f"{at:03}.csv" for at in range(10)], POLICY).html
    assert "<details>" not in few and "more file" not in words(few)


def test_the_clients_that_have_signs_are_counted(expected: Expected) -> None:
    def lacks(caller: str | None, *targets: str) -> list[dict[str, Any]]:
        return [{**CALL, "caller": caller, "scopes": "", "served_status": 403, "target": f"/api/v1/external/{target}", "time": START + timedelta(hours=at)} for target in targets for at in range(40)]

    tile = re.compile(r"<dt>Flagged callers</dt><dd><strong>(.*?)</strong> <span>(.*?)</span>")
    for calls, callers in (
        (lacks("ann", "orbs", "keys"), "1"),
        (lacks(None, "orbs"), "unnamed"),
        (lacks(None, "orbs") + lacks("ann", "keys") + lacks("bob", "keys"), "2"),
    ):
        [(number, note)] = tile.findall(page(*calls))
        assert (number, "(no caller)" in note) == (callers, calls[0]["caller"] is None)
        expected(note)


def test_what_tokens_of_no_known_kind_carry_is_left_out_and_counted(expected: Expected) -> None:
    odd = {**CALL, "kind": "USER", "scopes": "read:orbs foo:bar"}
    text = words(page(odd, odd, odd))
    nothing = re.findall(r"(No valid token [^.]*|Every scope in a valid token [^.]*)\. (3 calls [^.]* unknown kind [^.]*\.)", text)
    assert len({sentence for sentence, _ in nothing}) == 2 == len(nothing) and len({left for _, left in nothing}) == 1
    assert " No token of" not in text and " Every scope in a token" not in text
    expected(*nothing[0], *nothing[1])
    left = nothing[0][1]
    text = words(page(odd, odd, odd, {**CALL, "scopes": "read:orbs read:keys foo:bar"}))
    assert text.count(left) == 2 and not any(sentence in text for sentence, _ in nothing)
    one = words(page(CALL))
    assert not re.search(r"\d calls? with a token of unknown kind ", one) and sum(f"{sentence}. " in one for sentence, _ in nothing) == 1


def test_calls_that_are_in_no_span_of_time_are_counted(expected: Expected) -> None:
    timed = [{**ASKED, "time": START + timedelta(minutes=at)} for at in range(300)]
    far, never = {"time": datetime(1970, 1, 1)}, {"time": None}
    odd = words(page(*timed, {**ASKED, **far}, {**LOOKED, **far}, {**ASKED, **never}, {**ASKED, **never}, {**LOOKED, **never}, policy=SHOP))
    expected.sentences(odd, "Over time, 3 of the 303 calls", " 2 because", " 1 because")
    assert "Over time, " not in words(page(*timed, {**LOOKED, **far}, {**LOOKED, **never}, policy=SHOP)) and "all else has them" not in odd
    expected.sentences(words(page(*timed, {**ASKED, **far}, policy=SHOP)), "Over time, 1 of the 301 calls", " because")


def test_what_several_have_alike_is_not_that_of_one() -> None:
    hours = [timedelta(hours=at) for at in range(3)]
    for call, phrase in ((ASKED, "Most such calls"), (BOUGHT, "Most orbs would be charged")):
        calls = [{**call, "time": START + hour} for hour in hours]
        assert phrase not in words(page(*calls, policy=SHOP))
        assert phrase in words(page(*calls, calls[1], policy=SHOP))
    denied = [{**CALL, "kind": None}, {**CALL, "scopes": ""}]
    assert "most often" not in words(page(*denied)) and "most often because no token" in words(page(*denied, denied[0]))


def test_orbs_are_those_of_decisions_and_the_page_says_so(expected: Expected) -> None:
    answered = [{**ASKED, "served_status": status} for status in (200, 403, 401, 500, 404, 302, None)]
    table = r"served 1 refused 2 [^\d]*redirected 1 [^\d]* unclear status 2 [^\d]* status 1 total 7 Orbs by route"
    assert re.search(table, words(page(*answered, {**LOOKED, "served_status": 403}, policy=SHOP)))
    both = [*answered, *[{**BOUGHT, "served_status": status} for status in (200, 302, 302, 500)]]
    text = words(page(*both, policy=SHOP))
    [parts] = re.findall(r"served 2 3 1 refused 2 0 2 [^\d]*redirected 3 6 1 [^\d]* unclear status 3 3 2 [^\d]* status 1 0 1 total 11 12 7", text)
    [sentence] = re.findall(r"[^.:;]* follow from the decisions[^.:;]*", text)
    expected(sentence)
    assert f"{parts} " in text
    assert " status 1 3 total 1 3" in words(page({**BOUGHT, "served_status": None}, {**LOOKED, "served_status": 200}, policy=SHOP))
    # A call that the policy denies has no price, whatever the server did.
    text = words(page(*both, *[{**BOUGHT, "scopes": "", "served_status": 200}] * 2, policy=SHOP))
    expected.sentences(text, "2 calls served though denied")
    assert parts in text
    assert f"{sentence}. The log has no statuses " in words(page({**ASKED, "served_status": None}, policy=SHOP))
    assert sentence not in words(page(LOOKED, policy=SHOP))
    orbs = report(pa.Table.from_pylist(answered), SHOP).figures.orbs
    assert (orbs.total.calls, orbs.without_time) == (7, 0)
    assert [tuple(row) for row in orbs.answered] == [("served", 1, 0, 1), ("redirected", 1, 0, 1), ("refused", 2, 0, 2), ("unclear", 2, 0, 2)]


def test_a_policy_without_amounts_has_the_served_calls_in_its_tile() -> None:
    answered = [{**ASKED, "served_status": status} for status in (200, 200, 403)]
    assert " orbs 3 75.0% of all, of which the server served 2 " in words(page(*answered, LOOKED, policy=SHOP))
    assert " orbs 1 50.0% of all Unused" in words(page({**ASKED, "served_status": None}, {**LOOKED, "served_status": None}, policy=SHOP))


def test_options_are_whole_so_that_they_can_be_given_again() -> None:
    """A long mapping of columns was cut in its middle."""
    order = ("method", "target", "kind", "scopes", "time", "caller", "served_status")
    names = {name: f"request.context.authorizer.{name}_of_the_gateway" for name in order}
    table = pa.Table.from_pylist([{names[name]: value for name, value in CALL.items()}])
    made = report(table, POLICY, columns=names).html
    options = re.search(r'<dd class="options">(.*?)</dd>', made)
    assert options and re.sub("<[^>]*>", "", options[1]) == ", ".join(f"column {name}={of_log}" for name, of_log in names.items())
    assert options[1].count("<code>") == len(names)


def test_the_page_names_the_other_policy_and_how_to_get_what_is_cut(expected: Expected) -> None:
    other = Policy.from_yaml("{orbgate: 1, name: the older one, apis: {}}")
    rows = [{**CALL, "caller": f"app {at}", "scopes": ""} for at in range(9)]
    made = page(*rows, base=other, top=3)
    assert f"Other policy the older one {other.digest}" in words(made) and "Other policy" not in words(page(CALL))
    # Each table that is cut, and has all its rows in a bundle, links to the sentence about it.
    cut = re.findall(r'<p class="more">([^<]*)(.*?)</p>', made)
    assert len(cut) > 3 and all(('<a href="#bundle">' in link) is ("of a bundle" in note) for note, link in cut)
    assert '<p id="bundle">' in made
    expected.sentences(words(made), "To get one, ", " --bundle evidence.zip ", " bundle() ")


def test_every_table_that_is_cut_names_a_table_of_the_bundle(tmp_path: Path) -> None:
    """Properties, their witnesses and reasons of unread rows were cut without a word of where the rest is."""
    properties = tmp_path / "policy.test.yaml"
    properties.write_text("orbgate_test: 1\nproperties: ['never | any * | POST /*', 'never | any * | GET /']\n")
    odd: list[dict[str, Any]] = [{"scopes": ""}, {"kind": None}, {"kind": "USER"}, {"served_status": 403}, {"method": None}, {"target": None}, {"target": "/no"}, {"scopes": "openid email"}]
    log = [{**call, "caller": f"app {at}", **more} for at in range(30) for call in (ASKED, BOUGHT, LOOKED) for more in odd]
    log += [{**LOOKED, "time": START + timedelta(hours=at)} for at in range(200)] + [{**LOOKED, "target": f"/{at:c}", "time": START} for at in range(97, 123)]
    other = Policy.from_yaml("{orbgate: 1, apis: {shop: {base_path: '', scopes: {look: {orbs: 2, routes: [GET /, GET /no]}}}}}")
    made = report(pa.Table.from_pylist(log), SHOP, base=other, properties=properties, top=1)
    cut = [html.unescape(re.sub("<[^>]*>", "", note)) for note in re.findall(r'class="more">(.*?)</p>', made.html, re.DOTALL) if "without a " not in note]
    names = [name for note in cut if re.search(r"\d more", note) for name in re.findall(r"(\w+) of a bundle", note) or [note]]
    tables = {name for name, _ in bundle.tables(made.figures)}
    assert set(names) <= tables and len({*names}) > 12 and {"properties_rows", "log_unread_by_reason"} < {*names}


def test_long_routes_are_broken_after_a_slash() -> None:
    """`/files/213/n` and `ame` were in two lines."""
    made = report(pa.Table.from_pylist([CALL]), POLICY).html
    assert "GET /<wbr>api/<wbr>v1/<wbr>external/<wbr>orbs</td>" in made
    assert report(pa.Table.from_pylist([LOOKED]), SHOP).html.count("<wbr>") == 0


def test_one_orb_is_no_orbs(expected: Expected) -> None:
    prices = [Policy.from_yaml(f"{{orbgate: 1, apis: {{shop: {{base_path: '', scopes: {{buy: {{orbs: {price}, routes: [POST /buy]}}}}}}}}}}") for price in (1, 2)]
    made = words(page(BOUGHT, policy=prices[0], base=prices[1]))
    assert "allow, 2 orbs allow, 1 orb POST /buy" in made
    # The verdict tells which differences these are.
    expected.sentences(made, "The other policy decides 1 call ", ": 0 allowed here ", ", 0 denied here ", ", 1 allowed by both ")


def test_orbs_of_served_and_refused_calls_are_apart(expected: Expected) -> None:
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
    expected.sentences(text, "144 orbs (36 served, 36 refused, 72 unknown) ", " 48 calls ")
    expected.sentences(text, "24 more calls ")
    assert " 144 orbs, of which served 36, 24 calls " in text
    bob = re.search(r'Orbs by caller</caption>.*?data-column="caller">bob</td>(.*?)</tr>', made.html, re.DOTALL)
    assert bob and re.findall(r'data-column="([^"]*)">(.*?)</td>', bob[1])[3:] == [
        ("orbs served", "12"), ("orbs refused", "12"), ("orbs unknown", "24"), ("calls served", "6"),
        *((f"{answer} with no price stated", count) for answer, count in (("served", "2"), ("refused", "2"), ("unknown", "4"))),
    ]
    # Without any amount, calls are all that can be reconciled.
    text = words(page(*[call for call in log if call["target"] == "/ask"], policy=SHOP))
    assert " (no caller) 8 2 2 4 ann 8 2 2 4 bob 8 2 2 4 " in text
    assert "orbs served" not in words(page({**BOUGHT, "served_status": None}, policy=SHOP))


def test_a_malformed_call_is_shown_as_what_it_was() -> None:
    """`GET /#x` appeared as `GET /`, which is in order."""
    odd = [{**LOOKED, "target": target} for target in ("/#s3cr3t", "/?a#s3cr3t", "/look;v=s3cr3t")]
    text = words(page(*odd, LOOKED, policy=SHOP))
    for phrase in ("malformed_request: fragment (no route) 2 GET /#…", "malformed_request: matrix_param (no route) 1 GET /look;…"):
        assert phrase in text, phrase
    assert "GET /?…#…" in words(page(odd[1], policy=SHOP)) and "s3cr3t" not in text
    assert "malformed_request: fragment" in str(logs.replay(logs.read(pa.Table.from_pylist(odd)), SHOP)) and "/#…" in str(logs.replay(logs.read(pa.Table.from_pylist(odd)), SHOP))


def test_policies_that_differ_in_orbs_alone_are_not_said_to_differ_in_access(expected: Expected) -> None:
    costlier = Policy.from_yaml("orbgate: 1\napis: {shop: {base_path: '', scopes: {ask: {orbs: true, routes: [POST /ask]}, buy: {orbs: 5, routes: [POST /buy]}, look: {orbs: false, routes: [GET /]}}}}")
    none = {**LOOKED, "target": "/none"}
    made = words(page(BOUGHT, BOUGHT, ASKED, none, policy=SHOP, base=costlier))
    expected.sentences(made, " decides 2 calls ", " 0 allowed here ", " 0 denied here ", " 2 allowed by both ")
    assert re.search(" 2 [^.:]*: 0 only allowed [^,]*, 0 only denied [^,]*, 2 with other orbs", made)
    other = Policy.from_yaml("orbgate: 1\napis: {shop: {base_path: '', scopes: {more: {orbs: true, routes: [GET /none]}, look: {orbs: false, routes: [GET /]}}}}")
    made = words(page(LOOKED, none, policy=SHOP, base=other))
    expected.sentences(made, " decides 1 call ", " 0 allowed here ", " 0 denied here ", " 1 denied by both ")
    assert re.search(" 1 [^.:]*: 0 only allowed [^,]*, 0 only denied [^,]*, 1 denied for ", made)


def test_shares_are_of_the_rows_that_were_read(tmp_path: Path, expected: Expected) -> None:
    log = tmp_path / "calls.jsonl"
    for unread, is_warned in ((0, False), (9, False), (10, True), (11, True)):
        log.write_text('{"method":"GET","target":"/","kind":"user","scopes":"look"}\n' * 10 + '{"method":"GET"}\n' * unread)
        text = words(report(log, SHOP, format="json").html)
        assert f"100% of {'readable calls' if unread else 'all'}" in text
        warning = f"{unread} of {10 + unread} rows could not be read. No number "
        assert (warning in text) == is_warned == (warning in str(logs.replay(logs.read(log, format="json"), SHOP)))
        if is_warned:
            expected(*{*re.findall(rf"{warning}[^.]*\.", text)})


def test_rows_that_lack_different_things_are_told_apart(tmp_path: Path, expected: Expected) -> None:
    rows: list[dict[str, Any] | bytes] = [{}, {"verb": None}, {"url": None}, {"client": ["x"]}, {"auth": {"kind": "user", "scopes": ["a", 1]}}, {"auth": {"kind": ["user"]}}, {"verb": None}, b"\xff", b"\xff"]
    log = tmp_path / "calls.jsonl"
    call = {"verb": "GET", "url": "/", "auth": {"kind": "user", "scopes": ["look"]}, "client": "ann"}
    log.write_bytes(b"".join(row + b"\n" if isinstance(row, bytes) else json.dumps({**call, **row}).encode() + b"\n" for row in rows))
    columns = {"method": "verb", "target": "url", "kind": "auth.kind", "scopes": "auth.scopes", "caller": "client"}
    made = report(log, SHOP, columns=columns)
    reasons = {"`verb`": (2, 7), "`url`": (3,), "`client`": (4,), "`auth.scopes`": (5,), "`auth.kind`": (6,), "UTF-8": (8, 9)}
    first_rows = {row.reason: row.first for row in made.figures.log.unread_by_reason}
    assert {word: first for word in reasons for reason, first in first_rows.items() if word in reason} == reasons and made.figures.log.unread == 8
    expected(*sorted(first_rows))
    [table] = re.findall(r"Rows that could not be read, by reason</caption>(.*?)</table>", made.html, re.DOTALL)
    cells = [[html.unescape(cell) for cell in re.findall("<td[^>]*>(.*?)</td>", row)] for row in re.split("<tr[^>]*>", table)[2:]]
    assert [cells[0], cells[1]] == [["2", "no `verb`", "2, 7"], ["2", "not UTF-8 at byte 1", "8, 9"]] and len(cells) == len(reasons)


def test_what_is_wrong_with_one_row_is_not_said_of_another(tmp_path: Path, expected: Expected) -> None:
    log = tmp_path / "calls.csv"
    log.write_text("method,target,caller\nGET\nGET,/\nGET,/,a,b\nGET,/\n")
    text = str(logs.replay(logs.read(log), SHOP))
    assert re.search(r"\n  4  row 1: 1 value [^;]*3; [^;:]*: row 2, 3, 4\n$", text)
    log.write_text("method,target,caller\nGET,/\nGET,/\n")
    assert str(logs.replay(logs.read(log), SHOP)).endswith("; also row 2\n")
    values = [f'{{"method":"GET","target":"/","allow_bonus_orbs_use":"a`{at}`b"}}\n' for at in range(99)]
    log.with_suffix(".jsonl").write_text("".join(values))
    kinds = logs.replay(logs.read(log.with_suffix(".jsonl"), format="json"), SHOP).to_dict()["errors_by_reason"]
    assert [kind["count"] for kind in kinds] == [99]
    expected(kinds[0]["reason"])


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
    for wrong, value in (({"kind": "USER"}, "`USER`"), ({"scopes": "read:orbs,read:keys"}, "`read:orbs,read:keys`"), ({"scopes": '["read:orbs"]'}, '`["read:orbs"]`')):
        calls = [{**CALL, **wrong, "caller": f"a{at}"} for at in range(4)] + [{**CALL, "caller": f"b{at}"} for at in range(96)]
        zone, warnings = " have no zone, ", audit.check(pa.Table.from_pylist(calls), POLICY).found.warnings
        [warning] = [warning for warning in warnings if zone not in warning]
        assert value in warning and warning.startswith("4 of 100 calls ")
        assert all(zone in warning for warning in audit.check(pa.Table.from_pylist(calls[4:]), POLICY).found.warnings)


def test_a_file_that_is_counted_twice_is_named(tmp_path: Path, expected: Expected) -> None:
    line = '::1 - - [20/Nov/2026:13:05:00 +0000] "GET / HTTP/1.1" 200 17\n'
    for name, text in (("a.log", line), ("b.log", line * 2), ("copy.log", line), ("empty.log", ""), ("empty2.log", "")):
        (tmp_path / name).write_text(text)
    (tmp_path / "link.log").hardlink_to(tmp_path / "b.log")
    [warning] = [warning for warning in report([tmp_path], SHOP, kind="user", scopes="look").figures.log.warnings if "`copy.log`" in warning]
    expected(warning)
    assert warning in logs.replay(logs.read(tmp_path, kind="user", scopes="look"), SHOP).to_dict()["warnings"]
    assert not [warning for warning in logs.replay(logs.read([tmp_path / "a.log", tmp_path / "b.log"], kind="user", scopes="look"), SHOP).to_dict()["warnings"] if "more than once" in warning]
    reader = logs.read(tmp_path, kind="user")
    assert list(reader) and any("`b.log` twice, also as `link.log`." in warning for warning in reader.warnings)
    # Ten copies were ten lines of "counted twice".
    ten = report([tmp_path / "b.log"] * 10, SHOP, kind="user", scopes="look").figures.log.warnings
    assert any(warning.endswith(": `b.log` 10 times, also as `b.log`, `b.log`, `b.log`, ….") for warning in ten)


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
        warnings = [logs.replay(logs.read(paths, kind="user", scopes="look"), SHOP).to_dict()["warnings"], report(paths, SHOP, kind="user", scopes="look").figures.log.warnings]
        [repeated, again] = [[warning.partition(" more than once: ")[2] for warning in each if " counted more than once: " in warning] for each in warnings]
        assert repeated == again
        return repeated

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


def test_a_member_of_what_is_no_object_is_said(tmp_path: Path, expected: Expected) -> None:
    log = tmp_path / "calls.jsonl"
    calls: list[dict[str, Any]] = [{"auth": {"kind": "user", "scopes": []}}, {"auth": "user"}, {"auth": None}, {"auth": "user", "auth.kind": "user"}, {}]
    log.write_text("".join(json.dumps({"method": "GET", "target": "/", **call}) + "\n" for call in calls))
    warnings = logs.replay(logs.read(log, columns={"kind": "auth.kind", "scopes": "auth.scopes"}), SHOP).to_dict()["warnings"]
    members = [warning for warning in warnings if "`auth`" in warning]
    assert [re.findall(r"^(\d) rows? .* `(auth\.\w+)`", warning) for warning in members] == [[("1", "auth.kind")], [("2", "auth.scopes")]]
    expected(*members)


def test_a_time_that_was_there_twice_is_said() -> None:
    def warnings(time: datetime) -> list[str]:
        return list(report(pa.Table.from_pylist([{**CALL, "time": time}]), POLICY, time_zone="Europe/Berlin").figures.log.warnings)

    assert any(" Europe/Berlin " in warning and "clocks" in warning for warning in warnings(datetime(2026, 10, 25, 2, 30)))
    assert not any("clocks" in warning for warning in warnings(datetime(2026, 10, 25, 4, 30)))
