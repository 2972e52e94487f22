"""Denials told apart: what a client looks like, and when nothing is said."""

from __future__ import annotations

import html
from datetime import datetime, timedelta
from typing import Any

import pytest
from orbgate import Policy, report

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")

from made_up_calls import Page  # noqa: E402
from orbgate._report.denials import SPANS, Histogram  # noqa: E402

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


def calls(caller: str, count: int, method: str, target: str, every: float, start: float = 0, scopes: str = "read") -> list[dict[str, Any]]:
    """Calls of a caller, one each `every` seconds; `#` in the target is its number."""
    return [
        {"method": method, "target": target.replace("#", str(at)), "kind": "user", "scopes": scopes, "caller": caller,
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
    *calls("scanner", 70, "GET", "/admin/#.php?token=hidden", 1, start=30_000),
    *calls("scanner", 30, "GET", "/v2/../#", 1, start=30_100),
    # One path, however often, is no probe.
    *calls("stubborn", 500, "GET", "/v1/items?page=#", 100),
]


def of(rows: Any, caller: str) -> Any:
    [row] = [row for row in rows if row.caller == caller]
    return row


def test_what_denied_calls_look_like() -> None:
    made = report(pa.Table.from_pylist(LOG), NEW, base=OLD)
    rows = made.figures.denials
    looks = {row.caller: (row.pattern, row.course, row.looks_like) for row in rows}
    assert looks == {
        "cron": ("missing scope", "steady", "misconfigured client"),
        "hasty": ("missing scope", "burst", None),
        "rare": ("missing scope", None, None),
        "aged": ("older version", "burst", "stale client"),
        "scanner": ("unknown paths", "burst", "probe"),
        "stubborn": ("unknown paths", "steady", None),
    }
    assert sum(row.calls for row in rows) == made.figures.denied
    # The routes are those that `diff` says vanished.
    vanished = {NEW_ROUTE.route for change in OLD.diff(NEW).changes if "vanished" in change.labels for NEW_ROUTE in [OLD.decide(change.method or "", change.target or "", change.narrower)]}
    assert set(of(rows, "aged").routes) == vanished == {"GET /v2/things/{id}", "GET /v2/offers"}
    assert (of(rows, "scanner").paths, of(rows, "scanner").malformed, of(rows, "scanner").calls) == (64, 30, 100)
    assert of(rows, "stubborn").paths == 1 and of(rows, "cron").scope == "write" and of(rows, "cron").rows == (1, 2, 3, 4, 5)
    text = html.unescape(" ".join(Page(made.html).texts))
    for said in (
        "lacks write in 48 calls, half of them within",
        "makes 15 calls to 2 routes of the other policy alone: GET /v2/things/{id}, GET /v2/offers",
        "tries at least 64 different paths in 100 calls, 30 of them malformed",
        f"Denied calls: {made.figures.denied:,}; look like something: {48 + 15 + 100:,}; of the other {9 + 48 + 500:,} nothing is said.",
    ):
        assert said in text, said
    assert "hidden" not in text


def test_without_another_policy_nobody_is_stale() -> None:
    made = report(pa.Table.from_pylist(LOG), NEW)
    assert of(made.figures.denials, "aged")[1:3] == ("unknown paths", None) and of(made.figures.denials, "aged").looks_like is None
    assert "nothing can be said of older versions" in made.html


def test_without_times_nobody_is_steady() -> None:
    rows = report(pa.Table.from_pylist(LOG).drop_columns(["time"]), NEW, base=OLD).figures.denials
    assert {row.caller for row in rows if row.looks_like} == {"aged", "scanner"} and {row.course for row in rows} == {None}


def test_a_histogram_does_not_depend_on_the_order() -> None:
    seconds = [at * at * 7 % 1_000_003 for at in range(3_000)]
    one, other = Histogram(), Histogram()
    for second in seconds:
        one.add(second, 1)
    for second in sorted(seconds, reverse=True):
        other.add(second, 1)
    assert (one.counts, one.shift) == (other.counts, other.shift) and len(one.counts) <= SPANS
    assert Histogram().half() is None
