"""The page of a report: what is on it, and what can never be."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from expected import Expected
from orbgate import Policy, logs, report
from orbgate import __version__ as orbgate_version

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

from made_up_calls import CSV, MARKUP, POLICY, ROWS, START, TABLE, Page, check_harmless, count, table, texts_of_table  # noqa: E402

# What the README shows runs in every Python.
pytestmark = pytest.mark.once


def test_the_page_has_charts_and_their_numbers(tmp_path: Path) -> None:
    figures = count(TABLE)
    path = tmp_path / "report.html"
    made = report(TABLE, POLICY, path, title="Calls of <week> 45", top=30)
    assert path.read_bytes() == made.html.encode() and made.figures._replace(findings=figures.findings, facts=figures.facts) == figures
    read = check_harmless(made.html)
    text = html.unescape(" ".join(read.texts))
    assert read.texts.count("Calls of <week> 45") == 2 and POLICY.digest in text and "hidden" not in text
    for number in (figures.calls, figures.allowed, figures.denied, figures.consuming):
        assert f"{number:,}" in read.texts
    for scope in [use.scope for use in figures.unused] + [row.scope for row in figures.scopes.missing]:
        assert scope in read.texts
    assert [tag for tag, _ in read.tags].count("svg") == 2 * [tag for tag, _ in read.tags].count("figure") == 18
    assert len(made.html) < 300_000
    assert f"{made!r}" == f"<orbgate report: {figures.calls:,} calls, {figures.allowed:,} allowed, {figures.denied:,} denied>"
    framed = Page(made._repr_html_()).tags
    assert [(tag, attributes["sandbox"], attributes["srcdoc"]) for tag, attributes in framed] == [
        ("iframe", None, made.html)
    ]


def test_what_is_left_out_is_said() -> None:
    routes = POLICY.routes()[:30]
    path = {route: re.sub(r"\{[^}]*\}", "7", route.template) for route in routes}
    rows = [
        {"method": route.method, "target": path[route], "kind": "user", "scopes": f"odd:{at}", "caller": f"app {at}", "time": START}
        for at, route in enumerate(routes)
    ]
    rows += [{**rows[0], "kind": None}, {**rows[1], "kind": "service"}]
    rows += [{**rows[0], "target": f"/nowhere/{at}", "caller": "scanner"} for at in "abcdefghijklmnopqrstuvwxyz"]
    made = report(pa.Table.from_pylist(rows), POLICY, base=POLICY)
    # Charts have 8 bars, tables 25 rows.
    drawn = dict(re.findall(r"<figcaption>(.*?)</figcaption>(.*?)</figure>", made.html, re.DOTALL))
    more = {name: re.findall('class="more">(.*?)<', chart) for name, chart in drawn.items()}
    assert more == {
        "Calls by reason": [],
        "Calls by route": ["and 22 more without a bar; (no route), with 26 calls, has no bar"],
        "Calls whose token has an unknown scope": ["and 22 more without a bar"],
        "Denied calls by the scope that they lacked": [f"and {len(made.figures.scopes.missing) - 8} more without a bar"],
        "Calls without a valid token, by route or path": [],
        "Callers denied most: denied calls": ["and 23 more without a bar"],
    }
    listed = re.findall(r"<caption[^>]*>(.*?)</caption>(.*?)</div>", made.html, re.DOTALL)
    notes = {name: [re.sub("<.*?>", "", text).strip() for text in re.findall('class="more">(.*?)</p>', rows)] for name, rows in listed}
    assert all(bool(notes[name]) == (rows.count("<tr") - 1 > 8) for name, rows in listed)
    assert notes["Callers denied most"] == ["Show all 25 rows, and 6 more in the table callers_counts of a bundle (how to make one)"] and notes["Calls by reason"] == []
    assert notes["Scopes that denied calls lacked"] == [f"Show all {len(made.figures.scopes.missing)} rows"]
    # Each section has its figure at the top, and each word of a table is explained.
    tiles = {name: (figure, note) for name, figure, note in re.findall(r"<dt>(.*?)</dt><dd><strong>(.*?)</strong> <span>(.*?)</span>", made.html)}
    assert tiles["Unknown scopes"][0] == "30" and tiles["Without a token"][0] == "1" and tiles["Flagged callers"] == ("1", "1 probe")
    assert tiles["Changed decisions"] == ("0", "against the other policy: 0 only allowed here, 0 only denied here")
    words = " ".join(Page(made.html).texts)
    for mark in ("An attack makes", "from a time on", "“–” a", "“…” replaces", "“At least” marks", "“(no route)” means"):
        assert mark in words


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


def test_names_in_a_chart_are_never_code() -> None:
    from orbgate._report import charts

    names = ["'+1+'", '"]+[1', "a\\", "\U000e0041", "`${1}`"]
    series = charts.Series("used", "allow")
    for drawing in charts.matrix(names, ["read", "write"], [(at, at % 2, series) for at in range(len(names))], [series]):
        texts = {html.unescape(text) for text in re.findall(r"<text[^>]*>(.*?)</text>", drawing, re.DOTALL)}
        assert texts == {*names, "read", "write"}


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
    # One bar says no more than its number.
    assert "<svg" not in report(pa.Table.from_pylist(calls[:9]), POLICY).html


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
        assert made.figures.log.files == [(file.name, digest, 1, made.figures.calls + made.figures.log.unread)]
        text = " ".join(Page(made.html).texts)
        # Of one file, rows have only one number.
        assert "numbered across all files" not in text and f"{file.name}  sha256:{digest}" in text and f"Made by orbgate {orbgate_version}." in text
    line = next(route.line for route in POLICY.routes() if str(route) == "GET /api/v1/external/orbs")
    assert f'data-column="policy line">{line}</td>' in made.html


def test_what_a_log_has_is_text_on_the_page() -> None:
    made = report(table(HOSTILE), POLICY, title=MARKUP.replace("\0", ""), top=500)
    read = check_harmless(made.html)
    assert "<script>alert('x')</script>\"&\\u202e\\n\\x007" in html.unescape(" ".join(read.texts))
    assert "\0" not in made.html and made.html.count("\u202e") == 2


# Names that look the same, each as it is shown.
ALIKE = {
    "acme": "acme", " acme": "\\x20acme", "acme ": "acme\\x20", "acme\u00a0": "acme\\xa0", "\u0430cme": "\\u0430cme", "acm\u03b5": "acm\\u03b5",
    "acm\u00e9": "acm\u00e9", "acme\u0301": "acme\\u0301", "acme\ufe0f": "acme\\ufe0f", "\u212acme": "\\u212acme",
    # The page has these words for what is not there.
    "(no caller)": "\\x28no caller)", "(no route)": "\\x28no route)", "(none)": "\\x28none)", "(empty)": "\\x28empty)", "\u2013": "\\u2013", "(me)": "(me)", "-": "-",
    # The page has one for two.
    "ac me": "ac me", "ac  me": "ac \\x20me", " ": "\\x20", "\u3000": "\\u3000",
    # Of one script each, and whole.
    "\u0430\u0441\u043c\u0435": "\u0430\u0441\u043c\u0435", "\u03b1\u03ba\u03bc\u03ae 1": "\u03b1\u03ba\u03bc\u03ae 1", "\u0430\u0441\u043c\u0435 API": "\u0430\u0441\u043c\u0435 API", "API acm\u0435": "API acm\\u0435", "\u0915\u093f": "\u0915\u093f",
    "\uac01": "\uac01", "\u1100\u1161\u11a8": "\u1100\\u1161\\u11a8",
}


def test_names_that_look_the_same_are_told_apart() -> None:
    calls = {"method": "GET", "target": "/api/v1/external/orbs", "kind": "user", "scopes": ""}
    log = pa.Table.from_pylist([{**calls, "caller": name} for name in ALIKE])
    page = html.unescape(re.sub("<svg.*?</svg>", "", report(log, POLICY, top=100).html, flags=re.DOTALL))
    summary = logs.replay(logs.read(log), POLICY, top=100)
    for name, wanted in ALIKE.items():
        assert f'data-column="caller">{wanted}</td>' in page
        assert f"  1  {wanted}\n" in str(summary)
    assert {row["caller"] for row in summary.to_dict()["top_denied_callers"]} == {*ALIKE}


def test_what_is_no_text_is_written_out() -> None:
    calls = TABLE.slice(0, 50)
    raw = pa.array([b"\xff\xfe<b>"] * 50, pa.binary())
    for name in ("method", "target", "kind", "scopes", "caller"):
        calls = calls.set_column(calls.column_names.index(name), name, raw)
    made = report(calls, POLICY)
    assert made.figures.callers.counts[0].caller == "\\xff\\xfe<b>"
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
    ("word", "calls"),
    [
        (" no calls", TABLE.slice(0, 0)),
        (" no times", TABLE.drop_columns(["time"])),
        (" names no callers", TABLE.drop_columns(["caller"])),
        ("No valid token", table([{**row, "kind": None, "scopes": None} for row in ROWS])),
        ("No row has", TABLE.drop_columns(["kind"])),
    ],
    ids=["empty", "no times", "no callers", "no tokens", "no kinds"],
)
def test_the_page_says_what_a_log_lacks(word: str, calls: Any, expected: Expected) -> None:
    texts = {text for text in check_harmless(report(calls, POLICY).html).texts if word in text}
    assert texts and not any(word in text for text in Page(report(TABLE, POLICY).html).texts)
    expected(*sorted(texts))


def test_the_page_says_that_all_is_well(expected: Expected) -> None:
    calls = {
        "method": ["GET"],
        "target": ["/api/v1/external/keys"],
        "kind": ["user"],
        "scopes": ["read:keys"],
        "caller": ["a"],
    }
    texts = check_harmless(report(pa.table(calls), POLICY).html).texts
    expected(*(text for text in texts if text.startswith(("Every call was", "No call was", "No call of", "1 scope of the policy was granted"))))
    # There is nobody to be told apart, which is not the same as a log that names nobody.
    assert expected.messages.count("No call was denied.") == 2 and len(expected.messages) == 6


def test_the_policy_names_amounts() -> None:
    yaml = "{orbgate: 1, apis: {a: {base_path: '', scopes: {s: {orbs: 9223372036854775807, routes: ['GET /']}}}}}"
    calls = pa.table({"method": ["GET"] * 3, "target": ["/"] * 3, "kind": ["user"] * 3, "scopes": ["s"] * 3})
    figures = report(calls, Policy.from_yaml(yaml)).figures
    assert figures.amount == figures.orbs.total.orbs == 3 * (2**63 - 1) and figures.without_amount == 0


def test_an_axis_has_one_unit() -> None:
    from orbgate._report import charts
    from orbgate._report.spans import Span

    start = datetime(2026, 11, 20)
    spans = [Span(start + timedelta(days=day), start + timedelta(days=day + 1), 0, 0) for day in range(3)]
    for most, unit in ((30, False), (9_000, False), (12_000, True), (80_000, True)):
        [wide, _] = charts.timeline(spans, [[most], [most // 2], [1]], [charts.Series("calls", "ink")], "%d")
        labels = re.findall(r">([^<>]+)</text>", wide)[len(spans) + 1 :]
        assert labels[0] == "0" and len(labels) > 2, labels
        assert all(("k" in label) is unit for label in labels[1:]), labels


def test_every_denied_call_is_in_a_tile(expected: Expected) -> None:
    """Malformed calls without a token were in no number of those without one."""
    usual = {"method": "GET", "target": "/api/v1/external/orbs", "kind": "user", "scopes": "read:orbs"}
    bad, nowhere = {"target": "/a//b"}, {"target": "/nowhere"}
    calls: list[dict[str, Any]] = [{}, bad, *({**bad, "kind": kind} for kind in (None, "", "USER")), {"kind": None}, {"kind": "USER"}, {**nowhere, "kind": None}, nowhere, {"scopes": ""}]
    made = report(pa.Table.from_pylist([{**usual, **call} for call in calls]), POLICY)
    tiles = {name: (figure, note) for name, figure, note in re.findall(r"<dt>(.*?)</dt><dd><strong>(.*?)</strong> <span>(.*?)</span>", made.html)}
    # At 380 pixels, `malformed_reques` and `t` were in two lines.
    assert tiles["Denied"] == ("9", "90.0% of all: 4 malformed_<wbr>request, 5 for 4 other reasons")
    figure, note = tiles["Without a token"]
    assert figure == "3" and re.fullmatch(r"30\.0% [^;]*, 1 of them malformed; 3 \(30\.0%\) [^;]*, 2 of them malformed", note)
    assert (made.figures.without_token, made.figures.with_invalid_token, made.figures.unauthenticated.malformed_with_invalid_token) == (3, 3, 2)
    assert sum(row.calls for row in made.figures.denied_for) == made.figures.denied and made.figures.unauthenticated.malformed_without_token == 1
    text = " ".join(Page(made.html).texts)
    for words in (("1 route was called", " 2 calls"), ("1 call without a valid token", " path "), ("1 call without a token and 2 calls", " malformed")):
        expected.sentences(text, *words)
    made = report(pa.Table.from_pylist([{**usual, **nowhere, "kind": None}, {**usual, **bad, "kind": None}]), POLICY)
    text = " ".join(Page(made.html).texts)
    expected.sentences(text, "No route was called")
    for words in (("1 call without a valid token", " path "), ("1 call without a token", " malformed")):
        expected.sentences(text, *words)
    allowed = report(pa.Table.from_pylist([usual]), POLICY).html
    assert "<dt>Denied</dt><dd><strong>0</strong> <span>0% of all</span>" in allowed and re.search("<dt>Without [^<]*</dt><dd><strong>0</strong> <span>0% of all</span>", allowed)


def test_numbers_on_the_page_agree_with_each_other(expected: Expected) -> None:
    """Calls without a token that ask for a route, and those that do not, are all in the sentence; a replay counts neither by route."""
    calls = [("GET", "/api/v1/external/orbs", None)] * 3 + [("GET", "/nowhere", None)] * 2 + [("GET", "/api/v1/external/orbs", "user")]
    names = ("method", "target", "kind")
    texts = check_harmless(report(pa.table({name: list(column) for name, column in zip(names, zip(*calls))}), POLICY).html).texts
    text = " ".join(texts)
    for words in (("1 route was called", " 3 calls"), ("2 calls without a valid token", " path "), ("1 of the policy's 37 routes",), ("This includes 3 calls",), ("2 calls were denied", " route")):
        expected.sentences(text, *words)
