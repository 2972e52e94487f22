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
BASE = Policy.from_yaml(
    """
orbgate: 1
apis:
  shop:
    base_path: /v1
    scopes:
      read: { permits: reads, orbs: 9223372036854775807, routes: [GET /items, 'GET /items/{id}'] }
      buy: { orbs: 3, routes: [POST /items, 'PUT /items/{id}', { route: 'POST /items/{id}/buy', orbs: 7 }] }
      draw: { orbs: false, routes: [POST /draw] }
"""
)
# What the server made of a call that the policy allows: 404 may be an absent object.
ANSWERS = {"200": "served", "201": "served", "403": "refused"}
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
        diagnostic = choose.random()
        if diagnostic < 0.002:
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
        self.denials: dict[Any, list[Any]] = {}
        self.granted: Counter[Any] = Counter()
        self.used: Counter[Any] = Counter()
        self.denied: Counter[Any] = Counter()
        self.served: Counter[Any] = Counter()
        self.all_calls: Counter[Any] = Counter()
        self.by_hour: Counter[Any] = Counter()
        self.calls = [call for call in meant if call is not None]
        for row, call in enumerate(meant, start=1):
            if call is not None:
                self.count(call, row)

    def count(self, call: Call, row: int) -> None:
        values = call.values
        token = Token(values["kind"], values["scopes"]) if values["kind"] else None
        decision = POLICY.decide(values["method"], values["target"], token)
        route, caller = decision.route or decision.about, values["caller"]
        if route is None and decision.reason in ("no_token", "invalid_token"):
            # With a token, the decision says whether there is such a path.
            route = POLICY.decide(values["method"], values["target"], Token("user", "")).route
        self.reasons[decision.reason] += 1
        self.routes[route, bool(decision)] += 1
        before = BASE.decide(values["method"], values["target"], token)
        for side, decided in (("", decision), ("base_", before)):
            if decided.orbs and decided.orbs.consumes:
                charge = {"calls": 1, "orbs": decided.orbs.amount or 0, "unstated": int(decided.orbs.amount is None)}
                for key in ("all", ("route", decided.route), ("scope", decided.scope), ("caller", caller or None), ("time", call.instant)):
                    for name, number in charge.items():
                        self.orbs[key, side + name] += number
                        if not side:
                            self.orbs[key, f"{ANSWERS.get(values['status'], 'unknown')}_{name}"] += number
        self.all_calls[caller or None] += 1
        if not decision:
            self.deny(call, row, decision, before)
        if caller and not decision:
            self.denied[caller] += 1
        for scope in set(values["scopes"].split()) if caller and values["kind"] in ("user", "organisation") else ():
            if scope != "odd:one":
                self.granted[caller, scope] += 1
        if decision and decision.reason == "scope_held" and caller:
            self.used[caller, decision.scope] += 1
        if values["status"] in ("200", "201"):
            self.served["served though denied"] += not decision
        if values["status"] == "403":
            self.served["refused though allowed"] += bool(decision)
        if call.instant is not None:
            self.by_hour[call.instant.replace(tzinfo=None, minute=0, second=0)] += 1


    def deny(self, call: Call, row: int, decision: Any, before: Any) -> None:
        reason, scope = str(decision.reason), None
        pattern = {"scope_missing": "missing scope", "no_token": "no valid token", "invalid_token": "no valid token"}.get(reason, "unknown paths")
        if pattern == "no valid token" and decision.about is None:
            # With a token, the decision says whether there is a route.
            values = call.values
            with_token = POLICY.decide(values["method"], values["target"], Token("user", ""))
            pattern = "unknown paths" if with_token.reason == "no_route" else pattern
            if pattern == "unknown paths" and before.about:
                pattern = "older version"
        elif reason == "method_not_declared":
            pattern = "undeclared method"
        if pattern == "missing scope":
            scope = decision.scope
        elif reason in ("no_route", "method_not_declared") and before.route and before.reason != "method_not_declared":
            pattern = "older version"
        self.denials.setdefault((call.values["caller"] or None, pattern, scope), []).append((row, call, reason, bool(before)))


@pytest.mark.parametrize("seed", range(2))
def test_all_numbers_of_a_dirty_log(tmp_path: Path, seed: int) -> None:
    log, meant = written(20_000, seed)
    path = tmp_path / "calls.csv"
    path.write_bytes(log)
    want = Expected(meant)
    named = {"served_status": "status"}
    figures = report(path, POLICY, base=BASE, columns=named).figures
    assert (figures.calls, figures.log.unread) == (len(want.calls), meant.count(None)) and meant.count(None) > 10
    assert {row.reason: row.calls for row in figures.decisions.reasons} == want.reasons
    routes: Counter[Any] = Counter()
    for row in figures.decisions.routes:
        routes[row.route, True] += row.allowed
        routes[row.route, False] += row.denied
    assert +routes == +want.routes
    check_orbs(figures, want)
    check_denials(figures, want)
    assert {(use.caller, use.scope): (use.granted, use.used) for use in figures.scopes.by_caller} == {
        pair: (granted, want.used[pair]) for pair, granted in want.granted.items()
    }
    assert {row.caller: row.denied for row in figures.callers.counts if row.denied} == want.denied
    all_the_same = Counter(caller for (caller, *_), of in want.denials.items() for _, call, *_ in of if call.values["status"] in ("200", "201"))
    assert +Counter({row.caller: row.served_though_denied for row in figures.callers.counts}) == +Counter({caller: calls for caller, calls in all_the_same.items() if caller})
    assert {what: figures.served.of(what) for what in want.served} == want.served
    hours: Counter[Any] = Counter()
    assert figures.times.unit is not None
    for hour, calls in want.by_hour.items():
        hours[figures.times.unit.floor(hour)] += calls
    assert {span.start: span.allowed + span.denied for span in figures.times.spans if span.allowed + span.denied} == hours
    assert figures.log.unread_times == sum(call.is_unread_time for call in want.calls)
    zoneless = sum(call.is_zoneless for call in want.calls)
    assert f"{zoneless:,} times have no zone, so they were read as UTC, the default for `time_zone`." in figures.log.warnings
    alone = sum(not call.values["kind"] and bool(call.values["scopes"]) for call in want.calls)
    assert f"{alone:,} calls have scopes but no token kind, so they were decided as calls without a token." in figures.log.warnings
    denied = Counter((bool(call.values["kind"]), reason) for of in want.denials.values() for _, call, reason, _ in of)
    bad = {has: denied[has, "malformed_request"] for has in (False, True)}
    assert (figures.without_token, figures.unauthenticated.malformed_without_token) == (denied[False, "no_token"] + bad[False], bad[False])
    unknown = sum(
        call.values["kind"] not in ("", "user", "organisation") and reason == "malformed_request"
        for of in want.denials.values() for _, call, reason, _ in of
    )
    assert (figures.with_invalid_token, figures.unauthenticated.malformed_with_invalid_token) == (denied[True, "invalid_token"] + unknown, unknown)
    summary = logs.replay(logs.read(path, columns=named), POLICY).to_dict()
    assert (summary["rows"], summary["errors"]) == (len(meant), meant.count(None))
    assert summary["orbs"]["stated_amount"] == want.orbs["all", "orbs"] and summary["served"]["served_though_denied"] == want.served["served though denied"]


CHARGED = tuple(f"{side}{name}" for side in ("", "served_", "refused_", "unknown_", "base_") for name in ("calls", "orbs", "unstated"))


def check_orbs(figures: Any, want: Expected) -> None:
    for key, rows in (("route", figures.orbs.routes), ("scope", figures.orbs.scopes), ("caller", figures.orbs.callers)):
        sums: Counter[Any] = Counter()
        for row in rows:
            for name in CHARGED:
                sums[(key, getattr(row, key)), name] += getattr(row, name)
        assert +sums == +Counter({of: number for of, number in want.orbs.items() if of[0][0] == key})
    times: Counter[Any] = Counter()
    for ((key, *of), name), number in want.orbs.items():
        if key == "time" and of[0] is not None:
            times[figures.times.unit.floor(of[0].replace(tzinfo=None)), name] += number
    assert +Counter({(row.start, name): getattr(row, name) for row in figures.orbs.times for name in CHARGED}) == +times
    assert tuple(figures.orbs.total) == tuple(want.orbs["all", name] for name in CHARGED)
    assert (figures.amount, figures.without_amount) == (want.orbs["all", "orbs"], want.orbs["all", "unstated"])
    # More than 64 bits, in Arrow, too.
    assert figures.orbs.total.base_orbs > 2**64 and figures.orbs.routes.to_pyarrow().to_pylist() == figures.orbs.routes.to_dicts()


PATTERNS = {"missing scope", "no valid token", "unknown paths", "undeclared method", "older version"}


def check_denials(figures: Any, want: Expected) -> None:
    assert {(row.caller, row.pattern, row.scope): row.calls for row in figures.denials.groups} == {key: len(of) for key, of in want.denials.items()}
    assert {row.pattern for row in figures.denials.groups} == PATTERNS
    for row in figures.denials.groups:
        calls = want.denials[row.caller, row.pattern, row.scope]
        assert row.rows == tuple(number for number, *_ in calls[:5]) and row.base_allowed == sum(before for *_, before in calls)
        assert row.malformed == sum(reason == "malformed_request" for _, _, reason, _ in calls)
        assert row.served_though_denied == sum(call.values["status"] in ("200", "201") for _, call, _, _ in calls)
        assert row.caller_calls == want.all_calls[row.caller]
        assert row.caller_lacks == len({scope for caller, _, scope in want.denials if caller == row.caller and scope is not None})
        assert row.caller_carried == (None if row.caller is None or row.scope is None else want.granted[row.caller, row.scope])
        paths = {call.values["target"].partition("?")[0] for _, call, _, _ in calls}
        assert row.paths == (len(paths) if row.pattern == "unknown paths" else 0)
        times = sorted(call.instant.replace(tzinfo=None) for _, call, _, _ in calls if call.instant is not None)
        assert (row.first, row.last) == ((times[0], times[-1]) if times else (None, None))
        unseen = len(calls) - len(times)
        assert row.without_time == unseen and row.with_token == sum(call.values["kind"] in ("user", "organisation") for _, call, _, _ in calls)
        assert row.targets == min(64, len(paths))
