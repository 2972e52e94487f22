"""The verdict of a report: what needs attention, by severity, or that nothing does."""

from __future__ import annotations

import html
import io
import re
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from expected import Expected
from orbgate import Policy, audit, report
from orbgate.__main__ import main

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

from made_up_calls import check_harmless  # noqa: E402
from orbgate._report import bundle, findings  # noqa: E402
from orbgate._report.switch import Switch, switch_in  # noqa: E402
from test_ledger_signs import OWN as OF_LEDGERS
from test_signs import SIGNS  # noqa: E402

pytestmark = pytest.mark.once

SHOP = Policy.from_yaml("{orbgate: 1, apis: {shop: {base_path: '', scopes: {look: {orbs: false, routes: [GET /items]}, buy: {orbs: 5, routes: [POST /items]}}}}}")
OLD = Policy.from_yaml("{orbgate: 1, apis: {shop: {base_path: '', scopes: {look: {orbs: false, routes: [GET /items, GET /old]}}}}}")
START = datetime(2026, 11, 2, tzinfo=timezone.utc)
GOOD = {"method": "GET", "target": "/items", "kind": "user", "scopes": "look", "caller": "ann", "served_status": 200}


def calls(*kinds: tuple[int, dict[str, Any]]) -> Any:
    """A day of calls: of each kind so many, spread over it; or, from a part of it given as `time` on, over a bit more than an hour."""
    rows = [{**GOOD, **call, "time": START + timedelta(days=call["time"] + at / count / 20 if "time" in call else at / count)} for count, call in kinds for at in range(count)]
    return pa.Table.from_pylist(rows, pa.schema([*[(name, pa.string()) for name in ("method", "target", "kind", "scopes", "caller")], ("served_status", pa.int64()), ("time", pa.timestamp("us", "UTC"))]))


LACKING = {"method": "POST", "caller": "cron", "served_status": 403}
BOUGHT = {"method": "POST", "scopes": "buy"}
GUESSED = {"method": "POST", "target": "/login", "kind": None, "scopes": None, "caller": "10.0.0.7", "served_status": 401}
KINDS: dict[str, tuple[str, int, Any, dict[str, Any]]] = {
    "served_though_denied": ("high", 3, calls((40, {}), (3, {**LACKING, "served_status": 200})), {}),
    "refused_though_allowed": ("medium", 1, calls((40, {}), (1, {"served_status": 403})), {}),
    "misconfigured_client": ("medium", 1, calls((40, {}), (12, {**LACKING, "time": 0.5})), {}),
    "always_denied_client": ("low", 1, calls((40, {}), (12, LACKING)), {}),
    "outage": ("medium", 60, calls((400, {}), (60, {"served_status": 503, "caller": "cron", "time": 0.5003})), {}),
    "other_policy_client": ("medium", 1, calls((40, {}), (11, {"target": "/old", "caller": "old", "served_status": 404})), {"base": OLD}),
    "changes": ("medium", 11, calls((40, {}), (11, {"target": "/old", "caller": "old", "served_status": 404})), {"base": OLD}),
    "unread_rows": ("medium", 2, calls((40, {}), (2, {"method": None})), {}),
    "warnings": ("medium", 1, calls((40, {}), (1, {"served_status": 9})), {}),
    "no_calls": ("high", 1, calls(), {}),
    "other_policy": ("medium", 120, calls((120, {"target": "/other/items"})), {}),
    "broken_client": ("medium", 1, calls((40, {}), (12, {**BOUGHT, "caller": "cron", "time": 0.2}), (30, {**BOUGHT, "caller": "cron", "served_status": 400, "time": 0.5})), {}),
    "stopped_client": ("low", 1, calls((40, {}), (12, {**BOUGHT, "caller": "cron", "time": 0.2}), (19, {**BOUGHT, "caller": "cron", "served_status": 400, "time": 0.5})), {}),
    "left_client": ("fact", 1, calls((40, {}), (700, {"caller": "cron", "time": 0.1}), (12, {"kind": None, "scopes": None, "caller": "cron", "served_status": 401, "time": 0.5})), {}),
    "recovered_client": ("low", 1, calls((40, {}), (12, {**BOUGHT, "caller": "cron", "time": 0.1}), (30, {**LACKING, "time": 0.3}), (12, {**BOUGHT, "caller": "cron", "time": 0.8})), {}),
    "retries": ("low", 1, calls((40, {}), (150, {"kind": None, "scopes": None, "caller": "cron", "served_status": 401, "time": 0.5})), {}),
    "attack": ("medium", 1, calls((40, {}), (150, {**GUESSED, "time": 0.5})), {"public": ["POST /login"]}),
    "successful_attack": ("high", 1, calls((40, {}), (150, {**GUESSED, "time": 0.5}), (2, {**GUESSED, "served_status": 200, "time": 0.9})), {"public": ["POST /login"]}),
    "preflights": ("fact", 2, calls((40, {}), (2, {"method": "OPTIONS", "kind": None, "scopes": None, "served_status": 204})), {}),
    "not_judged": ("medium", 40, calls((40, {"served_status": 503})), {}),
    "charged_failures": ("low", 3, calls((40, {}), (3, {**BOUGHT, "served_status": 500})), {}),
    "unused_grants": ("fact", 1, calls((40, {"scopes": "look buy"})), {}),
    "unknown_scopes": ("low", 1, calls((40, {"scopes": "look openid"})), {}),
}
PROBING = [{**GOOD, "target": f"/{name}", "caller": "10.0.0.9", "served_status": 404, "time": START + timedelta(seconds=at)} for at, name in enumerate("abcdefghijklmnopqrstuvwxyz")]
KINDS["probe"] = ("high", 1, pa.concat_tables([calls((40, {})), calls((1, {})).from_pylist(PROBING, calls().schema)]), {})
REFUSED = {**GOOD, **BOUGHT, "kind": None, "scopes": None, "caller": "cron", "served_status": 401}
RELOADING = [{**REFUSED, "time": START + timedelta(days=0.3, seconds=5 * at)} for at in range(30)]
WORKING = calls((40, {}), (12, {**BOUGHT, "caller": "cron", "time": 0.1}), (12, {**BOUGHT, "caller": "cron", "time": 0.8}))
KINDS["reloaded_client"] = ("fact", 1, pa.concat_tables([WORKING, calls((1, {})).from_pylist(RELOADING, calls().schema)]), {})
KINDS["scanner"] = ("low", 1, pa.concat_tables([calls((40, {})), calls((1, {})).from_pylist([{**row, "kind": None} for row in PROBING], calls().schema)]), {})


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_finding_has_its_level_number_and_sentence(kind: str, expected: Expected) -> None:
    level, count, log, options = KINDS[kind]
    made = report(log, SHOP, **options)
    [finding] = [finding for finding in (*made.figures.findings, *made.figures.facts) if finding.kind == kind]
    assert (finding in made.figures.facts) is (level == "fact")
    assert (finding.level, finding.affected, finding.is_exact) == (level, count, True)
    sentence = finding.sentence
    expected(sentence, finding.action)
    # The page shows it first, and its link goes to a section that is there.
    check_harmless(made.html)
    first_screen = made.html.partition("<h2>Verdict</h2>" if level == "fact" else '<dl class="tiles">')[2 if level == "fact" else 0]
    assert html.escape(sentence, quote=False) in first_screen.replace("&#39;", "'") and f">{finding.section}</a>" in first_screen
    assert f"<h2>{finding.section}</h2>" in made.html and finding.action in html.unescape(first_screen)


def test_a_client_without_a_user_s_token_does_not_lack_a_scope(expected: Expected) -> None:
    """The advice was to grant the scope that it holds."""
    policy = Policy.from_yaml("{orbgate: 1, apis: {shop: {base_path: '', token: user, organisation: deny, scopes: {look: {orbs: false, routes: [GET /items]}}}}}")
    [finding] = report(calls((40, {}), (12, {"kind": "organisation", "caller": "lab", "served_status": 403, "time": 0.5})), policy).figures.findings.where(lambda row: row.kind == "misconfigured_client")
    expected(finding.sentence, finding.action)


def test_a_warning_in_the_verdict_is_a_whole_sentence(expected: Expected) -> None:
    """It was cut in its middle, between the value and the remedy."""
    made = report(calls((40, {}), (2, {"kind": "a. very. long. kind, of which there is none in any policy."})), SHOP)
    [finding] = made.figures.findings.where(lambda row: row.kind == "warnings")
    assert finding.sentence.endswith("`a. very. long. kind, of which there is none in any policy.`.")
    assert "`user` or `organisation`" in made.html.partition('<section class="warnings"')[2]
    expected(finding.sentence)


@pytest.mark.parametrize(("good", "status", "count", "level"), [(900, 500, 99, None), (900, 500, 100, "low"), (895, 500, 100, "low"), (9_900, 500, 99, None), (9_900, 500, 100, "fact"), (9_800, 500, 200, "fact"), (1_801, 500, 200, "fact"), (1_800, 500, 200, "low"), (9_901, 500, 100, None), (40, 500, 360, "medium"), (900, 404, 900, None), (900, 400, 900, None)])
def test_calls_that_could_not_be_judged_are_a_finding_from_a_part_on(good: int, status: int, count: int, level: str | None) -> None:
    """100 and 1% of the calls, a fact until 10%; only 10% in a log of under 1,000. An absent object or a wrong body shows nothing wrong."""
    figures = report(calls((good, {}), (count, {"served_status": status})), SHOP).figures
    rows = [row for some in (figures.findings, figures.facts) for row in some if row.kind == "not_judged"]
    assert [(row.level, row.affected) for row in rows] == ([] if level is None else [(level, count)])


@pytest.mark.parametrize(
    ("status", "count", "is_outage", "level"), [(404, 40, False, "fact"), (500, 40, False, "low"), (500, 9, False, None), (503, 60, True, "fact")]
)
def test_charged_failures_matter_if_the_server_fails_and_nothing_else_tells_it(status: int, count: int, is_outage: bool, level: str | None) -> None:
    """A client that polls until its object is there is answered with 404, and costs nothing in most services."""
    failed = {**BOUGHT, "served_status": status, "caller": "cron"}
    good = {**BOUGHT, "caller": "cron"}
    table = calls((200 if is_outage else 40, good), (count, {**failed, "time": 0.5003} if is_outage else failed))
    figures = report(table, SHOP).figures
    kinds = {row.kind: row.level for some in (figures.findings, figures.facts) for row in some}
    assert kinds.get("charged_failures") == level and ("outage" in kinds) is is_outage


@pytest.mark.parametrize(("before", "after", "against", "is_switch"), [(10, 10, 0, True), (9, 10, 0, False), (10, 9, 0, False), (500, 490, 10, True), (500, 489, 10, False)])
def test_a_switch_has_ten_calls_on_each_side_and_few_against_it(before: int, after: int, against: int, is_switch: bool) -> None:
    sides = [side for at in range(before) for side in ([True, False] if at % 40 == 20 and at < 40 * against else [False])] + [True] * after
    times = [START + timedelta(minutes=at) for at in range(len(sides))]
    rows = [{"time": time, "is_this": side, "calls": 1, "earliest": time, "latest": time} for time, side in zip(times, sides)]
    for given in (rows, rows[::-1]):
        switch = switch_in(given)
        assert switch == (Switch(True, times[before + against - 1], times[before + against], before, after, against) if is_switch else None)


@pytest.mark.parametrize(("guesses", "is_attack"), [(115, False), (122, True)])
def test_an_attack_has_a_hundred_calls_within_an_hour(guesses: int, is_attack: bool) -> None:
    """They are spread over 72 minutes."""
    listed = report(calls((40, {}), (guesses, {**GUESSED, "time": 0.5})), SHOP, public=["POST /login"]).figures.findings
    assert ("attack" in {row.kind for row in listed}) is is_attack


def test_every_command_warns_of_a_policy_that_does_not_belong_to_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = KINDS["other_policy"][2]
    pq.write_table(log, tmp_path / "calls.parquet")
    (tmp_path / "shop.yaml").write_bytes(SHOP.text)
    [finding] = report(log, SHOP).figures.findings.where(lambda row: row.kind == "other_policy")
    for command in ("replay", "privileges"):
        main([command, str(tmp_path / "calls.parquet"), "--policy", str(tmp_path / "shop.yaml")])
        told = capsys.readouterr()
        assert finding.sentence in told.out + told.err


def test_an_outage_names_no_attacker() -> None:
    """The page said that an attacker made the calls that a broken server refused."""
    made = report(KINDS["outage"][2], SHOP)
    [finding] = made.figures.findings.where(lambda row: row.kind == "outage")
    assert "It concerns 1 of 2 callers: cron." in finding.sentence and "attacker" not in made.html
    assert "all callers: 60 of " in html.unescape(made.html)
    assert ", nearly all to GET /items;" in finding.sentence


TOKENLESS = {"kind": None, "scopes": None, "served_status": 401}


@pytest.mark.parametrize(("named", "refused", "is_outage"), [(6, 6, True), (6, 2, False), (1, 1, False)])
def test_refused_tokens_of_a_few_callers_are_no_outage(named: int, refused: int, is_outage: bool) -> None:
    """60 calls without a token within 22 minutes were called an outage, though nobody else noticed it."""
    often = 480 // named
    usual = [(often, {"caller": f"c{at}"}) for at in range(named)]
    broken = [(120 // refused, {**TOKENLESS, "caller": f"c{at}", "time": 0.5}) for at in range(refused)]
    listed = report(calls(*usual, *broken), SHOP).figures.findings
    assert ("outage" in {row.kind for row in listed}) is is_outage


@pytest.mark.parametrize("addresses", [1, 12])
def test_addresses_show_whom_an_outage_concerns_if_refused_calls_name_no_caller(addresses: int) -> None:
    log = calls((480, {}), (120, {**TOKENLESS, "caller": None, "time": 0.5}))
    places = [f"11.0.{at % addresses}.1" if row["caller"] is None else f"11.0.{at % 12}.1" for at, row in enumerate(log.to_pylist())]
    listed = report(log.append_column("address", pa.array(places)), SHOP, columns={"address": "address"}).figures.findings
    assert ("outage" in {row.kind for row in listed}) is (addresses > 1)


def test_a_preflight_of_any_path_is_no_breach() -> None:
    """A server that answers preflights before it looks for a route was said to let a probe in."""
    preflights = [{**row, "kind": None, "scopes": None, "method": "OPTIONS", "served_status": 204} for row in PROBING]
    log = pa.concat_tables([calls((40, {})), calls().from_pylist([*preflights, *({**row, "kind": None} for row in PROBING)], calls().schema)])
    figures = report(log, SHOP).figures
    assert [(row.kind, row.level) for row in (*figures.findings, *figures.facts) if row.kind in ("served_though_denied", "preflights", "probe", "scanner")] == [("scanner", "low"), ("preflights", "fact")]


@pytest.mark.parametrize(("kind", "status", "warns"), [("expired", 200, True), ("expired", None, False), ("USER", None, True), ("expired", 401, False)])
def test_a_kind_that_marks_refused_tokens_is_no_mistake_of_the_log(kind: str, status: int | None, warns: bool) -> None:
    """Calls that broke off have no status, and nothing shows that the server served them."""
    listed = report(calls((40, {}), (2, {"kind": kind, "served_status": status})), SHOP).figures.findings
    assert ("warnings" in {row.kind for row in listed}) is warns
    # Without any status, only a word that says so can tell of it.
    for word, is_odd in (("expired", False), ("service", True), (kind, kind != "expired")):
        bare = calls((40, {}), (2, {"kind": word})).drop_columns(["served_status"])
        assert ("warnings" in {row.kind for row in report(bare, SHOP).figures.findings}) is is_odd


def test_every_kind_of_finding_is_tested() -> None:
    """All kinds that the code has."""
    elsewhere = {
        "broken_log", "properties", "expired_token", "shared_token", "token_networks", "roaming_tokens", "late_tokens", "early_expiry", "burst",
        "held_without_call", "called_without_hold", "captured_otherwise", "mixed_zones", "new_since", "unread_source", *OF_LEDGERS,
    }  # fmt: skip
    signs = {kind for _, _, kind, _ in SIGNS.values()} | {"repeated_day"}
    assert {*findings.KINDS} == {*KINDS, *elsewhere, *signs} and len(findings.KINDS) == len({*findings.KINDS})
    source = "".join(path.read_text("utf-8") for path in Path(report.__code__.co_filename).with_name("findings").glob("*.py"))
    named = re.findall(r'yield Finding\(\s*[^,]+,\s*"(\w+)"', source)
    assert len(named) > 10 and {*named} <= {*findings.KINDS}


def test_the_most_severe_is_first_and_no_finding_is_lost() -> None:
    log = pa.concat_tables([calls((40, {"scopes": "look buy openid"}), (3, {**LACKING, "served_status": 200}), (12, LACKING), (1, {"served_status": 403}), (2, {"method": None})), calls().from_pylist(PROBING, calls().schema)])
    made = report(log, SHOP)
    listed = made.figures.findings
    assert {finding.kind for finding in listed} <= {*findings.KINDS}
    assert [finding.level for finding in listed] == sorted((finding.level for finding in listed), key=["high", "medium", "low"].index)
    assert [finding.kind for finding in listed][:2] == ["served_though_denied", "probe"] and len(listed) == 6
    seen, _, folded = made.html.partition('<dl class="tiles">')[0].partition("<details>")
    assert seen.count("<li") == 5 and folded.count("<li") == 1 and " 1 more finding " in folded
    # What nearly every log has is no finding, and further down on the page.
    [fact] = made.figures.facts
    assert (fact.kind, fact.level) == ("unused_grants", "fact") and fact.sentence in made.html.partition('<dl class="tiles">')[2]
    # A bundle has them as a table.
    files = dict(bundle.table_files(made.figures))
    assert pq.read_table(io.BytesIO(files["tables/findings.parquet"]))["sentence"].to_pylist() == [finding.sentence for finding in listed]


def test_what_nearly_every_log_has_is_a_fact_until_it_matters(tmp_path: Path) -> None:
    """Refused tokens that are renewed at once, and grants without a use for a day."""
    made = report(calls((400, {"scopes": "look buy"}), (5, {"scopes": "look buy", "served_status": 401})), SHOP)
    assert not made.figures.findings and [row.kind for row in made.figures.facts] == ["refused_though_allowed", "unused_grants"]
    text = html.unescape(made.html)
    assert "2 facts below are such as nearly every log shows." in text and "In 400 of 405 calls whose response shows whether" in text
    assert "every granted scope was used" not in text and all(row.sentence in text and row.action in text for row in made.figures.facts)
    # A bundle needs no finding for them.
    (tmp_path / "bundle.zip").write_bytes(made.bundle())
    assert not [row for row in audit.verify(tmp_path / "bundle.zip") if row.is_same is False]
    # The caller never renewed it.
    [finding] = report(calls((400, {}), (5, {"caller": "bob", "served_status": 401})), SHOP).figures.findings
    assert (finding.kind, finding.level) == ("refused_though_allowed", "medium")


def test_a_forgotten_job_of_a_customer_who_left_is_a_fact() -> None:
    """It makes fewer than a tenth of the calls per hour that its owner made before; one that makes more is broken."""
    for count, kind in ((20, "left_client"), (200, "broken_client")):
        gone = [{**GOOD, "kind": None, "scopes": None, "caller": "cron", "served_status": 401, "time": START + timedelta(days=0.5 + 0.5 * at / count)} for at in range(count)]
        worked = [{**GOOD, "caller": "cron", "time": START + timedelta(days=0.5 * at / 400)} for at in range(400)]
        table = pa.concat_tables([calls((40, {})), pa.Table.from_pylist([*worked, *gone], calls().schema)])
        figures = report(table, SHOP).figures
        assert kind in {row.kind for some in (figures.findings, figures.facts) for row in some}


def test_the_verdict_names_a_route_before_paths_that_the_policy_does_not_have(expected: Expected) -> None:
    """159 pages without a route hid 22 deletions without the scope."""
    served = {**LACKING, "served_status": 200}
    [finding] = report(calls((40, {}), (9, {"target": "/logo.png"}), (3, served)), SHOP).figures.findings.where(lambda row: row.kind == "served_though_denied")
    expected(finding.sentence)
    [finding] = report(calls((40, {}), (9, {"target": "/logo.png"})), SHOP).figures.findings.where(lambda row: row.kind == "served_though_denied")
    expected(finding.sentence)


def test_a_log_that_is_all_good_has_nothing_to_do(expected: Expected) -> None:
    made = report(calls((40, {})), SHOP)
    assert not made.figures.findings
    text = html.unescape(re.sub("<[^>]*>", " ", made.html.partition('<dl class="tiles">')[0]))
    [all_good] = re.findall(r"Nothing to do: 40 calls.*", " ".join(text.split()))
    expected(*all_good.split(". "))
    # What the log doesn't say isn't claimed.
    bare = report(pa.table({"method": ["GET"], "target": ["/items"], "kind": ["user"], "scopes": ["look"]}), SHOP)
    text = html.unescape(re.sub("<[^>]*>", " ", bare.html.partition('<dl class="tiles">')[0]))
    for lacks in (" no statuses", " no times", " no callers"):
        assert lacks in text and lacks not in made.html


@pytest.mark.parametrize(("kind", "codes"), [("served_though_denied", (0, 1, 1, 1)), ("refused_though_allowed", (0, 0, 1, 1)), ("unknown_scopes", (0, 0, 0, 1)), (None, (0, 0, 0, 0))])
def test_the_command_prints_the_findings_and_can_fail_on_them(kind: str | None, codes: tuple[int, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, policy = tmp_path / "calls.parquet", tmp_path / "policy.yaml"
    pq.write_table(calls((40, {})) if kind is None else KINDS[kind][2], log)
    sentence = next((finding.sentence for finding in report(log, SHOP).figures.findings if finding.kind == kind), "")
    policy.write_bytes(SHOP.text)
    for options, code in zip(([], ["--fail-on", "high"], ["--fail-on", "medium"], ["--fail-on", "low"]), codes):
        assert main(["report", str(log), "--policy", str(policy), "--out", str(tmp_path / "page.html"), *options]) == code
        out = capsys.readouterr().out
        assert "\nnothing to do: 40 calls checked\n" in out if kind is None else f"\n{KINDS[kind][0]}: {sentence} " in out


def test_a_grant_that_denied_calls_needed_is_not_to_be_revoked(expected: Expected) -> None:
    """It was listed with the advice to revoke it, while another finding said to let the client use it."""
    policy = Policy.from_yaml("{orbgate: 1, apis: {shop: {base_path: '', token: user, organisation: deny, scopes: {look: {orbs: false, routes: [GET /items]}, buy: {orbs: 5, routes: [POST /items]}}}}}")
    log = calls((40, {}), (12, {"kind": "organisation", "scopes": "buy look", "caller": "lab", "served_status": 403}))
    made = report(log, policy)
    [finding] = made.figures.facts
    assert "Revoke" not in made.html
    expected(finding.sentence, finding.action)
    which = re.findall(r'data-column="which">(.*?)</td>', made.html, re.DOTALL)
    assert re.fullmatch(r"look \([^()]* 12 [^()]*\)\nbuy", *which) and made.figures.needed == {("lab", "look"): 12}
    # Without callers, of all calls together.
    [finding] = report(log.drop_columns(["caller"]).slice(40), policy).figures.facts
    expected(finding.sentence)


def test_a_client_that_has_stopped_may_be_fixed(expected: Expected) -> None:
    """The advice was to grant the scope to a client that had made no such call for days."""
    gone = [{**GOOD, **LACKING, "caller": "gone", "time": START + timedelta(hours=6 + at / 4)} for at in range(52)]
    day = calls((40, {}))

    def described(*rows: Any) -> tuple[str, str]:
        made = report(pa.concat_tables([day, *rows]), SHOP)
        [one] = made.figures.findings.where(lambda row: row.kind == "misconfigured_client")
        assert ("; it has stopped)" in made.html) is ("stopped" in one.action)
        return one.sentence, one.action

    stopped, going = (day.from_pylist(rows, day.schema) for rows in (gone, [{**GOOD, **LACKING, "time": START + timedelta(hours=8 + at / 3)} for at in range(48)]))
    sentence, action = described(stopped)
    advice, both = described(going)[1], described(stopped, going)[1]
    assert "stopped" in action and "stopped" not in advice and both.startswith(f"{advice} 1 ") and "stopped" in both
    expected(sentence, action, advice, both)
    # Less than ten of its gaps is no sign that it stopped.
    slow = [{**GOOD, **BOUGHT, "caller": "cron", "time": START}] * 12 + [{**GOOD, **LACKING, "time": START + timedelta(hours=1 + at)} for at in range(14)]
    assert described(day.from_pylist(slow, day.schema))[1] == advice


def test_the_verdict_names_every_probe(expected: Expected) -> None:
    """It named one of two, as an example."""
    for count, names in ((1, ""), (2, ". The other: 10.0.0.1"), (8, ". The others: 10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4, 10.0.0.5, 2 more")):
        probing = [{**row, "caller": f"10.0.0.{at}"} for at in range(count) for row in PROBING]
        made = report(pa.concat_tables([calls((40, {})), calls().from_pylist(probing, calls().schema)]), SHOP)
        [finding] = made.figures.findings.where(lambda row: row.kind == "probe")
        assert finding.sentence.endswith(f" 2026-11-02 00:00{names}.") and finding.affected == count
        expected(finding.sentence)
