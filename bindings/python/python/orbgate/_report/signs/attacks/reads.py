"""A user who reads far more objects than all others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from ...._number import number
from ...evidence import SERVED
from ...numbers import LOW, bound, shown
from ...thresholds import READ_FACTOR, READ_MOST, READ_OBJECTS, READ_USERS
from ..ground import Cover, Ground, Sign, name, said_when, sign
from .objects import by_object


def far_more(ground: Ground, cover: Cover, table: Any, is_exact: bool) -> Iterator[Sign]:
    """Users who read many times as many different objects of a route as other users do. How many a machine reads depends on its work."""
    kinds: defaultdict[bytes, set[bytes]] = defaultdict(set)
    for row in ground.evidence.held.rows():
        if row["caller"] is not None and row["kind"] is not None:
            kinds[row["caller"]].add(row["kind"])
    users = pa.array([caller for caller, of in kinds.items() if of == {b"user"}], pa.binary())
    if {"kind", "caller"} & cover.columns or len(users) < READ_USERS:
        return
    is_read = pc.and_(pc.equal(table["class"], SERVED), pc.match_substring_regex(table["location"], r"^(GET|HEAD) "))
    read = by_object(table.filter(pc.and_(is_read, pc.is_in(table["who"], users)).fill_null(False)))
    sums = read.group_by(["who", "location"]).aggregate([("one", "sum"), ("calls", "sum"), ("second", "min"), ("last", "max"), ("row", "min")])
    many = pc.unique(sums.filter(pc.greater_equal(sums["one_sum"], READ_OBJECTS))["location"])
    by: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in sums.filter(pc.is_in(sums["location"], many.cast(sums["location"].type))).to_pylist():
        by[row["location"]].append(row)
    for location, some in sorted(by.items()):
        some.sort(key=lambda row: (row["one_sum"], row["who"]))
        usual = some[len(some) * 9 // 10 - 1]["one_sum"]
        far = [row for row in some if row["one_sum"] >= max(READ_OBJECTS, READ_FACTOR * usual)]
        if len(some) < READ_USERS or not far or len(far) > READ_MOST:
            continue
        others = some[: len(some) - len(far)]
        for row in far:
            first, last, hours = _fewest_hours(read, row)
            sentence = (
                f"{shown(name(row['who']))} reads {bound(row['one_sum'], is_exact, 'different object')} of {location} in {number(row['calls_sum'], 'call')}, "
                f"most of them within {number(hours, 'hour')} {said_when(first, last)}; of {number(len(others), 'other user')}, none "
                f"reads more than {number(others[-1]['one_sum'])}"
            )
            yield sign("many_objects", LOW, name(row["who"]), row["calls_sum"], sentence, first, last, row["row_min"], is_exact)


def _fewest_hours(read: Any, of: dict[str, Any]) -> tuple[int, int, int]:
    """The first and the last second of the fewest hours that have nine in ten of a user's objects of a route, and the number of these hours."""
    own = read.filter(pc.and_(pc.equal(read["who"], of["who"]), pc.equal(read["location"], of["location"])))
    hours = (
        own.group_by("hour")
        .aggregate([("one", "sum"), ("second", "min"), ("last", "max")])
        .sort_by([("one_sum", "descending"), ("hour", "ascending")])
        .to_pylist()
    )
    left, most = 0.9 * of["one_sum"], []
    for row in hours:
        if left <= 0:
            break
        most.append(row)
        left -= row["one_sum"]
    return min(row["second_min"] for row in most), max(row["second_min"] for row in most), len(most)
