"""Since when the calls of a caller fail: the window against brute force, and counts that don't depend on order, batches or interruptions."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import pytest
from orbgate import Policy, report

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")

from orbgate._report import timelines  # noqa: E402
from orbgate._report.timelines import FEW, Piece, Timelines, most_in_hour, pieces, window  # noqa: E402

pytestmark = pytest.mark.once

POLICY = Policy.from_yaml("orbgate: 1\napis: {a: {base_path: /v, scopes: {read: {orbs: false, routes: [GET /a]}, write: {orbs: false, routes: [POST /a, 'PUT /a/{id}']}}}}")
START = datetime(2026, 11, 2)


def calls(caller: str | None, count: int, minute: float, every: float = 1, method: str = "POST", scopes: str = "", status: int | None = None) -> list[dict[str, Any]]:
    """Calls of a caller from a minute on, in minutes."""
    return [{"method": method, "target": "/v/a", "kind": "user", "scopes": scopes, "caller": caller, "time": START + timedelta(minutes=minute + at * every), "served_status": status} for at in range(count)]


def failures(log: list[dict[str, Any]], **options: Any) -> Any:
    table = pa.Table.from_pylist(log)
    others = pa.Table.from_pylist([*calls("other", 21, 0, 100, "GET", "read")], table.schema)
    return report(pa.concat_tables([table, others]), POLICY, time_zone="UTC", **options).figures.denials.failures


@pytest.mark.parametrize("seed", range(40))
def test_the_window_has_the_most_failures_that_other_calls_do_not_cancel(seed: int) -> None:
    draw = random.Random(seed)
    of = [Piece(at * 10, at * 10 + draw.randrange(10), draw.choice([0, 0, 0, 1]), draw.choice([0, 1, 5, 20])) for at in range(draw.randrange(1, 25))]
    best = max(sum(piece.failed - 9 * piece.others for piece in of[start:end]) for start, end in combinations(range(len(of) + 1), 2))
    stretch = window(of)
    if stretch is None:
        assert best < FEW * 10
        return
    inside = [piece for piece in of if stretch.since <= piece.first and piece.last <= stretch.until]
    assert sum(piece.failed - 9 * piece.others for piece in inside) == best and 10 * stretch.failed >= 9 * stretch.calls
    assert stretch.calls + stretch.before + stretch.after == sum(piece.others + piece.failed for piece in of)
    assert stretch.failed + stretch.before_failed + stretch.after_failed == sum(piece.failed for piece in of)
    hour = max(sum(other.failed for other in inside if piece.first <= other.first and other.last < piece.first + 3_600) for piece in inside)
    assert most_in_hour(inside) == stretch.in_hour == hour


@pytest.mark.parametrize("failed", [FEW - 1, FEW])
def test_a_failure_needs_a_few_calls(failed: int) -> None:
    assert len(failures([*calls("cron", 20, 0, scopes="write"), *calls("cron", failed, 100, 100)])) == (failed == FEW)


@pytest.mark.parametrize(("before", "failed", "is_found"), [(20, 0, True), (20, 1, False), (100, 4, True), (100, 5, False), (9, 0, False), (1, 0, True)])
def test_before_it_the_calls_are_good_or_there_are_none(before: int, failed: int, is_found: bool) -> None:
    log = [*calls("cron", before - failed, 0, scopes="write"), *calls("cron", failed, 0, 20), *calls("cron", 40 if before > 1 else 12, 200, 30)]
    failing = failures(log if before != 9 else [*log[:9], *calls("cron", 40, 200, 30)])
    assert bool(failing) == is_found or (before, bool(failing)) == (9, False)
    if failing:
        assert (failing[0].before, failing[0].before_failed, failing[0].scope, failing[0].outcome) == (before, failed, "write", "scope_missing")


def test_the_time_is_that_of_the_first_failed_call_and_of_the_last() -> None:
    log = [*calls("cron", 30, 0, scopes="write"), *calls("cron", 15, 60.5, 10), *calls("cron", 30, 300, scopes="write")]
    [failure] = failures(log)
    assert (failure.since, failure.until) == (START + timedelta(minutes=60.5), START + timedelta(minutes=60.5 + 140))
    assert (failure.failed, failure.calls, failure.before, failure.after, failure.after_failed, failure.looks_like) == (15, 15, 30, 30, 0, "recovered client")
    assert (failure.counted, failure.route, failure.row, failure.in_hour) == ("route", "POST /v/a", 31, 6)


@pytest.mark.parametrize(("good", "failed", "looks_like"), [(4, 0, "misconfigured client"), (5, 0, "recovered client"), (5, 6, "misconfigured client")])
def test_a_few_good_calls_show_that_it_is_over(good: int, failed: int, looks_like: str) -> None:
    log = [*calls("cron", 30, 0, scopes="write"), *calls("cron", 15, 60, 10), *calls("cron", good, 300, scopes="write"), *calls("cron", failed, 320)]
    [failure] = failures(log)
    assert (failure.after, failure.after_failed, failure.looks_like) == (good + failed, failed, looks_like)


def test_who_tries_for_less_than_an_hour_and_stops_is_no_client_that_fails() -> None:
    assert not failures(calls("ann", 40, 100)) and failures(calls("ann", 40, 100, 2))
    # Unless it fails when the log ends.
    assert failures(calls("ann", 40, 1_960))


def test_calls_that_the_server_let_in_did_not_fail() -> None:
    assert not failures(calls("cron", 40, 0, 20, status=200)) and failures(calls("cron", 40, 0, 20, status=403))


def test_an_outage_of_some_minutes_is_no_client_s() -> None:
    good = [*calls("cron", 60, 0, scopes="write", status=200), *calls("cron", 60, 100, scopes="write", status=200)]
    assert not failures([*good, *calls("cron", 40, 70, 0.1, scopes="write", status=503)])
    assert failures([*good, *calls("cron", 40, 70, 0.5, scopes="write", status=503)])[0].looks_like == "recovered client"


def test_without_times_there_is_no_since() -> None:
    log = [{**call, "time": None} for call in calls("cron", 60, 0)]
    table = pa.Table.from_pylist(log, pa.schema([(name, pa.timestamp("us") if name == "time" else pa.int64() if name == "served_status" else pa.string()) for name in log[0]]))
    made = report(table, POLICY)
    assert not made.figures.denials.failures and "fail from a time on" not in made.html.partition("<dl")[0]


def part(rows: list[tuple[str, str, int]]) -> Any:
    """Calls as a part of a log: caller, outcome and second."""
    decided = [{"decision": "allow" if outcome == "ok" else "deny", "reason": "scope_held" if outcome == "ok" else outcome, "scope": "write", "route": "POST /v/a", "about": None, "needs": None} for _, outcome, _ in rows]
    table = pa.Table.from_pylist(decided, pa.schema([(name, pa.string()) for name in decided[0]]))
    columns = {"caller": pa.array([caller.encode() for caller, *_ in rows]), "time": pa.array([second * 1_000_000 for *_, second in rows], pa.timestamp("us")), "served_status": pa.nulls(len(rows), pa.int64()), "row": pa.array(range(1, len(rows) + 1))}
    columns |= {name: pa.array([name.encode()] * len(rows)) for name in ("kind", "scopes")}
    return SimpleNamespace(calls=pa.table(columns), decided=table)


def counted(rows: list[tuple[str, str, int]], at_once: int, resumed: int = 0) -> dict[bytes | None, Any]:
    kept = Timelines()
    for at in range(0, len(rows), at_once):
        kept.see(part(rows[at : at + at_once]))
        if at == resumed:
            again = Timelines()
            again.restore(kept.state())
            kept = again
    return {caller: window(pieces(of, {"scope_missing"})) for caller, of in kept.failing()}


@pytest.mark.parametrize("most", [1 << 19, 2_000, 200])
def test_neither_the_order_nor_the_batches_nor_an_interruption_matter(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timelines, "MOST_ROWS", most)
    draw = random.Random(4)
    rows = [(f"c{caller}", "ok" if second < limit else "scope_missing", second) for caller in range(30) for limit in [draw.randrange(30_000, 60_000)] for second in (draw.randrange(90_000) for _ in range(60))]
    first = counted(rows, 97)
    # The transition of each caller is exact, in whatever unit its calls are counted, because calls before and after it don't mix.
    assert len(first) == 30 and all(of is not None and of.failed == of.calls and not of.before_failed for of in first.values())
    for at_once in (1_000, 61):
        draw.shuffle(rows)
        assert counted(rows, at_once, at_once * 3) == first


def test_memory_is_bounded_and_what_is_dropped_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timelines, "MOST_ROWS", 400)
    kept = Timelines()
    kept.see(part([*((f"good{at}", "ok", at) for at in range(2_000)), *((f"bad{at % 40}", "scope_missing", at) for at in range(800))]))
    kept.fit()
    assert not kept.is_exact and kept.settle(0) <= 400
    assert {caller for caller, _ in kept.failing()} == {f"bad{at}".encode() for at in range(40)}


def test_a_long_piece_has_at_least_its_part_in_some_hour() -> None:
    assert most_in_hour([Piece(0, 86_399, 0, 2_400)]) == 100 and most_in_hour([Piece(0, 3_599, 0, 7), Piece(3_600, 3_600, 0, 1)]) == 7
