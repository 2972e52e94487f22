"""Ledgers of several accounts in which something happened, known by construction, and what the report says about it."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from orbgate import Policy, orbs, report

pa = pytest.importorskip("pyarrow")
for needed in ("vl_convert", "jinja2"):
    pytest.importorskip(needed)

POLICY = Policy.from_yaml("""
orbgate: 1
apis:
  shop:
    base_path: ""
    scopes:
      run: { orbs: 30, routes: [POST /run] }
      any: { orbs: true, routes: [POST /any] }
      read: { orbs: false, routes: [GET /orders] }
...
""")
START, HOUR = 1_795_863_000_000, 3_600_000
OWN = ("captures_missing", "entries_missing", "calls_missing", "wrong_balances", "other_account", "unusual_entries", "other_price")


class World:
    """Two days of a ledger and its log: six accounts with a caller each, top-ups now and then, failed calls and one killed process."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.accounts = [f"acme-{at}" for at in range(6)]
        self.moves: list[dict[str, Any]] = []
        self.calls: list[dict[str, Any]] = []
        for account in self.accounts:
            self.grant(account, 0, 100_000, bucket="bonus")
            for at in range(4):
                self.grant(account, (at * 11 + self.choose.random()) * HOUR, self.choose.choice([1_000, 2_000, 5_000]))
        for at in range(900):
            time = int(HOUR * (1 + 46 * at / 900))
            self.call(self.choose.choice(self.accounts), time, status=self.choose.choices([200, 500], [97, 3])[0])
        self.call(self.accounts[0], 20 * HOUR, captured=None, logged=False, end="hold_expired")
        self.calls.append({**self._row("acme-1", "GET /orders", 47 * HOUR, None, 200)})

    def grant(self, account: str, at: float, amount: int, bucket: str = "paid", cause: str = "grant") -> None:
        self.moves.append({"account": account, "at": START + int(at), "cause": cause, "id": f"g{len(self.moves)}", "bucket": bucket, "available": amount if cause == "grant" else -amount, "held": 0, "captured": 0, "note": ""})

    def call(self, caller: str, at: int, *, status: int = 200, route: str = "POST /run", amount: int = 30, captured: int | None = 30, payer: str = "", logged: bool = True, end: str = "capture") -> None:
        hold, account = f"h{len(self.moves)}", payer or caller
        move = {"account": account, "id": hold, "bucket": "bonus", "note": f"{route} sha256:{'0' * 64}"}
        self.moves.append({**move, "at": START + at, "cause": "hold", "available": -amount, "held": amount, "captured": 0})
        if status >= 400 or captured is None:
            self.moves.append({**move, "at": START + at + 900, "cause": "void" if end == "capture" else end, "available": amount, "held": -amount, "captured": 0})
        else:
            self.moves.append({**move, "at": START + at + 900, "cause": "capture", "available": amount - captured, "held": -amount, "captured": captured})
        if logged:
            self.calls.append(self._row(caller, route, at, hold, status))

    def _row(self, caller: str, route: str, at: int, hold: str | None, status: int) -> dict[str, Any]:
        method, target = route.split()
        return {"method": method, "target": target, "kind": "user", "scopes": "run any read", "served_status": status, "hold_id": hold, "time": START + at, "caller": caller, "pays": caller}

    def entries(self) -> list[dict[str, Any]]:
        """The entries with their numbers and balances, as a ledger writes them."""
        made: list[dict[str, Any]] = []
        after = {account: {"seq": 0, "paid": 0, "bonus": 0, "held": 0} for account in self.accounts}
        for move in sorted(self.moves, key=lambda move: move["at"]):
            of = after[move["account"]]
            of["seq"] += 1
            of[move["bucket"]] += move["available"]
            of["held"] += move["held"]
            line = {"grant": move["bucket"], **{name: move[name] for name in ("bucket", "available", "held", "captured")}}
            made.append({"cursor": f"{len(made) + 1}-{len(made):016x}", **{name: move[name] for name in ("account", "at", "cause", "id", "note")}, "lines": [line], "shortfall": 0, **of})
        return made

    def made(self, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = lambda rows: rows, named: bool = True) -> Any:
        text = "\n".join(map(json.dumps, change(self.entries())))
        columns = {"hold": "hold_id", **({"account": "pays"} if named else {})}
        table = pa.Table.from_pylist(sorted(self.calls, key=lambda row: row["time"]))
        return report(table, POLICY, columns=columns, time_unit="ms", entries=orbs.entries(io.BytesIO(text.encode())))


def said(made: Any) -> list[tuple[str, str, str]]:
    return [(row.kind, row.level, row.sentence) for row in made.figures.findings if row.kind in OWN or row.kind in ("held_without_call", "called_without_hold", "captured_otherwise")]


def lost_rows(world: World) -> None:
    """The rows of one of two servers are absent."""
    world.calls = [row for row in world.calls if row["hold_id"] is None or world.choose.random() < 0.5]


def lost_hours(world: World) -> None:
    world.calls = [row for row in world.calls if not 20 * HOUR <= row["time"] - START < 26 * HOUR]


def charged_another(world: World) -> None:
    for at in range(4):
        world.call("acme-2", (30 + at) * HOUR + 7, payer="acme-5")


def large_grant(world: World) -> None:
    world.grant("acme-3", 31 * HOUR, 10_000_000)


def many_grants(world: World) -> None:
    for at in range(30):
        world.grant("acme-3", (31 + at / 10) * HOUR, 2_000)


def many_accounts(cause: str, amount: int) -> Callable[[World], None]:
    def happened(world: World) -> None:
        world.accounts += [f"small-{at}" for at in range(30)]
        for at in range(30):
            world.grant(f"small-{at}", 29 * HOUR * world.choose.random() if cause == "revoke" else 30 * HOUR + at * 1_000, 5_000)
            if cause == "revoke":
                world.grant(f"small-{at}", 30 * HOUR + at * 1_000, amount, cause="revoke")

    return happened


def dearer(world: World) -> None:
    for move in world.moves:
        if move["cause"] in ("hold", "capture") and move["at"] - START > 25 * HOUR:
            move.update({name: 2 * move[name] for name in ("available", "held", "captured")})


def cheaper_for_one(world: World) -> None:
    for move in world.moves:
        if move["cause"] == "capture" and move["account"] == "acme-4":
            move.update(available=29, captured=1)


def stated_by_a_handler(world: World) -> None:
    for at in range(60):
        world.call("acme-1", 5 * HOUR + at * 60_000, route="POST /any", amount=7 if at < 30 else 9, captured=7 if at < 30 else 9)


# What happened; the kind, the level, and what the finding says.
SIGNS: dict[str, tuple[Callable[[World], None], str, str, tuple[str, ...]]] = {
    "half of the rows": (lost_rows, "calls_missing", "medium", ("have no call in the log, in each hour about the same part", "the log may lack calls")),
    "six hours": (lost_hours, "calls_missing", "medium", ("before and after have theirs: the log may lack calls",)),
    "another account": (charged_another, "other_account", "high", ("4 calls, whose account is acme-2, moved the orbs of acme-5: 120 captured",)),
    "a large grant": (large_grant, "unusual_entries", "medium", ("1 grant of 10,000,000 orbs", "for acme-3", "the largest of the 30 others has 100,000")),
    "many grants": (many_grants, "unusual_entries", "medium", ("grants for acme-3", "no other account has more than 5")),
    "a gift": (many_accounts("grant", 0), "unusual_entries", "low", ("grants for 30 accounts within an hour",)),
    "revocations": (many_accounts("revoke", 100), "unusual_entries", "medium", ("30 revocations for 30 accounts within an hour, 3,000 orbs",)),
    "twice the price": (dearer, "other_price", "medium", ("POST /run costs 30 orbs in ", ", and 60 in ")),
    "a price of its own": (cheaper_for_one, "other_price", "medium", ("POST /run costs acme-4 1 orb in ", "and all others 30")),
    "a handler's price": (stated_by_a_handler, "other_price", "low", ("POST /any costs 7 orbs in 30 calls until ", ", and 9 in 30 calls since ")),
}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", SIGNS)
def test_what_happened_is_said(name: str, seed: int) -> None:
    happened, kind, level, words = SIGNS[name]
    world = World(seed)
    happened(world)
    findings = said(world.made())
    own = [(of, sentence) for what, of, sentence in findings if what == kind]
    assert [of for of, _ in own] == [level], findings
    assert all(word in own[0][1] for word in words), own
    # What a doubt about the log covers is nobody's fault.
    assert kind != "calls_missing" or "held_without_call" not in {what for what, *_ in findings}


@pytest.mark.parametrize("seed", range(6))
def test_a_healthy_ledger_has_no_sign(seed: int) -> None:
    findings = said(World(seed).made())
    assert [(kind, level) for kind, level, _ in findings] == [("held_without_call", "low")], findings


@pytest.mark.parametrize("seed", range(12))
def test_each_changed_number_is_found(seed: int) -> None:
    """One number of one entry is changed, in the entry's balance or in its line."""
    world, choose = World(1), random.Random(seed)
    at, of, by = choose.randrange(len(world.moves)), choose.choice(["paid", "bonus", "held"]), choose.choice([-1, 1, 1_000])

    def change(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if seed % 2:
            rows[at][of] += by
        else:
            rows[at]["lines"][0]["available"] += by
        return rows

    found = [(kind, level) for kind, level, sentence in said(world.made(change)) if kind == "wrong_balances" and "where" in sentence]
    assert found == [("wrong_balances", "high")]


def test_entries_that_are_left_out_or_in_the_file_twice_are_found() -> None:
    world = World(3)
    [_, sentence] = [(kind, sentence) for kind, _, sentence in said(world.made(lambda rows: rows[:300] + rows[310:])) if kind == "entries_missing"][0]
    assert "10 entries of " in sentence and " left out: account acme-" in sentence
    whole = world.made()
    twice = world.made(lambda rows: rows + rows)
    assert [kind for kind, *_ in said(twice)] == ["entries_missing", "held_without_call"]
    assert twice.figures.reconciled == whole.figures.reconciled


@pytest.mark.parametrize("seed", range(4))
def test_balances_are_not_compared_across_entries_that_are_left_out(seed: int) -> None:
    """Of an export that numbers what it has, only the cursors show a gap. A changed number elsewhere is still found."""

    def gap(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        left, last = rows[:300] + rows[310:], dict[str, int]()
        for row in left:
            row["seq"] = last[row["account"]] = last.get(row["account"], 0) + 1
        return left

    def change(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        left = gap(rows)
        left[400 + seed]["paid"] += 1
        return left

    kinds = {kind for kind, *_ in said(World(seed).made(gap))}
    assert "entries_missing" in kinds and "wrong_balances" not in kinds
    assert "wrong_balances" in {kind for kind, *_ in said(World(seed).made(change))}


@pytest.mark.parametrize("seed", range(4))
def test_holds_without_a_beginning_show_entries_that_are_left_out(seed: int) -> None:
    """The cursors of this export are consecutive. A changed balance is still found."""

    def gap(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        held = [at for at, row in enumerate(rows) if row["cause"] == "hold" and row["at"] > START + 5 * HOUR]
        without = {*held[seed * 20 : seed * 20 + 12]}
        left, last = [row for at, row in enumerate(rows) if at not in without], dict[str, int]()
        for cursor, row in enumerate(left, start=1):
            row["seq"] = last[row["account"]] = last.get(row["account"], 0) + 1
            row["cursor"] = f"{cursor}-{cursor:016x}" if seed % 2 else str(cursor)
        return left

    def change(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        left = gap(rows)
        left[900 + seed]["paid"] += 1
        return left

    findings = said(World(seed).made(gap))
    [sentence] = [sentence for kind, _, sentence in findings if kind == "entries_missing"]
    assert "12 holds of " in sentence and "begin in none" in sentence
    assert "wrong_balances" not in {kind for kind, *_ in findings}
    assert "wrong_balances" in {kind for kind, *_ in said(World(seed).made(change))}


def test_entries_that_end_before_the_log_accuse_nobody() -> None:
    findings = said(World(4).made(lambda rows: [row for row in rows if row["at"] < START + 30 * HOUR]))
    assert [(kind, level) for kind, level, _ in findings if kind != "held_without_call"] == [("entries_missing", "medium")], findings
    assert "the last entry is of " in findings[0][2]


def test_a_hold_that_the_last_entries_leave_open_accuses_nobody() -> None:
    """The export ends between a hold and its capture."""

    def cut(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        captured = {row["id"] for row in rows if row["cause"] == "capture"}
        last = next(at for at in range(2 * len(rows) // 3, len(rows)) if rows[at]["cause"] == "hold" and rows[at]["id"] in captured)
        return rows[: last + 1]

    assert "captured_otherwise" not in {kind for kind, *_ in said(World(4).made(cut))}


def test_without_the_column_a_usual_account_is_known() -> None:
    world = World(5)
    charged_another(world)
    made = world.made(named=False)
    [(_, level, sentence)] = [row for row in said(made) if row[0] == "other_account"]
    assert level == "medium" and "whose usual account is acme-2" in sentence
    assert any("without a column `account`" in one for one in made.figures.signs.not_made)
    assert not any("`account`" in one for one in world.made().figures.signs.not_made)


def by_account(world: World) -> Any:
    """The report of a log that names accounts, but no holds."""
    for row in world.calls:
        del row["hold_id"]
    text = "\n".join(map(json.dumps, world.entries()))
    return report(pa.Table.from_pylist(sorted(world.calls, key=lambda row: row["time"])), POLICY, columns={"account": "pays"}, time_unit="ms", entries=orbs.entries(io.BytesIO(text.encode())))


def not_charged(world: World) -> None:
    world.moves = [move for move in world.moves if move["cause"] != "capture" or move["account"] != "acme-2"]


# What happened, and what the sums of accounts and hours say.
SUMS: dict[str, tuple[Callable[[World], None], str, str, str]] = {
    "half of the rows": (lost_rows, "calls_missing", "medium", " captures of the ledger have no call in the log, by account and hour"),
    "not charged": (not_charged, "captures_missing", "medium", "served calls that consume orbs have no capture in the ledger"),
    "twice the price": (dearer, "other_price", "medium", "the difference is 30 orbs more for each call to POST /run"),
}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", SUMS)
def test_sums_of_accounts_are_compared_without_holds(name: str, seed: int) -> None:
    happened, kind, level, words = SUMS[name]
    world = World(seed)
    happened(world)
    assert [(what, of) for what, of, sentence in said(by_account(world)) if words in sentence] == [(kind, level)]


@pytest.mark.parametrize("seed", range(4))
def test_sums_of_a_healthy_ledger_agree(seed: int) -> None:
    assert said(by_account(World(seed))) == []
