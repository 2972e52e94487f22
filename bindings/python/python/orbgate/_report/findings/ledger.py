"""The findings about a ledger: what differs between the log's calls and the entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..._number import number
from ..figures import Finding
from ..numbers import HIGH, LOW, MEDIUM, shown
from ..reconciled import CALLED, CAPTURED, HELD
from ..signs.ledger import ENTRIES, HOLDS
from .words import MOST_PAIRS, ORBS

if TYPE_CHECKING:
    from ..figures import Figures
    from ..reconciled import Difference

KINDS = {HELD: "held_without_call", CALLED: "called_without_hold", CAPTURED: "captured_otherwise"}
# What is no finding if the log may lack calls, or the ledger's export lacks entries.
COVERED = {HELD: HOLDS, CALLED: ENTRIES}
ACTIONS = {
    HELD: "Find out whether the log lacks these calls, or whether something else uses the ledger. A process that was killed leaves holds that expire.",
    CALLED: "Find out how these calls reached their handler without the gate and its ledger.",
    CAPTURED: "Check whether their handlers state amounts of their own, and whether the ledger's notes have another policy.",
}


def of_ledger(figures: Figures) -> Iterator[Finding]:
    """One finding for each way to differ."""
    for what, kind in KINDS.items():
        rows = () if figures.reconciled is None else figures.reconciled.of(what)
        if rows and COVERED.get(what) not in figures.signs.cover.columns:
            calls, orbs, captured = sum(row.calls for row in rows), sum(row.orbs for row in rows), sum(row.captured for row in rows)
            # Of entries that aren't whole, those that end a hold can be missing.
            if what == CAPTURED and not captured and ENTRIES in figures.signs.cover.columns:
                continue
            difference = {
                HELD: f"{number(calls, 'hold')} {'has' if calls == 1 else 'have'} no call in the log, "
                f"and {number(captured, 'orb')} of {'it' if calls == 1 else 'them'} {'was' if captured == 1 else 'were'} captured",
                CALLED: f"{number(calls, 'served call')} that {'consumes' if calls == 1 else 'consume'} orbs "
                f"{'has' if calls == 1 else 'have'} no hold in the ledger",
                CAPTURED: f"{number(captured, 'orb')} {'was' if captured == 1 else 'were'} captured for {number(calls, 'call')}, "
                f"for which the policy states {number(orbs)}",
            }[what]
            more = f", and {number(len(rows) - MOST_PAIRS, 'more route')}" if len(rows) > MOST_PAIRS else ""
            level = {HELD: HIGH if captured else LOW, CALLED: HIGH, CAPTURED: MEDIUM}[what]
            yield Finding(level, kind, calls, True, f"{difference}: {', '.join(map(_of_route, rows[:MOST_PAIRS]))}{more}.", ACTIONS[what], ORBS)


def _of_route(row: Difference) -> str:
    first = f"in row {number(row.row)}" if row.row is not None else f"is {shown(row.hold)}"
    return f"{number(row.calls)} {'to' if row.row is not None else 'for'} {shown(row.route) if row.route else 'no route'}, the first {first}"
