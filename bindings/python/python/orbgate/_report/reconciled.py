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
SERVED_BELOW = FAILED
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


class Compared(NamedTuple):
    """What is compared: the entries, each once, with the number of `copies` that were in the file; the holds with what became of them; the
    calls that consume orbs or have a hold, with it; and the holds `inside` the time of the log, with whether they have their call in it.
    Of a log that names accounts, but no holds, `by_account` sums what its served calls cost, by hour and route.
    """

    entries: Any
    copies: int
    holds: Any
    calls: Any
    inside: Any
    has_accounts: bool
    by_account: Any


class Reconciling:
    """Collects the calls that consume orbs, or have a hold."""

    def __init__(self, entries: Any) -> None:
        self._entries, self._copies = _once(entries)
        self._holds = _holds(self._entries)
        self._calls = [_CALLS.empty_table()]
        self._has_accounts, self._has_holds = False, True
        self._sums: list[Any] = []

    def add(self, part: Part) -> None:
        """Collects calls with their decisions."""
        decided, nothing = part.decided, pa.nulls(part.calls.num_rows, pa.binary())
        self._has_holds = "hold" in part.calls.column_names
        hold = part.calls["hold"] if self._has_holds else nothing
        hold = pc.if_else(pc.equal(pc.binary_length(hold), 0), None, hold)
        consumes = decided["consumes"].fill_null(False)
        amount = pc.if_else(consumes, decided["amount"], 0)
        self._has_accounts = "account" in part.calls.column_names
        account = part.calls["account"] if self._has_accounts else nothing
        second = pc.divide(pc.floor_temporal(part.calls["time"], unit="second").cast(pa.int64()), 1_000_000)
        columns = [hold, amount, part.calls["served_status"], part.calls["row"], decided["route"], account, part.calls["caller"], second]
        self._calls.append(pa.table(columns, _CALLS.names).filter(pc.or_(consumes, pc.is_valid(hold))).cast(_CALLS))
        if not self._has_holds:
            self._sums.append(_by_account(self._calls.pop()))

    def compared(self, first: datetime | None, last: datetime | None) -> Compared:
        """The calls with their holds. Without times, all holds are in the time of the log."""
        calls, holds = pa.concat_tables(self._calls), self._holds
        # A hold is for one call: its first.
        firsts = calls.filter(pc.is_valid(calls["hold"])).group_by("hold").aggregate([("row", "min")])
        own = pc.if_else(pc.is_in(calls["row"], firsts["row_min"]), calls["hold"], None)
        held = holds.rename_columns(["holder" if name == "account" else name for name in holds.column_names])
        joined = calls.set_column(0, "own", own).append_column("hold", calls["hold"]).join(held, "own", "id", "left outer").sort_by("row")
        inside = holds
        if first is not None and last is not None:
            since, until = (pa.scalar(time, pa.timestamp("ms", "UTC")) for time in (_utc(first) + MARGIN, _utc(last) - MARGIN))
            inside = holds.filter(pc.and_(pc.greater_equal(holds["at"], since), pc.less_equal(holds["ended"], until)))
        inside = inside.append_column("is_called", pc.is_in(inside["id"], firsts["hold"]))
        by_account = None
        if self._sums:
            by_account = _plain_sums(pa.concat_tables(self._sums), {"calls": "sum", "stated": "sum", "unstated": "sum"})
        return Compared(self._entries, self._copies, holds, joined, inside, self._has_accounts, by_account)

    def figures(self, of: Compared) -> Reconciled:
        """The differences."""
        joined, holds, inside = of.calls, of.holds, of.inside
        if of.by_account is not None:
            return Reconciled(0, 0, holds.num_rows, Rows(Difference))
        is_held, captured, amount = pc.is_valid(joined["at"]), joined["captured"].fill_null(0), joined["amount"]
        status = joined["status"]
        ok, failed = (pc.less(status, FAILED).fill_null(False), pc.and_(pc.greater_equal(status, FAILED), pc.not_equal(status, LEFT)).fill_null(False))
        is_other = pc.not_equal(captured, amount).fill_null(False)
        is_charged = pc.greater(captured, 0)
        without = pc.and_(pc.and_not(ok, is_held), pc.not_equal(amount, 0).fill_null(True))
        otherwise = pc.and_(is_held, pc.or_(pc.and_(is_other, pc.or_(ok, is_charged)), pc.and_(failed, is_charged)))
        rows = [*_sums(CALLED, joined.filter(without)), *_sums(CAPTURED, joined.filter(otherwise))]
        is_called = inside["is_called"]
        alone = inside.filter(pc.invert(is_called)).sort_by("at")
        nothing = pa.array([None] * alone.num_rows, pa.int64())
        columns = {"route": alone["holds_route"], "amount": pa.repeat(0, alone.num_rows), "captured": alone["captured"], "hold": alone["id"], "row": nothing}
        rows = [*_sums(HELD, pa.table(columns)), *rows]
        return Reconciled(inside.num_rows, pc.sum(is_called).as_py() or 0, holds.num_rows - inside.num_rows, Rows(Difference, rows))


_CALLS = pa.schema(
    [
        ("hold", pa.binary()),
        ("amount", pa.int64()),
        ("status", pa.int64()),
        ("row", pa.int64()),
        ("route", pa.string()),
        ("account", pa.binary()),
        ("caller", pa.binary()),
        ("second", pa.int64()),
    ]
)


def _once(entries: Any) -> tuple[Any, int]:
    """The entries without those that are in the file again, and how many these are."""
    at = entries.select(["account", "seq", "cursor", "id", "cause"]).append_column("at", pa.array(range(entries.num_rows), pa.int64()))
    firsts = at.group_by(["account", "seq", "cursor", "id", "cause"], use_threads=False).aggregate([("at", "min")])
    copies = entries.num_rows - firsts.num_rows
    return (entries.take(firsts["at_min"].combine_chunks().sort()) if copies else entries), copies


def _by_account(calls: Any) -> Any:
    """The served calls that consume orbs, by account, hour and route."""
    is_served = pc.and_(pc.less(calls["status"], FAILED).fill_null(False), pc.not_equal(calls["amount"], 0).fill_null(True))
    calls = calls.filter(pc.and_(is_served, pc.is_valid(calls["second"])))
    hour = pc.floor(pc.divide(calls["second"].cast(pa.float64()), 3_600)).cast(pa.int64())
    columns = {
        "account": calls["account"],
        "hour": hour,
        "route": calls["route"],
        "calls": pa.repeat(1, calls.num_rows),
        "stated": calls["amount"].fill_null(0),
        "unstated": pc.is_null(calls["amount"]).cast(pa.int64()),
    }
    return _plain_sums(pa.table(columns), {"calls": "sum", "stated": "sum", "unstated": "sum"})


def _plain_sums(table: Any, of: dict[str, str]) -> Any:
    sums = table.group_by(["account", "hour", "route"]).aggregate([*of.items()])
    return sums.rename_columns([name.removesuffix("_sum") for name in sums.column_names])


def _holds(entries: Any) -> Any:
    """The holds with what became of them, until their last entry."""
    holds = entries.filter(pc.equal(entries["cause"], "hold"))
    end = pc.find_substring(holds["note"], DIGEST).to_pylist()
    route = [note if at < 0 else note[:at] for note, at in zip(holds["note"].to_pylist(), end)]
    held = pa.table({"id": holds["id"], "at": holds["at"], "account": holds["account"], "route": pa.array(route, pa.string())})
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
