"""How long half of a group's calls took: exact while the seconds fit, and then within its limits, so that no course is wrong."""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest
from orbgate import Policy, report

pa = pytest.importorskip("pyarrow")

from orbgate._report import courses  # noqa: E402
from orbgate._report.courses import BURST, LIMITS, NOT_CLEAR, STEADY, UNEVEN, GroupSeconds, Half, Period, Spans  # noqa: E402

pytestmark = pytest.mark.once

DAY = 86_400
PERIOD = Period(1_000_003, 1_000_003 + 30 * DAY - 1)


def shortest(seconds: list[int]) -> int:
    """The oracle: of the sorted seconds, the shortest stretch with half of them."""
    half = -(-len(seconds) // 2)
    return min(seconds[at + half - 1] - seconds[at] + 1 for at in range(len(seconds) - half + 1))


def course_of(seconds: int, period: Period = PERIOD) -> str:
    return BURST if 24 * seconds <= period.seconds else STEADY if 4 * seconds >= period.seconds else UNEVEN


def near_a_limit(draw: random.Random, count: int) -> list[int]:
    """Seconds of a group of which half came within about a quarter, or about a 24th, of the period, and the others before or after."""
    limit = PERIOD.seconds // draw.choice([4, 24])
    length = limit + draw.choice([-1, 0, 1, *range(-limit // 100, limit // 100, limit // 500)])
    start = draw.randrange(PERIOD.first, PERIOD.last - length)
    half = [start, start + length - 1, *(start + draw.randrange(length) for _ in range(count // 2 - 2))]
    others = (PERIOD.first + draw.randrange(PERIOD.seconds - length) for _ in range(count - len(half)))
    return sorted(half + [second if second < start else second + length for second in others])


def counted(groups: dict[int, list[int]], seed: int = 0, at_once: int = 500) -> GroupSeconds:
    """The seconds of groups, in some order, and in batches."""
    calls = [(group, second) for group, seconds in groups.items() for second in seconds]
    random.Random(seed).shuffle(calls)
    found = GroupSeconds()
    for at in range(0, len(calls), at_once):
        group, second = zip(*calls[at : at + at_once])
        found.see(pa.array(group, pa.int64()), pa.array(second, pa.int64()))
    return found


def halves(found: GroupSeconds) -> dict[int, Half | None]:
    return {group: spans.half(PERIOD) for group, spans in found.by_group().items()}


@pytest.mark.parametrize("seed", range(4))
def test_while_all_seconds_fit_every_group_is_exact(seed: int) -> None:
    draw = random.Random(seed)
    groups = {group: near_a_limit(draw, draw.choice([10, 65, 300, 4_000])) for group in range(100)}
    for group, half in halves(counted(groups)).items():
        exact = shortest(groups[group])
        assert half is not None and half.least_seconds == half.most_seconds == exact
        assert half.course(PERIOD) == course_of(exact) and half.start in groups[group]


@pytest.mark.parametrize("seed", range(4))
def test_beyond_that_the_truth_is_between_the_limits_and_no_course_is_wrong(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courses, "MOST_SECONDS", 20_000)
    draw = random.Random(seed)
    groups = {group: near_a_limit(draw, draw.choice([10, 65, 300, 2_000])) for group in range(100)}
    said: Counter[str | None] = Counter()
    for group, half in halves(counted(groups)).items():
        exact = shortest(groups[group])
        assert half is not None and half.least_seconds <= exact <= half.most_seconds
        assert half.course(PERIOD) in (course_of(exact), NOT_CLEAR)
        said[half.course(PERIOD)] += 1
        within = sum(half.start <= second < half.start + half.most_seconds for second in groups[group])
        assert 2 * within >= len(groups[group])
        # Two spans of time, each at most a 64th of the period.
        assert half.most_seconds - half.least_seconds <= 4 * PERIOD.seconds / 128
    # Some are told nothing of, and not all.
    assert said[NOT_CLEAR] > 10 and said[STEADY] + said[BURST] + said[UNEVEN] > 10


def test_neither_the_order_nor_the_batches_nor_an_interruption_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(3)
    groups = {group: near_a_limit(draw, draw.choice([10, 65, 300, 2_000])) for group in range(60)}
    for most in (1 << 19, 9_000, 4_000):
        monkeypatch.setattr(courses, "MOST_SECONDS", most)
        first = halves(counted(groups))
        for seed, at_once in ((1, 77), (2, 5_000), (3, 100_000)):
            assert halves(counted(groups, seed, at_once)) == first
        one, rest = {group: of[::2] for group, of in groups.items()}, {group: of[1::2] for group, of in groups.items()}
        resumed = GroupSeconds()
        resumed.restore(counted(one).state())
        for group, seconds in rest.items():
            resumed.see(pa.array([group] * len(seconds), pa.int64()), pa.array(seconds, pa.int64()))
        assert halves(resumed) == first
    found = counted(groups)
    found.keep({3, 5})
    assert {group: sum(spans.calls) for group, spans in found.by_group().items()} == {group: len(groups[group]) for group in (3, 5)}


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courses, "MOST_SECONDS", 5_000)
    draw = random.Random(8)
    groups = {group: sorted(draw.sample(range(PERIOD.first, PERIOD.last), 3_000 if group < 10 else 20)) for group in range(60)}
    found = counted(groups).by_group()
    sizes = {group: len(spans.calls) for group, spans in found.items()}
    assert sum(sizes.values()) <= 5_000 and all(sum(spans.calls) == len(groups[group]) for group, spans in found.items())
    # Small groups stay exact.
    assert all(sizes[group] == 20 for group in range(10, 60)) and min(sizes.values()) == 20


def test_times_out_of_the_period_stretch_nothing() -> None:
    inside = [PERIOD.first + at * DAY // 4 for at in range(120)]
    outside = [-62_135_596_800, -5, 0, 253_402_300_799, *range(10**10, 10**10 + 30)]
    [half] = halves(counted({7: inside + outside})).values()
    assert half is not None and (half.least_seconds, half.most_seconds, half.calls) == (shortest(inside), shortest(inside), 120)
    assert halves(counted({7: outside})) == {7: None}


def test_calls_at_unknown_times_may_be_anywhere() -> None:
    """For each number of them and each location, the truth is between the limits."""
    draw = random.Random(11)
    period = Period(0, 9_999)
    for _ in range(400):
        known = sorted(draw.randrange(10_000) for _ in range(draw.randrange(10, 40)))
        unseen = draw.randrange(1, 45)
        spans = Spans(known, known, [1] * len(known))
        half = spans.half(period, unseen)
        if unseen > len(known):
            # Half of them may be those alone.
            assert half is None
            continue
        assert half is not None
        for count in (0, unseen // 2, unseen):
            location = draw.choice([range(10_000), range(5_000, 5_001), range(0, 10_000, 9_999), range(1_000, 2_000)])
            exact = shortest(sorted([*known, *(draw.choice(location) for _ in range(count))]))
            assert half.least_seconds <= exact <= half.most_seconds
            assert half.course(period) in (course_of(exact, period), NOT_CLEAR)


POLICY = Policy.from_yaml("orbgate: 1\napis: {a: {base_path: /v, scopes: {write: {orbs: false, routes: [POST /a]}}}}")


def log(seconds: list[int]) -> Any:
    """Calls of one client, and others at the ends of the period."""
    times = [(second, "cron") for second in seconds] + [(PERIOD.first, "other"), (PERIOD.last, "other")]
    return pa.table({
        "method": ["POST"] * len(times), "target": ["/v/a"] * len(times), "kind": ["user"] * len(times), "scopes": [""] * len(times),
        "caller": [caller for _, caller in times],
        "time": pa.array([datetime(1970, 1, 1) + timedelta(seconds=second) for second, _ in times], pa.timestamp("us")),
    })  # fmt: skip


@pytest.mark.parametrize(("less", "course", "sign"), [(0, STEADY, "misconfigured client"), (1, UNEVEN, None)])
def test_a_second_makes_the_difference(less: int, course: str, sign: str | None) -> None:
    """Of a month, half of many calls take a quarter, or a second less."""
    length, start = PERIOD.seconds // 4 - less, PERIOD.first + 1_000
    # Half of them need both of the first two seconds and what is between; some come just after.
    ends = [start, start + length - 1, start + 2 * length + 90, start + 3 * length + 180]
    seconds = [*ends * 100, *(start + at * length // 70 for at in range(70)), *(start + length + at for at in range(30))]
    assert shortest(sorted(seconds)) == length
    made = report(log(seconds), POLICY, time_zone="UTC").figures.denials.groups
    [row] = [row for row in made if row.caller == "cron"]
    assert (row.half_least_seconds, row.half_seconds, row.course, row.looks_like) == (length, length, course, sign)


def of_cron(known: int, unknown: int = 0, far: int = 0) -> tuple[Any, Any]:
    """A report on a month of a client's calls, of which some have no time, or one of long ago; and the client's row."""
    seconds = [PERIOD.first + at * DAY * 29 // known + at % 60 for at in range(known)]
    made = log([*seconds, *[-(10**9)] * far, *[0] * unknown])
    times = made["time"].to_pylist()
    times = [None if known + far <= at < known + far + unknown else time for at, time in enumerate(times)]
    made = report(made.set_column(made.column_names.index("time"), "time", pa.array(times, pa.timestamp("us"))), POLICY, time_zone="UTC")
    [row] = [row for row in made.figures.denials.groups if row.caller == "cron"]
    return made, row


@pytest.mark.parametrize(("known", "unknown"), [(2, 100), (10, 30), (19, 21)])
def test_without_most_of_the_times_nothing_is_said_of_half_of_the_calls(known: int, unknown: int) -> None:
    made, row = of_cron(known, unknown)
    assert (row.calls, row.without_time, row.outlying) == (known + unknown, unknown, 0)
    assert row.half_from is row.half_least_seconds is row.half_seconds is row.course is row.looks_like is None
    assert f">– ({unknown} without a time)<" in made.html and ">steady<" not in made.html


def test_with_most_of_the_times_the_words_hold_wherever_the_other_calls_are() -> None:
    made, row = of_cron(90, 10)
    assert (row.calls, row.without_time, row.course, row.looks_like) == (100, 10, STEADY, "misconfigured client")
    # The time of 40 of the 90, and of 50 of them.
    assert row.half_least_seconds // DAY == 12 and row.half_seconds // DAY == 15
    assert ">100 calls lacked write; no other call of this caller carried it; the first" in made.html
    assert ">12 days 13 hours to 15 days 19 hours from 1970-01-16 02:50:54 on (10 without a time)<" in made.html
    assert LIMITS in made.html
    # Half of the calls are as many as these.
    made, row = of_cron(20, 20)
    assert row.half_least_seconds == 1 and row.half_seconds // DAY == 27 and (row.course, row.looks_like) == (NOT_CLEAR, None)
    assert of_cron(9, 3)[1].course is None


def test_calls_far_from_all_others_are_left_out_and_the_row_says_how_many() -> None:
    made, row = of_cron(98, far=2)
    plain, alone = of_cron(98)
    assert (row.calls, row.outlying, row.without_time, alone.outlying) == (100, 2, 0, 0)
    assert (row.half_from, row.half_seconds, row.course) == (alone.half_from, alone.half_seconds, STEADY)
    assert " on (2 far from all other times, left out)" in made.html and "left out)" not in plain.html
    assert " on (3 without a time; 2 far from all other times, left out)" in of_cron(95, unknown=3, far=2)[0].html


@pytest.mark.parametrize("spread", [0, 1, 60, 900])
def test_a_log_of_less_than_an_hour_has_no_course(spread: int) -> None:
    """Whatever comes within a minute is steady in that minute, so it says nothing of the client."""
    seconds = [1_000_000 + at * spread for at in range(4) for _ in range(10)]
    made = report(log(seconds).filter(pa.compute.equal(log(seconds)["caller"], "cron")), POLICY, time_zone="UTC")
    [row] = made.figures.denials.groups
    assert (row.calls, row.course, row.looks_like, row.half_seconds) == (40, None, None, spread + 1)
    assert "A log of less than an hour has no courses." in made.html and ">steady<" not in made.html


@pytest.mark.parametrize(("length", "course", "sign"), [(3_600, STEADY, "misconfigured client"), (3_599, None, None)])
def test_a_course_is_said_from_an_hour_on(length: int, course: str | None, sign: str | None) -> None:
    seconds = [at * (length - 1) // 39 for at in range(40)]
    [row] = report(log(seconds).filter(pa.compute.equal(log(seconds)["caller"], "cron")), POLICY, time_zone="UTC").figures.denials.groups
    assert (row.course, row.looks_like) == (course, sign)


def test_the_page_says_where_it_is_between_two_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(2)
    seconds = near_a_limit(draw, 4_000)
    exact = report(log(seconds), POLICY, time_zone="UTC")
    monkeypatch.setattr(courses, "MOST_SECONDS", 300)
    made = report(log(seconds), POLICY, time_zone="UTC")
    [row] = [row for row in made.figures.denials.groups if row.caller == "cron"]
    [known] = [row for row in exact.figures.denials.groups if row.caller == "cron"]
    assert known.half_least_seconds == known.half_seconds == shortest(seconds)
    assert row.half_least_seconds is not None and row.half_seconds is not None
    assert row.half_least_seconds < shortest(seconds) < row.half_seconds and row.course == NOT_CLEAR and row.looks_like is None
    assert f"{LIMITS}." in made.html and f">{NOT_CLEAR}<" in made.html and LIMITS not in exact.html
