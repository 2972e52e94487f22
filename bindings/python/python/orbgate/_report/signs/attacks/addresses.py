"""Many callers at one address."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from ...._number import number
from ...evidence import LACKING, SERVED, UNKNOWN
from ...numbers import MEDIUM, shown
from ...thresholds import NAMES_AT_ADDRESS, USERS_ALIKE, USERS_AT_ADDRESS, USERS_HOURS
from ...timelines import HOUR
from ..ground import Ground, Sign, name, said_when, sign


def many_at_an_address(ground: Ground) -> Iterator[Sign]:
    """Many callers at one address: all refused, or all usually elsewhere."""
    if not ground.evidence.has_addresses:
        return
    rows = [row for row in ground.evidence.places.rows() if row["address"] is not None]
    homes: defaultdict[bytes, Counter[bytes]] = defaultdict(Counter)
    by: defaultdict[bytes, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        who = row["caller"] if row["caller"] is not None else row["token"]
        if who is not None:
            homes[who][row["address"]] += row["calls"]
            by[row["address"]].append({**row, "who": who})
    away_at: dict[bytes, set[bytes]] = {}
    for address, of in by.items():
        served = {row["who"] for row in of if row["class"] == SERVED}
        away_at[address] = {
            who for who in served if homes[who].total() > homes[who][address] and max(homes[who], key=lambda place: homes[who][place]) != address
        } | {who for who in served if len(homes[who]) > 1 and 2 * homes[who][address] < homes[who].total()}
    for address, of in sorted(by.items()):
        first, last, first_row = min(row["second"] for row in of), max(row["last"] for row in of), min(row["row"] for row in of)
        names = {row["who"] for row in of if row["who"] != address}
        served = {row["who"] for row in of if row["class"] == SERVED}
        refused = {row["who"] for row in of if row["class"] in (UNKNOWN, LACKING)} - served - {address}
        if len(refused) >= NAMES_AT_ADDRESS and 10 * len(refused) >= 9 * len(names):
            calls = sum(row["calls"] for row in of if row["who"] in refused)
            example = ", ".join(shown(name(one), 40) for one in sorted(refused)[:2])
            sentence = (
                f"address {shown(name(address))} makes calls as {number(len(refused))} different callers, all of them refused: "
                f"{number(calls, 'call')} {said_when(first, last)}, for example as {example}"
            )
            yield sign("many_names", MEDIUM, name(address), calls, sentence, first, last, first_row)
            continue
        # The hours with the most callers that are usually elsewhere.
        away = away_at[address]
        # Phones share the addresses of their networks, and have another one each hour.
        alike = sum(3 * len(others) >= len(away) for others in away_at.values()) if len(away) >= USERS_AT_ADDRESS else 0
        if not alike or alike > USERS_ALIKE:
            continue
        hours: defaultdict[int, set[bytes]] = defaultdict(set)
        for row in of:
            if row["who"] in away and row["class"] == SERVED:
                hours[row["hour"]].add(row["who"])
        most = max(hours, key=lambda hour: (len(set().union(*(hours.get(hour + at, set()) for at in range(USERS_HOURS)))), -hour))
        inside = set().union(*(hours.get(most + at, set()) for at in range(USERS_HOURS)))
        if len(inside) < USERS_AT_ADDRESS or 10 * len(inside) < 7 * len(away):
            continue
        within = [row for row in of if row["who"] in inside and most <= row["hour"] < most + USERS_HOURS]
        calls, first, last = sum(row["calls"] for row in within), min(row["second"] for row in within), max(row["last"] for row in within)
        sentence = (
            f"address {shown(name(address))} makes calls as {number(len(inside))} different callers within "
            f"{number(max(1, -(-(last - first) // HOUR)), 'hour')}, {number(calls, 'call')} {said_when(first, last)}; these callers "
            "are usually at other addresses"
        )
        yield sign("many_users", MEDIUM, name(address), calls, sentence, first, last, min(row["row"] for row in within))
