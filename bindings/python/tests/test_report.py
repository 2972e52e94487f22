"""The report: its figures by brute force over `decide`, what is on its page, and what can never be."""

from __future__ import annotations

import html
import random
import re
import subprocess
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, TableError, Token, logs, report
from orbgate import __version__ as orbgate_version

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

from orbgate._report import counts, figures, log, numbers, spans  # noqa: E402
from orbgate.logs import _heavy  # noqa: E402

# What the README shows runs in every Python.
pytestmark = pytest.mark.once

POLICY = Policy.external()
NAMES = ("method", "target", "kind", "scopes", "allow_bonus_orbs_use", "time", "caller")
START = datetime(2026, 11, 2, tzinfo=timezone.utc)
MARKUP = "<script>alert('x')</script>\"&\u202e\n\0"


def rows(count: int, seed: int = 3) -> list[dict[str, Any]]:
    """A log in which every reason and everything that may be null occurs."""
    choose = random.Random(seed)
    routes = POLICY.routes()
    names = [scope.scope for scope in POLICY.scopes()]
    found = []
    for _ in range(count):
        route = choose.choice(routes)
        path = "/".join("7" if part.startswith("{") else part for part in route.template.split("/"))
        scopes = " ".join(choose.sample([*names, "made:up"], choose.randrange(len(names))))
        found.append(
            {
                "method": choose.choice([*[route.method] * 8, "PUT", None]),
                "target": choose.choice([*[path] * 8, f"{path}?access_token=hidden", f"{path}/", "/nowhere", None]),
                "kind": choose.choice([*["user", "organisation"] * 4, "robot", None]),
                "scopes": choose.choice([*[scopes] * 8, "", None]),
                "allow_bonus_orbs_use": choose.choice([True, False, None]),
                "time": choose.choice([*[START + timedelta(minutes=choose.randrange(20_000))] * 8, None]),
                "caller": choose.choice([*[f"app-{choose.randrange(30)}"] * 8, None]),
            }
        )
    return found


def table(of: list[dict[str, Any]]) -> Any:
    types = {"allow_bonus_orbs_use": pa.bool_(), "time": pa.timestamp("us", "UTC")}
    return pa.table({name: pa.array([row[name] for row in of], types.get(name, pa.string())) for name in NAMES})


ROWS = rows(3_000)
TABLE = table(ROWS)
REQUESTS = [row for row in ROWS if row["method"] is not None and row["target"] is not None]


def count(calls: Any, **said: Any) -> figures.Figures:
    return figures.count(log.Decided(logs.read(calls, **said), POLICY), POLICY)


@pytest.fixture(scope="module")
def found() -> figures.Figures:
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


def test_counts_are_those_of_decide(found: figures.Figures, decisions: list[Any]) -> None:
    assert found.calls == len(REQUESTS) == len(ROWS) - found.unread and found.allowed == sum(map(bool, (d for _, d in decisions)))
    assert {row.reason: row.calls for row in found.reasons} == Counter(d.reason for _, d in decisions)
    routes = Counter((d.route, d.scope, bool(d)) for _, d in decisions)
    assert {(row.route, row.scope) for row in found.routes} == {key[:2] for key in routes}
    for row in found.routes:
        assert (row.allowed, row.denied) == (routes[row.route, row.scope, True], routes[row.route, row.scope, False])
    details = Counter((d.reason, d.detail, d.route) for _, d in decisions if not d)
    counted: Counter[Any] = Counter()
    for outcome in found.outcomes:
        counted[outcome.reason, outcome.detail, outcome.route] += 0 if outcome.decision == "allow" else outcome.calls
    assert +counted == details


def test_orbs_are_those_of_decide(found: figures.Figures, decisions: list[Any]) -> None:
    charges = [decision.orbs for _, decision in decisions if decision and decision.orbs.consumes]
    assert found.consuming == len(charges) == found.without_amount > 0 == found.amount
    assert found.bonus_allowed == sum(charge.bonus_allowed for charge in charges) > 0
    assert sum(row.consuming for row in found.routes) == found.consuming


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
    found = made.figures.changes
    assert found is not None and {row[:3]: row.calls for row in found.rows} == changes and found.base == BASE.digest
    assert (found.newly_allowed, found.newly_denied, found.calls) == (allowed, denied, changes.total()) and allowed > 0 < denied
    text = html.unescape(" ".join(check_harmless(made.html).texts))
    assert f"newly allowed {allowed:,}, newly denied {denied:,}" in text and "Against the other policy" in text
    assert "hidden" not in text
    alike = report(table(REQUESTS), POLICY, base=POLICY)
    assert alike.figures.changes is not None and not alike.figures.changes.rows
    assert report(table(REQUESTS), POLICY).figures.changes is None


def words(decision: Any) -> str:
    if not decision:
        return f"deny: {decision.reason}"
    if not decision.orbs.consumes:
        return "allow"
    amount = "orbs" if decision.orbs.amount is None else f"{decision.orbs.amount} orbs"
    return f"allow, {amount}{' or bonus orbs' if decision.orbs.bonus_allowed else ''}"


def test_examples_are_the_first_of_their_kind(found: figures.Figures, decisions: list[Any]) -> None:
    for outcome in found.outcomes:
        row = next(row for row, d in decisions if (d.reason, d.detail, d.route, d.scope, d.about) == (*outcome[1:5], outcome.about))
        if outcome.decision == "deny":
            assert outcome.method == row["method"]
            assert outcome.target == (row["target"] and row["target"].partition("?")[0])


def test_missing_scopes_are_those_of_decide(found: figures.Figures, decisions: list[Any]) -> None:
    missing = [d for _, d in decisions if d.reason == "scope_missing"]
    assert {row.scope: row.calls for row in found.missing} == Counter(d.scope for d in missing)
    for row in found.missing:
        assert set(row.routes) == {d.route for d in missing if d.scope == row.scope}


def test_probed_routes_are_those_of_decide(found: figures.Figures, decisions: list[Any]) -> None:
    probes = [d for _, d in decisions if d.reason in ("no_token", "invalid_token") and d.about is not None]
    assert {row.route: row.calls for row in found.probed} == Counter(d.about for d in probes)
    assert {row.route: row.no_token for row in found.probed} == {
        row.route: sum(d.about == row.route and d.reason == "no_token" for d in probes) for row in found.probed
    }
    assert all(row.calls == row.no_token + row.invalid_token for row in found.probed) and found.probed


def test_unused_scopes_are_those_of_the_audit(found: figures.Figures) -> None:
    usage = {use.scope: use for use in POLICY.scope_usage(table(REQUESTS))}
    unknown = usage.pop("made:up")
    assert {use.scope: use for use in found.scopes} == usage
    assert {use.scope for use in found.unused} == {"read:inference", "write:inference"}
    assert found.unknown == [("made:up", unknown.granted, True)] and found.unknown_is_exact


def test_callers_are_those_of_decide(found: figures.Figures, decisions: list[Any]) -> None:
    allowed = Counter(row["caller"] for row, decision in decisions if decision)
    denied = Counter(row["caller"] for row, decision in decisions if not decision)
    assert found.without_caller == allowed.pop(None) + denied.pop(None)
    assert {row.caller: (row.allowed, row.denied) for row in found.callers} == {
        caller: (allowed[caller], denied[caller]) for caller in allowed | denied
    }
    for row in found.callers:
        reasons = Counter(d.reason for r, d in decisions if not d and r["caller"] == row.caller)
        assert row.denied_for is not None and reasons[row.denied_for] == max(reasons.values())
    by_route = Counter((r["caller"], d.route, d.scope, d.reason) for r, d in decisions if not d and r["caller"])
    assert {row[:4]: row.denied for row in found.caller_denials} == by_route
    assert [row.denied for row in found.caller_denials] == sorted(by_route.values(), reverse=True)
    assert [row.denied for row in found.callers] == sorted((row.denied for row in found.callers), reverse=True)


def test_times_are_those_of_the_log(found: figures.Figures, decisions: list[Any]) -> None:
    timed = [(row["time"].replace(tzinfo=None), d) for row, d in decisions if row["time"] is not None]
    assert found.without_time == len(REQUESTS) - len(timed)
    assert found.unit is not None and found.unit.name == "6 hours" and len(found.times) <= spans.MOST_SPANS
    assert (found.first, found.last) == (min(time for time, _ in timed), max(time for time, _ in timed))
    for span in found.times:
        within = [decision for time, decision in timed if span.start <= time < span.end]
        assert (span.allowed, span.denied) == (sum(map(bool, within)), sum(not d for d in within))
        assert span.consuming == sum(bool(d) and d.orbs.consumes for d in within)
    assert all(earlier.end == later.start for earlier, later in zip(found.times, found.times[1:]))


def in_batches(rows_each: int) -> Iterator[Any]:
    for start in range(0, len(ROWS), rows_each):
        yield TABLE.slice(start, rows_each).combine_chunks().to_batches()[0]


def test_figures_do_not_depend_on_the_batches(found: figures.Figures, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ("method", "target", "kind", "scopes", "caller")
    coded = TABLE
    for name in texts:
        coded = coded.set_column(coded.column_names.index(name), name, coded[name].dictionary_encode())
    seconds = TABLE["time"].cast(pa.timestamp("s", "Europe/Paris"))
    in_paris = coded.set_column(coded.column_names.index("time"), "time", seconds)
    for other in (in_batches(700), TABLE.to_reader(max_chunksize=999), coded, in_paris, TABLE.to_struct_array()):
        assert count(other) == found
    monkeypatch.setattr(counts, "WAITING_ROWS", 64)
    assert count(TABLE) == found
    renamed = TABLE.rename_columns([f"their {name}" for name in TABLE.column_names])
    assert count(renamed, columns=dict(zip(NAMES, renamed.column_names))) == found


def test_many_different_times_are_counted_by_longer_units(
    found: figures.Figures, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "MOST_TIMES", 2_000)
    coarse = count(in_batches(100))
    assert coarse.times == found.times and coarse.first != found.first


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


class Page(HTMLParser):
    """What a page has: its tags with their attributes, and its texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def check_harmless(page: str) -> Page:
    """Nothing on it runs, loads or leads anywhere."""
    read = Page(page)
    assert not {"script", "iframe", "object", "embed", "link", "img", "image", "a", "base", "form"} & {
        t for t, _ in read.tags
    }
    names = {name for _, attributes in read.tags for name in attributes}
    assert not {"style", "src", "href", "xlink:href", "srcset", "action"} & names
    assert not [name for name in names if name.startswith("on")]
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert not re.search(r"url\(|@import|expression", style)
    policy = next(a["content"] for _, a in read.tags if a.get("http-equiv") == "Content-Security-Policy")
    hashed = b64encode(sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{hashed}'; base-uri 'none'; form-action 'none'"
    ids = [attributes["id"] for _, attributes in read.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    return read


def test_the_page_has_charts_and_their_numbers(found: figures.Figures, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    made = report(TABLE, POLICY, path, title="Calls of <week> 45", top=30)
    assert path.read_bytes() == made.html.encode() and made.figures == found
    read = check_harmless(made.html)
    text = html.unescape(" ".join(read.texts))
    assert read.texts.count("Calls of <week> 45") == 2 and POLICY.digest in text and "hidden" not in text
    for count in (found.calls, found.allowed, found.denied, found.consuming):
        assert f"{count:,}" in read.texts
    for scope in [use.scope for use in found.unused] + [row.scope for row in found.missing]:
        assert scope in read.texts
    assert [tag for tag, _ in read.tags].count("svg") == 2 * [tag for tag, _ in read.tags].count("figure") == 20
    assert len(made.html) < 250_000
    assert f"{made!r}" == f"<orbgate report: {found.calls:,} calls, {found.allowed:,} allowed, {found.denied:,} denied>"
    framed = Page(made._repr_html_()).tags
    assert [(tag, attributes["sandbox"], attributes["srcdoc"]) for tag, attributes in framed] == [
        ("iframe", None, made.html)
    ]


HOSTILE = [
    {**row, **{name: f"{MARKUP}{at % 9}" for name in changed}}
    for at, row in enumerate(ROWS[:200])
    for changed in [(), ("method",), ("target",), ("kind",), ("scopes",), ("caller",), ("target", "caller")]
]


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722)))


def test_allowed_and_denied_differ_without_colours() -> None:
    """In grey, their contrast was 1.01."""
    style = report(TABLE, POLICY).html.partition("<style>")[2]
    pairs = re.findall(r"--allow: (#\w{6}); --deny: (#\w{6});", style)
    assert len(pairs) == 2
    for pair in pairs:
        light, dark = sorted(map(luminance, pair), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3, pair


def test_calls_that_reach_no_route_are_not_drawn_beside_those_that_do() -> None:
    calls = [
        {"method": "GET", "target": target, "kind": "user", "scopes": ""}
        for target in ["/wp-login.php"] * 10_000 + ["/api/v1/external/orbs"] * 3
    ]
    made = report(pa.Table.from_pylist(calls), POLICY).html
    charts = re.findall(r"<svg.*?</svg>", made, re.DOTALL)
    assert not any("(no route)" in chart for chart in charts) and "(no route)" in made
    assert any("(no route)" in chart for chart in re.findall(r"<svg.*?</svg>", report(pa.Table.from_pylist(calls[:9]), POLICY).html, re.DOTALL))


@pytest.mark.parametrize(
    ("hours", "count", "form"),
    [(1 / 60, 20, r"\d\d:\d\d:\d\d"), (1, 60, r"\d\d:\d\d"), (50, 50, r"[A-Z]\w\w \d\d \d\d:\d\d"), (300, 40, r"[A-Z]\w\w \d\d"),
     (24 * 40, 40, r"[A-Z]\w\w \d\d"), (24 * 300, 40, r"[A-Z]\w\w \d\d"), (24 * 900, 40, r"[A-Z]\w\w \d\d\d\d"), (24 * 9_000, 40, r"\d\d\d\d")],
)
def test_times_on_an_axis_are_all_alike(hours: float, count: int, form: str) -> None:
    """Some were days of the week, others of the month."""
    times = [START + timedelta(hours=hours * at / count) for at in range(count)]
    calls = [{"method": "GET", "target": "/", "kind": "user", "scopes": "", "time": time} for time in times]
    made = report(pa.Table.from_pylist(calls), POLICY).html
    charts = re.findall(r"<svg.*?</svg>", made[made.index("<h2>Over time") :], re.DOTALL)[:2]
    for chart in charts:
        labels = re.findall(r">([^<>]+)</text>", chart.partition("role-axis-label")[2].partition("role-axis-domain")[0])
        labels = [label for label in labels if not re.fullmatch(r"[\d.,]+k?", label) or re.fullmatch(form, label)]
        assert len(labels) >= 2 and len(set(labels)) == len(labels), labels
        assert all(re.fullmatch(form, label) for label in labels), labels


def test_the_page_says_what_it_was_made_of(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    path.write_text(CSV, encoding="utf-8")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(texts_of_table(path), tmp_path / "calls.parquet")
    for file in (path, tmp_path / "calls.parquet"):
        made = report(file, POLICY)
        digest = sha256(file.read_bytes()).hexdigest()
        assert made.figures.files == [(file.name, digest)]
        text = " ".join(Page(made.html).texts)
        assert f"{file.name}  sha256:{digest}" in text and f"Made by orbgate {orbgate_version}." in text
    line = next(route.line for route in POLICY.routes() if str(route) == "GET /api/v1/external/orbs")
    assert f'data-column="policy line">{line}</td>' in made.html


def test_what_a_log_has_is_text_on_the_page() -> None:
    made = report(table(HOSTILE), POLICY, title=MARKUP.replace("\0", ""), top=500)
    read = check_harmless(made.html)
    assert "<script>alert('x')</script>\"&\\u202e\\n\\x007" in html.unescape(" ".join(read.texts))
    assert "\0" not in made.html and made.html.count("\u202e") == 2


def test_what_is_no_text_is_written_out() -> None:
    calls = TABLE.slice(0, 50)
    raw = pa.array([b"\xff\xfe<b>"] * 50, pa.binary())
    for name in ("method", "target", "kind", "scopes", "caller"):
        calls = calls.set_column(calls.column_names.index(name), name, raw)
    made = report(calls, POLICY)
    assert made.figures.callers[0].caller == "\\xff\\xfe<b>"
    check_harmless(made.html)


def test_the_same_log_makes_the_same_page() -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_report as t; "
        "sys.stdout.buffer.write(t.report(t.in_batches(int(sys.argv[1])), t.POLICY).html.encode())"
    )
    once, again = (
        subprocess.run(
            [sys.executable, "-c", program, size], env={"PYTHONHASHSEED": size}, capture_output=True, check=True
        )
        for size in ("700", "256")
    )
    assert once.stdout == again.stdout == report(TABLE, POLICY).html.encode()


@pytest.mark.parametrize(
    ("name", "calls", "sentence"),
    [
        ("empty", TABLE.slice(0, 0), "The log has no calls, so there is nothing to decide, to draw or to list."),
        ("no batches", [], "The log has no calls, so there is nothing to decide, to draw or to list."),
        (
            "no times",
            TABLE.drop_columns(["time"]),
            "The log has no times, so nothing can be said of when calls were made.",
        ),
        ("no callers", TABLE.drop_columns(["caller"]), "The log does not say who called."),
        (
            "no tokens",
            table([{**row, "kind": None, "scopes": None} for row in ROWS]),
            "No token of the log carries a scope of the policy.",
        ),
    ],
)
def test_the_page_says_what_a_log_lacks(name: str, calls: Any, sentence: str) -> None:
    made = report(calls, POLICY)
    assert sentence in check_harmless(made.html).texts, name


def test_the_page_says_that_all_is_well() -> None:
    calls = {
        "method": ["GET"],
        "target": ["/api/v1/external/keys"],
        "kind": ["user"],
        "scopes": ["read:keys"],
        "caller": ["a"],
    }
    texts = check_harmless(report(pa.table(calls), POLICY).html).texts
    for sentence in (
        "Every call was allowed.",
        "None of 1 caller.",
        "No call was denied.",
        "No call was denied because it lacked a scope.",
    ):
        assert sentence in texts
    assert "None: 1 granted scope, all of them used." in texts


def test_the_policy_names_amounts() -> None:
    yaml = "{orbgate: 1, apis: {a: {base_path: '', scopes: {s: {orbs: 9223372036854775807, routes: ['GET /']}}}}}"
    calls = pa.table({"method": ["GET"] * 3, "target": ["/"] * 3, "kind": ["user"] * 3, "scopes": ["s"] * 3})
    found = report(calls, Policy.from_yaml(yaml)).figures
    assert found.amount == 3 * (2**63 - 1) and found.without_amount == 0


def made_up(count: int, names: str, **columns: Any) -> Any:
    """As many calls, each with a caller or a scope of its own."""
    own = pa.array([f"{names}{at:06}" for at in range(count)])
    calls = {"method": "GET", "target": "/api/v1/external/orbs", "kind": "user", "scopes": "", "caller": None}
    return pa.table({name: own if name == names else pa.array([value] * count, pa.string()) for name, value in (calls | columns).items()})


def test_the_page_is_bounded() -> None:
    made = report(made_up(30_000, "caller", scopes="x" * 300), POLICY, top=5)
    assert len(made.figures.callers) == 30_000 and made.figures.callers_is_exact
    assert len(made.html) < 150_000
    assert "and 29,995 more" in Page(made.html).texts


def test_frequent_scopes_are_there_whatever_came_before() -> None:
    """Of unknown scopes the first 10,000 were kept, and shown as all of them."""
    junk = pa.concat_tables([made_up(30_000, "scopes")] * 2 + [made_up(40_000, "scopes").slice(30_000)])
    frequent = made_up(40_000, "", scopes="read:orbs admin:everything")
    of_both = made_up(40_000, "", scopes="read:keys early")
    calls = pa.concat_tables([of_both, junk, frequent, of_both])
    made = report(calls, POLICY)
    found = made.figures
    assert {use.scope: (use.granted, use.used) for use in found.scopes} == {
        "read:orbs": (40_000, 40_000),
        "read:keys": (80_000, 0),
    }
    assert found.unknown[:2] == [("early", 80_000, True), ("admin:everything", 40_000, False)]
    assert not found.unknown_is_exact and 10_000 < found.unknown_scopes <= 40_002
    text = html.unescape(" ".join(Page(made.html).texts))
    assert f"Tokens carry at least {found.unknown_scopes:,} scopes that the policy does not have" in text
    assert " admin:everything at least 40,000 " in " ".join(text.split())
    # However the log is cut.
    for rows_each in (1_000, 33_333):
        assert report(calls.to_reader(max_chunksize=rows_each), POLICY).html == made.html


def test_many_callers_are_told_apart_as_far_as_memory_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten million of them took ten gigabytes, and did not end."""
    monkeypatch.setattr(_heavy.Heavy.__init__, "__defaults__", (1_000,))
    monkeypatch.setattr(logs, "ROWS_AT_ONCE", 1_024)
    monkeypatch.setattr(_heavy, "ROWS_AT_ONCE", 1_024)
    monkeypatch.setattr(log, "ROWS_AT_ONCE", 1_024)
    often = made_up(500, "", caller="often")
    calls = pa.concat_tables([part for at in range(20) for part in (made_up(2_000, "caller", scopes="").slice(0, 1_500), often)])
    calls = pa.concat_tables([calls, made_up(100_000, "caller"), often])
    found = report(calls, POLICY).figures
    assert len(found.callers) < 3_100 and found.different_callers >= 2_000 and not found.callers_is_exact
    assert (found.callers[0].caller, found.callers[0].denied, found.callers[0].is_exact) == ("often", 10_500, True)
    late = pa.concat_tables([made_up(100_000, "caller"), often])
    made = report(late, POLICY)
    first = made.figures.callers[0]
    assert (first.caller, first.denied, first.is_exact) == ("often", 500, False)
    text = " ".join(html.unescape(" ".join(Page(made.html).texts)).split())
    assert "often at least 500 at least 500 – scope_missing" in text and "There are too many to tell all of them apart" in text


CSV = "method,target,kind,scopes,allow_bonus_orbs_use,time,caller\n" + "".join(
    f"GET,/api/v1/external/orbs,{kind},{scopes},{bonus},{time},{caller}\n"
    for kind in ("user", "organisation", "")
    for scopes in ("read:orbs", "read:keys made:up")
    for bonus in ("true", "")
    for time in ("2026-11-02T09:00:00Z", "yesterday", "1700000000", "")
    for caller in ("ann", "")
)
SAID: list[dict[str, Any]] = [
    {},
    {"kind": "user", "scopes": "read:orbs"},
    {"kind": "organisation", "allow_bonus_orbs_use": True},
    {"time_unit": "s"},
    {"columns": {"scopes": "kind", "caller": "target"}},
]


FILE = r"<div><dt>Log</dt>.*?</div>\n"


def texts_of_table(path: Path) -> Any:
    """The rows of a CSV file as a table of texts, in which what is empty is null."""
    csv = pytest.importorskip("pyarrow.csv")
    texts = csv.ConvertOptions(strings_can_be_null=True, column_types=dict.fromkeys(NAMES, pa.string()), null_values=[""])
    return csv.read_csv(path, convert_options=texts)


@pytest.mark.parametrize("said", SAID, ids=range(len(SAID)))
def test_a_file_and_its_table_have_one_page(tmp_path: Path, said: dict[str, Any]) -> None:
    """The file's said otherwise, and what was said of its columns and values was not heard."""
    path = tmp_path / "calls.csv"
    path.write_text(CSV, encoding="utf-8")
    of_file = report(path, POLICY, **said)
    calls = texts_of_table(path)
    polars = pytest.importorskip("polars")
    for of_table in (calls, calls.to_pandas(), polars.from_arrow(calls), calls.to_batches(), logs.read(path, **said)):
        is_file = isinstance(of_table, logs.Reader)
        found = report(of_table, POLICY, **({} if is_file else said)).html
        # A table has no file.
        assert found == (of_file.html if is_file else re.sub(FILE, "", of_file.html))
    assert len(re.findall(FILE, of_file.html)) == 1
    changed = of_file.html != report(path, POLICY).html
    assert changed == bool(said)
    assert of_file.figures.unread_times == (12 if said.get("time_unit") else 24) * 2
    assert "Could not be read:" in of_file.html


@pytest.mark.parametrize("form", ["file", "table"])
@pytest.mark.parametrize(
    ("said", "error", "message"),
    [
        ({"columns": {"path": "target"}}, ValueError, "there is no column `path` to be named"),
        ({"columns": {"method": "verb"}}, TableError, "there is no column `verb` for `method`; the columns are `method`, "),
        ({"columns": {"caller": "who"}}, TableError, "there is no column `who` for `caller`"),
        ({"columns": {"kind": "k"}, "kind": "user"}, ValueError, "`kind` is both"),
        ({"kind": "robot"}, ValueError, "robot"),
        ({"time_unit": "h"}, ValueError, "`h`"),
        ({"method": "verb"}, TypeError, "method"),
    ],
)
def test_what_is_said_and_is_not_there_is_an_error(
    tmp_path: Path, form: str, said: dict[str, Any], error: type[Exception], message: str
) -> None:
    path = tmp_path / "calls.csv"
    path.write_text(CSV, encoding="utf-8")
    with pytest.raises(error, match=message):
        report(path if form == "file" else texts_of_table(path), POLICY, **said)


def test_a_log_that_was_read_before_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    path.write_text(CSV, encoding="utf-8")
    with pytest.raises(ValueError, match="`kind` must be said where it is made"):
        report(logs.read(path), POLICY, kind="user")
    reader, batches = logs.read(path), TABLE.to_reader()
    next(reader)
    report(batches, POLICY)
    for again in (reader, batches):
        with pytest.raises(TableError, match="has been read before"):
            report(again, POLICY)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": [7]}, "column `target` must be text, not int64"),
        ({"caller": [{"name": "ann"}]}, "column `caller` must be text"),
        ({"scopes": [[1]]}, "column `scopes` must be text"),
    ],
)
def test_a_log_that_cannot_be_read_is_an_error(change: dict[str, Any], message: str) -> None:
    columns = {"method": ["GET"], "target": ["/"], "kind": ["user"], "scopes": [""], **change}
    for calls in (pa.table(columns), pa.table(columns).slice(0, 0)):
        with pytest.raises(TableError, match=message):
            report(calls, POLICY)
    with pytest.raises(ValueError, match="at least 1, not 0"):
        report(TABLE, POLICY, top=0)
    bad: Any = 7
    with pytest.raises(TypeError, match="a log is a file, a table or batches of one, not int"):
        report(bad, POLICY)


def test_what_a_table_has_is_read_as_of_a_file() -> None:
    """Integers were taken for microseconds, one bad time ended it all, and lists of scopes were an error."""
    calls = {"method": ["GET", None], "target": ["/api/v1/external/orbs"] * 2, "kind": ["user"] * 2}
    found = report(pa.table({**calls, "scopes": [["read:orbs", "a b"], []], "time": [1_700_000_000] * 2}), POLICY).figures
    assert (found.allowed, found.unread, found.first_unread[0].why) == (1, 1, "no `method`")
    assert (found.first, found.unread_times) == (None, 2)
    assert [row.scope for row in found.unknown] == ["a\u2420b"]
    seconds = report(pa.table({**calls, "time": [1_700_000_000] * 2}), POLICY, kind="user", time_unit="s").figures
    assert str(seconds.first) == "2023-11-14 22:13:20"
    mixed = pa.table({**calls, "time": ["yesterday", "2026-11-02"]})
    assert report(mixed, POLICY, kind="user").figures.unread_times == 1


@pytest.mark.parametrize("module", ["pyarrow", "vl_convert", "jinja2"])
def test_what_is_missing_is_named(module: str) -> None:
    program = (
        f"import sys; sys.modules[{module!r}] = None; import orbgate; orbgate.report([], orbgate.Policy.external())"
    )
    failed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert f"this needs {module}, which is not installed: pip install 'jinja2>=3.1' 'pyarrow>=16' 'vl-convert-python>=1.9,<2'" in failed.stderr


def test_names_of_routes_are_short_and_still_differ() -> None:
    names = [str(route) for route in POLICY.routes()]
    assert numbers.routes(names)[0] == "GET …/account" and len(set(numbers.routes(names))) == len(names)
    assert numbers.routes(["GET /", "(no route)"]) == ["GET /", "(no route)"]
