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
from orbgate import Policy, TableError, Token, report

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

from orbgate._report import counts, figures, log, spans, words  # noqa: E402

# What the README shows runs in every Python.
pytestmark = pytest.mark.once

POLICY = Policy.external()
NAMES = log.Columns("method", "target", "kind", "scopes", "allow_bonus_orbs_use", "time", "caller")
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


def count(calls: Any, names: log.Columns = NAMES) -> figures.Figures:
    return figures.count(log.Log(calls, POLICY, names), POLICY)


@pytest.fixture(scope="module")
def found() -> figures.Figures:
    return count(TABLE)


@pytest.fixture(scope="module")
def decisions() -> list[tuple[dict[str, Any], Any]]:
    """Every row with what `decide` says of it."""
    answers = []
    for row in ROWS:
        token = None if row["kind"] is None else Token(row["kind"], row["scopes"] or "")
        bonus = bool(row["allow_bonus_orbs_use"])
        decision = POLICY.decide(row["method"] or "", row["target"] or "", token, allow_bonus_orbs_use=bonus)
        answers.append((row, decision))
    return answers


def test_counts_are_those_of_decide(found: figures.Figures, decisions: list[Any]) -> None:
    assert found.calls == len(ROWS) and found.allowed == sum(map(bool, (d for _, d in decisions)))
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


def test_examples_are_the_first_of_their_kind(found: figures.Figures, decisions: list[Any]) -> None:
    for outcome in found.outcomes:
        row = next(row for row, d in decisions if (d.reason, d.detail, d.route, d.scope) == outcome[1:5])
        if outcome.decision == "deny":
            assert outcome.method == row["method"]
            assert outcome.target == (row["target"] and row["target"].partition("?")[0])


def test_missing_scopes_are_those_of_decide(found: figures.Figures, decisions: list[Any]) -> None:
    missing = [d for _, d in decisions if d.reason == "scope_missing"]
    assert {row.scope: row.calls for row in found.missing} == Counter(d.scope for d in missing)
    for row in found.missing:
        assert set(row.routes) == {d.route for d in missing if d.scope == row.scope}


def test_unused_scopes_are_those_of_the_audit(found: figures.Figures) -> None:
    usage = {use.scope: use for use in POLICY.scope_usage(TABLE)}
    assert {use.scope: use for use in found.scopes} == usage
    assert {use.scope for use in found.unused} == {"made:up", "read:inference", "write:inference"}


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
    assert [row.denied for row in found.callers] == sorted((row.denied for row in found.callers), reverse=True)


def test_times_are_those_of_the_log(found: figures.Figures, decisions: list[Any]) -> None:
    timed = [(row["time"].replace(tzinfo=None), d) for row, d in decisions if row["time"] is not None]
    assert found.without_time == len(ROWS) - len(timed)
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
    monkeypatch.setattr(log, "BATCH_ROWS", 256)
    monkeypatch.setattr(counts, "WAITING_ROWS", 64)
    assert count(TABLE) == found
    renamed = TABLE.rename_columns([f"their {name}" for name in TABLE.column_names])
    assert count(renamed, log.Columns(*renamed.column_names)) == found


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
    assert [tag for tag, _ in read.tags].count("svg") == 2 * [tag for tag, _ in read.tags].count("figure") == 16
    assert len(made.html) < 250_000
    assert f"{made!r}" == f"<orbgate report: 3,000 calls, {found.allowed:,} allowed, {found.denied:,} denied>"
    framed = Page(made._repr_html_()).tags
    assert [(tag, attributes["sandbox"], attributes["srcdoc"]) for tag, attributes in framed] == [
        ("iframe", None, made.html)
    ]


HOSTILE = [
    {**row, **{name: f"{MARKUP}{at % 9}" for name in changed}}
    for at, row in enumerate(ROWS[:200])
    for changed in [(), ("method",), ("target",), ("kind",), ("scopes",), ("caller",), ("target", "caller")]
]


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
            "No token of the log carries a scope.",
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
        "No call was denied for want of a scope.",
    ):
        assert sentence in texts
    assert "None: 1 granted scope, all of them used." in texts


def test_the_policy_names_amounts() -> None:
    yaml = "{orbgate: 1, apis: {a: {base_path: '', scopes: {s: {orbs: 9223372036854775807, routes: ['GET /']}}}}}"
    calls = pa.table({"method": ["GET"] * 3, "target": ["/"] * 3, "kind": ["user"] * 3, "scopes": ["s"] * 3})
    found = report(calls, Policy.from_yaml(yaml)).figures
    assert found.amount == 3 * (2**63 - 1) and found.without_amount == 0


def test_the_page_is_bounded() -> None:
    count = 30_000
    callers = pa.array([f"caller {at:05}{'!' * 300}" for at in range(count)])
    scopes = pa.array([f"made:up{at}" for at in range(count)])
    denied = pa.repeat("GET", count), pa.repeat("/api/v1/external/orbs", count), pa.repeat("user", count)
    calls = pa.table([*denied, scopes, callers], names=["method", "target", "kind", "scopes", "caller"])
    made = report(calls, POLICY, top=5)
    assert len(made.figures.callers) == count and len(made.figures.scopes) == figures.MOST_UNKNOWN_SCOPES
    assert len(made.html) < 150_000
    assert "and 29,995 more" in Page(made.html).texts


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"kind": None}, TableError, "no column `kind`, only method, target, scopes"),
        ({"time": ["yesterday"]}, TableError, "the column `time` cannot be read: .*yesterday"),
        ({"caller": [{"name": "ann"}]}, TableError, "the column `caller` cannot be read"),
        ({"target": [7]}, TableError, "target"),
    ],
)
def test_a_log_that_cannot_be_read_is_an_error(change: dict[str, Any], error: type[Exception], message: str) -> None:
    columns = {"method": ["GET"], "target": ["/"], "kind": ["user"], "scopes": [""], **change}
    with pytest.raises(error, match=message):
        report(pa.table({name: column for name, column in columns.items() if column}), POLICY)
    with pytest.raises(ValueError, match="at least 1, not 0"):
        report(TABLE, POLICY, top=0)


@pytest.mark.parametrize("module", ["pyarrow", "vl_convert", "jinja2"])
def test_what_is_missing_is_named(module: str) -> None:
    program = (
        f"import sys; sys.modules[{module!r}] = None; import orbgate; orbgate.report([], orbgate.Policy.external())"
    )
    failed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert f"this needs {module}, which is not installed: pip install 'orbgate[report]'" in failed.stderr


def test_names_of_routes_are_short_and_still_differ() -> None:
    names = [str(route) for route in POLICY.routes()]
    assert words.routes(names)[0] == "GET …/account" and len(set(words.routes(names))) == len(names)
    assert words.routes(["GET /", "(no route)"]) == ["GET /", "(no route)"]
