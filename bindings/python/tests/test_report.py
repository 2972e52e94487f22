"""The report: its figures by brute force over `decide`."""

from __future__ import annotations

import html
import itertools
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, Token, audit, logs, report

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

from made_up_calls import NAMES, POLICY, REQUESTS, ROWS, TABLE, about, check_harmless, count, table  # noqa: E402
from orbgate._report import counting, figures, numbers, spans  # noqa: E402
from orbgate._count.decided import Decided  # noqa: E402
from orbgate._count import counts  # noqa: E402

# What the README shows runs in every Python.
pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def table_figures() -> figures.Figures:
    return count(TABLE)


@pytest.fixture(scope="module")
def decisions() -> list[tuple[dict[str, Any], Any]]:
    """Every row that is a request, with what `decide` says of it."""
    answers = []
    for row in REQUESTS:
        token = None if row["kind"] is None else Token(row["kind"], row["scopes"] or "")
        bonus = bool(row["allow_bonus_orbs_use"])
        decision = POLICY.decide(row["method"] or "", row["target"] or "", token, allow_bonus_orbs_use=bonus)
        answers.append((row, decision))
    return answers


def test_counts_are_those_of_decide(table_figures: figures.Figures, decisions: list[Any]) -> None:
    assert table_figures.calls == len(REQUESTS) == len(ROWS) - table_figures.log.unread and table_figures.allowed == sum(map(bool, (d for _, d in decisions)))
    assert {row.reason: row.calls for row in table_figures.decisions.reasons} == Counter(d.reason for _, d in decisions)
    scopes = {str(route): route.scope for route in POLICY.routes()}
    locations = [d.route or about(row, d) for row, d in decisions]
    routes = Counter((at, d.scope or scopes.get(at or ""), bool(d)) for at, (_, d) in zip(locations, decisions))
    assert {(row.route, row.scope) for row in table_figures.decisions.routes} == {key[:2] for key in routes}
    for row in table_figures.decisions.routes:
        assert (row.allowed, row.denied) == (routes[row.route, row.scope, True], routes[row.route, row.scope, False])
    details = Counter((d.reason, d.detail, d.route) for _, d in decisions if not d)
    counted: Counter[Any] = Counter()
    for outcome in table_figures.decisions.outcomes:
        counted[outcome.reason, outcome.detail, outcome.route] += 0 if outcome.decision == "allow" else outcome.calls
    assert +counted == details


def test_orbs_are_those_of_decide(table_figures: figures.Figures, decisions: list[Any]) -> None:
    charges = [decision.orbs for _, decision in decisions if decision and decision.orbs.consumes]
    assert table_figures.consuming == len(charges) == table_figures.without_amount > 0 == table_figures.amount
    assert table_figures.bonus_allowed == sum(charge.bonus_allowed for charge in charges) > 0
    assert sum(row.calls for row in table_figures.orbs.routes) == table_figures.consuming == table_figures.orbs.total.calls


BASE = Policy.from_yaml(
    """
orbgate: 1
apis:
  external:
    base_path: /api/v1/external
    scopes:
      read:orbs: { orbs: 3, routes: [GET /orbs, GET /account] }
      read:voxies: { orbs: false, routes: [GET /voxies, 'GET /voxies/{voxieId}'] }
"""
)


def test_another_policy_is_compared_with(decisions: list[Any]) -> None:
    changes: Counter[Any] = Counter()
    allowed = denied = 0
    for row, new in decisions:
        token = None if row["kind"] is None else Token(row["kind"], row["scopes"] or "")
        old = BASE.decide(row["method"], row["target"], token, allow_bonus_orbs_use=bool(row["allow_bonus_orbs_use"]))
        before, after = words(old), words(new)
        if before != after:
            changes[before, after, new.route or old.route] += 1
            allowed += bool(new) and not old
            denied += bool(old) and not new
    made = report(table(REQUESTS), POLICY, base=BASE, top=1_000)
    compared = made.figures.changes
    assert compared is not None and {row[:3]: row.calls for row in compared.rows} == changes and compared.base == BASE.digest
    assert (compared.newly_allowed, compared.newly_denied, compared.calls) == (allowed, denied, changes.total()) and allowed > 0 < denied
    charged = sum(calls for (before, after, _), calls in changes.items() if before.startswith("allow") and after.startswith("allow"))
    otherwise = sum(calls for (before, after, _), calls in changes.items() if before.startswith("deny") and after.startswith("deny"))
    assert (compared.otherwise_charged, compared.otherwise_denied) == (charged, otherwise)
    text = html.unescape(" ".join(check_harmless(made.html).texts))
    # Once in the verdict, and once in the section.
    assert text.count(f"{allowed:,} allowed here that it denies, {denied:,} denied here that it allows") == 2
    assert "Changes against the other policy" in text
    assert f"decided differently by the other policy ({BASE.name or 'a policy without a name'}, {BASE.digest}):" in text and compared.base_name == BASE.name
    assert "hidden" not in text
    for base_name, name, heads in (
        ("shop 1", "shop 2", ("by the other policy, shop 1", "by this policy, shop 2")),
        ("shop", "shop", ("by the other policy", "by this policy")),
        (None, "this policy", ("by the other policy", "by this policy, this policy")),
        ("x" * 99, None, (f"by the other policy, {'x' * 15}…{'x' * 15}", "by this policy")),
    ):
        older, newer = (Policy.from_yaml(json.dumps({
            "orbgate": 1, **({} if of is None else {"name": of}),
            "apis": {"a": {"base_path": "/v", "scopes": {scope: {"orbs": False, "routes": ["GET /a"]}}}},
        })) for of, scope in ((base_name, "a"), (name, "b")))  # fmt: skip
        page = report(pa.table({"method": ["GET"], "target": ["/v/a"], "kind": ["user"], "scopes": ["b"]}), newer, base=older).html
        assert [html.unescape(head) for head in re.findall("<th[^>]*>(by [^<]*)</th>", page)] == list(heads)
    alike = report(table(REQUESTS), POLICY, base=POLICY)
    assert alike.figures.changes is not None and not alike.figures.changes.rows
    assert report(table(REQUESTS), POLICY).figures.changes is None


def test_names_of_parameters_do_not_divide_what_two_policies_charge() -> None:
    yaml = "{orbgate: 1, apis: {a: {base_path: '', scopes: {%s: {orbs: %d, routes: ['POST /x/{%s}/run', 'GET /x/{%s}/run']}%s}}}}"
    policy = Policy.from_yaml(yaml % ("run", 5, "id", "id", ""))
    # Its names differ, its scope, and it has a route of its own.
    base = Policy.from_yaml(yaml % ("go", 9, "xId", "xId", ", old: {orbs: 1, routes: ['POST /y/{yId}']}"))
    calls = [("POST", "/x/1/run", None), ("POST", "/x/2/run", None), ("GET", "/x/1/run", None), ("POST", "/y/1", None), (None, None, "run")]
    names = ("method", "target", "by_scope")
    log = pa.table({name: pa.array([call[at] for call in calls], pa.string()) for at, name in enumerate(names)} | {"kind": ["user"] * 5, "scopes": ["run go old"] * 5})
    made = report(log, policy, base=base)
    assert [(row.route, row.scope, row.calls, row.orbs, row.base_calls, row.base_orbs) for row in made.figures.orbs.routes] == [
        ("POST /x/{id}/run", "run", 2, 10, 2, 18),
        ("GET /x/{id}/run", "run", 1, 5, 1, 9),
        (None, "run", 1, 5, 0, 0),
        ("POST /y/{yId}", "old", 0, 0, 1, 1),
    ]
    assert made.figures.changes is not None
    assert {(row.route, row.calls) for row in made.figures.changes.rows if row.before == "allow, 9 orbs"} == {("POST /x/{id}/run", 2), ("GET /x/{id}/run", 1)}
    assert "{xId}" not in made.html


def test_calls_by_scope_without_a_charge_are_counted_apart() -> None:
    policy = Policy.from_yaml("{orbgate: 1, apis: {a: {base_path: '', scopes: {free: {orbs: false, routes: [GET /f]}, run: {orbs: 5, routes: [GET /x]}, other: {routes: []}}}}}")
    scopes = ["other", "run", "other", "free", "missing"]
    made = report(pa.table({"by_scope": scopes, "kind": ["user"] * 5, "scopes": ["run other free"] * 5}), policy, columns={"by_scope": "by_scope"})
    assert (made.figures.orbs.without_charge, made.figures.orbs.total.calls) == (2, 1)
    assert "2 calls by scope are not counted, because the policy states no charge for a call by their scope: it depends on the route." in html.unescape(made.html)


def words(decision: Any) -> str:
    if not decision:
        return f"deny: {decision.reason}"
    if not decision.orbs.consumes:
        return "allow"
    amount = "orbs" if decision.orbs.amount is None else f"{decision.orbs.amount} orbs"
    return f"allow, {amount}{' or bonus orbs' if decision.orbs.bonus_allowed else ''}"


def test_examples_are_the_first_of_their_kind(table_figures: figures.Figures, decisions: list[Any]) -> None:
    for outcome in table_figures.decisions.outcomes:
        row = next(row for row, d in decisions if (d.reason, d.detail, d.route, d.scope, about(row, d)) == (*outcome[1:5], outcome.about))
        if outcome.decision == "deny":
            assert outcome.method == row["method"]
            assert outcome.target == (row["target"] and row["target"].partition("?")[0])


def test_missing_scopes_are_those_of_decide(table_figures: figures.Figures, decisions: list[Any]) -> None:
    missing = [d for _, d in decisions if d.reason == "scope_missing"]
    assert {row.scope: row.calls for row in table_figures.scopes.missing} == Counter(d.scope for d in missing)
    for row in table_figures.scopes.missing:
        assert set(row.routes) == {d.route for d in missing if d.scope == row.scope}


def test_probed_routes_are_those_of_decide(table_figures: figures.Figures, decisions: list[Any]) -> None:
    tokenless = [(about(row, d), d) for row, d in decisions if d.reason in ("no_token", "invalid_token")]
    probes = [(route, d) for route, d in tokenless if route is not None]
    assert {row.route: row.calls for row in table_figures.unauthenticated.routes} == Counter(route for route, _ in probes)
    assert any(row.route.startswith("/") for row in table_figures.unauthenticated.routes)
    assert {row.route: row.no_token for row in table_figures.unauthenticated.routes} == {
        row.route: sum(route == row.route and d.reason == "no_token" for route, d in probes) for row in table_figures.unauthenticated.routes
    }
    assert all(row.calls == row.no_token + row.invalid_token for row in table_figures.unauthenticated.routes) and table_figures.unauthenticated.routes


def test_unused_scopes_are_those_of_the_audit(table_figures: figures.Figures) -> None:
    usage = {use.scope: use for use in POLICY.scope_usage(table(REQUESTS))}
    unknown = usage.pop("made:up")
    assert {use.scope: use for use in table_figures.scopes.granted} == usage
    assert {use.scope for use in table_figures.unused} == {"read:inference", "write:inference"}
    assert table_figures.unused.columns == table_figures.scopes.granted.columns  # a table, too
    assert table_figures.unknown.scopes == [("made:up", unknown.granted, True)] and table_figures.unknown.is_exact


def test_callers_are_those_of_decide(table_figures: figures.Figures, decisions: list[Any]) -> None:
    allowed = Counter(row["caller"] for row, decision in decisions if decision)
    denied = Counter(row["caller"] for row, decision in decisions if not decision)
    assert table_figures.callers.without == allowed.pop(None) + denied.pop(None)
    assert {row.caller: (row.allowed, row.denied) for row in table_figures.callers.counts} == {
        caller: (allowed[caller], denied[caller]) for caller in allowed | denied
    }
    for row in table_figures.callers.counts:
        reasons = Counter(d.reason for r, d in decisions if not d and r["caller"] == row.caller)
        assert row.denied_for is not None and reasons[row.denied_for] == max(reasons.values())
    by_route = Counter((r["caller"], d.route or about(r, d), d.scope, d.reason) for r, d in decisions if not d and r["caller"])
    assert {row[:4]: row.denied for row in table_figures.callers.denials} == by_route
    assert [row.denied for row in table_figures.callers.denials] == sorted(by_route.values(), reverse=True)
    assert [row.denied for row in table_figures.callers.counts] == sorted((row.denied for row in table_figures.callers.counts), reverse=True)


def test_times_are_those_of_the_log(table_figures: figures.Figures, decisions: list[Any]) -> None:
    timed = [(row["time"].replace(tzinfo=None), d) for row, d in decisions if row["time"] is not None]
    assert table_figures.without_time == len(REQUESTS) - len(timed)
    assert table_figures.times.unit is not None and table_figures.times.unit.name == "6 hours" and len(table_figures.times.spans) <= spans.MOST_SPANS
    assert (table_figures.times.first, table_figures.times.last) == (min(time for time, _ in timed), max(time for time, _ in timed))
    for span in table_figures.times.spans:
        within = [decision for time, decision in timed if span.start <= time < span.end]
        assert (span.allowed, span.denied) == (sum(map(bool, within)), sum(not d for d in within))
        [orbs] = [row for row in table_figures.orbs.times if row.start == span.start]
        assert orbs.calls == sum(bool(d) and d.orbs.consumes for d in within)
    assert all(earlier.end == later.start for earlier, later in zip(table_figures.times.spans, table_figures.times.spans[1:]))


def in_batches(rows_each: int) -> Iterator[Any]:
    for start in range(0, len(ROWS), rows_each):
        yield TABLE.slice(start, rows_each).combine_chunks().to_batches()[0]


def test_figures_do_not_depend_on_the_batches(table_figures: figures.Figures, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ("method", "target", "kind", "scopes", "caller")
    coded = TABLE
    for name in texts:
        coded = coded.set_column(coded.column_names.index(name), name, coded[name].dictionary_encode())
    seconds = TABLE["time"].cast(pa.timestamp("s", "Europe/Paris"))
    in_paris = coded.set_column(coded.column_names.index("time"), "time", seconds)
    for other in (in_batches(700), TABLE.to_reader(max_chunksize=999), coded, in_paris, TABLE.to_struct_array()):
        assert count(other) == table_figures
    monkeypatch.setattr(counts, "WAITING_BYTES", 1 << 12)
    monkeypatch.setattr(counts, "BYTES_OF_PYTHON", 1 << 12)
    assert count(in_batches(700)) == table_figures
    monkeypatch.setattr(counts, "WAITING_ROWS", 64)
    assert count(TABLE) == table_figures
    renamed = TABLE.rename_columns([f"their {name}" for name in TABLE.column_names])
    same = count(renamed, columns=dict(zip(NAMES, renamed.column_names)))
    # What is wrong with a row is said in the log's own names.
    for name in ("first_unread", "unread_by_reason"):
        assert [row.why.replace("their ", "") for row in getattr(same.log, name)] == [row.why for row in getattr(table_figures.log, name)]
    alike = same.log._replace(arguments=table_figures.log.arguments, first_unread=table_figures.log.first_unread, unread_by_reason=table_figures.log.unread_by_reason)
    assert same._replace(log=alike) == table_figures and same.log.arguments["columns"] == dict(zip(NAMES, renamed.column_names))


def test_what_is_counted_does_not_grow_with_the_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same calls again and again: their counts waited in ever more small tables, which took about seven bytes a row."""
    monkeypatch.setattr(counts, "WAITING_PARTS", 16)
    batches = list(in_batches(100))
    sizes: list[int] = []
    log = Decided(logs.read(itertools.chain.from_iterable([batches] * 6)), POLICY, lambda: sizes.append(pa.total_allocated_bytes()))
    counted = counting.count(log, POLICY)
    assert counted.calls + counted.log.unread == 6 * len(ROWS) and len(sizes) == 6 * len(batches)
    first, last = max(sizes[:90]), max(sizes[90:])
    assert last - first < 500_000, (first, last)


LONG = """
import sys

class NoPandas:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ImportError(name)

# pyarrow imports it wherever it is installed. It takes 25 MB, and is none of what is measured.
sys.meta_path.insert(0, NoPandas())
import pyarrow as pa
from orbgate import Policy, audit, logs, report

def batches():
    # 290 MB: 12,000 rows, each with texts of 8,000 bytes that no other has.
    for start in range(0, 12_000, 500):
        rows = range(start, start + 500)
        texts = {name: [f"{begin}{row}{'x' * 8_000}{row}" for row in rows] for name, begin in (("target", "/"), ("scopes", "odd:"), ("caller", ""))}
        yield pa.RecordBatch.from_pydict({"method": ["GET"] * 500, "kind": ["user"] * 500, **texts})

log, policy = logs.read(batches()), Policy.external()
if sys.argv[1] == "report":
    figures = report(log, policy).figures
    assert figures.callers.is_exact and len(figures.callers.counts) == len(figures.unknown.scopes) == 12_000 and figures.callers.different == 12_000
elif sys.argv[1] == "replay":
    summary = logs.replay(log, policy).to_dict()
    assert summary["denied"] == 12_000 and summary["top_denied_is_exact"] and summary["top_denied_callers_is_exact"]
else:
    privileges = audit.privileges(log, policy)
    assert len(privileges.rows) == 12_000 and all(len(row.unknown) == 1 for row in privileges.rows)
# Of this program alone: what `getrusage` says has the size of the one that started it.
[line] = [line for line in open("/proc/self/status") if line.startswith("VmHWM:")]
print(int(line.split()[1]) // 1_024)
"""


@pytest.mark.long
@pytest.mark.parametrize(("what", "megabytes"), [("report", 750), ("replay", 300), ("privileges", 300)])
def test_memory_does_not_grow_with_the_length_of_what_a_log_says(what: str, megabytes: int) -> None:
    """A report of this log took 1.8 GB, because only the number of different texts was bounded."""
    if not Path("/proc/self/status").exists():
        pytest.skip("only Linux says how much memory a program took")
    ran = subprocess.run([sys.executable, "-c", LONG, what], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) < megabytes


def test_long_names_stay_different() -> None:
    rows = [{"method": "GET", "target": "/", "kind": "user", "scopes": f"odd:{'s' * 300}{at % 2}", "caller": f"{'ü' * 300}{at % 3}"} for at in range(12)]
    counted = count(pa.Table.from_pylist(rows))
    assert [(row.denied, len(row.caller.encode()) <= 256, row.caller[:100]) for row in counted.callers.counts] == [(4, True, "ü" * 100)] * 3
    assert [(row.granted, len(row.scope)) for row in counted.unknown.scopes] == [(6, 39)] * 2
    assert len({row.caller for row in counted.callers.counts}) == 3
    privileges = audit.privileges(pa.Table.from_pylist(rows), POLICY).rows
    assert {row.caller for row in privileges} == {row.caller for row in counted.callers.counts}
    assert {scope for row in privileges for scope in row.unknown} == {row.scope for row in counted.unknown.scopes}


def test_many_different_times_are_counted_by_longer_units(
    table_figures: figures.Figures, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "MOST_TIMES", 2_000)
    units, floored = set[int](), counts.Times._floored

    def watched(times: Any, table: Any) -> Any:
        units.add(times._unit)
        return floored(times, table)

    monkeypatch.setattr(counts.Times, "_floored", watched)
    coarse = count(in_batches(100))
    assert coarse.times.spans == table_figures.times.spans and {0, 1} <= units
    # Exact all the same.
    assert (coarse.times.first, coarse.times.last) == (table_figures.times.first, table_figures.times.last)


@pytest.mark.parametrize(
    ("length", "name", "count"),
    [
        (timedelta(0), "second", 1),
        (timedelta(seconds=61), "second", 62),
        (timedelta(seconds=62), "10 seconds", 7),
        (timedelta(hours=1), "minute", 61),
        (timedelta(days=1), "hour", 25),
        (timedelta(days=14), "6 hours", 57),
        (timedelta(days=30), "day", 31),
        (timedelta(days=365), "week", 53),
        (timedelta(days=3 * 365), "month", 37),
        (timedelta(days=2_900_000), "millennium", 8),
    ],
)
def test_spans_are_as_long_as_a_person_would_choose(length: timedelta, name: str, count: int) -> None:
    first = datetime(2026, 11, 2)
    made, unit = spans.spans(
        [{"time": time, "decision": "allow", "consumes": False, "calls": 1} for time in {first, first + length}]
    )
    assert unit is not None and (unit.name, len(made)) == (name, count)
    assert sum(span.allowed for span in made) == len({first, first + length})


def test_spans_reach_to_both_ends_of_the_calendar() -> None:
    ends = [datetime.min, datetime.max.replace(microsecond=0)]
    made, _ = spans.spans([{"time": time, "decision": "deny", "consumes": None, "calls": 2} for time in ends])
    assert [made[0].denied, made[-1].denied] == [2, 2] and len(made) <= spans.MOST_SPANS
    odd = pa.array([-(2**62), 0, 2**62], pa.timestamp("us", "UTC"))
    calls = TABLE.slice(0, 3).set_column(TABLE.column_names.index("time"), "time", odd)
    assert count(calls).without_time == 2


def test_names_of_routes_are_short_and_still_differ() -> None:
    names = [str(route) for route in POLICY.routes()]
    assert numbers.short_routes(names)[0] == "GET …/account" and len(set(numbers.short_routes(names))) == len(names)
    assert numbers.short_routes(["GET /", "(no route)"]) == ["GET /", "(no route)"]
