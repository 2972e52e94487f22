"""The times of logs: of this one and of earlier reports, and how many days of them are after a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from ..._rows import Rows
from ..timelines import DAY


class Seen(NamedTuple):
    """A caller with a value of a dimension, such as a scope that it holds: the calls, the first and the last of them."""

    dimension: str
    caller: str
    value: str
    calls: int
    first: datetime
    last: datetime
    row: int


class Covered(NamedTuple):
    """The time of a log: its first and its last call."""

    first: datetime
    last: datetime


class Earlier(NamedTuple):
    """What earlier reports have seen, and in which times. Unless `is_whole`, they saw more than a bundle lists."""

    seen: Rows[Seen]
    periods: Rows[Covered]
    is_whole: bool


def merged(seen: Iterable[Seen], earlier: Iterable[Seen]) -> list[Seen]:
    """What was seen in this log and in earlier ones; of each, the row in the first of them."""
    found: dict[tuple[str, str, str], Seen] = {}
    for row in (*earlier, *seen):
        key = row.dimension, row.caller, row.value
        of = found.get(key)
        found[key] = row if of is None else of._replace(calls=of.calls + row.calls, first=min(of.first, row.first), last=max(of.last, row.last))
    return [*found.values()]


def joined(periods: Iterable[Covered]) -> list[Covered]:
    """The times in order, those that overlap as one."""
    found: list[Covered] = []
    for one in sorted(periods):
        if found and one.first <= found[-1].last:
            found[-1] = found[-1]._replace(last=max(found[-1].last, one.last))
        else:
            found.append(one)
    return found


def days_since(time: datetime, periods: Sequence[Covered]) -> int:
    """The whole days of logs after a time.

    >>> november = [Covered(datetime(2026, 11, day), datetime(2026, 11, day + 7)) for day in (1, 10)]
    >>> days_since(datetime(2026, 11, 3), november)
    12
    """
    return int(sum((one.last - max(one.first, time)).total_seconds() for one in periods if one.last > time) // DAY)
