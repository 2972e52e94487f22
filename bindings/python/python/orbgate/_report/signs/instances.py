"""What one instance of the server does otherwise than all others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from ..._number import number
from ..failures import OUTAGE
from ..numbers import LOW, MEDIUM, shown
from ..thresholds import ODD_CALLS, ODD_FACTOR, ODD_PART, OUTAGE_SECONDS
from ..timelines import ERROR, REJECTED
from .ground import Ground, Sign, name, said_when, sign

HOW = {REJECTED: "rejected although the policy allows them", ERROR: "answered with 5xx"}


def instances(ground: Ground) -> Iterator[Sign]:
    """An instance that has nearly all calls that failed in one way."""
    if not ground.evidence.has_instances:
        return
    calls: Counter[bytes] = Counter()
    failed: defaultdict[str, Counter[bytes]] = defaultdict(Counter)
    times: dict[tuple[str, bytes], tuple[int, int, int]] = {}
    for row in ground.evidence.source_outcomes.rows():
        source, outcome = row["source"], row["outcome"]
        if source is None:
            continue
        calls[source] += row["calls"]
        if outcome in HOW:
            failed[outcome][source] += row["calls"]
            first, last, at = times.get((outcome, source), (row["second"], row["last"], row["row"]))
            times[outcome, source] = min(first, row["second"]), max(last, row["last"]), min(at, row["row"])
    for outcome, of in sorted(failed.items()):
        source, count = max(of.items(), key=lambda one: (one[1], one[0]))
        others, rest = of.total() - count, calls.total() - calls[source]
        # A rate that is as high elsewhere is how the service works.
        if len(calls) < 2 or count < ODD_CALLS or count < ODD_PART * of.total() or count * rest < ODD_FACTOR * max(1, others) * calls[source]:
            continue
        first, last, at = times[outcome, source]
        # An outage of this instance is a finding already.
        if 2 * sum(row.failed for row in ground.failures if row.looks_like == OUTAGE and row.outcome == outcome) >= count:
            continue
        sentence = (
            f"{number(count)} of {number(of.total(), 'call')} that were {HOW[outcome]} are in rows of {shown(name(source))}, which "
            f"has {number(calls[source])} of {number(calls.total(), 'row')}, {said_when(first, last)}"
        )
        yield sign("odd_instance", LOW if _is_short(ground, source, outcome, count) else MEDIUM, name(source), count, sentence, first, last, at)


def _is_short(ground: Ground, source: bytes, outcome: str, count: int) -> bool:
    """Whether nearly all these calls of an instance were made in a short time that is over."""
    hours = {row["hour"]: row for row in ground.evidence.source_outcomes.rows() if (row["source"], row["outcome"]) == (source, outcome)}
    for hour, row in hours.items():
        some = [row, *([hours[hour + 1]] if hour + 1 in hours else [])]
        last = max(one["last"] for one in some)
        is_most = sum(one["calls"] for one in some) >= ODD_PART * count
        if is_most and last - row["second"] < OUTAGE_SECONDS and ground.period is not None and ground.period.last - last > OUTAGE_SECONDS:
            return True
    return False
