"""Denials told apart: what a client looks like, and when nothing is said."""

from __future__ import annotations

import html
import random
import re
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from expected import Expected
from orbgate import Policy, Token, report

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")

from made_up_calls import Page  # noqa: E402
from orbgate._report.denials import ID, PROBED_PATHS, RULES  # noqa: E402
from orbgate._report.timelines import FEW  # noqa: E402

pytestmark = pytest.mark.once

NEW = Policy.from_yaml(
    """
orbgate: 1
apis:
  shop:
    base_path: /v2
    scopes:
      read: { orbs: false, routes: [GET /items, 'GET /items/{id}'] }
      write: { orbs: false, routes: [POST /items] }
"""
)
OLD = Policy.from_yaml(
    """
orbgate: 1
apis:
  shop:
    base_path: /v2
    scopes:
      read: { orbs: false, routes: [GET /items, 'GET /items/{id}', 'GET /things/{id}', GET /offers] }
      write: { orbs: false, routes: [POST /items] }
"""
)
START = datetime(2026, 11, 2)
DAY = 86_400


def word(at: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(at))


def calls(caller: str, count: int, method: str, target: str, every: float, start: float = 0, scopes: str = "read") -> list[dict[str, Any]]:
    """Calls of a caller, one each `every` seconds; `#` in the target is its number, `*` a word of its own."""
    return [
        {"method": method, "target": target.replace("#", str(at)).replace("*", word(at)), "kind": "user", "scopes": scopes, "caller": caller,
         "time": START + timedelta(seconds=start + at * every)}
        for at in range(count)
    ]  # fmt: skip


LOG = [
    # All day, and nothing else lacks anything.
    *calls("cron", 48, "POST", "/v2/items", DAY / 48),
    *calls("cron", 48, "GET", "/v2/items", DAY / 48),
    # As many, within a few minutes.
    *calls("hasty", 48, "POST", "/v2/items", 5, start=40_000),
    # As steady, but too few.
    *calls("rare", 9, "POST", "/v2/items", DAY / 9),
    *calls("aged", 12, "GET", "/v2/things/#", 60),
    *calls("aged", 3, "GET", "/v2/offers", 60),
    *calls("scanner", 70, "GET", "/admin/*.php?token=hidden", 1, start=30_000),
    *calls("scanner", 30, "GET", "/v2/../*", 1, start=30_100),
    # One path, however often, is no probe.
    *calls("stubborn", 500, "GET", "/v1/items?page=#", 100),
]


def of(rows: Any, caller: str) -> Any:
    [row] = [row for row in rows if row.caller == caller]
    return row


def test_what_denied_calls_look_like(expected: Expected) -> None:
    made = report(pa.Table.from_pylist(LOG), NEW, base=OLD)
    rows = made.figures.denials.groups
    looks = {row.caller: (row.pattern, row.looks_like) for row in rows}
    assert looks == {
        "cron": ("missing scope", "misconfigured client"),
        "hasty": ("missing scope", None),
        "rare": ("missing scope", None),
        "aged": ("older version", "client of the other policy"),
        "scanner": ("unknown paths", "probe"),
        "stubborn": ("unknown paths", "broken client"),
    }
    assert sum(row.calls for row in rows) == made.figures.denied
    # The routes are those that `diff` calls removed.
    removed = {NEW_ROUTE.route for change in OLD.diff(NEW).changes if "removed" in change.labels for NEW_ROUTE in [OLD.decide(change.method or "", change.target or "", change.narrower)]}
    assert set(of(rows, "aged").routes) == removed == {"GET /v2/things/{id}", "GET /v2/offers"}
    assert (of(rows, "scanner").paths, of(rows, "scanner").malformed, of(rows, "scanner").calls) == (64, 30, 100)
    assert of(rows, "stubborn").paths == 1 and of(rows, "cron").scope == "write" and of(rows, "cron").rows == (1, 2, 3, 4, 5)
    text = html.unescape(" ".join(Page(made.html).texts))
    numbers = (f"{48 + 15 + 100 + 500:,} of {made.figures.denied:,}",), (f"{9 + 48:,} denials", ": 48 by hasty, 9 by 1 caller")
    for words in (*numbers, ("48 of 48 calls", "write"), ("makes 15 calls", "2 routes", "GET /v2/things/{id}, GET /v2/offers"), ("tries at least 64 different", "100 calls", "30 of them")):
        expected.sentences(text, *words)
    assert "hidden" not in text


def test_whose_the_denials_without_a_likely_cause_are(expected: Expected) -> None:
    """An auditor looked for them in the log: most were of one client that had stopped."""
    many = {"a": 40, "b": 30, "c": 20, "d": 12, "e": 11, "f": 9, "g": 1, "": 7}
    log = [{**call, "caller": caller or None} for caller, count in many.items() for call in calls(caller, count, "POST", "/v2/items", 1)]
    text = html.unescape(report(pa.Table.from_pylist([*log, *calls("ok", 30, "GET", "/v2/items", DAY)]), NEW).html)
    parts = ("130 denials", ": 7 without a caller, ", "40 by a, 30 by b, 20 by c, 23 by 2 more", "10 by 2 callers")
    assert sum(many.values()) == 7 + 40 + 30 + 20 + 23 + 10
    expected.sentences(text, *parts)


def test_the_times_of_denials_are_those_of_the_log() -> None:
    figures = report(pa.Table.from_pylist(LOG), NEW).figures
    unit = figures.times.unit
    assert unit is not None and len(figures.times.spans) > 1
    denied = [call for call in LOG if NEW.decide(call["method"], call["target"], Token(call["kind"], call["scopes"])).decision == "deny"]
    expected = Counter((call["caller"], unit.floor(call["time"].replace(tzinfo=None))) for call in denied)
    assert {(row.caller, row.start): row.denied for row in figures.denials.times} == expected
    assert all(row.is_exact for row in figures.denials.times)


def test_a_client_that_lacks_several_scopes_is_told_of_each() -> None:
    """How many others it lacks, and what else is denied to it, does not make it right."""
    several = "orbgate: 1\napis: {a: {base_path: /v, scopes: {a: {orbs: false, routes: [GET /a]}, b: {orbs: false, routes: [GET /b]}, c: {orbs: false, routes: [GET /c]}, d: {orbs: false, routes: [GET /d]}}}}"
    log = [call for scope in "abc" for call in calls("cron", 40, "GET", f"/v/{scope}", DAY / 40)] + calls("cron", 9, "GET", "/v/d", DAY / 9)
    log += calls("other", 40, "GET", "/v/a", DAY / 40) + [{**call, "caller": None} for call in calls("", 40, "GET", "/v/a", DAY / 40)]
    made = report(pa.Table.from_pylist([{**call, "scopes": ""} for call in log]), Policy.from_yaml(several))
    assert {row.caller: row.caller_lacks for row in made.figures.denials.groups} == {"cron": 4, "other": 1, None: 1}
    text = html.unescape(" ".join(Page(made.html).texts))
    # Of a caller that lacks one scope, the sentence has said so.
    assert text.count("; in all, ") == 3 == len(re.findall(r"no other [^;]*; in all, [^;]* 4 scopes", text)) and text.count("no other call of this caller carried it") == 4
    rows = made.figures.denials.groups.where(lambda row: row.caller == "cron")
    assert {(row.scope, row.looks_like) for row in rows} == {("a", "misconfigured client"), ("b", "misconfigured client"), ("c", "misconfigured client"), ("d", None)}


INFERENCE = """
orbgate: 1
apis:
  inference:
    base_path: /i
    token: user
    organisation: deny
    scopes:
      read: { permits: reads, orbs: false, routes: [GET /a] }
      write: { permits: writes, orbs: true, routes: [{ route: POST /a, orbs: 4 }] }
"""


def test_a_caller_with_several_tokens_lacks_only_what_none_of_them_has(expected: Expected) -> None:
    """Tokens that have what other tokens of the caller lack are said, and counted apart from those of callers alike."""
    log: list[dict[str, Any]] = []
    for at in range(24):
        call = {"method": "POST", "target": "/i/a", "kind": "user", "scopes": "read write", "time": START + timedelta(hours=at)}
        log += [{**call, "caller": "kinds", "kind": kind} for kind in ("organisation", "user")]
        log += [{**call, "caller": "scopes", "scopes": scopes} for scopes in ("read", "write", "read write")]
        # An organisation has the scope, too, and a token of no kind has nothing.
        log += [{**call, "caller": "both", **token} for token in ({"scopes": "read"}, {"kind": "organisation"}, {"kind": "USER"})]
        log += [{**call, "caller": "poor", "kind": kind} for kind in ("organisation",)] + [{**call, "caller": None, "scopes": "read"}]
    made = report(pa.Table.from_pylist(log), Policy.from_yaml(INFERENCE))
    assert {(row.caller, row.pattern): (row.calls, row.caller_carried) for row in made.figures.denials.groups if row.scope} == {
        ("kinds", "other kind of token"): (24, 24), ("scopes", "missing scope"): (24, 48), ("both", "missing scope"): (24, 24),
        ("both", "other kind of token"): (24, 0), ("poor", "other kind of token"): (24, 0), (None, "missing scope"): (24, None),
    }  # fmt: skip
    text = html.unescape(" ".join(Page(made.html).texts))
    # Of the others' calls with this scope, some were allowed all the time.
    failures = {(row.caller, row.outcome): (row.failed, row.calls, row.looks_like) for row in made.figures.denials.failures}
    assert failures == {(caller, outcome): (24, 24, "misconfigured client") for caller, outcome in (("poor", "user_token_required"), (None, "scope_missing"))}
    expected(*sorted(re.findall(r"24 of 24 calls [^;]*write [^;]*", text)))
    expected.sentences(text, "24 calls with a token", "unknown kind")


def test_a_scope_that_is_lacked_in_two_ways_counts_once() -> None:
    """Without the scope, with it but without a user's token, and where no scope is lacked."""
    log = [*calls("mixed", 3, "POST", "/i/a", 60, scopes=""), *calls("mixed", 1, "GET", "/i/a", 60, scopes=""), *calls("mixed", 4, "GET", "/nowhere", 60)]
    log += [{**call, "kind": "organisation"} for call in calls("mixed", 2, "POST", "/i/a", 60, scopes="write")]
    made = report(pa.Table.from_pylist(log), Policy.from_yaml(INFERENCE))
    assert [(row.scope, row.caller_lacks) for row in made.figures.denials.groups] == [(None, 2), ("write", 2), ("write", 2), ("read", 2)]


def test_without_another_policy_nobody_is_stale() -> None:
    made = report(pa.Table.from_pylist(LOG), NEW)
    assert of(made.figures.denials.groups, "aged")[1:3] == ("unknown paths", None) and of(made.figures.denials.groups, "aged").looks_like is None
    assert "`base`" in made.html


def test_without_times_nobody_fails_from_a_time_on() -> None:
    rows = report(pa.Table.from_pylist(LOG).drop_columns(["time"]), NEW, base=OLD).figures.denials.groups
    assert {row.caller for row in rows if row.looks_like} == {"aged", "scanner"}


def test_the_pages_have_the_definitions() -> None:
    text = (Path(__file__).parents[1] / "docs/report.md").read_text(encoding="utf-8")
    assert f"{FEW} or more" in text and f"{PROBED_PATHS} or more" in text
    page = html.unescape(" ".join(Page(report(pa.Table.from_pylist(LOG), NEW).html).texts))
    assert all(f"{'An' if what == 'attack' else 'A'} {what} {rule}" in page for what, rule in RULES.items())


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/missing/17", "/missing/{}"),
        ("/missing/17/x/18", "/missing/{}/x/{}"),
        ("/m/123e4567-e89b-12d3-a456-426614174000", "/m/{}"),
        ("/m/8f3a9c0d", "/m/{}"),
        ("/m/vox_01HZX4T9K2M7Q8W3", "/m/{}"),
        ("/days/2026-11-01/calls", "/days/{}-{}-{}/calls"),
        ("/users/ann.b@example.com", "/users/{}"),
        ("/users/ann.b%40example.com", "/users/{}"),
        # A number is one wherever it is.
        ("/x17", "/x{}"),
        ("/v1/items", "/v{}/items"),
        ("/-1/1.5", "/-{}/{}.{}"),
        ("/wp-17.php", "/wp-{}.php"),
        ("/backup-2026-11-01", "/backup-{}-{}-{}"),
        ("/days/2026-11-01.csv", "/days/{}-{}-{}.csv"),
        ("/m/123e4567-e89b-12d3-a456-426614174000.pdf", "/m/{}.pdf"),
        ("/m/8f3a9c0d.tar.gz", "/m/{}.tar.gz"),
        ("/m/vox_01HZX4T9K2M7Q8W3.json/x", "/m/{}.json/x"),
        ("/administrationpanel", "/administrationpanel"),
        ("/voxies/17'or", "/voxies/{}'or"),
    ],
)
def test_ids_are_told_from_names(path: str, shape: str) -> None:
    assert ID.sub(b"{}", path.encode()).decode() == shape


def without(name: str, log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**call, name: None} for call in log]


def tried(count: int, target: str = "/x*", every: float = 0.18, method: str = "GET", start: float = 40_000) -> list[dict[str, Any]]:
    return calls("c", count, method, target, every, start=start)


GOOD = calls("c", 2_000, "GET", "/v2/items", DAY / 100)
# What a caller does in a log of 20 days, what its calls have in common, how many different paths that are, and what it looks like.
CASES = {
    "a scanner without a token": (without("kind", tried(300)), "unknown paths", 64, "probe"),
    "one whose token is of no kind": ([{**call, "kind": "bogus"} for call in tried(300)], "unknown paths", 64, "probe"),
    "one without a caller": (without("caller", tried(300)), "unknown paths", 64, "probe"),
    "one without either": (without("caller", without("kind", tried(300))), "unknown paths", 64, "probe"),
    "one with a good token and good calls": ([*GOOD, *tried(300)], "unknown paths", 64, "probe"),
    "one among years of typos of its own": ([*GOOD, *tried(80, "/typo*", DAY / 5, start=0), *tried(60)], "unknown paths", 64, "probe"),
    "malformed paths": ([*GOOD, *tried(30, "/v2/../x*")], "unknown paths", 30, "probe"),
    "over the full hour": ([*GOOD, *tried(30, "/x*", 60, start=3_600 * 12 - 900)], "unknown paths", 30, "probe"),
    "slowly, but little else": ([*GOOD[:20], *tried(40, "/x*", DAY / 4)], "unknown paths", 40, "probe"),
    "without times, little else": (without("time", tried(40)), "unknown paths", 40, "probe"),
    "20 typos in 2,000 calls of 20 days": ([*GOOD, *tried(20, "/typo*", DAY, start=0)], "unknown paths", 20, None),
    "without times, much else": (without("time", [*GOOD, *tried(40)]), "unknown paths", 40, None),
    "19 paths": (tried(19), "unknown paths", 19, None),
    "a file of each day": (tried(40, "/exports/2026-10-#.csv"), "unknown paths", 1, None),
    "numbers in names": (tried(40, "/v#/item-#/-#.5"), "unknown paths", 1, None),
    "addresses and ids with endings": ([*tried(20, "/x/123e4567-e89b-12d3-a456-4266141740#.pdf"), *tried(20, "/x/ann*%40x.org")], "unknown paths", 3, None),
    "ids of one missing template": (tried(40, "/missing/#"), "unknown paths", 1, None),
    "a slash behind ids": (tried(40, "/v2/items/#/"), "unknown paths", 1, None),
    "queries of one path": (tried(40, "/x?page=#"), "unknown paths", 1, None),
    "HEAD of routes": (tried(30, "/v2/items/#", method="HEAD"), "undeclared method", 0, None),
    "HEAD of routes without a token": (without("kind", tried(30, "/v2/items/n#", method="HEAD")), "no valid token", 0, None),
    "GET of routes without a token": (without("kind", tried(30, "/v2/items/n#")), "no valid token", 0, None),
}


@pytest.mark.parametrize("case", CASES)
def test_a_probe_is_many_paths_in_a_short_time_or_little_else(case: str) -> None:
    log, *expected = CASES[case]
    others = [*calls("other", 100, "GET", "/v2/items", DAY / 5), *without("caller", calls("", 2_000, "GET", "/v2/items", DAY / 100))]
    made = report(pa.Table.from_pylist([*others, *log]), NEW)
    [row] = made.figures.denials.groups
    assert [row.pattern, row.paths, row.looks_like] == expected
    texts = Page(made.html).texts
    assert ("(no caller)" in texts) == (row.caller is None) and (row.caller is None) == (log[-1]["caller"] is None)


def test_a_caller_without_a_token_may_be_of_an_older_version() -> None:
    log = without("kind", calls("aged", 12, "GET", "/v2/things/#", 60))
    [row] = report(pa.Table.from_pylist(log), NEW, base=OLD).figures.denials.groups
    assert (row.pattern, row.looks_like, row.routes) == ("older version", "client of the other policy", ("GET /v2/things/{id}",))


def test_long_logs_keep_the_newest_hours() -> None:
    """Of a caller with unknown paths for weeks, a scan in one hour is found, wherever it is in the log."""
    block = 1 << 16
    typos = calls("c", 3_000, "GET", "/typo/t*/x", 3_600)
    scan = calls("c", 60, "GET", "/s*", 1, start=3_600 * 1_500)
    for log in ([*typos[:1_500], *scan, *typos[1_500:]], [*scan, *typos], [*typos, *scan]):
        fill = calls("other", block - len(log), "GET", "/v2/items", 1)
        good = calls("c", 2 * len(log), "GET", "/v2/items", 1_000)
        [row] = report(pa.Table.from_pylist([*log, *fill, *good]), NEW).figures.denials.groups
        assert (row.caller, row.looks_like, row.paths_in_hour) == ("c", "probe", 20)
    [row] = report(pa.Table.from_pylist([*typos, *fill, *good]), NEW).figures.denials.groups
    assert (row.looks_like, row.paths, row.paths_in_hour) == (None, 64, 1)


@pytest.mark.parametrize("minute", range(0, 60, 5))
def test_a_probe_is_a_probe_whatever_the_clock(minute: int) -> None:
    """Half hours were fixed: 20 paths in 38 minutes from 10:25 on were none."""
    scan = calls("c", 20, "GET", "/s*", 120, start=36_000 + 60 * minute)
    good = calls("c", 100, "GET", "/v2/items", 600)
    for log in ([*good, *scan], [*scan[::-1], *good]):
        [row] = report(pa.Table.from_pylist(log), NEW).figures.denials.groups
        assert (row.looks_like, row.paths_in_hour, row.paths_in_hour_is_exact) == ("probe", 20, True)
    [row] = report(pa.Table.from_pylist([*good, *scan[:19]]), NEW).figures.denials.groups
    assert (row.looks_like, row.paths_in_hour) == (None, 19)


@pytest.mark.parametrize("seed", range(12))
def test_paths_within_an_hour_are_counted_exactly_in_any_order(seed: int) -> None:
    choose = random.Random(seed)
    seen = [(choose.randrange(5 * 3_600), choose.randrange(30)) for _ in range(choose.choice([20, 40, 80]))]
    most = max(len({path for other, path in seen if until - 3_600 < other <= until}) for until, _ in seen)
    log = [{"method": "GET", "target": f"/{word(path)}", "kind": "user", "scopes": "", "caller": "c", "time": START + timedelta(seconds=at)} for at, path in seen]
    for batch in (1, 7, len(log)):
        table = pa.Table.from_pylist(log)
        [row] = report(table.to_reader(max_chunksize=batch), NEW).figures.denials.groups
        assert (row.paths_in_hour, row.paths_in_hour_is_exact) == (min(most, 20), True)


def test_what_was_dropped_makes_a_lower_bound() -> None:
    """After a block a group keeps 64 half hours: calls that come later and are earlier may belong to an hour of which a part is gone."""
    block = 1 << 16
    typos = calls("c", 300, "GET", "/typo/*", 1_800)
    fill = calls("other", block - len(typos), "GET", "/v2/items", 1)
    late = calls("c", 1, "GET", "/late", 1)
    good = calls("c", 1_000, "GET", "/v2/items", 500)
    log = pa.Table.from_pylist([*typos, *fill, *late, *good])
    made = report(log.set_column(log.column_names.index("time"), "time", log["time"].cast(pa.timestamp("us", "UTC"))), NEW)
    [row] = made.figures.denials.groups
    # Of three calls 1,800 seconds apart, two are within an hour.
    assert (row.looks_like, row.paths_in_hour, row.paths_in_hour_is_exact) == (None, 2, False)
    [sentence, *_] = re.findall(r"[^.<> ][^.<>]* 1 group, [^.<>]* lower bound[^.<>]*\.", html.unescape(made.html))
    # Where there is nothing to do, sections are folded in, so the verdict says it.
    assert not made.figures.findings and sentence in html.unescape(made.html.partition('<dl class="tiles">')[0])
    assert made.html.count(sentence) == 2
    [row] = report(pa.Table.from_pylist([*typos, *fill, *good]), NEW).figures.denials.groups
    assert (row.paths_in_hour, row.paths_in_hour_is_exact) == (2, True)


def test_a_misconfigured_client_has_the_times_of_its_first_and_last_call(expected: Expected) -> None:
    """Since when, and whether it stopped: the log goes on for ten hours."""
    log = calls("cron", 20, "POST", "/v2/items", 3_600)
    text = html.unescape(report(pa.Table.from_pylist([*log, *calls("other", 30, "GET", "/v2/items", 3_600)]), NEW).html)
    finding, because = re.findall("cron: 20 of 20 calls [^<]* write since 2026-11-02 00:00, [^<]* 2026-11-02 19:00 .10 hours [^<.]*", text)
    expected(because, finding)
