"""Callers in another spelling, or with other names."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from statistics import median

from ...._number import number
from ...numbers import MEDIUM, shown
from ...thresholds import RENAMED_PART, RENAMED_USERS, RESPELT_CALLERS, RESPELT_MACHINES, RESPELT_PART
from ...timelines import HOUR, time_of
from ..ground import Cover, Ground, Sign, name, sign


def renamed_users(ground: Ground) -> tuple[list[Sign], Cover]:
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
        sum(row["calls"] for row in ground.evidence.hours.rows() if row["caller"] in users and (row["second"] >= since) == is_after)
        for is_after in (True, False)
    )
    # At a weekend, users are away.
    if 2 * calls * (since - ground.period.first) < earlier * (ground.period.last - since):
        return [], Cover()
    sentence = (
        f"the column `caller` names other users since {time_of(since):%Y-%m-%d %H:%M}: {number(before, 'user')} "
        f"{'has' if before == 1 else 'have'} no call after it, and "
        f"{number(after)} none before it, while {number(left)} {'has' if left == 1 else 'have'} calls on both sides, usually {number(int(usual))}, as if "
        f"{'names were replaced, for example hashed' if 2 * after >= before else 'names were left out'}"
    )
    return [sign("other_spelling", MEDIUM, "caller", calls, sentence, since, ground.period.last)], Cover(0, frozenset({"caller"}))


def respelt_callers(ground: Ground) -> tuple[list[Sign], Cover]:
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
    sentence = (
        f"the column `caller` has {number(len(again), 'caller')} in another spelling, for example {named}, in "
        f"{number(calls, 'call')} since {time_of(since):%Y-%m-%d %H:%M}"
    )
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
