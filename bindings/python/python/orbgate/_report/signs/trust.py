"""Whether a log can be trusted: hours without rows, a thinner sample, rows twice, values that are cut or written otherwise, mixed zones."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate
from statistics import median
from typing import Any, NamedTuple

from ..._number import number
from ..._read import private
from ..numbers import MEDIUM, length, share, shown
from ..thresholds import (
    APART_ADDRESSES, APART_CALLS, CLASS_ROWS, COPY_APART, COPY_HOUR_PART, COPY_PART, COPY_ROWS, CUT_ENDS, CUT_PART, CUT_ROWS, DAY_PART, DAY_ROWS, END_CALLS, END_GONE, END_HOURS, END_PART, END_STARTED, END_STEADY, GAP_ALIKE,
    GAP_CALLERS, GAP_CALLS, GAP_SECONDS, MASKED_CALLERS, MASKED_CALLS, MASKED_PART, RENAMED_PART, RENAMED_USERS, RESPELT_CALLERS, RESPELT_MACHINES, RESPELT_PART, SPELT_PART, SPELT_ROWS, STEP_PART, STEP_ROWS, THIN_CALLERS,
    THIN_CALLS, THIN_FACTOR, THIN_HOURS, THIN_STEADY,
)  # fmt: skip
from ..timelines import HOUR, LET_IN, second_of, time_of
from ..evidence import OTHER_STEP, SEPARATORS, SERVED, SHORT
from ..tokens import network
from .ground import Cover, Ground, Sign, name, said_when, sign

DAY = 86_400
# The kinds of tokens that are written as this package writes them.
KINDS = (b"user", b"organisation")
# Lengths at which systems cut values.
ROUND = frozenset(
    {
        32,
        40,
        48,
        50,
        60,
        63,
        64,
        80,
        96,
        100,
        120,
        127,
        128,
        150,
        160,
        180,
        200,
        250,
        254,
        255,
        256,
        400,
        500,
        511,
        512,
        1_000,
        1_023,
        1_024,
        2_047,
        2_048,
        4_096,
    }
)


def doubts(ground: Ground) -> tuple[list[Sign], Cover]:
    """The doubts about a log, and what they cover."""
    found: list[Sign] = []
    if ground.period is not None and ground.has_hours:
        found += [*_gaps(ground), *_thinner(ground), *_ends(ground), *_copies(ground), *_days(ground), *_zones(ground), *_masked(ground), *_apart(ground)]
    cut, cover = _cut(ground)
    parts = [(cut, cover), _spelt(ground, "scopes" in cover.columns), _respelt(ground)]
    if ground.period is not None and ground.has_hours:
        parts += [_classes(ground), _renamed(ground)]
    covers = [cover for _, cover in parts]
    sources = frozenset(source for cover in covers for source in cover.sources)
    columns = frozenset(column for cover in covers for column in cover.columns)
    served, are_clients_other = sum(cover.served for cover in covers), any(cover.are_clients_other for cover in covers)
    return [*found, *(one for some, _ in parts for one in some)], Cover(served, columns, sources, are_clients_other=are_clients_other)


def not_made(ground: Ground) -> tuple[str, ...]:
    """The checks that need columns that the log hasn't, a sentence each."""
    evidence = ground.evidence
    lacks = (
        (evidence.has_instances, "instance", "whether the rows of one instance end early, and whether instances answer one token differently"),
        (evidence.has_addresses, "address", "many callers from one address"),
        (evidence.has_tokens, "token", "one token that is answered differently"),
        (
            evidence.has_accounts,
            "account",
            "whether calls moved the orbs of another account than theirs, except, with a ledger, for callers that nearly always use one account",
        ),
    )
    return tuple(f"Not checked without a column `{column}`: {what}." for has, column, what in lacks if not has)


def _gaps(ground: Ground) -> Iterator[Sign]:
    """Times without rows, if many calls were made just before and after, and silences as long aren't usual."""
    assert ground.period is not None
    calls: Counter[tuple[int, int]] = Counter()
    for row in ground.timed:
        calls[second_of(row["earliest"]), second_of(row["latest"])] += row["calls"]
    times = sorted(span for span in calls if ground.period.first <= span[0] and span[1] <= ground.period.last)
    silences = [(later[0] - earlier[1], earlier[1], later[0]) for earlier, later in zip(times, times[1:]) if later[0] - earlier[1] >= GAP_SECONDS / 2]
    for size, since, until in sorted(silences, reverse=True)[:MOST_GAPS]:
        if size < GAP_SECONDS or sum(2 * other >= size for other, *_ in silences) > GAP_ALIKE + MOST_GAPS // 2 or _is_usual(size, since, until, silences, ground.period.last - ground.period.first):
            continue
        near = min(HOUR, max(size // 2, GAP_SECONDS))
        before, after = (
            sum(count for span, count in calls.items() if first <= span[0] and span[1] <= last)
            for first, last in ((since - near, since), (until, until + near))
        )
        # Within an hour, a few users can all be silent by chance.
        if min(before, after) < (GAP_CALLS if size >= HOUR else 2 * GAP_CALLS):
            continue
        busy = {row["caller"] for row in ground.evidence.hours.rows() if row["hour"] in (since // HOUR, since // HOUR - 1)} & {
            row["caller"] for row in ground.evidence.hours.rows() if row["hour"] in (until // HOUR, until // HOUR + 1)
        }
        if 0 < len(busy - {None}) < GAP_CALLERS:
            continue
        callers = f", and {number(len(busy), 'caller')} made calls on both sides" if busy else ""
        sentence = (
            f"no rows {said_when(since, until)} ({length(size)}), with {number(before, 'call')} in the {length(near)} before and "
            f"{number(after)} in the {length(near)} after{callers}"
        )
        yield sign("rows_missing", MEDIUM, "the log", before + after, sentence, since, until)


# The callers whose rates are compared.
BUSIEST = 200
# The most silences that are reported.
MOST_GAPS = 4


def _is_usual(size: int, since: int, until: int, silences: list[tuple[int, int, int]], whole: int) -> bool:
    """Whether silences as long are usual, at the same time of day or at a weekend."""
    alike = [start for other, start, _ in silences if 3 * other >= 2 * size and start != since]
    at_same_hour = [start for other, start, _ in silences if 2 * other >= size and start != since and min((start - since) % DAY, (since - start) % DAY) <= 2 * HOUR]
    if at_same_hour or len(alike) >= GAP_ALIKE:
        return True
    # The first of January 1970 was a Thursday.
    if size > DAY / 2 and (since // DAY + 3) % 7 in (4, 5) and (until // DAY + 3) % 7 in (0, 6):
        return True
    # One night without calls, in a log of a day or two. In a longer one, calls were made in the other nights.
    return whole <= 3 * DAY and size >= 5 * HOUR and (until // DAY * DAY + 3 * HOUR > since) and until % DAY >= 3 * HOUR


def _thinner(ground: Ground) -> Iterator[Sign]:
    """A time from which all callers make the same small part of their calls, as if one in so many rows were kept."""
    assert ground.period is not None
    by_caller: defaultdict[bytes | None, Counter[int]] = defaultdict(Counter)
    whole: Counter[int] = Counter()
    for row in ground.evidence.hours.rows():
        if ground.period.first <= row["second"] and row["last"] <= ground.period.last:
            by_caller[row["caller"]][row["hour"]] += row["calls"]
            whole[row["hour"]] += row["calls"]
    if not whole:
        return
    # The others make too few calls to tell.
    busiest = sorted(by_caller, key=lambda caller: (-by_caller[caller].total(), caller or b""))[:BUSIEST]
    by_caller = defaultdict(Counter, {caller: by_caller[caller] for caller in busiest})
    start, end = min(whole), max(whole)
    best: _Thinner | None = None
    for at in range(start + THIN_HOURS, end - THIN_HOURS + 1):
        for begins in (True, False):
            near, far = (range(at - THIN_HOURS, at), range(at + 1, at + 1 + THIN_HOURS))
            much, little = (near, far) if begins else (far, near)
            busy = sum(whole[hour] for hour in much)
            few = sum(whole[hour] for hour in little)
            if not few or few > THIN_FACTOR * busy or few * 100 < busy:
                continue
            factor = few / busy
            callers = {caller: sum(hours[hour] for hour in much) for caller, hours in by_caller.items()}
            large = {caller: calls for caller, calls in callers.items() if calls >= THIN_CALLS and calls * factor >= 2}
            alike = [
                caller for caller, calls in large.items() if factor / 2.5 <= sum(by_caller[caller][hour] for hour in little) / calls <= min(0.6, factor * 2.5)
            ]
            # People work for an hour and then not, so many of them differ by chance; what calls in every hour tells more.
            day = range(at - 24, at) if begins else range(at + 1, at + 25)
            steady = {caller for caller in large if 10 * sum(by_caller[caller][hour] > 0 for hour in day) >= 9 * len(day)}
            is_steady = len(steady) >= THIN_STEADY and 10 * len(steady.intersection(alike)) >= 9 * len(steady)
            if (len(large) < THIN_CALLERS or 10 * len(alike) < 8 * len(large)) and not is_steady:
                continue
            rest = [whole[hour] for hour in (range(at + 1, end) if begins else range(start + 1, at - 1))]
            usual = median(whole[hour] for hour in (range(start, at) if begins else range(at + 1, end + 1)))
            # An evening is followed by a morning, and one of the day before was alike.
            if not rest or max(rest) > 0.75 * usual or _is_daily(whole, at, factor, begins, start, end):
                continue
            # The evening of a log of one day: callers slow down little by little.
            step = (whole[at + 1], whole[at - 1]) if begins else (whole[at - 1], whole[at + 1])
            if step[0] > 0.5 * step[1]:
                continue
            if best is None or factor < best.factor:
                compared = steady if is_steady else {*large}
                best = _Thinner(factor, at, len(compared.intersection(alike)), len(compared), is_steady)
    if best is None:
        best = _thinner_day(by_caller, whole)
    if best is None:
        return
    factor, at, alike_count, large_count, is_of_steady = best
    is_start = whole[at + 1] < whole[at - 1]
    # The hour of the change has both.
    of = [row for row in ground.evidence.hours.rows() if (row["hour"] > at if is_start else row["hour"] < at)]
    first, last, calls = min(row["second"] for row in of), max(row["last"] for row in of), sum(row["calls"] for row in of)
    one = max(2, round(1 / factor))
    sentence = (
        f"{'from' if is_start else 'until'} about {said_when(at * HOUR, at * HOUR).removeprefix('on ')} "
        f"{'on ' if is_start else ''}all callers make about 1 in {one} of the calls that they make "
        f"{'before' if is_start else 'after'}: {number(alike_count)} of {number(large_count)} "
        f"{'callers that call in nearly every hour' if is_of_steady else 'busy callers'} alike, as if rows were sampled"
    )
    yield sign("thinner_sample", MEDIUM, "the log", calls, sentence, first, last)


class _Thinner(NamedTuple):
    """A part of the log with fewer calls: their part, the hour of the change, how many of the compared callers make this part alike, and
    whether only those are compared that call in nearly every hour.
    """

    factor: float
    at: int
    alike: int
    compared: int
    is_steady: bool


def _thinner_day(by_caller: dict[bytes | None, Counter[int]], whole: Counter[int]) -> _Thinner | None:
    """The hour since which all callers make the same small part of the calls of the day before, also those that call in nearly every hour."""
    start, end = min(whole), max(whole)
    # A log can be of decades, so each hour takes a few steps only.
    until = list(accumulate((whole[hour] for hour in range(start, end + 1)), initial=0))
    best: _Thinner | None = None
    for at in range(start + 24, end - 23):
        here = at - start
        sums = until[here] - until[here - 24], until[here + 25] - until[here + 1]
        if not sums[1]:
            continue
        rates = until[here] / here, (until[-1] - until[here + 1]) / (end - at)
        factor = sums[1] / max(1, sums[0])
        if factor > THIN_FACTOR or rates[1] > THIN_FACTOR * rates[0] or (best is not None and factor >= best.factor):
            continue
        parts: list[tuple[float, bool]] = []
        for hours in by_caller.values():
            before, after = ([hours[hour] for hour in some] for some in (range(at - 24, at), range(at + 1, at + 25)))
            if sum(before) * factor >= THIN_FEW:
                parts.append((sum(after) / sum(before), 10 * sum(map(bool, before)) >= 9 * 24))
        alike = sum(factor / 2.5 <= part <= min(0.6, 2.5 * factor) for part, _ in parts)
        # On a holiday, people make fewer calls, and machines as many as before.
        steady = [part for part, is_steady in parts if is_steady]
        if alike >= THIN_CALLERS and 10 * alike >= 8 * len(parts) and steady and max(steady) <= min(0.6, 2.5 * factor):
            best = _Thinner(factor, at, alike, len(parts), False)
    return best


# The calls that a caller has left after such a change, to compare it.
THIN_FEW = 4


def _is_daily(whole: Counter[int], at: int, factor: float, begins: bool, start: int, end: int) -> bool:
    """Whether the calls of another day also changed at the same hour."""
    for day in (-48, -24, 24, 48):
        if start <= at + day - THIN_HOURS and at + day + THIN_HOURS <= end:
            near, far = (sum(whole[at + day + hour] for hour in hours) for hours in (range(-THIN_HOURS, 0), range(1, 1 + THIN_HOURS)))
            much, little = (near, far) if begins else (far, near)
            if little <= max(2 * factor, 0.6) * much:
                return True
    return False


def _ends(ground: Ground) -> Iterator[Sign]:
    """An instance, a file or an address with a steady part of the rows that ends in the middle, and whose calls nobody else takes over."""
    assert ground.period is not None
    evidence = ground.evidence
    kinds = [
        ("source", evidence.sources.rows(), "instance" if evidence.has_instances else "file"),
        *([("address", evidence.places.rows(), "address")] if evidence.has_addresses else []),
    ]
    for column, rows, what in kinds:
        hours: defaultdict[bytes, Counter[int]] = defaultdict(Counter)
        ends: dict[bytes, tuple[int, int]] = {}
        whole: Counter[int] = Counter()
        for row in rows:
            # An address whose calls are all refused is no part of the log's callers.
            if column == "address" and row["class"] != SERVED:
                continue
            if row[column] is not None and ground.period.first <= row["second"] and row["last"] <= ground.period.last:
                hours[row[column]][row["hour"]] += row["calls"]
                first, last = ends.get(row[column], (row["second"], row["last"]))
                ends[row[column]] = min(first, row["second"]), max(last, row["last"])
                whole[row["hour"]] += row["calls"]
        # Files one after the other are a log in parts.
        if len(hours) < 2 or (what == "file" and not _overlap(ends)):
            continue
        every = whole.total()
        begins = [first // HOUR for first, _ in ends.values()]
        # Where instances are started in the middle of the log, others are stopped: they follow the load, or are replaced by new versions.
        started = sum(first - ground.period.first > max(END_HOURS * HOUR, ground.period.last - ground.period.first >> 4) for first, _ in ends.values())
        if what != "address" and started >= END_STARTED:
            continue
        for of, of_hours in sorted(hours.items()):
            first, last = ends[of]
            end, count = last // HOUR, of_hours.total()
            least = END_PART if what != "address" else 4 * END_PART
            if (
                count < END_CALLS
                or count < least * every
                or ground.period.last - last < max(END_HOURS * HOUR, ground.period.last - ground.period.first >> 4)
                or end - first // HOUR < 3
                # What comes once, such as the run of a month, is over then.
                or (what == "address" and 4 * (last - first) < ground.period.last - last)
            ):
                continue
            steady = sum(1 for hour in range(first // HOUR, end) if of_hours[hour]) * 5 >= 4 * (end - first // HOUR)
            if not steady or any(end - 1 <= begin <= end + 1 for begin in begins if begin > first // HOUR):
                continue
            near, far = (sum(whole[hour] for hour in some) for some in (range(end - THIN_HOURS, end), range(end + 1, end + 1 + THIN_HOURS)))
            own = sum(of_hours[hour] for hour in range(end - THIN_HOURS, end))
            # Where instances come and go, others take over by the next day.
            gone = sum(ground.period.last - until > END_HOURS * HOUR for until in (other[1] for other in ends.values()))
            day = [sum(counts[hour] for hour in some) for counts, some in ((whole, range(end - 24, end)), (whole, range(end + 1, end + 25)), (of_hours, range(end - 24, end)))]
            is_replaced = gone > END_GONE and ground.period.last - last > DAY and day[1] > day[0] - day[2] / 2
            kept = _kept(ground, end) if what != "address" else None
            if kept is None and (far > near - own / 2 or is_replaced):
                continue
            # Callers that call all the time lose the calls that an instance served only if its rows are lost.
            if kept is not None and kept > 1 - day[2] / max(1, day[0]) / 2:
                continue
            sentence = (
                f"the rows of {what} {shown(name(of))} end {said_when(last, last)}, {length(ground.period.last - last)} before the log "
                f"does, after {share(count, every)} of all rows; no other {what} has more since"
            )
            yield sign("source_ends", MEDIUM, name(of), count, sentence, first, last)


def _kept(ground: Ground, end: int) -> float | None:
    """The part of their calls that callers with calls in nearly every hour make in the day after an hour, compared with the day before; None
    if they make too few.
    """
    assert ground.period is not None
    hours = min(24, end - ground.period.first // HOUR - 1, ground.period.last // HOUR - end - 1)
    sides: tuple[defaultdict[bytes, Counter[int]], ...] = (defaultdict(Counter), defaultdict(Counter))
    for row in ground.evidence.hours.rows():
        if row["caller"] is not None and 0 < abs(row["hour"] - end) <= hours:
            sides[row["hour"] > end][row["caller"]][row["hour"]] += row["calls"]
    steady = [caller for caller in sides[0] if all(10 * len(side[caller]) >= 9 * hours for side in sides)]
    before, after = (sum(side[caller].total() for caller in steady) for side in sides)
    return after / before if hours >= 2 * THIN_HOURS and before >= END_STEADY else None


def _masked(ground: Ground) -> Iterator[Sign]:
    """Sources whose rows name only a few addresses from a time on, for callers that had others before."""
    assert ground.period is not None
    evidence, found = ground.evidence, list[tuple[bytes | None, int, int, set[bytes], int]]()
    by: defaultdict[bytes | None, list[dict[str, Any]]] = defaultdict(list)
    for row in evidence.source_addresses.rows() if evidence.has_addresses else ():
        if row["address"] is not None:
            by[row["source"]].append(row)
    homes: defaultdict[bytes, list[dict[str, Any]]] = defaultdict(list)
    for row in evidence.visits:
        if row["caller"] is not None:
            homes[row["address"]].append(row)
    for source, rows in by.items():
        begins: dict[bytes, int] = {}
        for row in rows:
            begins[row["address"]] = min(row["second"], begins.get(row["address"], row["second"]))
        calls: Counter[bytes] = Counter()
        for row in rows:
            calls[row["address"]] += row["calls"]
        by_second = sorted((row["second"], row["calls"]) for row in rows)
        since_row = [0, *accumulate(count for _, count in reversed(by_second))][::-1]
        # The addresses that are new, each with a large part of the rows since then.
        new = {
            address
            for address, count in calls.items()
            if begins[address] - ground.period.first > HOUR
            and count >= MASKED_CALLS / 4
            and MASKED_MOST * count >= since_row[bisect_left(by_second, (begins[address], 0))]
        }
        if not new or len(new) > MASKED_MOST:
            continue
        since = min(begins[address] for address in new)
        # Services of the same network keep their own addresses.
        kept = {address for address, begin in begins.items() if begin < since and network(address) is None}
        inside = sum(row["calls"] for row in rows if row["second"] >= since and row["address"] not in kept)
        own = sum(calls[address] for address in new)
        if own >= MASKED_CALLS and own >= MASKED_PART * inside:
            found.append((source, since, own, new, min(row["row"] for row in rows if row["address"] in new)))
    addresses = {address for *_, new, _ in found for address in new}
    moved = {row["caller"] for address in addresses for row in homes[address]} & {
        row["caller"] for address, rows in homes.items() if address not in addresses for row in rows
    }
    if not found or len(moved) < MASKED_CALLERS:
        return
    since, calls_of = min(one[1] for one in found), sum(one[2] for one in found)
    whose = (
        f" of {', '.join(shown(name(one[0])) for one in sorted(found, key=lambda one: one[1])[:3] if one[0] is not None)}" if found[0][0] is not None else ""
    )
    sentence = (
        f"since {said_when(since, since).removeprefix('on ')}, rows{whose} name only "
        f"{', '.join(shown(name(one)) for one in sorted(addresses)[:3])} as the client's address: {number(calls_of, 'row')} of "
        f"{number(len(moved), 'caller')} that had other addresses before"
    )
    yield sign("masked_addresses", MEDIUM, "the log", calls_of, sentence, since, ground.period.last, min(one[4] for one in found))


# The most addresses of a proxy.
MASKED_MOST = 4


def _classes(ground: Ground) -> tuple[list[Sign], Cover]:
    """Instances whose rows have only the classes of statuses from a time on, such as 200 for 201 and 204, or 200 for everything."""
    assert ground.period is not None
    found: list[Sign] = []
    served, sources = 0, set[bytes]()
    by_source: defaultdict[bytes, list[dict[str, Any]]] = defaultdict(list)
    for row in ground.evidence.source_statuses.rows():
        if row["source"] is not None and row["status"] is not None:
            by_source[row["source"]].append(row)
    every, odd = (sum(row["calls"] for rows in by_source.values() for row in rows if not at or row["status"] % 100) for at in (0, 1))
    lasts = {source: max((row["last"] for row in rows if row["status"] % 100), default=0) for source, rows in by_source.items()}
    for source, rows in sorted(by_source.items()):
        since = lasts[source]
        # A function that lives for minutes can do one kind of work, which always has one status.
        if not since:
            continue
        own = [row for row in rows if row["second"] > since]
        count, statuses = sum(row["calls"] for row in own), {row["status"] for row in own}
        # At the rate of the other instances in the same hours, or else of the whole log, many of these rows would have another status.
        hours = {row["hour"] for row in own}
        near = [row for other in by_source if lasts[other] > since for row in by_source[other] if row["hour"] in hours]
        all_near, odd_near = (sum(row["calls"] for row in near if not at or row["status"] % 100) for at in (0, 1))
        all_near, odd_near = (all_near, odd_near) if all_near >= MASKED_CALLS else (every, odd)
        if count >= MASKED_CALLS and count * odd_near >= CLASS_ROWS * all_near and ground.period.last - since > HOUR:
            only = f"only {min(statuses)}" if len(statuses) == 1 else "only classes, such as 200 for 201 and 204,"
            outcomes = [row for row in ground.evidence.source_outcomes.rows() if row["source"] == source and row["outcome"] == LET_IN and row["second"] >= since]
            let_in = sum(row["calls"] for row in outcomes) if statuses == {200} else 0
            not_accused = f"; {number(let_in)} of them look served although the policy denies them, which shows nothing" if let_in else ""
            sentence = (
                f"the column `served_status` has {only} in the {number(count, 'row')} of {shown(name(source))} since "
                f"{time_of(since):%Y-%m-%d %H:%M}; in the whole log, {share(odd, every)} of the rows have others{not_accused}"
            )
            found.append(sign("other_spelling", MEDIUM, name(source), count, sentence, since, ground.period.last))
            served += let_in
            sources.add(source)
    return found, Cover(served, frozenset(), frozenset(sources))


def _renamed(ground: Ground) -> tuple[list[Sign], Cover]:
    """A time at which all users change their names, for example because they are hashed since then."""
    assert ground.period is not None
    users = {row["caller"] for row in ground.evidence.held.rows() if row["kind"] == b"user" and row["caller"] is not None}
    spans: dict[bytes, tuple[int, int]] = {}
    for row in ground.evidence.hours.rows():
        if row["caller"] in users and ground.period.first <= row["second"] and row["last"] <= ground.period.last:
            first, last = spans.get(row["caller"], (row["second"], row["last"]))
            spans[row["caller"]] = min(first, row["second"]), max(last, row["last"])
    firsts, lasts = (sorted(span[at] for span in spans.values()) for at in (0, 1))

    def both(time: int) -> int:
        """The users with calls before and after a time."""
        return bisect_left(firsts, time) - bisect_left(lasts, time)

    edge = (ground.period.last - ground.period.first) // 8
    begin, end = ground.period.first + edge, ground.period.last - edge
    inner = [time for time in sorted({*firsts, *(last + 1 for last in lasts)}) if begin <= time <= end]
    usual = median(map(both, range(begin, end, HOUR))) if end - begin >= HOUR else 0
    # Where users come once, none are on both sides of any time.
    if not inner or usual < RENAMED_USERS:
        return [], Cover()
    since = min(inner, key=lambda time: (both(time), time))
    left, before, after = both(since), bisect_left(lasts, since), len(firsts) - bisect_left(firsts, since)
    if left > RENAMED_PART * usual or before < RENAMED_USERS:
        return [], Cover()
    calls, earlier = (
        sum(row["calls"] for row in ground.evidence.hours.rows() if row["caller"] in users and (row["second"] >= since) == is_after) for is_after in (True, False)
    )
    # At a weekend, users are away.
    if 2 * calls * (since - ground.period.first) < earlier * (ground.period.last - since):
        return [], Cover()
    sentence = (
        f"the column `caller` names other users since {time_of(since):%Y-%m-%d %H:%M}: {number(before, 'user')} {'has' if before == 1 else 'have'} no call after it, and "
        f"{number(after)} none before it, while {number(left)} {'has' if left == 1 else 'have'} calls on both sides, usually {number(int(usual))}, as if "
        f"{'names were replaced, for example hashed' if 2 * after >= before else 'names were left out'}"
    )
    return [sign("other_spelling", MEDIUM, "caller", calls, sentence, since, ground.period.last)], Cover(0, frozenset({"caller"}))


def _apart(ground: Ground) -> Iterator[Sign]:
    """Instances whose clients call no other instance, while all others share theirs: rows of another system."""
    assert ground.period is not None
    evidence = ground.evidence
    if not (evidence.has_instances and evidence.has_addresses):
        return
    of_address: defaultdict[bytes, set[bytes]] = defaultdict(set)
    rows: defaultdict[bytes, list[dict[str, Any]]] = defaultdict(list)
    for row in evidence.source_addresses.rows():
        if row["source"] is not None and row["address"] is not None:
            of_address[row["address"]].add(row["source"])
            rows[row["source"]].append(row)
    # Instances with a client in common are of one system.
    group: dict[bytes, bytes] = {source: source for source in rows}

    def head(source: bytes) -> bytes:
        while group[source] != source:
            source = group[source]
        return source

    for shared in of_address.values():
        heads = sorted({head(source) for source in shared})
        group.update((other, heads[0]) for other in heads)
    groups: defaultdict[bytes, list[bytes]] = defaultdict(list)
    for source in sorted(rows):
        groups[head(source)].append(source)
    calls = {one: sum(row["calls"] for source in sources for row in rows[source]) for one, sources in groups.items()}
    main = max(calls, key=lambda one: (calls[one], one), default=b"")
    for one, sources in groups.items():
        addresses = {row["address"] for source in sources for row in rows[source]}
        if one == main or len(groups[main]) < 2 or calls[one] < APART_CALLS or len(addresses) < APART_ADDRESSES or 4 * calls[one] > calls[main]:
            continue
        first, last = min(row["second"] for source in sources for row in rows[source]), max(row["last"] for source in sources for row in rows[source])
        named = ", ".join(shown(name(source)) for source in sources[:3])
        sentence = (
            f"none of the {number(len(addresses), 'address', 'addresses')} in the {number(calls[one], 'row')} of {named} {said_when(first, last)} is in the rows of another "
            f"instance, while the {number(len(groups[main]))} others share theirs, as if these rows were of another system, for example of a test"
        )
        at = min(row["row"] for source in sources for row in rows[source])
        yield sign("other_system", MEDIUM, name(sources[0]), calls[one], sentence, first, last, at)


def _overlap(ends: dict[bytes, tuple[int, int]]) -> bool:
    spans = sorted(ends.values())
    return any(later[0] < earlier[1] - HOUR for earlier, later in zip(spans, spans[1:]))


def _copies(ground: Ground) -> Iterator[Sign]:
    """Rows that are in the log twice."""
    evidence = ground.evidence
    rows = [*evidence.copies.rows()]
    copied = [row for row in rows if row["calls"] > 1]
    if len(copied) < COPY_ROWS:
        return
    # A shipper repeats the rows of all instances, or of one.
    within: list[dict[str, Any]] = []
    for columns in (("hour",), ("hour", "instance")):
        hours, of = (Counter(_hour_of(row, columns) for row in some) for some in (rows, copied))
        dense = {hour for hour, count in of.items() if count >= COPY_ROWS // 2 and count >= COPY_HOUR_PART * hours[hour]}
        if not within and sum(of[hour] for hour in dense) >= COPY_ROWS:
            within = [row for row in copied if _hour_of(row, columns) in dense]
    most = Counter(row["calls"] for row in copied).most_common(1)[0][0]
    if not within and evidence.has_fractions and len(copied) >= COPY_PART * len(rows):
        within = copied
    # What a client sends twice follows at once; what is shipped twice comes after other rows.
    apart = [row for row in copied if row["last_row"] - row["row"] >= COPY_APART]
    if not within and evidence.has_fractions and len(apart) >= COPY_ROWS:
        within = apart
    if not within or sum(row["calls"] == most for row in within) * 10 < 8 * len(within):
        return
    extra = sum(row["calls"] - 1 for row in within)
    first, last = min(row["second"] for row in within), max(row["second"] for row in within)
    is_exact = not evidence.mask
    extra_share = share(sum(row["calls"] - 1 for row in within), sum(row["calls"] for row in rows))
    one = min(within, key=lambda row: row["row"])
    sentence = (
        f"{'' if is_exact else 'at least '}{number(extra, 'row')} ({extra_share}{'' if is_exact else ' of the sampled ones'}) "
        f"{'is a copy' if extra == 1 else 'are copies'} of other rows in all columns, {said_when(first, last)}; for example row "
        f"{number(one['last_row'])} of row {number(one['row'])}"
    )
    yield sign("copied_rows", MEDIUM, "the log", extra, sentence, first, last, one["last_row"], is_exact)


def _hour_of(row: dict[str, Any], columns: tuple[str, ...]) -> tuple[object, ...]:
    """The hour of a row, and its instance if it's named."""
    return (row["second"] // HOUR, *(row[column] for column in columns[1:]))


def _days(ground: Ground) -> Iterator[Sign]:
    """A day whose rows are those of another day in everything but the day."""
    evidence = ground.evidence
    if not evidence.has_fractions:
        return
    days: defaultdict[int, set[int]] = defaultdict(set)
    of_key: defaultdict[int, set[int]] = defaultdict(set)
    firsts: dict[int, tuple[int, int]] = {}
    for row in evidence.copies.rows():
        day = row["second"] // DAY
        days[day].add(row["row_key"])
        of_key[row["row_key"]].add(day)
        firsts[day] = min((row["row"], row["second"]), firsts.get(day, (row["row"], row["second"])))
    pairs: Counter[tuple[int, int]] = Counter()
    for some in of_key.values():
        if 1 < len(some) <= 8:
            pairs.update((one, other) for one in some for other in some if one < other)
    for (one, other), count in pairs.most_common(1):
        if count >= DAY_ROWS and count >= DAY_PART * max(len(days[one]), len(days[other])):
            a, b = (f"{time_of(day * DAY):%Y-%m-%d}" for day in (one, other))
            part = share(count, max(len(days[one]), len(days[other])))
            sentence = (
                f"{part} of the rows of {b} are those of {a} in all columns and to the fraction of a second, except for the day: one of the two days is a copy"
            )
            yield sign("repeated_day", MEDIUM, b, count, sentence, other * DAY, other * DAY + DAY - 1, firsts[other][0], not evidence.mask)


def _zones(ground: Ground) -> Iterator[Sign]:
    """Rows whose times jump by the same whole hours, there and back."""
    steps = ground.evidence.steps
    by_size: Counter[int] = Counter()
    for quarters, count in steps.items():
        by_size[abs(quarters)] += count
    # A clock that drifts passes each size.
    others = by_size.pop(OTHER_STEP, 0)
    if by_size:
        size, count = by_size.most_common(1)[0]
        back = min(steps[size], steps[-size])
        if count >= max(STEP_ROWS, others) and back >= STEP_ROWS // 3 and count >= STEP_PART * by_size.total() and not size % 2:
            sentence = (
                f"from row to row, times jump {number(steps[size])} times forward and {number(steps[-size])} times back by "
                f"{length(900 * size)}, as if a part of the rows were in another time zone"
            )
            yield sign("mixed_zones", MEDIUM, "the log", count, sentence)
            return
    yield from _shifted(ground)


def _shifted(ground: Ground) -> Iterator[Sign]:
    """An instance or a file whose hours are those of all others, some hours later or earlier."""
    assert ground.period is not None
    hours: defaultdict[bytes, Counter[int]] = defaultdict(Counter)
    for row in ground.evidence.sources.rows():
        if row["source"] is not None:
            hours[row["source"]][row["hour"]] += row["calls"]
    if not 2 <= len(hours) <= 64 or sum(of.total() for of in hours.values()) < 20 * END_CALLS:
        return
    for group in ([source] for source in sorted(hours)) if len(hours) == 2 else (*([source] for source in sorted(hours)), _moved_alike(hours)):
        own, rest = Counter[int](), Counter[int]()
        for source, of in hours.items():
            (own if source in group else rest).update(of)
        if own.total() < END_CALLS or rest.total() < END_CALLS:
            continue
        lag, distance = _lag(own, rest)
        if lag and distance[0] > 0.15 and 3 * distance[lag] < distance[0]:
            what = "instance" if ground.evidence.has_instances else "file"
            named = ", ".join(shown(name(source)) for source in group[:3]) + (f" and {number(len(group) - 3)} more" if len(group) > 3 else "")
            sentence = (
                f"the times of {what if len(group) == 1 else f'{what}s'} {named} are "
                f"{number(abs(lag), 'hour')} {'ahead of' if lag > 0 else 'behind'} those of all others: {'its' if len(group) == 1 else 'their'} calls rise and fall that much "
                f"{'later' if lag > 0 else 'earlier'}"
            )
            yield sign("mixed_zones", MEDIUM, name(group[0]), own.total(), sentence)
            return


def _lag(own: Counter[int], rest: Counter[int]) -> tuple[int, dict[int, float]]:
    """The hours by which a series is moved most likely, and how differently the two are spread for each number of hours."""
    distance = {lag: _distance(own, rest, lag) for lag in range(-14, 15)}
    return min(distance, key=lambda one: (distance[one], abs(one))), distance


def _moved_alike(hours: dict[bytes, Counter[int]]) -> list[bytes]:
    """The instances or files that are moved by the same hours, compared with the busiest one; none if others are moved by other hours."""
    busiest = max(hours, key=lambda source: (hours[source].total(), source))
    lags = {source: _lag(of, hours[busiest])[0] for source, of in hours.items() if of.total() >= END_CALLS}
    moved = sorted(source for source, lag in lags.items() if lag)
    return moved if len({lags[source] for source in moved}) == 1 else []


def _distance(own: Counter[int], rest: Counter[int], lag: int) -> float:
    """How differently two series of hours are spread, the first of them moved by some hours: from 0 to 1."""
    moved = {hour - lag: calls / own.total() for hour, calls in own.items()}
    return sum(abs(moved.get(hour, 0) - rest[hour] / rest.total()) for hour in {*moved, *rest}) / 2


def _cut(ground: Ground) -> tuple[list[Sign], Cover]:
    """Columns whose values end in the middle of names at one length."""
    found: list[Sign] = []
    served, columns = 0, set[str]()
    rows = [*ground.evidence.lengths.rows()]
    for column, of, what in (("scopes", "scopes", "scopes of the policy"), ("target", "every target", "templates of the policy")):
        parts: Counter[int] = Counter()
        for row in rows:
            if row["column"] == column and row["is_part"]:
                parts[row["length"]] += row["calls"]
        if not parts:
            continue
        at, count = parts.most_common(1)[0]
        if count < CUT_ROWS or count < CUT_PART * parts.total():
            continue
        cut = [row for row in rows if row["column"] == column and row["length"] == at and row["is_part"]]
        if len({row["end"] for row in cut}) < CUT_ENDS and at not in ROUND:
            continue
        first, last, row = (
            min((row["second"] for row in cut if row["second"] is not None), default=None),
            max((row["last"] for row in cut if row["last"] is not None), default=None),
            min(row["row"] for row in cut),
        )
        all_at = sum(row["calls"] for row in rows if row["column"] == of and row["length"] == at)
        every = sum(row["calls"] for row in rows if row["column"] == of)
        of_them = sum(row["calls"] for row in rows if row["column"] == of and row["length"] == at and row["is_served"])
        not_accused = f"; {number(of_them)} of them were served although the policy denies what is left, which shows nothing" if of_them else ""
        sentence = (
            f"the column `{column}` is cut at {number(at, 'byte')}: {number(all_at)} of {number(every, 'value')} have this length, "
            f"and {number(count)} of them end in the middle of {what}, the first in row "
            f"{number(row)}{_since(ground, first, last)}{not_accused}"
        )
        found.append(sign("cut_column", MEDIUM, column, all_at, sentence, first, last, row))
        served += of_them
        columns.add(column)
    return found, Cover(served, frozenset(columns))


def _since(ground: Ground, first: int | None, last: int | None) -> str:
    return f", {said_when(first, last)}" if first is not None and last is not None else ""


def _spelt(ground: Ground, is_cut: bool) -> tuple[list[Sign], Cover]:
    """Kinds, methods and scopes that no server would have served: the column changed, not the server."""
    found: list[Sign] = []
    served, columns = 0, set[str]()
    values: defaultdict[tuple[str, bytes], list[dict[str, Any]]] = defaultdict(list)
    for row in ground.evidence.spellings.rows():
        if row["value"] is not None:
            values[row["column"], row["value"]].append(row)
    for (column, value), rows in sorted(values.items()):
        # A cut value is also short.
        is_own = value in KINDS if column == "kind" else is_cut and value == SHORT if column == "scopes" else (value.isalpha() and value.isupper() and len(value) <= 16)
        count, let_in = sum(row["calls"] for row in rows), sum(row["calls"] for row in rows if row["is_served"])
        if is_own or let_in < SPELT_ROWS or let_in < SPELT_PART * count:
            continue
        first, last = (
            min((row["second"] for row in rows if row["second"] is not None), default=None),
            max(
                (row["last"] for row in rows if row["last"] is not None),
                default=None,
            ),
        )
        if column == "scopes":
            sentence = (
                f"the scopes of {number(count, 'call')} are not the policy's, but would be if they were not written "
                f"{_spelling(name(value))}{_since(ground, first, last)}; the server served {number(let_in)} of these calls, so the log changed rather than the server"
            )
            found.append(sign("other_spelling", MEDIUM, column, count, sentence, first, last, min(row["row"] for row in rows)))
            served += let_in
            columns.add(column)
            continue
        every = sum(row["calls"] for of in values for row in values[of] if of[0] == column)
        others = sorted({of[1] for of in values if of[0] == column and of[1] != value and (of[1] in KINDS or (column == "method" and of[1].isupper()))})
        usual = f", otherwise {' or '.join(f'`{shown(_harmless(column, other))}`' for other in others[:2])}" if others else ""
        sentence = (
            f"the column `{column}` is written `{shown(_harmless(column, value))}` in {number(count)} of "
            f"{number(every, 'row')}{_since(ground, first, last)}{usual}; the server served {number(let_in)} of these calls, so the "
            "log changed rather than the server"
        )
        found.append(sign("other_spelling", MEDIUM, f"{column} {_harmless(column, value)}", count, sentence, first, last, min(row["row"] for row in rows)))
        served += let_in
        columns.add(column)
    return found, Cover(served, frozenset(columns))


def _respelt(ground: Ground) -> tuple[list[Sign], Cover]:
    """Callers whose names come a second time, in another case, with other separators, or all after one prefix, since a time."""
    spans: dict[bytes, tuple[int, int, int]] = {}
    machines = set[bytes]()
    for row in ground.evidence.held.rows():
        if row["caller"] is not None:
            if row["kind"] == b"organisation":
                machines.add(row["caller"])
            calls, first, at = spans.get(row["caller"], (0, row["second"], row["row"]))
            spans[row["caller"]] = calls + row["calls"], min(first, row["second"]), min(at, row["row"])
    alike: defaultdict[bytes, list[bytes]] = defaultdict(list)
    before = Counter(prefix for caller in spans for prefix, rest in _rests(caller) if rest in spans)
    for caller in spans:
        rest = next((rest for prefix, rest in _rests(caller) if rest in spans and before[prefix] >= RESPELT_CALLERS), caller)
        alike[_plain(rest)].append(caller)
    pairs = [sorted(of, key=lambda caller: spans[caller][1:]) for of in alike.values() if len(of) == 2]
    again = sorted(pairs, key=lambda pair: spans[pair[1]][1:])
    of_machines = sum(other in machines for _, other in again)
    if len(again) < RESPELT_CALLERS or (len(again) < RESPELT_PART * len(alike) and of_machines < RESPELT_MACHINES * len(machines)):
        return [], Cover()
    calls, (_, since, at) = sum(spans[other][0] for _, other in again), spans[again[0][1]]
    named = ", ".join(f"`{shown(name(other))}` for `{shown(name(one))}`" for one, other in again[:2])
    sentence = f"the column `caller` has {number(len(again), 'caller')} in another spelling, for example {named}, in {number(calls, 'call')} since {time_of(since):%Y-%m-%d %H:%M}"
    return [sign("other_spelling", MEDIUM, "caller", calls, sentence, since, None, at)], Cover(0, frozenset({"caller"}), are_clients_other=True)


def _rests(caller: bytes) -> list[tuple[bytes, bytes]]:
    """What a name can begin with, up to a separator, each with the rest."""
    places = [at for at, byte in enumerate(caller[:-1]) if byte in b":/|\\@"]
    return [(caller[: at + 1], caller[at + 1 :]) for at in places[:MOST_PREFIXES]]


# The most separators after which a name can begin.
MOST_PREFIXES = 4


def _plain(caller: bytes) -> bytes:
    """A name without its case and separators. Those between numbers, as in an address, are a part of it."""
    words = WORD.findall(caller)
    return (b"-" if any(word.isdigit() for word in words) else b"").join(words).lower()


# A word of a name: a number, or letters until the next capital.
WORD = re.compile(rb"[0-9]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^0-9A-Za-z:._/-]+")


def _spelling(form: str) -> str:
    """How scopes are written, in words."""
    before = form.partition("after ")[2]
    return f"after `{shown(private.scope(before))}`" if before else form


def _harmless(column: str, value: bytes) -> str:
    """A kind or a method for display, without likely secrets."""
    return (private.method(name(value)) if column == "method" else private.token(name(value))) or ""
