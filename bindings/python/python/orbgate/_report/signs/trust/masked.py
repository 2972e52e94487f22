"""Addresses that are no longer those of the callers."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from ...._number import number
from ...numbers import MEDIUM, shown
from ...thresholds import MASKED_CALLERS, MASKED_CALLS, MASKED_OTHERS, MASKED_PART
from ...timelines import HOUR
from ...tokens import network
from ..ground import Ground, Sign, name, said_when, sign


def masked_addresses(ground: Ground) -> Iterator[Sign]:
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
        since_then = [row for row in rows if row["second"] >= since and row["address"] not in kept]
        inside = sum(row["calls"] for row in since_then)
        own = sum(calls[address] for address in new)
        # An office has most of the rows for a time, and all others their own addresses meanwhile. Behind a proxy, hardly anybody has.
        others = {row["address"] for row in since_then} - new
        if own >= MASKED_CALLS and own >= MASKED_PART * inside and len(others) <= MASKED_OTHERS:
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
