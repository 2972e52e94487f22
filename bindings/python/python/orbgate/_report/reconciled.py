"""Compares calls that consume orbs with the entries of a ledger, by the hold's id in the log."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._rows import Rows

if TYPE_CHECKING:
    from .._count.decided import Part

HELD, CALLED, CAPTURED = "held without a call", "called without a hold", "captured unlike the policy's amount"
# The call of a hold so near the end of a log might be in another file, and two machines have two clocks.
MARGIN = timedelta(minutes=1)
# A handler that failed costs nothing. nginx says 499 of a caller who has left: what that costs is a setting of the gate.
FAILED, LEFT = 400, 499
# What follows the route in the note of a gate's hold.
DIGEST = " sha256:"


class Difference(NamedTuple):
    """Calls of a route, or holds for it, that differ from the ledger in one way. `orbs` is what the policy states for the calls, and
    `captured` what the ledger has charged. `hold` and `row` are of the first; None if it has no hold, or no row.
    """

    what: str
    route: str | None
    calls: int
    orbs: int
    captured: int
    hold: str | None
    row: int | None


class Reconciled(NamedTuple):
    """A log's calls that consume orbs, compared with the entries of a ledger. Of `holds` in the time of the log, `matched` have their
    call in it. `outside` holds are before or after it, so they were only looked up.
    """

    holds: int
    matched: int
    outside: int
    differences: Rows[Difference]

    def of(self, what: str) -> Rows[Difference]:
        """The differences of one kind."""
        return self.differences.where(lambda row: row.what == what)


class Reconciling:
    """Collects the calls that consume orbs, or have a hold."""

    def __init__(self, entries: Any) -> None:
        self._holds = _holds(entries)
        self._calls = [_CALLS.empty_table()]

    def add(self, part: Part) -> None:
        """Collects calls with their decisions."""
        decided, hold = part.decided, pc.if_else(pc.equal(pc.binary_length(part.calls["hold"]), 0), None, part.calls["hold"])
        consumes = decided["consumes"].fill_null(False)
        amount = pc.if_else(consumes, decided["amount"], 0)
        columns = [hold, amount, part.calls["served_status"], part.calls["row"], decided["route"]]
        self._calls.append(pa.table(columns, _CALLS.names).filter(pc.or_(consumes, pc.is_valid(hold))).cast(_CALLS))

    def figures(self, first: datetime | None, last: datetime | None) -> Reconciled:
        """The differences. Without times, all holds are in the time of the log."""
        calls, holds = pa.concat_tables(self._calls), self._holds
        # A hold is for one call: its first.
        firsts = calls.filter(pc.is_valid(calls["hold"])).group_by("hold").aggregate([("row", "min")])
        own = pc.if_else(pc.is_in(calls["row"], firsts["row_min"]), calls["hold"], None)
        joined = calls.set_column(0, "own", own).append_column("hold", calls["hold"]).join(holds, "own", "id", "left outer").sort_by("row")
        is_held, captured, amount = pc.is_valid(joined["at"]), joined["captured"].fill_null(0), joined["amount"]
        status = joined["status"]
        ok, failed = (pc.less(status, FAILED).fill_null(False), pc.and_(pc.greater_equal(status, FAILED), pc.not_equal(status, LEFT)).fill_null(False))
        is_other = pc.not_equal(captured, amount).fill_null(False)
        is_charged = pc.greater(captured, 0)
        without = pc.and_(pc.and_not(ok, is_held), pc.not_equal(amount, 0).fill_null(True))
        otherwise = pc.and_(is_held, pc.or_(pc.and_(is_other, pc.or_(ok, is_charged)), pc.and_(failed, is_charged)))
        rows = [*_sums(CALLED, joined.filter(without)), *_sums(CAPTURED, joined.filter(otherwise))]
        inside = holds
        if first is not None and last is not None:
            since, until = (pa.scalar(time, pa.timestamp("ms", "UTC")) for time in (_utc(first) + MARGIN, _utc(last) - MARGIN))
            inside = holds.filter(pc.and_(pc.greater_equal(holds["at"], since), pc.less_equal(holds["ended"], until)))
        is_called = pc.is_in(inside["id"], firsts["hold"])
        alone = inside.filter(pc.invert(is_called)).sort_by("at")
        nothing = pa.array([None] * alone.num_rows, pa.int64())
        columns = {"route": alone["holds_route"], "amount": pa.repeat(0, alone.num_rows), "captured": alone["captured"], "hold": alone["id"], "row": nothing}
        rows = [*_sums(HELD, pa.table(columns)), *rows]
        return Reconciled(inside.num_rows, pc.sum(is_called).as_py() or 0, holds.num_rows - inside.num_rows, Rows(Difference, rows))


_CALLS = pa.schema([("hold", pa.binary()), ("amount", pa.int64()), ("status", pa.int64()), ("row", pa.int64()), ("route", pa.string())])


def _holds(entries: Any) -> Any:
    """The holds with what became of them, until their last entry."""
    holds = entries.filter(pc.equal(entries["cause"], "hold"))
    end = pc.find_substring(holds["note"], DIGEST).to_pylist()
    route = [note if at < 0 else note[:at] for note, at in zip(holds["note"].to_pylist(), end)]
    held = pa.table({"id": holds["id"], "at": holds["at"], "route": pa.array(route, pa.string())})
    is_of_hold = pc.is_in(entries["cause"], pa.array(["hold", "capture", "void", "hold_expired"]))
    ends = entries.filter(is_of_hold).group_by("id").aggregate([("captured", "sum"), ("at", "max")]).rename_columns(["id", "captured", "ended"])
    joined = held.join(ends, "id", join_type="inner")
    return joined.set_column(joined.column_names.index("id"), "id", joined["id"].cast(pa.binary())).rename_columns(
        ["holds_route" if name == "route" else name for name in joined.column_names]
    )


def _sums(what: str, table: Any) -> list[Difference]:
    """The differences of one kind by route, those with the most calls first."""
    sums: dict[str | None, list[Any]] = {}
    for row in table.select(["route", "amount", "captured", "hold", "row"]).to_pylist():
        of = sums.setdefault(row["route"] or None, [0, 0, 0, row["hold"] and row["hold"].decode("utf-8", "backslashreplace"), row["row"]])
        of[:3] = [of[0] + 1, of[1] + (row["amount"] or 0), of[2] + (row["captured"] or 0)]
    rows = [Difference(what, route, *of) for route, of in sums.items()]
    return sorted(rows, key=lambda row: (-row.calls, row.route or ""))


def _utc(time: datetime) -> datetime:
    return time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time.astimezone(timezone.utc)
