"""The verdict on logs in which something happened, known by construction, in two sizes: nothing is missed, and nobody is accused."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from expected import Expected
from incidents import (
    BANK,
    NEXT,
    PUBLIC,
    START,
    Log,
    deleted,
    deployed,
    errors,
    failed_charges,
    guessed,
    half_base_path,
    healthy,
    let_in,
    lost_scope,
    new_client,
    no_base_path,
    numbered,
    refused,
    repaired,
    spread,
    walked,
    walked_by_a_busy_client,
    walked_by_a_client,
    wrong_body,
)
from orbgate import Policy, report

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")

pytestmark = pytest.mark.once

# What happened, the findings above low, the finding that names it, and words of it that are the same in both sizes.
INCIDENTS: dict[str, tuple[Callable[[Log], None], list[str], str, tuple[str, ...], dict[str, Any]]] = {
    "nothing": (healthy, [], "scanner", ("185.220.101.7",), {}),
    "errors": (errors, ["not_judged"], "not_judged", ("(100%)",), {}),
    "forgotten policy": (healthy, ["other_policy", "served_though_denied"], "other_policy", ("none of ", "the built-in policy"), {"policy": Policy.external()}),
    "no base path": (no_base_path, ["other_policy"], "other_policy", ("`/v1`",), {}),
    "half of the paths without base path": (half_base_path, ["other_policy"], "other_policy", (" match no route of the policy", "`/v1`"), {}),
    "deleted at once": (deleted, [], "burst", ("back-office made ", " to DELETE /v1/accounts/{id} from 2026-11-0"), {}),
    "lost scope": (lost_scope, ["misconfigured_client"], "misconfigured_client", ("tax-tool: ", " lack export:statements since 2026-11-0", "; before, none of "), {}),
    "wrong body": (wrong_body, ["broken_client"], "broken_client", ("partner-pay: ", " to POST /v1/transfers were answered with 400 ", "; before, "), {}),
    "repaired": (repaired, [], "recovered_client", ("back-office: ", " from 2026-11-0", "; after, none of "), {}),
    "new client": (new_client, ["misconfigured_client"], "misconfigured_client", ("dashboard: ", " lack rates:read since 2026-11-0", "no calls before (new)"), {}),
    "guessed password": (guessed, ["successful_attack"], "successful_attack", ("45.9.20.7 guesses credentials at POST /login: ", "; then 6 calls succeeded"), {}),
    "spread guesses": (spread, ["attack"], "attack", ("an attacker guesses credentials at POST /login from ", " addresses: ", " were refused"), {"columns": {"address": "address"}}),
    "spread guesses, no addresses": (spread, [], "scanner", (), {}),
    "walked ids": (walked, ["attack"], "attack", ("mobile-7781 walks ids of GET /v1/accounts/{id}/balance ",), {}),
    "walked by a client": (walked_by_a_client, ["attack"], "attack", ("rate-feed walks ids of GET /v1/accounts/{id}/balance ", "; before, none of "), {}),
    "walked by a busy client": (walked_by_a_busy_client, ["attack"], "attack", ("rate-feed walks ids of GET /v1/accounts/{id}/balance ",), {}),
    "refused tokens": (refused, ["refused_though_allowed"], "refused_though_allowed", (" were refused from 2026-11-0", " callers: "), {}),
    "numbered paths": (numbered, ["attack"], "attack", ("curious tries unknown paths that differ only by a number, such as /v1/invoices/0: ",), {}),
    "let in": (let_in, ["served_though_denied"], "served_though_denied", (" to DELETE /v1/accounts/{id} by web-app, ", " to POST /v1/transfers by tax-tool"), {}),
    "failed charges": (failed_charges, [], "charged_failures", (" to POST /v1/transfers with status 500, the first in row ",), {}),
    "deployed policy": (deployed, ["served_though_denied", "misconfigured_client", "changes"], "changes", (" switches from the other policy to this one between 2026-11-0", "none against it"), {"policy": NEXT, "base": BANK}),
}


def verdict(name: str, is_long: bool, change: Callable[[Any], Any] = lambda table: table) -> Any:
    happened, _, _, _, options = INCIDENTS[name]
    log = Log(is_long)
    happened(log)
    arguments = {"policy": BANK, **options}
    return report(change(log.table()), arguments.pop("policy"), columns={"served_status": "status", **arguments.pop("columns", {})}, time_zone="UTC", public=PUBLIC, **arguments)


@pytest.mark.parametrize("is_long", [False, True], ids=["day", "week"])
@pytest.mark.parametrize("name", INCIDENTS)
def test_the_verdict_is_what_happened(name: str, is_long: bool, expected: Expected) -> None:
    _, above, kind, words, _ = INCIDENTS[name]
    made = verdict(name, is_long)
    # Times of this log have no zone, so the reader is told one.
    findings = made.figures.findings.where(lambda row: row.kind != "warnings")
    assert [row.kind for row in findings if row.level != "low"] == above
    [finding] = [row for row in findings if row.kind == kind]
    assert all(word in finding.sentence for word in words), finding.sentence
    first_screen = html.unescape(made.html.partition('<dl class="tiles">')[0])
    assert finding.sentence in first_screen and finding.action in first_screen
    assert findings[0].kind == (above or [row.kind for row in findings])[0]
    expected(finding.sentence, finding.action)
    # A tile with a zero beside an attack contradicted it.
    tile = re.search(r"<dt>Flagged callers</dt><dd><strong>(.*?)</strong> <span>(.*?)</span>", html.unescape(made.html))
    assert tile is None or (tile[1] == "0") == tile[2].startswith("no group")
    assert kind not in ("attack", "successful_attack") or tile is not None and tile[1] != "0" and "attack" in tile[2]


@pytest.mark.parametrize("name", ["lost scope", "guessed password", "deployed policy", "let in", "no base path"])
def test_the_order_of_rows_does_not_matter(name: str) -> None:
    rows = random.Random(5)

    def shuffled(table: Any) -> Any:
        return table.take(rows.sample(range(table.num_rows), table.num_rows))

    ordered, other = ([re.sub(r"(in )?row [\d,]+", "row", row.sentence) for row in verdict(name, False, change).figures.findings] for change in (lambda table: table, shuffled))
    assert ordered == other


def test_the_calls_of_an_attack_have_a_cause() -> None:
    """Those from many addresses were also said to be denied without a likely cause."""
    log = Log(False)
    for at in range(300):
        log.add(log.part(0.4) + timedelta(seconds=2 * at), "GET", "/v1/rates", address=f"45.9.{at % 50}.1")
    findings = report(log.table(), BANK, columns={"served_status": "status", "address": "address"}, time_zone="UTC", public=PUBLIC).figures.findings
    assert "attack" in {row.kind for row in findings} and "not_judged" not in {row.kind for row in findings}


def test_calls_that_a_switch_explains_have_its_advice() -> None:
    actions = {row.kind: row.action for row in verdict("deployed policy", False).figures.findings}
    assert actions["served_though_denied"] == actions["changes"]


def test_a_job_of_each_night_is_not_new_in_the_first_night() -> None:
    """It lacked its scope in each night, and was said to do so since the first night of the log."""
    log = Log(True)
    for at in range(4 * 30):
        log.call("rate-feed", START + timedelta(days=at // 30, hours=20, seconds=at % 30), "GET /v1/rates", scopes="accounts:read", caller="nightly")
    findings = report(log.table(), BANK, columns={"served_status": "status"}, time_zone="UTC", public=PUBLIC).figures.findings
    assert "misconfigured_client" not in {row.kind for row in findings} and "always_denied_client" in {row.kind for row in findings}
