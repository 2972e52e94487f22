"""Times that are far from all others: they are named and counted, and neither the period, the pictures nor the courses follow them."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, logs, report

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")

from made_up_calls import check_harmless  # noqa: E402
from orbgate._count.bulk import NEAR, bulk, most_far  # noqa: E402

pytestmark = pytest.mark.once

POLICY = Policy.external()
START = datetime(2026, 11, 1)
ODD = {"1970": datetime(1970, 1, 1), "9999": datetime(9999, 12, 31, 23, 59, 59)}


def log(folder: Path, *odd: datetime, name: str = "calls.csv") -> Path:
    """A month of calls, one an hour; `cron` lacks a scope all the time. The odd ones come in the middle."""
    times = [START + timedelta(hours=at) for at in range(720)]
    times[360:360] = odd
    path = folder / name
    rows = (f"{time.isoformat()}Z,GET,/api/v1/external/account,user,{'read:keys' if at % 2 else 'read:account'},{'cron' if at % 2 else 'app'}\n" for at, time in enumerate(times))
    path.write_text("time,method,target,kind,scopes,caller\n" + "".join(rows))
    return path


@pytest.mark.parametrize("odd", [["1970"], ["9999"], ["1970", "9999", "1970"]])
def test_they_change_nothing_but_what_names_them(tmp_path: Path, odd: list[str]) -> None:
    # An even number of rows, so that all others have the caller that they had.
    times = [ODD[name] for name in odd for _ in (0, 1)]
    plain = report(log(tmp_path), POLICY).figures
    path = log(tmp_path, *times, name="odd.csv")
    made = report(path, POLICY)
    figures = made.figures
    assert (figures.times.unit, figures.times.first, figures.times.last, figures.times.spans) == (plain.times.unit, plain.times.first, plain.times.last, plain.times.spans)
    # A failure needs more calls than these; they are of both callers alike.
    looks = {(row.caller, row.pattern): row.looks_like for row in plain.denials.groups}
    assert {(row.caller, row.pattern): row.looks_like for row in figures.denials.groups} == looks
    assert looks["cron", "missing scope"] == "misconfigured client"
    assert [row._replace(row=0) for row in figures.denials.failures] == [row._replace(row=0) for row in plain.denials.failures]
    # Counted, named with the first row, and not taken for calls without a time.
    expected = Counter(times)
    assert {row.time: row.calls for row in figures.times.outlying} == expected and figures.outlying_calls == len(times)
    assert [row.row for row in figures.times.outlying] == [361 + times.index(row.time) for row in figures.times.outlying]
    assert figures.calls == plain.calls + len(times) and figures.without_time == 0
    sentence = f"{len(times)} calls were made far from all other times: {figures.times.outlying[0].time.isoformat(' ')} (row {figures.times.outlying[0].row})"
    assert [warning.startswith(sentence) for warning in figures.log.warnings] == [True]
    texts = " ".join(check_harmless(made.html).texts)
    assert sentence in texts and "Times far from all others" in texts and f"{len(times)} calls far outside" in texts
    summary = logs.replay(logs.read(path), POLICY).to_dict()
    assert (summary["first_time"], summary["last_time"]) == ("2026-11-01T00:00:00+00:00", "2026-11-30T23:00:00+00:00")
    assert summary["outlying_times"]["calls"] == len(times) and summary["outlying_times"]["different"] == len(expected)
    assert {(row["time"], row["count"]) for row in summary["outlying_times"]["first"]} == {(f"{time.isoformat()}+00:00", of) for time, of in expected.items()}
    assert summary["warnings"] == list(figures.log.warnings)


def test_of_several_files_it_is_said_in_which(tmp_path: Path) -> None:
    for name, odd in (("a.csv", []), ("b.csv", [ODD["1970"]]), ("c.csv", [])):
        log(tmp_path, *odd, name=name)
    read: Any = lambda: logs.read([tmp_path / name for name in ("a.csv", "b.csv", "c.csv")])  # noqa: E731
    [row] = report(read(), POLICY).figures.times.outlying
    assert (row.row, row.where) == (720 + 361, "`b.csv`, row 361 of it")
    assert logs.replay(read(), POLICY).to_dict()["outlying_times"]["first"][0]["where"] == row.where


def test_in_a_large_log_the_ends_and_the_outlying_times_are_exact() -> None:
    step, calls = timedelta(seconds=7, microseconds=300_001), 70_000
    times = [START + timedelta(seconds=31, microseconds=5) + at * step for at in range(calls)]
    # Once more than two units of time are needed, two of them come as one, and both are named.
    odd = [datetime(1970, 1, 1, 0, 0, 17, 250_000), datetime(9999, 12, 31, 23, 59, 41), datetime(9999, 12, 31, 23, 59, 59, 1)]
    given = [*times[:9], *odd, *times[9:]]
    log = pa.table({
        "method": ["GET"] * len(given), "target": ["/api/v1/external/account"] * len(given), "kind": ["user"] * len(given),
        "scopes": ["read:account"] * len(given), "time": pa.array(given, pa.timestamp("us")),
    })
    figures = report(log, POLICY, time_zone="UTC").figures
    assert (figures.times.first, figures.times.last) == (times[0], times[-1])
    assert [row[:3] for row in figures.times.outlying] == [(odd[0], 1, 10), (odd[1], 2, 11)]
    assert [row.until for row in figures.times.outlying] == [odd[0], odd[2]]
    assert sum(span.allowed for span in figures.times.spans) == calls and figures.outlying_calls == 3
    summary = logs.replay(logs.read(log, time_zone="UTC"), POLICY).to_dict()
    assert (summary["first_time"], summary["last_time"]) == (f"{times[0].isoformat()}+00:00", f"{times[-1].isoformat()}+00:00")
    assert [(row["time"], row["until"]) for row in summary["outlying_times"]["first"]] == [
        (f"{odd[0].isoformat()}+00:00",) * 2, (f"{odd[1].isoformat()}+00:00", f"{odd[2].isoformat()}+00:00")
    ]
    assert "far from all other times: 1970-01-01 00:00:17.250000 (row 10), 9999-12-31 23:59:41 to 9999-12-31 23:59:59.000001 (row 11)." in summary["warnings"][-1]


def same_times(log: Any, **options: Any) -> tuple[dict[str, Any], Any]:
    """What `replay` and the report say, which must be one and the same of when calls were made."""
    summary, figures = logs.replay(logs.read(log, **options), POLICY).to_dict(), report(log, POLICY, **options).figures
    ends = [end and f"{end.isoformat()}+00:00" for end in (figures.times.first, figures.times.last)]
    assert [summary["first_time"], summary["last_time"]] == ends
    far = [(f"{row.time.isoformat()}+00:00", f"{row.until.isoformat()}+00:00", row.calls, row.row, row.where) for row in figures.times.outlying]
    assert [tuple(row.values()) for row in summary["outlying_times"]["first"]] == [(time, until, *of) for time, until, *of in far[:5]]
    assert (summary["outlying_times"]["different"], summary["outlying_times"]["calls"]) == (len(far), figures.outlying_calls)
    assert (summary["unread_times"], summary["errors"], summary["warnings"]) == (figures.log.unread_times, figures.log.unread, list(figures.log.warnings))
    return summary, figures


@pytest.mark.parametrize("calls", [0, 2, 40])
def test_rows_that_could_not_be_read_have_no_part_in_the_period(tmp_path: Path, calls: int) -> None:
    path = tmp_path / "access.log"
    unread = ['::1 - - [%s:09:00:00 +0000] "\\x16\\x03\\x01" 400 0\n' % day for day in ("20/Nov/2026", "01/Jan/1970", "99/Nov/2026")]
    path.write_text(unread[0] + "".join(f'::1 - - [{2 + at % 2:02}/Nov/2026:09:00:00 +0000] "GET /api/v1/external/orbs HTTP/1.1" 200 0\n' for at in range(calls)) + "".join(unread[1:]))
    summary, _ = same_times(path, kind="user", scopes="read:orbs")
    assert (summary["rows"], summary["errors"], summary["unread_times"]) == (calls + 3, 3, 0)
    assert (summary["first_time"], summary["last_time"]) == (("2026-11-02T09:00:00+00:00", "2026-11-03T09:00:00+00:00") if calls else (None, None))
    assert summary["outlying_times"]["calls"] == 0


def test_a_large_log_has_the_same_outlying_times_in_replay_and_report() -> None:
    # Fewer seconds than are told apart, and more of them with their decisions; some calls name no time.
    calls, odd = 72_000, [datetime(1970, 1, 1, 0, 0, at) for at in (3, 1, 2)]
    times: list[datetime | None] = [START + timedelta(seconds=at // 2) for at in range(calls)]
    times[100:100] = odd
    times[9:9] = [None] * 2
    log = pa.table({
        "method": ["GET"] * len(times), "target": ["/api/v1/external/account"] * len(times), "kind": ["user"] * len(times),
        "scopes": ["read:account", "read:keys"] * (len(times) // 2) + ["read:keys"] * (len(times) % 2), "time": pa.array(times, pa.timestamp("us", "UTC")),
    })
    summary, figures = same_times(log)
    assert summary["outlying_times"]["calls"] == 3 and [(row.row, row.calls) for row in figures.times.outlying] == [(103, 3)]


def test_what_is_no_outlier_stays() -> None:
    hour = timedelta(hours=1)

    def far(times: list[datetime]) -> list[datetime]:
        period = bulk(Counter(times))
        assert period is not None
        return sorted(time for time in set(times) if not period[0] <= time <= period[1])

    month = [START + at * hour for at in range(720)]
    # A quiet month before a busy hour; a log that begins with a gap as long as itself; few calls.
    assert far([START - at * hour for at in range(200)] + [START + timedelta(seconds=at % 3_600) for at in range(99_000)]) == []
    assert far([START - (month[-1] - month[0]), *month]) == []
    assert far([START - (month[-1] - month[0]) - timedelta(seconds=1), *month]) == [START - (month[-1] - month[0]) - timedelta(seconds=1)]
    assert far([ODD["1970"], *[START] * 8]) == [] and far([ODD["1970"], *[START] * 9]) == [ODD["1970"]]
    # More than one in a hundred are no slip.
    assert far([ODD["1970"]] * 8 + month[:700]) == [] and far([ODD["1970"]] * 7 + month[:700]) == [ODD["1970"]]
    assert far([START]) == [] and far([START, START + NEAR] * 50 + [START + 2 * NEAR]) == [] and bulk(Counter()) is None


EARLY = [datetime(1970, 1, 1), datetime(1970, 1, 1, 0, 0, 7), datetime(1971, 5, 1)]
LATE = [datetime(9999, 12, 31, 23, 59, 59), datetime(9999, 12, 31), datetime(9998, 1, 1)]
# Of how many calls how many may be far at each end.
MOST = {9: 0, 10: 1, 19: 1, 20: 2, 29: 2, 30: 3, 31: 3, 100: 3, 101: 3, 399: 3, 400: 4}


@pytest.mark.parametrize("rows", MOST)
def test_of_a_small_log_both_ends_are_judged_alike(rows: int) -> None:
    """An end has all of its odd times left out, or none."""
    assert most_far(rows) == MOST[rows]
    for before in range(4):
        for behind in range(4):
            month = [START + at * timedelta(hours=1) for at in range(rows - before - behind)]
            times = EARLY[:before] + month + LATE[:behind]
            last = month[-1] if behind <= MOST[rows] else max(LATE[:behind])
            # Beside a period up to the year 9999, 1970 is not far.
            first = month[0] if before <= MOST[rows] and last == month[-1] else min([*EARLY[:before], month[0]])
            assert bulk(Counter(times)) == (first, last), (before, behind)


@pytest.mark.parametrize(("odd", "left_out"), [((), 0), (("1970",), 1), (("9999",), 1), (("1970", "9999"), 2), (("1970", "1970", "9999"), 3)])
def test_the_page_names_those_of_a_log_of_31_rows(tmp_path: Path, odd: tuple[str, ...], left_out: int) -> None:
    times = [START + timedelta(hours=at) for at in range(31 - len(odd))]
    times[7:7] = [ODD[name] for name in odd]
    path = tmp_path / "calls.csv"
    path.write_text("time,method,target\n" + "".join(f"{time.isoformat()}Z,GET,/api/v1/external/account\n" for time in times))
    made = report(path, POLICY)
    assert (made.figures.times.first, made.figures.times.last) == (START, START + timedelta(hours=30 - len(odd)))
    assert made.figures.outlying_calls == left_out
    texts = " ".join(check_harmless(made.html).texts)
    for name in odd:
        assert f"{ODD[name].isoformat(' ')} (row {8 + odd.index(name)})" in texts
    assert (" made far from all other times: " in texts) == bool(odd)


def test_the_bulk_is_that_of_a_search_through_all(seed: int = 5) -> None:
    draw = random.Random(seed)
    for _ in range(400):
        spread = draw.choice([10, 100_000, 100_000_000])
        times = [START + timedelta(seconds=draw.randrange(spread)) for _ in range(draw.randrange(1, 130))]
        times += [START + timedelta(days=draw.randrange(-90_000, 90_000)) for _ in range(draw.randrange(8))]
        ordered, every, most = sorted(set(times)), sorted(times), most_far(len(times))

        def is_apart(first: datetime, last: datetime) -> bool:
            """Few calls are out of it at each end, and all of them far from it."""
            reach = max(NEAR, last - first)
            before, end = bisect_left(every, first), bisect_right(every, last)
            is_far = before == 0 or first - every[before - 1] > reach, end == len(every) or every[end] - last > reach
            return before <= most and len(every) - end <= most and all(is_far)

        # The shortest stretch that is so; there is one alone.
        stretches = [(last - first, first, last) for at, first in enumerate(ordered) for last in ordered[at:] if is_apart(first, last)]
        [(_, first, last), *longer] = sorted(stretches)
        assert all(length > last - first for length, *_ in longer)
        assert bulk(Counter(times)) == (first, last)
        # Time that runs backwards has the same.
        turned = bulk(Counter(START - (time - START) for time in times))
        assert turned == (START - (last - START), START - (first - START))
