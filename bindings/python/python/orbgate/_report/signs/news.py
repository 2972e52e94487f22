"""What is new since the first part of a log, or since an earlier report: one comparison for callers and everything that callers have or do."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from ..._number import number
from ..._read import private
from ..._rows import Rows
from ..tokens import is_private, network
from ..numbers import FACT, LOW, MEDIUM, shown
from ..thresholds import LEARNT_DAYS, LEARNT_PART, NEW_HOUR_DAYS, NEW_MOST, NEW_OLD_CALLS, NEW_PLACES, NEW_RARE, NEW_RUSH
from ..timelines import HOUR, second_of, time_of
from .ground import Cover, Ground, Sign, name
from .window import Seen

# The dimensions, the most telling first, and the words for a value of each.
CALLER, HELD, USED, KIND, NETWORK, PRICE, ROUTE, HOUR_OF_DAY = "caller", "scope held", "scope used", "token kind", "network", "price", "route", "hour of day"
WORDS = {HELD: "holds", USED: "uses", KIND: "has a token of kind", NETWORK: "calls from", PRICE: "pays", ROUTE: "calls", HOUR_OF_DAY: "calls between"}
# The most values that are named of one dimension.
MOST_VALUES = 3
# The most rows of the table.
MOST_SEEN = 1 << 16


def seen(ground: Ground) -> Rows[Seen]:
    """Who was seen with what in the time of the log."""
    if ground.period is None:
        return Rows(Seen)
    own = {scope.scope for scope in ground.policy.scopes()}
    evidence = ground.evidence
    cells: dict[tuple[str, bytes, str], list[int]] = {}

    def see(dimension: str, row: dict[str, Any], value: str) -> None:
        if row["caller"] is None or not ground.period or row["second"] < ground.period.first or row["last"] > ground.period.last:
            return
        of = cells.setdefault((dimension, row["caller"], value), [0, row["second"], row["last"], row["row"]])
        of[:] = [of[0] + row["calls"], min(of[1], row["second"]), max(of[2], row["last"]), min(of[3], row["row"])]

    for row in evidence.held.rows():
        see(CALLER, row, "")
        if row["kind"] is not None:
            see(KIND, row, private.token(name(row["kind"])))
            for scope in (row["scopes"] or b"").split():
                see(HELD, row, name(scope) if name(scope) in own else private.scope(name(scope)))
    for row in evidence.made.rows():
        if row["location"] is not None and row["is_allowed"]:
            see(ROUTE, row, row["location"])
            if row["amount"]:
                see(PRICE, row, f"{row['amount']:,} orbs for {row['location']}")
    for row in evidence.uses.rows():
        for scope in row["used"].split():
            see(USED, row, scope)
    for row in evidence.hours.rows():
        see(HOUR_OF_DAY, row, f"{row['hour'] % 24:02}:00 and {(row['hour'] + 1) % 24:02}:00")
    places = {address: network(address) for address in {row["address"] for row in evidence.visits}}
    for row in evidence.visits:
        if (of := places[row["address"]]) is not None:
            see(NETWORK, row, name(of))
    rows = (
        Seen(dimension, name(caller), value, calls, time_of(first), time_of(last), at) for (dimension, caller, value), (calls, first, last, at) in cells.items()
    )
    return Rows(Seen, sorted(rows, key=lambda row: (row.dimension, row.caller, row.value)))


def kept(rows: Iterable[Seen]) -> Rows[Seen]:
    """The rows that a bundle lists: if there are too many, first those of scopes."""
    most = sorted(rows, key=lambda row: (row.dimension not in (HELD, USED), row.dimension, row.caller, row.value))[:MOST_SEEN]
    return Rows(Seen, sorted(most, key=lambda row: (row.dimension, row.caller, row.value)))


def news(ground: Ground, rows: Rows[Seen], cover: Cover) -> Iterator[Sign]:
    """The facts that are new: those about one caller together, and all of them in one line; of sensitive scopes, a line for each."""
    if ground.period is None or not ground.has_hours or not rows:
        return
    whole = ground.period.last - ground.period.first
    # Each hour of the day comes once in a day.
    since = time_of(ground.period.first + int(max(LEARNT_PART * whole, min(24 * HOUR * LEARNT_DAYS, whole / 3))))
    before = rows.where(lambda row: row.first < since) if ground.earlier is None else ground.earlier.seen
    earlier = {(row.dimension, row.caller, row.value) for row in before}
    new = [row for row in rows if (row.dimension, row.caller, row.value) not in earlier and (ground.earlier is not None or row.first >= since)]
    if ground.earlier is None:
        # Of a network that is seen for hours only, nothing has to be learnt.
        new += [row for row in rows if row.dimension == NETWORK and row.first < since and _is_rush(row) and second_of(row.first) - ground.period.first > HOUR]
    old = _calls_before(ground, second_of(since))
    sensitive = {*ground.policy.sensitive}
    told = _told(new, rows, old, ground, cover, sensitive)
    if not told:
        return
    usual = _Usual(ground, rows, old, cover)
    for caller, facts in sorted(told.items()):
        marked = [row for row in facts if row.dimension in (HELD, USED) and row.value in sensitive]
        if marked:
            first = min(facts, key=lambda row: (row.first, row.row))
            yield Sign(
                "new_sensitive",
                MEDIUM,
                caller,
                sum(row.calls for row in facts[:1]),
                True,
                _sentence(caller, facts, caller not in old) + usual.mostly(caller, facts),
                first.first,
                max(row.last for row in facts),
                first.row,
            )
    rest = {caller: facts for caller, facts in told.items() if not any(row.dimension in (HELD, USED) and row.value in sensitive for row in facts)}
    holders = Counter(row.value for row in rows if row.dimension == HELD)
    for caller in sorted(rest, key=lambda caller: (-_weight(rest[caller], holders, caller not in old), caller)):
        # Of a new caller that got a scope later, this tells more than that it is new.
        gained = usual.gained(caller, rest[caller])
        facts, is_new = gained or rest[caller], caller not in old and not gained
        first = min(facts, key=lambda row: (row.first, row.row))
        yield Sign(
            "new_since",
            LOW if gained or usual.matters(caller, facts) else FACT,
            caller,
            max(row.calls for row in facts),
            True,
            _sentence(caller, facts, is_new) + usual.mostly(caller, facts),
            first.first,
            max(row.last for row in facts),
            first.row,
        )


class _Usual:
    """What is usual in a log, so that only what is unusual in more than one way matters: in nearly every log, a caller is new, uses a scope for
    the first time, or calls from another network.
    """

    def __init__(self, ground: Ground, rows: Rows[Seen], old: Counter[str], cover: Cover) -> None:
        self._old, self._ground = old, ground
        self._of: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        self._by: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for row in rows:
            self._of[row.dimension, row.value].add(row.caller)
            self._by[row.dimension, row.caller].add(row.value)
        self._callers = len(self._of[CALLER, ""])
        self._whole = {row.caller: row for row in rows if row.dimension == CALLER}
        self._first: defaultdict[str, list[Seen]] = defaultdict(list)
        for row in sorted(rows, key=lambda row: row.first):
            if row.dimension == NETWORK:
                self._first[row.value].append(row)
        # Where a service acts for users, they have tokens of both kinds.
        self._has_own_kinds = sum(len(kinds) > 1 for (dimension, _), kinds in self._by.items() if dimension == KIND) <= NEW_PLACES
        self._has_places = ground.evidence.has_addresses and "address" not in cover.columns

    def matters(self, caller: str, facts: Sequence[Seen]) -> bool:
        """Whether a token got a scope that few have, or became one of another kind; a machine calls from where no other caller does; or a new caller
        with such a scope comes from where, or at an hour at which, no other caller with it calls.
        """
        if any(
            (row.dimension == KIND and self._has_own_kinds)
            or (row.dimension == NETWORK and ((_is_rush(row) and self._is_move(row)) or self._is_odd_place(caller, row.value)))
            for row in facts
        ):
            return True
        rare = [row for row in facts if row.dimension == HELD and self._is_rare(row.value)]
        return bool(rare) and (caller in self._old or any(self._is_elsewhere(caller, row.value) for row in rare))

    def mostly(self, caller: str, facts: Sequence[Seen]) -> str:
        """The route that most calls from a new network are to, in words, if only this caller calls from there."""
        for row in facts:
            if row.dimension == NETWORK and self._of[NETWORK, row.value] == {caller}:
                evidence = self._ground.evidence
                addresses = [visit["address"] for visit in evidence.visits if (of := network(visit["address"])) is not None and name(of) == row.value]
                table = evidence.address_objects.table()
                if table is None:
                    return ""
                of_it = table.filter(pc.is_in(table["who"], pa.array(addresses, pa.binary()))).group_by("location").aggregate([("calls", "sum")])
                most = max(of_it.to_pylist(), key=lambda one: (one["calls_sum"], one["location"]), default=None)
                if most is not None and 2 * most["calls_sum"] >= row.calls:
                    return f", mostly {most['location']} ({number(most['calls_sum'])})"
        return ""

    def gained(self, caller: str, facts: Sequence[Seen]) -> list[Seen]:
        """The rare scopes that a new caller got a day later or more, after calls without them."""
        whole = self._whole.get(caller)
        if caller in self._old or whole is None:
            return []
        return [
            row
            for row in facts
            if row.dimension == HELD and self._is_rare(row.value) and row.first - whole.first >= GAINED_LATER and whole.calls - row.calls >= NEW_OLD_CALLS
        ]

    def _is_rare(self, scope: str) -> bool:
        return len(self._of[HELD, scope]) <= max(NEW_RARE, self._callers // 20)

    def _is_move(self, row: Seen) -> bool:
        """Whether a caller was somewhere else before, and nobody else was in this network: phones share those of their providers."""
        whole = self._whole.get(row.caller)
        return whole is not None and whole.first < row.first and self._first[row.value][0].caller == row.caller

    def _is_odd_place(self, caller: str, place: str) -> bool:
        """Whether a machine, which has a few fixed addresses, calls from where no other caller does. People move."""
        is_machine = self._by[KIND, caller] == {"organisation"}
        return is_machine and caller in self._old and self._of[NETWORK, place] == {caller} and len(self._by[NETWORK, caller]) <= NEW_PLACES

    def _is_elsewhere(self, caller: str, scope: str) -> bool:
        """Whether a caller shares no hour of the day with the others that hold a scope, or no network, if most of them share one."""
        others = self._of[HELD, scope] - {caller}
        shared = [dimension for dimension in (NETWORK, HOUR_OF_DAY) if any(self._by[dimension, caller] & self._by[dimension, other] for other in others)]
        # Clients of customers each have a network of their own.
        places = Counter(place for other in others for place in self._by[NETWORK, other])
        together = sum(any(places[place] > 1 for place in self._by[NETWORK, other]) for other in others)
        has_common = len(others) < 2 or 2 * together >= len(others)
        # Without addresses, only the scope shows anything.
        return HOUR_OF_DAY not in shared or (NETWORK not in shared and has_common) or not self._has_places


# How long after its first call a caller gets a scope that it did not have from its beginning.
GAINED_LATER = timedelta(days=1)


def _is_rush(row: Seen) -> bool:
    """Whether a caller makes many calls from a network within two hours, and then none."""
    return row.calls >= NEW_RUSH and second_of(row.last) - second_of(row.first) <= 2 * HOUR


def _calls_before(ground: Ground, since: int) -> Counter[str]:
    """The calls of each caller that make what comes later new: those of the first part of the log, or of an earlier report."""
    calls: Counter[str] = Counter()
    if ground.earlier is not None:
        calls.update({row.caller: row.calls for row in ground.earlier.seen if row.dimension == CALLER})
        return calls
    for row in ground.evidence.hours.rows():
        if row["caller"] is not None and row["last"] < since:
            calls[name(row["caller"])] += row["calls"]
    return calls


def _told(new: Sequence[Seen], rows: Rows[Seen], old: Counter[str], ground: Ground, cover: Cover, sensitive: set[str]) -> dict[str, list[Seen]]:
    """The new facts by caller, as far as such news are rare in the log."""
    by_dimension: defaultdict[str, list[Seen]] = defaultdict(list)
    users = {row.caller for row in rows if row.dimension == KIND and row.value == "user"}
    holders: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.dimension in (HELD, USED):
            holders[row.value].add(row.caller)
    networks = Counter(row.caller for row in rows if row.dimension == NETWORK)
    # The private addresses of a service are a place, too.
    networks.update({name(row["caller"]) for row in ground.evidence.visits if row["caller"] is not None and is_private(row["address"])})
    calls = {row.caller: row.calls for row in rows if row.dimension == CALLER}
    for row in new:
        is_new_caller = row.caller not in old
        if is_new_caller and "caller" in cover.columns and (row.caller in users or cover.are_clients_other):
            continue
        if row.dimension in (HELD, USED) and "scopes" in cover.columns:
            continue
        if row.dimension in (CALLER, HELD):
            by_dimension[f"{row.dimension}{is_new_caller}"].append(row)
        elif row.dimension == NETWORK and _is_rush(row) and networks[row.caller] > 1 and 2 * row.calls >= calls[row.caller]:
            by_dimension["rush"].append(row)
        elif not is_new_caller and old[row.caller] >= NEW_OLD_CALLS:
            if row.dimension == HOUR_OF_DAY and ground.hours < 24 * NEW_HOUR_DAYS:
                continue
            if row.dimension == KIND and "kind" in cover.columns:
                continue
            # Machines have fixed addresses, however often users change theirs.
            by_dimension[f"{row.dimension}{row.dimension == NETWORK and row.caller not in users}"].append(row)
    callers = {row.caller for row in rows if row.dimension == CALLER}
    told: defaultdict[str, list[Seen]] = defaultdict(list)
    for of in by_dimension.values():
        # Where news of a kind are usual, only those of scopes that few callers hold are news.
        is_usual = len({row.caller for row in of}) > max(NEW_MOST, len(callers) // 50)
        for row in of:
            is_rare = row.dimension in (HELD, USED) and (row.value in sensitive or 20 * len(holders[row.value]) <= len(callers))
            if not is_usual or is_rare:
                told[row.caller].append(row)
    # Few calls at an hour or of a route are chance.
    kept: dict[str, list[Seen]] = {}
    for caller, facts in told.items():
        if caller in old:
            facts = [row for row in facts if row.dimension not in (HOUR_OF_DAY, ROUTE) or row.calls * 100 >= old[caller]]
        if facts:
            kept[caller] = facts
    return kept


def _weight(facts: Sequence[Seen], holders: Counter[str], is_new: bool) -> float:
    """How much facts tell: a scope that few callers hold tells more than an hour of the day."""
    order = [HELD, USED, KIND, NETWORK, PRICE, ROUTE, CALLER, HOUR_OF_DAY]
    return (
        max(
            (len(order) - order.index(row.dimension)) + (4 / holders[row.value] if row.dimension in (HELD, USED) and holders[row.value] else 0) for row in facts
        )
        + is_new
    )


def _sentence(caller: str, facts: Sequence[Seen], is_new: bool) -> str:
    """The facts about a caller."""
    first = min(facts, key=lambda row: (row.first, row.row))
    by: defaultdict[str, list[Seen]] = defaultdict(list)
    for row in facts:
        by[row.dimension].append(row)
    parts = []
    for dimension, words in WORDS.items():
        if of := sorted(by[dimension], key=lambda row: (-row.calls, row.value)):
            # A route says what a scope is used for.
            if dimension in (ROUTE, USED) and is_new:
                continue
            more = f" and {number(len(of) - MOST_VALUES)} more" if len(of) > MOST_VALUES else ""
            values = ", ".join(shown(row.value, 60) for row in of[:MOST_VALUES])
            parts.append(f"{words} {values}{more} ({number(sum(row.calls for row in of), 'call')})")
    start = f"{first.first:%A %Y-%m-%d %H:%M}"
    if is_new:
        calls = max((row.calls for row in facts if row.dimension == CALLER), default=max(row.calls for row in facts))
        held = "; ".join(part.rpartition(" (")[0] for part in parts)
        return f"{shown(caller)}, first seen {start} in row {number(first.row)}{f', {held}' if held else ''}: {number(calls, 'call')}"
    return f"{shown(caller)}, since {start} in row {number(first.row)}, for the first time {'; '.join(parts)}"
