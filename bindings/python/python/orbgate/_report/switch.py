"""Finds out which of two policies decided a log, and when the server switched from one to the other."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._count.counts import Times
from .._count.served import REFUSED, SERVED, served
from .._terms import Effect

if TYPE_CHECKING:
    from .._count.decided import Part

# On each side of a switch, at least so many calls show it, and at most one call in `AGAINST` contradicts it.
FEWEST, AGAINST = 10, 100


class Switch(NamedTuple):
    """The server decided as one policy until `last_before`, and as the other one from `first_after` on.

    It switched from the other policy to this one if `is_to_this`, else the other way. `before` and `after` calls show it, and
    `against` calls contradict it.
    """

    is_to_this: bool
    last_before: datetime
    first_after: datetime
    before: int
    after: int
    against: int


class Sides(NamedTuple):
    """The calls that only one of two policies allows, and whose response shows what the server did, by the policy that agrees.

    `served_as_other` were served although this policy denies them, and `refused_as_other` were refused although it allows them.
    """

    as_this: int
    served_as_other: int
    refused_as_other: int
    switch: Switch | None

    @property
    def as_other(self) -> int:
        """The calls that the server decided as the other policy does."""
        return self.served_as_other + self.refused_as_other


class SideCounts:
    """Counts the calls by the policy that agrees with the server's response, and by time."""

    def __init__(self) -> None:
        self.as_this = self.served_as_other = self.refused_as_other = 0
        self._times = Times(("is_this",), ends=True)

    def add(self, part: Part) -> None:
        """Counts calls with the decisions of both policies, row by row."""
        if part.before is None:
            return
        status = part.calls["served_status"]
        this, other = (pc.equal(decided["decision"], Effect.ALLOW.value) for decided in (part.decided, part.before))
        # 400 and 404 count as refused only if a policy denies the call, so they show nothing here.
        response = served(status, pa.repeat(True, len(status)), part.decided["reason"])
        is_served = pc.equal(response, SERVED)
        is_shown = pc.and_(pc.not_equal(this, other), pc.or_(is_served, pc.equal(response, REFUSED))).fill_null(False)
        shown = pa.table({"time": part.calls["time"], "is_served": is_served, "is_this": pc.equal(is_served, this)}).filter(is_shown)
        if not shown.num_rows:
            return
        is_other = pc.invert(shown["is_this"])
        self.as_this += shown.num_rows - (pc.sum(is_other).as_py() or 0)
        self.served_as_other += pc.sum(pc.and_(is_other, shown["is_served"])).as_py() or 0
        self.refused_as_other += pc.sum(pc.and_not(is_other, shown["is_served"])).as_py() or 0
        self._times.add(shown.select(["time", "is_this"]).filter(pc.is_valid(shown["time"])))

    def sides(self) -> Sides:
        """The counts, and the switch if there is one."""
        return Sides(self.as_this, self.served_as_other, self.refused_as_other, switch_in(self._times.rows()))


def switch_in(rows: Iterable[dict[str, Any]]) -> Switch | None:
    """The switch that the fewest calls contradict, the earliest of several such; None if too few calls show it."""
    ordered = sorted(rows, key=lambda row: (row["time"], row["is_this"]))
    times = [{row["is_this"]: row for row in of} for _, of in groupby(ordered, key=lambda row: row["time"])]
    whole = {side: sum(of[side]["calls"] for of in times if side in of) for side in (True, False)}
    best: tuple[int, int, bool] | None = None
    seen = {True: 0, False: 0}
    for at, of in enumerate(times):
        for is_to_this in (True, False):
            # Before it, calls of the policy after it are against it, and the other way round.
            before, after = seen[not is_to_this], whole[is_to_this] - seen[is_to_this]
            against = seen[is_to_this] + whole[not is_to_this] - before
            if before >= FEWEST and after >= FEWEST and AGAINST * against <= before + after + against and (best is None or against < best[0]):
                best = against, at, is_to_this
        for side, row in of.items():
            seen[side] += row["calls"]
    if best is None:
        return None
    against, at, is_to_this = best
    last = max(of[not is_to_this]["latest"] for of in times[:at] if (not is_to_this) in of)
    first = min(of[is_to_this]["earliest"] for of in times[at:] if is_to_this in of)
    counts = [sum(of[side]["calls"] for of in part if side in of) for part, side in ((times[:at], not is_to_this), (times[at:], is_to_this))]
    return Switch(is_to_this, last, first, counts[0], counts[1], against)
