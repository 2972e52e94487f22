"""Objects that are read one after the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from ...._number import number
from ...evidence import SERVED
from ...numbers import LOW, bound, shown
from ...thresholds import OBJECTS, SERIES_CALLS, SERIES_HOURS, SERIES_STEP
from ...timelines import FEW, HOUR
from ..ground import Sign, name, said_when, sign
from .objects import WHO, by_object


def slow_series(column: str, table: Any, is_exact: bool) -> Iterator[Sign]:
    """Objects that a caller reads once, each with a higher id than the one before, over days, among others that it reads again and again."""
    rows = by_object(table)
    is_read = pc.and_(pc.equal(rows["class"], SERVED), pc.match_substring_regex(rows["location"], r"^(GET|HEAD) "))
    rows = rows.filter(pc.and_(is_read, pc.equal(rows["number"], rows["most"])).fill_null(False))
    key = ["who", "location"]
    many = rows.group_by(key).aggregate([("one", "sum")])
    rows = rows.join(many.filter(pc.greater_equal(many["one_sum"], OBJECTS)).select(key), key, join_type="left semi")
    once = rows.filter(pc.less_equal(rows["calls"], 2)).sort_by([(column, "ascending") for column in (*key, "number")]).combine_chunks()
    if once.num_rows < OBJECTS:
        return
    step, later = (pc.subtract(once[name][1:], once[name][:-1]) for name in ("number", "second"))
    is_same = pc.and_(*(pc.equal(once[name][1:], once[name][:-1]) for name in key))
    follows = pc.and_(is_same, _is_next(step, SLOW_STEP))
    near = once[1:].append_column("rises", pc.greater_equal(later, 0).cast(pa.int64())).filter(follows)
    sums = near.group_by(key).aggregate(
        [("one", "sum"), ("rises", "sum"), ("second", "min"), ("second", "max"), ("row", "min"), ("number", "min"), ("number", "max")]
    )
    # Of objects in any order, half have a higher id than the one before.
    ordered = pc.greater_equal(pc.max_element_wise(sums["rises_sum"], pc.subtract(sums["one_sum"], sums["rises_sum"])), pc.multiply(sums["one_sum"], SLOW_PART))
    found = sums.filter(pc.and_(pc.greater_equal(sums["one_sum"], OBJECTS), ordered))
    if not found.num_rows:
        return
    whole = {(row["who"], row["location"]): row for row in rows.group_by(key).aggregate([("one", "sum"), ("calls", "sum")]).to_pylist()}
    of_found = table.filter(pc.is_in(table["who"], found["who"].combine_chunks())).group_by("who").aggregate([("location", "count_distinct")]).to_pylist()
    routes = {row["who"]: row["location_count_distinct"] for row in of_found}
    for row in found.sort_by([("who", "ascending"), ("location", "ascending")]).to_pylist():
        of, objects = whole[row["who"], row["location"]], row["one_sum"]
        others, again = of["one_sum"] - objects, of["calls_sum"] - objects
        # A job reads nothing twice, and makes no other calls.
        is_job = again < 2 * others and routes[row["who"]] < SLOW_ROUTES
        if (
            row["second_max"] - row["second_min"] <= SERIES_HOURS * HOUR
            or others < FEW
            or is_job
            or row["number_max"] - row["number_min"] > 2 * SLOW_STEP * objects
        ):
            continue
        sentence = (
            f"{WHO[column]}{shown(name(row['who']))} reads {bound(objects, is_exact, 'different object')} of {row['location']} with "
            f"ids from {row['number_min']} to "
            f"{row['number_max']}, each once and in their order, {said_when(row['second_min'], row['second_max'])}, and among them {number(others)} others, "
            f"{number(again)} times"
        )
        yield sign("enumeration", LOW, name(row["who"]), objects, sentence, row["second_min"], row["second_max"], row["row_min"], is_exact)


# The largest step from one id of a slow series to the next, the smallest part of them that are in order, and the fewest routes of who is no job.
SLOW_STEP, SLOW_PART, SLOW_ROUTES = 3, 0.9, 3


def _is_next(step: Any, most: int) -> Any:
    """Whether an id comes soon after the one before. If two objects have the same number, it is only a part of their ids."""
    return pc.and_(pc.greater_equal(step, 1), pc.less_equal(step, most))


def fast_series(column: str, table: Any, is_exact: bool) -> Iterator[Sign]:
    """Objects with consecutive ids that a caller reads once, and otherwise reads some here and there."""
    rows = by_object(table)
    is_read = pc.and_(pc.equal(rows["class"], SERVED), pc.match_substring_regex(rows["location"], r"^(GET|HEAD) "))
    rows = rows.filter(pc.and_(is_read, pc.equal(rows["number"], rows["most"])).fill_null(False))
    key = ["who", "location", "hour"]
    many = rows.group_by(key).aggregate([("one", "sum")])
    many = rows.join(many.filter(pc.greater_equal(many["one_sum"], OBJECTS)).select(key), key, join_type="left semi")
    if not many.num_rows:
        return
    many = many.sort_by([(column, "ascending") for column in (*key, "number")]).combine_chunks()
    # Of a series, nearly each id comes soon after the one before.
    step = pc.subtract(many["number"][1:], many["number"][:-1])
    is_same = [pc.equal(many[column][1:], many[column][:-1]) for column in key]
    follows = pc.and_(pc.and_(is_same[0], is_same[1]), pc.and_(is_same[2], _is_next(step, SERIES_STEP)))
    aggregations = [("one", "sum"), ("calls", "sum"), ("second", "min"), ("second", "max"), ("row", "min"), ("number", "min"), ("number", "max")]
    hours = many[1:].filter(follows).group_by(key).aggregate(aggregations)
    is_once = pc.less_equal(hours["calls_sum"].cast(pa.float64()), pc.multiply(hours["one_sum"].cast(pa.float64()), SERIES_CALLS))
    dense = hours.filter(pc.and_(is_once, pc.greater_equal(hours["one_sum"], OBJECTS)))
    if not dense.num_rows:
        return
    columns = ["who", "location"]
    wholes = rows.join(dense.select(columns), columns, join_type="left semi").group_by(columns).aggregate([("one", "sum")]).to_pylist()
    whole = {(row["who"], row["location"]): row["one_sum"] for row in wholes}
    by: defaultdict[tuple[bytes, str], list[dict[str, Any]]] = defaultdict(list)
    for row in dense.to_pylist():
        by[row["who"], row["location"]].append(row)
    for (who, location), some in sorted(by.items()):
        objects, first, last = sum(row["one_sum"] for row in some), min(row["second_min"] for row in some), max(row["second_max"] for row in some)
        # What reads nothing else is a job.
        if last - first > SERIES_HOURS * HOUR or whole[who, location] - objects < FEW:
            continue
        least, most = min(row["number_min"] for row in some), max(row["number_max"] for row in some)
        # Of many ids, some follow each other by chance.
        if most - least > 2 * SERIES_STEP * objects:
            continue
        ids = f"{least} to {most}"
        sentence = (
            f"{WHO[column]}{shown(name(who))} reads {bound(objects, is_exact, 'different object')} of {location} with ids from {ids} "
            f"{said_when(first, last)}, and {number(whole[who, location] - objects)} others in the whole log"
        )
        yield sign("enumeration", LOW, name(who), sum(row["calls_sum"] for row in some), sentence, first, last, min(row["row_min"] for row in some), is_exact)
