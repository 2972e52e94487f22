"""One object that is changed again and again."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from statistics import median
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from ...._number import number
from ...evidence import SERVED
from ...numbers import MEDIUM, shown
from ...thresholds import REPEATS, REPEATS_FACTOR, REPEATS_PART
from ..ground import Sign, name, said_when, sign
from .objects import WHO


def repeated(column: str, table: Any, is_exact: bool) -> Iterator[Sign]:
    """One object that is changed far more often than others of its route."""
    if not is_exact:
        return
    changed = table.filter(pc.and_(pc.equal(table["class"], SERVED), pc.invert(pc.match_substring_regex(table["location"], r"^(GET|HEAD|OPTIONS) "))))
    often = changed.filter(pc.greater_equal(changed["calls"], REPEATS))
    if not often.num_rows:
        return
    routes = {route for route in often["location"].to_pylist()}
    usual: dict[str, list[int]] = defaultdict(list)
    for row in changed.filter(pc.is_in(changed["location"], pa.array(sorted(routes)))).select(["location", "calls"]).to_pylist():
        usual[row["location"]].append(row["calls"])
    for row in often.sort_by([("calls", "descending"), ("row", "ascending")]).to_pylist()[:10]:
        counts = sorted(usual[row["location"]])
        # Where some objects are changed often, some are changed more often; one that stands out has a gap below it.
        above = len(counts) - bisect_left(counts, row["calls"])
        least = next(
            (at for at in range(len(counts) - above, len(counts) * 9 // 10, -1) if counts[at] >= REPEATS and counts[at] >= REPEATS_FACTOR * counts[at - 1]),
            None,
        )
        # Where many objects are, each is changed by its own device.
        if len(counts) < 10 or least is None or len(counts) - least > REPEATED_MOST:
            continue
        # Who calls all routes, such as a load test, also calls this one.
        is_near = pc.and_(pc.less_equal(table["second"], row["last"]), pc.greater_equal(table["last"], row["second"]))
        if row["calls"] < REPEATS_PART * (pc.sum(table["calls"].filter(pc.and_(pc.equal(table["who"], row["who"]), is_near))).as_py() or 0):
            continue
        of = f" {row['number']}" if row["number"] is not None and row["number"] == row["most"] else ""
        sentence = (
            f"{WHO[column]}{shown(name(row['who']))} calls {row['location']} {number(row['calls'])} times for one object{of}, and "
            f"each time it succeeds, {said_when(row['second'], row['last'])}; half of all objects have {number(int(median(counts)))} "
            "such calls or fewer"
        )
        yield sign("repeated_object", MEDIUM, name(row["who"]), row["calls"], sentence, row["second"], row["last"], row["row"])


# The most objects that stand out.
REPEATED_MOST = 5
