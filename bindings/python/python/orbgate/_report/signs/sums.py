"""A ledger and a log that names accounts, but no holds: what each account was charged, hour by hour, and what its calls cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from ..._number import number
from ..numbers import HIGH, MEDIUM, share, shown
from ..reconciled import Compared
from ..thresholds import PRICE_HOURS, SUM_CALLS, SUM_PART
from ..timelines import HOUR
from .ground import Ground, Sign, name, said_when, sign


class Hour(NamedTuple):
    """The served calls of an account in an hour that consume orbs, of which routes they are, what the policy states for them, and the captures of
    its holds.
    """

    calls: int = 0
    stated: int = 0
    unstated: int = 0
    captures: int = 0
    captured: int = 0
    routes: dict[str, int] = {}


Sums = dict[str, dict[int, Hour]]


def sums(of: Compared, ground: Ground) -> Iterator[Sign]:
    """The differences between the sums of accounts."""
    if of.by_account is None or ground.period is None or not ground.has_hours:
        return
    every = _sums(of, ground.period.first, ground.period.last)
    more = _differences(every, lambda hour: hour.captures - hour.calls)
    less = _differences(every, lambda hour: hour.calls - hour.captures)
    payers = [*_pairs(more, less)]
    for account, payer, count, hours in payers:
        sentence = (
            f"{number(count, 'call')} of account {shown(account)} {'has' if count == 1 else 'have'} no capture, and in the same hours "
            f"as many captures of {shown(payer)} have no call: these orbs were moved by the wrong account, {_when(hours)}"
        )
        yield sign("other_account", HIGH, account, count, sentence, hours[0] * HOUR, hours[-1] * HOUR + HOUR - 1)
    paired = {account for account, *_ in payers} | {payer for _, payer, *_ in payers}
    captures, calls = (sum(getattr(hour, field) for hours in every.values() for hour in hours.values()) for field in ("captures", "calls"))
    for kind, some, whole, words in (
        ("calls_missing", more, captures, "captures of the ledger have no call in the log, by account and hour: the log may lack calls"),
        ("captures_missing", less, calls, "served calls that consume orbs have no capture in the ledger, by account and hour"),
    ):
        left = {account: hours for account, hours in some.items() if account not in paired}
        count = sum(sum(hours.values()) for hours in left.values())
        if count >= SUM_CALLS and count >= SUM_PART * whole:
            between = _window(left)
            most = sorted(left, key=lambda account: (-sum(left[account].values()), account))[:3]
            sentence = f"{number(count)} of {number(whole)} ({share(count, whole)}) {words}, {_when(between)}, most of them of {', '.join(map(shown, most))}"
            yield sign(kind, MEDIUM, "the log" if kind == "calls_missing" else "the ledger", count, sentence, between[0] * HOUR, between[-1] * HOUR + HOUR - 1)
    yield from _prices(every)


def _sums(of: Compared, first: int, last: int) -> Sums:
    every: Sums = defaultdict(dict)
    for row in of.by_account.to_pylist():
        if row["account"]:
            hours = every[name(row["account"])]
            before = hours.get(row["hour"], Hour())
            of_route = before.routes if row["route"] is None else {**before.routes, row["route"]: row["calls"]}
            hours[row["hour"]] = Hour(before.calls + row["calls"], before.stated + row["stated"], before.unstated + row["unstated"], routes=of_route)
    seconds = pc.divide(of.entries["at"].cast(pa.int64()), 1_000)
    table = of.entries.select(["account", "captured"]).append_column("hour", pc.divide(seconds, HOUR))
    is_inside = pc.and_(pc.greater_equal(seconds, first), pc.less_equal(seconds, last))
    captures = table.filter(pc.and_(pc.and_(pc.equal(of.entries["cause"], "capture"), pc.greater(table["captured"], 0)), is_inside))
    for row in captures.group_by(["account", "hour"]).aggregate([("captured", "sum"), ("captured", "count")]).to_pylist():
        # An account that the log never names may be another service's.
        if row["account"] in every:
            before = every[row["account"]].get(row["hour"], Hour())
            every[row["account"]][row["hour"]] = before._replace(captures=row["captured_count"], captured=row["captured_sum"])
    return every


def _differences(every: Sums, of: Callable[[Hour], int]) -> dict[str, dict[int, int]]:
    """By account, the hours with such a difference. What comes an hour later is the same call."""
    found: dict[str, dict[int, int]] = {}
    for account, hours in every.items():
        differs = {hour: of(counts) for hour, counts in sorted(hours.items()) if of(counts)}
        for hour in [*differs]:
            for other in (hour - 1, hour + 1):
                one, two = differs.get(hour, 0), differs.get(other, 0)
                if one > 0 > two:
                    both = min(one, -two)
                    differs[hour], differs[other] = one - both, two + both
        left = {hour: count for hour, count in differs.items() if count > 0}
        if left:
            found[account] = left
    return found


def _pairs(more: dict[str, dict[int, int]], less: dict[str, dict[int, int]]) -> Iterator[tuple[str, str, int, list[int]]]:
    """Accounts whose calls lack captures in hours in which another account has as many without a call."""
    for account, lacking in sorted(less.items()):
        for payer, extra in sorted(more.items()):
            shared = {hour: min(lacking[hour], extra[hour]) for hour in lacking.keys() & extra.keys()}
            count = sum(shared.values())
            if count >= SUM_CALLS // 4 and 5 * count >= 4 * max(sum(lacking.values()), sum(extra.values())):
                yield account, payer, count, sorted(shared)


def _window(found: dict[str, dict[int, int]]) -> list[int]:
    """The first and the last hour, without the few at both ends."""
    hours: defaultdict[int, int] = defaultdict(int)
    for of in found.values():
        for hour, count in of.items():
            hours[hour] += count
    total, before, inside = sum(hours.values()), 0, []
    for hour in sorted(hours):
        before += hours[hour]
        if before * 50 > total and (before - hours[hour]) * 50 < 49 * total:
            inside.append(hour)
    return inside


def _when(hours: list[int]) -> str:
    return said_when(hours[0] * HOUR, hours[-1] * HOUR + HOUR - 1)


def _prices(every: Sums) -> Iterator[Sign]:
    """Hours in which as many calls as captures cost other amounts than the policy states."""
    found: dict[str, dict[int, int]] = {}
    stated = captured = calls = 0
    hours_of: list[Hour] = []
    for account, hours in every.items():
        for hour, of in hours.items():
            if of.calls == of.captures and not of.unstated and of.stated != of.captured:
                found.setdefault(account, {})[hour] = of.calls
                stated, captured, calls = stated + of.stated, captured + of.captured, calls + of.calls
                hours_of += [of]
    if calls < SUM_CALLS:
        return
    between = _window(found)
    accounts = sorted(found, key=lambda account: (-sum(found[account].values()), account))
    whose = f"{number(len(accounts), 'account')}" if len(accounts) > 3 else ", ".join(map(shown, accounts))
    sentence = (
        f"{number(captured, 'orb')} were captured in hours in which the policy states {number(stated)} for as many calls "
        f"({number(calls)}) of {whose}, {_when(between)}{_of_route(hours_of)}"
    )
    yield sign("other_price", MEDIUM, "the ledger", calls, sentence, between[0] * HOUR, between[-1] * HOUR + HOUR - 1)


def _of_route(hours: list[Hour]) -> str:
    """The route whose calls cost so many orbs more or less that this is the difference of nearly all of these hours, in words."""
    fits: Counter[tuple[str, int]] = Counter()
    for of in hours:
        for route, calls in of.routes.items():
            each, rest = divmod(of.captured - of.stated, calls)
            if not rest:
                fits[route, each] += 1
    # While servers take over a price one after the other, hours have both.
    best = fits.most_common(2)
    if not best or best[0][1] < PRICE_HOURS * len(hours) or (len(best) > 1 and best[1][1] == best[0][1]):
        return ""
    (route, each), count = best[0]
    return (
        f"; in {number(count)} of {number(len(hours), 'such hour')} of an account, the difference is {number(abs(each), 'orb')} "
        f"{'more' if each > 0 else 'less'} for each call to {shown(route)}"
    )
