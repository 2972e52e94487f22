"""The logs of a report: many callers, files and tables, and logs that cannot be read."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from orbgate import TableError, logs, report

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

from made_up_calls import CSV, POLICY, TABLE, Page, made_up, texts_of_table  # noqa: E402
from orbgate._count import decided, heavy  # noqa: E402
from orbgate._read import reader  # noqa: E402

# What the README shows runs in every Python.
pytestmark = pytest.mark.once


def test_the_page_is_bounded() -> None:
    made = report(made_up(30_000, "caller", scopes="x" * 300), POLICY, top=5)
    assert len(made.figures.callers.counts) == 30_000 and made.figures.callers.is_exact
    assert len(made.html) < 150_000
    assert "5 rows, and 29,995 more in the table callers_counts of a bundle (" in Page(made.html).texts


@pytest.mark.long
def test_frequent_scopes_are_there_whatever_came_before() -> None:
    """Of unknown scopes the first 10,000 were kept, and shown as all of them."""
    junk = pa.concat_tables([made_up(30_000, "scopes")] * 2 + [made_up(40_000, "scopes").slice(30_000)])
    frequent = made_up(40_000, "", scopes="read:orbs admin:everything")
    of_both = made_up(40_000, "", scopes="read:keys early")
    calls = pa.concat_tables([of_both, junk, frequent, of_both])
    made = report(calls, POLICY)
    figures = made.figures
    assert {use.scope: (use.granted, use.used) for use in figures.scopes.granted} == {
        "read:orbs": (40_000, 40_000),
        "read:keys": (80_000, 0),
    }
    assert figures.unknown.scopes[:2] == [("early", 80_000, True), ("admin:everything", 40_000, False)]
    assert not figures.unknown.is_exact and 10_000 < figures.unknown.different <= 40_002
    text = html.unescape(" ".join(Page(made.html).texts))
    assert f"Valid tokens have at least {figures.unknown.different:,} scopes that are not in the policy" in text
    assert " admin:everything of another service, or misspelt at least 40,000 " in " ".join(text.split())
    # However the log is cut.
    for rows_each in (1_000, 33_333):
        assert report(calls.to_reader(max_chunksize=rows_each), POLICY).html == made.html


def test_unknown_scopes_have_their_callers() -> None:
    rows = [("user", "read:orbs made:up", "ann"), ("user", "made:up other", "bob"), ("organisation", "made:up", "ann"), ("user", "made:up", None)]
    calls = [{"method": "GET", "target": "/api/v1/external/orbs", "kind": kind, "scopes": scopes, "caller": caller} for kind, scopes, caller in rows]
    made = report(pa.Table.from_pylist(calls), POLICY)
    figures = made.figures
    assert figures.unknown.by_caller == [("ann", "made:up", 2, True), ("bob", "made:up", 1, True), ("bob", "other", 1, True)]
    assert figures.scopes.granted == [("read:orbs", 1, 1, 1, True)] and figures.unknown.scopes == [("made:up", 4, True), ("other", 1, True)]
    assert "in tokens of 2 callers." in made.html and "Callers with scopes that the policy does not have" in made.html


def test_unknown_scopes_of_callers_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orbgate._report.usage.UNKNOWN_SCOPES", 10)
    monkeypatch.setattr("orbgate._count.decided.ROWS_AT_ONCE", 100)
    monkeypatch.setattr("orbgate._read.reader.ROWS_AT_ONCE", 100)
    calls = [{"method": "GET", "target": "/api/v1/external/orbs", "kind": "user", "scopes": f"often jti:{at}", "caller": "ann"} for at in range(2_000)]
    figures = report(pa.Table.from_pylist(calls), POLICY).figures
    assert not figures.unknown.by_caller_is_exact and len(figures.unknown.by_caller) < 400
    assert figures.unknown.by_caller[0] == ("ann", "often", 2_000, True)


@pytest.mark.long
def test_many_callers_are_told_apart_as_far_as_memory_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten million of them took ten gigabytes, and did not end."""
    monkeypatch.setattr(heavy.Heavy.__init__, "__defaults__", (1_000,))
    monkeypatch.setattr(reader, "ROWS_AT_ONCE", 1_024)
    monkeypatch.setattr(decided, "ROWS_AT_ONCE", 1_024)
    often = made_up(500, "", caller="often")
    calls = pa.concat_tables([part for at in range(20) for part in (made_up(2_000, "caller", scopes="").slice(0, 1_500), often)])
    calls = pa.concat_tables([calls, made_up(100_000, "caller"), often])
    figures = report(calls, POLICY).figures
    assert len(figures.callers.counts) < 3_100 and figures.callers.different >= 2_000 and not figures.callers.is_exact
    assert (figures.callers.counts[0].caller, figures.callers.counts[0].denied, figures.callers.counts[0].is_exact) == ("often", 10_500, True)
    late = pa.concat_tables([made_up(100_000, "caller"), often])
    made = report(late, POLICY)
    first = made.figures.callers.counts[0]
    assert (first.caller, first.denied, first.is_exact) == ("often", 500, False)
    text = " ".join(html.unescape(" ".join(Page(made.html).texts)).split())
    assert "often at least 500 at least 500 – scope_missing" in text and "There are too many callers to count each" in text


SAID: list[dict[str, Any]] = [
    {},
    {"kind": "user", "scopes": "read:orbs"},
    {"kind": "organisation", "allow_bonus_orbs_use": True},
    {"time_unit": "s"},
    {"columns": {"scopes": "kind", "caller": "target"}},
]


FILE = r"<div><dt>Log</dt>.*?</div>\n"


@pytest.mark.parametrize("options", SAID, ids=range(len(SAID)))
def test_a_file_and_its_table_have_one_page(tmp_path: Path, options: dict[str, Any]) -> None:
    """The file's said otherwise, and what was said of its columns and values was not heard."""
    path = tmp_path / "calls.csv"
    path.write_text(CSV, encoding="utf-8")
    of_file = report(path, POLICY, **options)
    calls = texts_of_table(path)
    polars = pytest.importorskip("polars")
    for of_table in (calls, calls.to_pandas(), polars.from_arrow(calls), calls.to_batches(), logs.read(path, **options)):
        is_file = isinstance(of_table, logs.Reader)
        page = report(of_table, POLICY, **({} if is_file else options)).html
        # A table has no file.
        assert page == (of_file.html if is_file else re.sub(FILE, "", of_file.html))
    assert len(re.findall(FILE, of_file.html)) == 1
    changed = of_file.html != report(path, POLICY).html
    assert changed == bool(options)
    assert of_file.figures.log.unread_times == (12 if options.get("time_unit") else 24) * 2
    assert "could not be read as times" in of_file.html


@pytest.mark.parametrize("form", ["file", "table"])
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": {"path": "target"}}, ValueError, "`path`"),
        ({"columns": {"method": "verb"}}, TableError, "`verb` for `method` in .*; .* `method`, "),
        ({"columns": {"caller": "who"}}, TableError, "`who` for `caller`"),
        ({"columns": {"kind": "k"}, "kind": "user"}, ValueError, "`kind` .* column `k`"),
        ({"kind": "robot"}, ValueError, "robot"),
        ({"time_unit": "h"}, ValueError, "`h`"),
        ({"method": "verb"}, TypeError, "method"),
    ],
)
def test_what_is_said_and_is_not_there_is_an_error(
    tmp_path: Path, form: str, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    path = tmp_path / "calls.csv"
    path.write_text(CSV, encoding="utf-8")
    with pytest.raises(error, match=message):
        report(path if form == "file" else texts_of_table(path), POLICY, **options)


def test_a_log_that_was_read_before_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    path.write_text(CSV, encoding="utf-8")
    with pytest.raises(ValueError, match="`kind`"):
        report(logs.read(path), POLICY, kind="user")
    reader, batches = logs.read(path), TABLE.to_reader()
    next(reader)
    report(batches, POLICY)
    for again in (reader, batches):
        with pytest.raises(TableError, match="read before"):
            report(again, POLICY)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": [7]}, "`target` .* strings, not int64"),
        ({"caller": [{"name": "ann"}]}, "`caller` .* strings"),
        ({"scopes": [[1]]}, "`scopes` .* lists of strings"),
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
    with pytest.raises(TypeError, match="log .* not int"):
        report(bad, POLICY)


def test_what_a_table_has_is_read_as_of_a_file() -> None:
    """Integers were taken for microseconds, one bad time ended it all, and lists of scopes were an error."""
    calls = {"method": ["GET", None], "target": ["/api/v1/external/orbs"] * 2, "kind": ["user"] * 2}
    figures = report(pa.table({**calls, "scopes": [["read:orbs", "a b"], []], "time": [1_700_000_000] * 2}), POLICY).figures
    assert (figures.allowed, figures.log.unread, figures.log.first_unread[0].why) == (1, 1, "no `method`")
    # One of the two rows is decided.
    assert (figures.times.first, figures.log.unread_times) == (None, 1)
    assert [row.scope for row in figures.unknown.scopes] == ["a\u2420b"]
    seconds = report(pa.table({**calls, "time": [1_700_000_000] * 2}), POLICY, kind="user", time_unit="s").figures
    assert str(seconds.times.first) == "2023-11-14 22:13:20"
    mixed = pa.table({**calls, "time": ["yesterday", "2026-11-02"]})
    assert report(mixed, POLICY, kind="user").figures.log.unread_times == 1


@pytest.mark.parametrize("module", ["pyarrow", "vl_convert", "jinja2"])
def test_what_is_missing_is_named(module: str) -> None:
    program = (
        f"import sys; sys.modules[{module!r}] = None; import orbgate; orbgate.report([], orbgate.Policy.external())"
    )
    command = (
        f"import sys; sys.modules[{module!r}] = None; from orbgate.__main__ import main; main(['report', 'log.jsonl', '--out', 'page.html'])"
    )
    message = f"this needs {module}, which is not installed: pip install 'jinja2>=3.1' 'pyarrow>=16' 'vl-convert-python>=1.9,<2'"
    for script in (program, command):
        failed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert message in failed.stderr
