"""A dirty log by two ways that share nothing but `decide`: the package's, and plain Python over what was written."""

from __future__ import annotations

import csv
import io
import random
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from orbgate import Policy, Token, logs, report

pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")

pytestmark = pytest.mark.once

POLICY = Policy.from_yaml(
    """
orbgate: 1
apis:
  shop:
    base_path: /v1
    scopes:
      read: { permits: reads, orbs: false, routes: [GET /items, 'GET /items/{id}'] }
      buy: { orbs: 1234567, routes: [POST /items, 'POST /items/{id}/buy'] }
      draw: { orbs: true, routes: [POST /draw] }
      admin: { orbs: false, routes: [DELETE /items] }
"""
)
NAMES = ("method", "target", "kind", "scopes", "caller", "time", "status", "note")
START = datetime(2026, 11, 2, tzinfo=timezone.utc)
SCOPES = ("read", "buy", "draw", "admin", "odd:one")
TARGETS = ("/v1/items", "/v1/items/7", "/v1/items/7/buy", "/v1/draw", "/v1/items?q=1,2", "/v1//items", "/nowhere", "")


class Call(NamedTuple):
    """A row as it was meant: its values, and the instant that its time says."""

    values: dict[str, str]
    instant: datetime | None
    is_unread_time: bool
    is_zoneless: bool


def moment(choose: random.Random) -> tuple[str, datetime | None, bool, bool]:
    at = START + timedelta(seconds=choose.randrange(700_000))
    east = at + timedelta(hours=5, minutes=30)
    return choose.choice(
        [
            *[(at.strftime("%Y-%m-%dT%H:%M:%SZ"), at, False, False)] * 6,
            (east.strftime("%Y-%m-%d %H:%M:%S+05:30"), at, False, False),
            (east.strftime("%d/%b/%Y:%H:%M:%S +0530"), at, False, False),
            (at.strftime("%Y-%m-%dT%H:%M:%S"), at, False, True),
            ("9999-12-31T23:59:59-05:00", None, True, False),
            ("0000-01-01T00:00:00Z", None, True, False),
            ("yesterday", None, True, False),
            ("", None, False, False),
        ]
    )


def written(count: int, seed: int) -> tuple[bytes, list[Call | None]]:
    """A log, and what each of its rows means; None is a row that cannot be read."""
    choose = random.Random(seed)
    text = io.StringIO()
    meant: list[Call | None] = []
    row = csv.writer(text, lineterminator="\n")
    row.writerow(NAMES)
    for _ in range(count):
        when, instant, is_unread, is_zoneless = moment(choose)
        values = {
            "method": choose.choice(["GET", "POST", "POST", "DELETE", "PUT"]),
            "target": choose.choice(TARGETS),
            "kind": choose.choice(["user", "user", "organisation", "service", ""]),
            "scopes": " ".join(choose.sample(SCOPES, choose.randrange(4))),
            "caller": choose.choice(["", *(f"app {at}" for at in range(40))]),
            "time": when,
            "status": choose.choice(["200", "201", "403", "404", "500", "", "-"]),
            "note": choose.choice(["", "plain", 'said "so"', "a, b", "two\nlines", "é"]),
        }
        call = Call(values, instant, is_unread, is_zoneless)
        fault = choose.random()
        if fault < 0.002:
            # A quote that nothing closes well, a value too few, one too many.
            text.write(choose.choice(['GET,"/v1/items,user,read,a,,200,\n', 'GET,/v1/items,"us"er,,,,,\n', "GET,/v1\n", "GET,/,,,,,,,\n"]))
            meant.append(None)
        else:
            row.writerow([values[name] for name in NAMES])
            meant.append(call)
    return text.getvalue().encode(), meant


class Expected:
    """Sums over the calls, one by one."""

    def __init__(self, meant: list[Call | None]) -> None:
        self.reasons: Counter[Any] = Counter()
        self.routes: Counter[Any] = Counter()
        self.orbs: Counter[Any] = Counter()
        self.unstated: Counter[Any] = Counter()
        self.granted: Counter[Any] = Counter()
        self.used: Counter[Any] = Counter()
        self.denied: Counter[Any] = Counter()
        self.served: Counter[Any] = Counter()
        self.by_hour: Counter[Any] = Counter()
        self.calls = [call for call in meant if call is not None]
        for call in self.calls:
            self.count(call)

    def count(self, call: Call) -> None:
        said = call.values
        token = Token(said["kind"], said["scopes"]) if said["kind"] else None
        found = POLICY.decide(said["method"], said["target"], token)
        route, caller = found.route or found.about, said["caller"]
        self.reasons[found.reason] += 1
        self.routes[route, bool(found)] += 1
        if found and found.orbs and found.orbs.consumes:
            self.orbs[route] += found.orbs.amount or 0
            self.unstated[route] += found.orbs.amount is None
        if caller and not found:
            self.denied[caller] += 1
        for scope in set(said["scopes"].split()) if caller and token else ():
            if scope != "odd:one":
                self.granted[caller, scope] += 1
        if found and found.reason == "scope_held" and caller:
            self.used[caller, found.scope] += 1
        if said["status"] in ("200", "201"):
            self.served["served though denied"] += not found
        if said["status"] in ("403", "404"):
            self.served["refused though allowed"] += bool(found)
        if call.instant is not None:
            self.by_hour[call.instant.replace(tzinfo=None, minute=0, second=0)] += 1


@pytest.mark.parametrize("seed", range(2))
def test_all_numbers_of_a_dirty_log(tmp_path: Path, seed: int) -> None:
    log, meant = written(20_000, seed)
    path = tmp_path / "calls.csv"
    path.write_bytes(log)
    want = Expected(meant)
    named = {"served_status": "status"}
    found = report(path, POLICY, columns=named).figures
    assert (found.calls, found.unread) == (len(want.calls), meant.count(None)) and meant.count(None) > 10
    assert {row.reason: row.calls for row in found.reasons} == want.reasons
    routes: Counter[Any] = Counter()
    for row in found.routes:
        routes[row.route, True] += row.allowed
        routes[row.route, False] += row.denied
    assert +routes == +want.routes
    assert {row.route: row.orbs for row in found.routes if row.orbs} == +want.orbs
    assert {row.route: row.unstated for row in found.routes if row.unstated} == +want.unstated
    assert (found.amount, found.without_amount) == (want.orbs.total(), want.unstated.total())
    assert {(use.caller, use.scope): (use.granted, use.used) for use in found.caller_scopes} == {
        pair: (granted, want.used[pair]) for pair, granted in want.granted.items()
    }
    assert {row.caller: row.denied for row in found.callers if row.denied} == want.denied
    assert {what: found.served.of(what) for what in want.served} == want.served
    hours: Counter[Any] = Counter()
    assert found.unit is not None
    for hour, calls in want.by_hour.items():
        hours[found.unit.floor(hour)] += calls
    assert {span.start: span.allowed + span.denied for span in found.times if span.allowed + span.denied} == hours
    assert sum(span.orbs for span in found.times) <= found.amount
    assert found.unread_times == sum(call.is_unread_time for call in want.calls)
    zoneless = sum(call.is_zoneless for call in want.calls)
    assert f"Without a zone: {zoneless:,} times, taken for times of UTC, because no zone was said." in found.warnings
    alone = sum(not call.values["kind"] and bool(call.values["scopes"]) for call in want.calls)
    assert f"With scopes and no kind, or an empty one, and so decided as without a token: {alone:,} calls." in found.warnings
    summary = logs.replay(logs.read(path, columns=named), POLICY).to_dict()
    assert (summary["rows"], summary["errors"]) == (len(meant), meant.count(None))
    assert summary["orbs"]["stated_amount"] == want.orbs.total() and summary["served"]["served_though_denied"] == want.served["served though denied"]
