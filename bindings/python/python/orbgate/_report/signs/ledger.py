"""The entries of a ledger by account: whether they are whole and add up, whose orbs moved, and which amounts differ from the usual ones."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import timedelta
from statistics import median
from typing import Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from ..._number import number
from ..numbers import HIGH, LOW, MEDIUM, share, shown
from ..reconciled import SERVED_BELOW, Compared
from ..thresholds import (
    ACCOUNT_CALLS, ACCOUNT_PART, ENDS_CALLS, ENDS_SECONDS, GRANTS, GRANTS_FACTOR, LACKING_HOLDS, LACKING_PART, MANY_ACCOUNTS, MANY_GRANTS,
    MANY_GRANTS_FACTOR, PRICE_CALLS, PRICE_PART, RENAMED_ACCOUNTS, UNHELD,
)  # fmt: skip
from ..timelines import HOUR, time_of
from .ground import Cover, Ground, Sign, name, said_when, sign
from .sums import sums

# What doubts about the ledger cover: holds whose calls the log may lack, and calls whose holds the entries lack.
HOLDS, ENTRIES = "holds", "entries"
# An hour with fewer holds shows no part.
FEW_HOLDS = 5


class Gap(NamedTuple):
    """Entries of an account that are missing between two others."""

    account: str
    after: int
    missing: int


def entries(ground: Ground) -> tuple[list[Sign], Cover]:
    """The signs in the entries of a ledger, if there are any, and what doubts about it cover."""
    of, named = ground.ledger, [*_renamed(ground)]
    # Then the column that names callers is another one since a time.
    callers: frozenset[str] = frozenset({"caller"} if any(one.kind == "other_spelling" for one in named) else ())
    if of is None or not of.entries.num_rows:
        return named, Cover(0, callers)
    by_account = [*sums(of, ground)]
    doubts = [*_whole(of), *_ends(of, ground), *_lacking(of)]
    covered: frozenset[str] = frozenset(
        {*([ENTRIES] if any(one.kind == "entries_missing" for one in doubts) else []), *([HOLDS] if any(one.kind == "calls_missing" for one in doubts) else [])}
    )
    stated = {str(route) for route in ground.policy.routes() if route.amount is not None}
    return [*doubts, *named, *by_account, *_sums(of), *_accounts(of), *_sizes(of), *_prices(of, stated)], Cover(0, covered | callers)


def _whole(of: Compared) -> Iterator[Sign]:
    """Entries that are in the file twice, and numbers of entries that are left out."""
    table = of.entries
    if of.copies:
        sentence = (
            f"{number(of.copies, 'entry', 'entries')} of {number(table.num_rows + of.copies)} {'is' if of.copies == 1 else 'are'} in "
            "the file again; each is counted once"
        )
        yield sign("entries_missing", MEDIUM, "the ledger", of.copies, sentence)
    gaps = _gaps(table)
    if not gaps:
        jumps = [*_jumps(table)]
        yield from jumps or _unheld(table)
    else:
        missing = sum(gap.missing for gap in gaps)
        accounts = len({gap.account for gap in gaps})
        first = gaps[0]
        where = (
            f"account {shown(first.account)} has none with the numbers {number(first.after + 1)} to {number(first.after + first.missing)}"
            if first.missing > 1
            else f"account {shown(first.account)} has none with the number {number(first.after + 1)}"
        )
        sentence = f"{number(missing, 'entry', 'entries')} of {number(accounts, 'account')} {'is' if missing == 1 else 'are'} left out: {where}"
        yield sign("entries_missing", MEDIUM, "the ledger", missing, sentence)


def _gaps(table: Any) -> list[Gap]:
    """The numbers that accounts lack. Of a file that doesn't start with the first entry of the ledger, the first number of an account can be any."""
    is_whole = _numbers(table.slice(0, 1)) == [1]
    ordered = table.select(["account", "seq"]).sort_by([("account", "ascending"), ("seq", "ascending")]).combine_chunks()
    account, seq = ordered["account"].combine_chunks(), ordered["seq"].combine_chunks()
    before, of_before = _shifted(seq), _shifted(account)
    is_first = pc.fill_null(pc.not_equal(account, of_before), True)
    before = pc.if_else(is_first, 0 if is_whole else pc.subtract(seq, 1), before)
    is_gap = pc.greater(pc.subtract(seq, before), 1)
    rows = pa.table({"account": account, "after": before, "seq": seq}).filter(is_gap).to_pylist()
    return [Gap(row["account"], row["after"], row["seq"] - row["after"] - 1) for row in rows]


# A number and a digest. Files of the first version have the number alone, and its databases a transaction and a position.
CURSOR = re.compile(r"([0-9]{1,18})(?:-[0-9a-f]{16})?")


def _numbers(table: Any) -> list[int]:
    """The numbers of the entries in the whole ledger, which their cursors state; none if one doesn't."""
    cursors = [CURSOR.fullmatch(cursor) for cursor in table["cursor"].to_pylist()]
    numbers = [int(cursor[1]) for cursor in cursors if cursor]
    return numbers if len(numbers) == len(cursors) else []


def _jumped(table: Any) -> list[tuple[int, int]]:
    """The numbers before and after those that are left out, of a ledger whose cursors are nearly all of consecutive numbers."""
    numbers = sorted(_numbers(table))
    jumps = [(one, other) for one, other in zip(numbers, numbers[1:]) if other - one > 1]
    return jumps if len(jumps) * 50 <= len(numbers) else []


def _jumps(table: Any) -> Iterator[Sign]:
    """Cursors that are left out."""
    jumps = _jumped(table)
    if not jumps:
        return
    missing = sum(other - one - 1 for one, other in jumps)
    ends = dict(zip(_numbers(table), _seconds(table["at"])))
    where = "; ".join(f"{number(one + 1)} to {number(other - 1)} {said_when(ends[one], ends[other])}" for one, other in jumps[:3])
    sentence = (
        f"{number(missing, 'entry', 'entries')} {'is' if missing == 1 else 'are'} left out, by their cursors: "
        f"{where}{f', and {number(len(jumps) - 3)} more gaps' if len(jumps) > 3 else ''}"
    )
    yield sign("entries_missing", MEDIUM, "the ledger", missing, sentence, ends[jumps[0][0]], ends[jumps[-1][1]])


def _without_hold(table: Any) -> Any:
    """The ends of holds that begin in no entry. Those of the file's first hour may have begun before it."""
    begun = pc.unique(table.filter(pc.equal(table["cause"], "hold"))["id"])
    is_end = pc.and_(pc.is_in(table["cause"], pa.array(ENDS)), pc.invert(pc.is_in(table["id"], begun)))
    first = pc.min(table["at"]).as_py()
    return table.filter(pc.and_(is_end, pc.greater(table["at"], pa.scalar(first + timedelta(hours=1), table["at"].type))))


# The causes with which a hold ends.
ENDS = ("capture", "void", "hold_expired")


def _unheld(table: Any) -> Iterator[Sign]:
    """Holds that end in the entries and begin in none, of a ledger whose numbers show no gap."""
    rows = _without_hold(table)
    if rows.num_rows < UNHELD:
        return
    seconds = _seconds(rows["at"])
    sentence = (
        f"{number(rows.num_rows, 'hold')} of {number(len(pc.unique(rows['account'])), 'account')} {'ends' if rows.num_rows == 1 else 'end'} in the entries and "
        f"begin in none, for example {shown(rows['id'][0].as_py())} of {shown(rows['account'][0].as_py())}, {said_when(min(seconds), max(seconds))}: "
        "entries are left out, although their numbers show no gap"
    )
    yield sign("entries_missing", MEDIUM, "the ledger", rows.num_rows, sentence, min(seconds), max(seconds))


def _shifted(column: Any) -> Any:
    """A column whose values are those of the row before."""
    return pa.concat_arrays([pa.nulls(1, column.type), column[:-1]]) if len(column) else column


def _ends(of: Compared, ground: Ground) -> Iterator[Sign]:
    """Entries that end long before the log does, with many calls after it that consume orbs."""
    if ground.period is None:
        return
    last = pc.max(of.entries["at"]).as_py()
    end = int(last.timestamp())
    if of.by_account is not None:
        hours = of.by_account.filter(pc.greater(of.by_account["hour"], end // HOUR))
        count = pc.sum(hours["calls"]).as_py() or 0
    else:
        count = of.calls.filter(pc.and_(pc.greater(of.calls["second"], end), pc.less(of.calls["status"], SERVED_BELOW)).fill_null(False)).num_rows
    if count >= ENDS_CALLS and ground.period.last - end >= ENDS_SECONDS:
        sentence = (
            f"the last entry is of {time_of(end):%Y-%m-%d %H:%M}, after which the log has {number(count, 'served call')} that "
            f"{'consumes' if count == 1 else 'consume'} orbs, until {time_of(ground.period.last):%Y-%m-%d %H:%M}"
        )
        yield sign("entries_missing", MEDIUM, "the ledger", count, sentence, end, ground.period.last)


def _lacking(of: Compared) -> Iterator[Sign]:
    """Holds without a call: the same part of them in each hour, or nearly all of them in a stretch of time."""
    inside = of.inside if of.by_account is None else of.inside[:0]
    alone = inside.filter(pc.invert(inside["is_called"]))
    if alone.num_rows < LACKING_HOLDS or alone.num_rows < LACKING_PART * inside.num_rows:
        return
    every, lacking = (Counter(at // HOUR for at in _seconds(rows["at"])) for rows in (inside, alone))
    part = alone.num_rows / inside.num_rows
    hours = [hour for hour, count in every.items() if count >= FEW_HOLDS]
    # By chance, an hour with few holds has more or fewer of them.
    odd = sum(abs(lacking[hour] / every[hour] - part) > 3 * (part * (1 - part) / every[hour]) ** 0.5 + 0.02 for hour in hours)
    seconds = sorted(_seconds(alone["at"]))
    first, last = seconds[0], seconds[-1]
    between = sum(first <= at <= last for at in _seconds(inside["at"]))
    if part < 0.97 and len(hours) >= 3 and 10 * odd <= len(hours):
        sentence = (
            f"{number(alone.num_rows)} of {number(inside.num_rows, 'hold')} ({share(alone.num_rows, inside.num_rows)}) have no call "
            "in the log, in each hour about the same part: the log may lack calls, for example the rows of a part of the servers"
        )
    elif 10 * alone.num_rows >= 9 * between and between < inside.num_rows:
        sentence = (
            f"{number(alone.num_rows)} of {number(between, 'hold')} {said_when(first, last)} have no call in the log, and "
            f"{number(inside.num_rows - between)} holds before and after have theirs: the log may lack calls"
        )
    else:
        return
    yield sign("calls_missing", MEDIUM, "the log", alone.num_rows, sentence, first, last)


def _seconds(column: Any) -> list[int]:
    return [at // 1_000 for at in column.cast(pa.int64()).to_pylist()]


def _sums(of: Compared) -> Iterator[Sign]:
    """Entries after which an account has other orbs than the entry before and the lines of this one give."""
    table = of.entries.append_column("at_row", pa.array(range(of.entries.num_rows), pa.int64()))
    lines = table["lines"].combine_chunks()
    flat = pc.list_flatten(lines)
    is_paid = pc.equal(pc.struct_field(flat, "bucket"), "paid")
    available, held = (pc.struct_field(flat, field).fill_null(0) for field in ("available", "held"))
    moved = pa.table(
        {"at_row": pc.list_parent_indices(lines), "paid": pc.if_else(is_paid, available, 0), "bonus": pc.if_else(is_paid, 0, available), "held": held}
    )
    moved = moved.group_by("at_row").aggregate([(column, "sum") for column in ("paid", "bonus", "held")])
    columns = ["account", "seq", "cause", "paid", "bonus", "held", "cursor", "at", "at_row"]
    rows = table.select(columns).join(moved.set_column(0, "at_row", moved["at_row"].cast(pa.int64())), "at_row")
    rows = rows.sort_by([("account", "ascending"), ("seq", "ascending")]).combine_chunks()
    account, seq = (rows[column].combine_chunks() for column in ("account", "seq"))
    follows = pc.and_(pc.equal(account, _shifted(account)), pc.equal(seq, pc.add(_shifted(seq), 1))).fill_null(False)
    # Entries that are left out may be of any account, and change what the next one states.
    ends = [after for _, after in _jumped(table)]
    if ends:
        part = pa.array([bisect_right(ends, of_ledger) for of_ledger in _numbers(rows)])
        follows = pc.and_(follows, pc.equal(part, _shifted(part)).fill_null(False))
        is_known = pc.or_(follows, pc.and_(pc.equal(seq, 1), pc.equal(part, 0)))
    else:
        is_known = pc.or_(follows, pc.equal(seq, 1))
    wrong, is_reverted = pa.repeat(False, rows.num_rows), pa.repeat(True, rows.num_rows)
    for column in ("paid", "bonus", "held"):
        own = rows[column].combine_chunks()
        before = pc.if_else(follows, _shifted(own), 0)
        expected = pc.add(before, rows[f"{column}_sum"].combine_chunks().fill_null(0))
        rows = rows.append_column(f"{column}_expected", expected)
        difference = pc.if_else(is_known, pc.subtract(own, expected), 0)
        is_reverted = pc.and_(is_reverted, pc.equal(pc.add(difference, _shifted(difference)), 0).fill_null(False))
        wrong = pc.or_(wrong, pc.or_(pc.and_(is_known, pc.not_equal(own, expected)), pc.less(own, 0)))
    if _without_hold(of.entries).num_rows >= UNHELD:
        # What is left out changes the next balance and those after it; after a changed number, the next entry has the opposite difference.
        is_changed = pc.and_(pc.and_(wrong, is_reverted), follows)
        wrong = pc.or_(is_changed, pa.concat_arrays([is_changed[1:], pa.array([False])]))
    bad = rows.filter(wrong).sort_by("at_row")
    if not bad.num_rows:
        return
    first = bad.slice(0, 1).to_pylist()[0]
    of_it = next((column for column in ("paid", "bonus", "held") if first[column] != first[f"{column}_expected"]), "held")
    accounts = len(pc.unique(bad["account"]))
    sentence = (
        f"{number(bad.num_rows, 'entry', 'entries')} of {number(accounts, 'account')} "
        f"{'states' if bad.num_rows == 1 else 'state'} other orbs than the entry before and "
        f"{'its' if bad.num_rows == 1 else 'their'} own lines give: entry {number(first['seq'])} of {shown(first['account'])}, a "
        f"{first['cause']} {said_when(*[int(first['at'].timestamp())] * 2)}, states {number(first[of_it])} {of_it}, where "
        f"{number(first[f'{of_it}_expected'])} would be right"
    )
    yield sign("wrong_balances", HIGH, first["account"], bad.num_rows, sentence)


def _accounts(of: Compared) -> Iterator[Sign]:
    """Calls whose hold moved the orbs of another account than theirs."""
    held = of.calls.filter(pc.is_valid(of.calls["holder"]))
    if of.has_accounts:
        other = held.filter(pc.not_equal(held["holder"].cast(pa.binary()), held["account"]).fill_null(False))
        yield from _others(other.to_pylist(), HIGH, "account")
        return
    # Without the account of each call, a caller's is that of nearly all its calls, if no other caller's calls have it.
    counts: defaultdict[bytes, Counter[str]] = defaultdict(Counter)
    groups = held.filter(pc.is_valid(held["caller"])).group_by(["caller", "holder"]).aggregate([([], "count_all")])
    for row in groups.to_pylist():
        counts[row["caller"]][row["holder"]] = row["count_all"]
    own = {caller: max(of_caller, key=lambda one: (of_caller[one], one)) for caller, of_caller in counts.items()}
    sure = {
        caller: account
        for caller, account in own.items()
        if counts[caller].total() >= ACCOUNT_CALLS and counts[caller][account] >= ACCOUNT_PART * counts[caller].total()
    }
    owners = {account: caller for caller, account in sure.items()}
    rows = [
        row
        for row in held.filter(pc.is_in(held["caller"], pa.array([*sure], pa.binary()))).to_pylist()
        if row["holder"] != sure[row["caller"]] and owners.get(row["holder"], row["caller"]) != row["caller"]
    ]
    yield from _others([{**row, "account": sure[row["caller"]].encode()} for row in rows], MEDIUM, "usual account")


def _renamed(ground: Ground) -> Iterator[Sign]:
    """Callers whose calls name the account of another one, after many that named their own."""
    by_caller: defaultdict[bytes, list[dict[str, Any]]] = defaultdict(list)
    for row in ground.evidence.paid.rows():
        by_caller[row["caller"]].append(row)
    own = {caller: min(rows, key=lambda row: (row["second"], row["row"])) for caller, rows in by_caller.items()}
    owners: defaultdict[bytes, set[bytes]] = defaultdict(set)
    for caller, row in own.items():
        owners[row["account"]].add(caller)
    for caller, rows in sorted(by_caller.items()):
        first = own[caller]
        others_of = [row for row in rows if owners[row["account"]] - {caller} and not owners[first["account"]] & (owners[row["account"]] - {caller})]
        if len(others_of) >= RENAMED_ACCOUNTS:
            # The account of each call is right, and its caller is another column's.
            calls, since, until = sum(row["calls"] for row in others_of), min(row["second"] for row in others_of), max(row["last"] for row in others_of)
            sentence = (
                f"the column `caller` is {shown(name(caller))} in {number(calls, 'call')} {said_when(since, until)} that name the accounts of "
                f"{number(len({owner for row in others_of for owner in owners[row['account']]} - {caller}), 'other caller')}, so the "
                "log no longer names the callers of these calls"
            )
            yield sign("other_spelling", MEDIUM, name(caller), calls, sentence, since, until, min(row["row"] for row in others_of))
            continue
        for row in rows:
            others = owners[row["account"]] - {caller}
            if row is first or not others or owners[first["account"]] & others or first["calls"] < ACCOUNT_CALLS:
                continue
            sentence = (
                f"{number(row['calls'], 'call')} of {shown(name(caller))} {said_when(row['second'], row['last'])} "
                f"{'names' if row['calls'] == 1 else 'name'} the account {shown(name(row['account']))} of {shown(name(min(others)))}, "
                f"after {number(first['calls'])} that named {shown(name(first['account']))}"
            )
            yield sign("other_account", MEDIUM, name(caller), row["calls"], sentence, row["second"], row["last"], row["row"])


def _others(rows: list[dict[str, Any]], level: str, words: str) -> Iterator[Sign]:
    """The calls of one account that moved another's orbs, together."""
    pairs: defaultdict[tuple[bytes | None, str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        pairs[row["caller"], name(row["account"]), row["holder"]].append(row)
    for (caller, account, holder), some in sorted(pairs.items(), key=lambda one: (-len(one[1]), one[0][1:])):
        orbs = sum(row["captured"] or 0 for row in some)
        seconds = [row["second"] for row in some if row["second"] is not None]
        by = f" of {shown(name(caller))}" if caller is not None and name(caller) != account else ""
        sentence = (
            f"{number(len(some), 'call')}{by}, whose {words} is {shown(account)}, moved the orbs of {shown(holder)}: {number(orbs)} "
            f"captured, {said_when(min(seconds), max(seconds)) if seconds else 'without times'}, the first in row "
            f"{number(min(row['row'] for row in some))}"
        )
        yield sign(
            "other_account", level, account, len(some), sentence, min(seconds, default=None), max(seconds, default=None), min(row["row"] for row in some)
        )


def _sizes(of: Compared) -> Iterator[Sign]:
    """Grants and revocations that are far larger than all others, many for one account, or for many accounts within an hour."""
    table = of.entries
    for cause, noun in (("grant", "grant"), ("revoke", "revocation")):
        some = table.filter(pc.equal(table["cause"], cause))
        columns = zip(some["account"].to_pylist(), _seconds(some["at"]), some["id"].to_pylist(), some["lines"].to_pylist())
        rows = [{"account": account, "at": at, "id": id, "orbs": abs(sum(line["available"] or 0 for line in lines))} for account, at, id, lines in columns]
        yield from _large(rows, noun)
        yield from _many(rows, noun)


def _large(rows: list[dict[str, Any]], noun: str) -> Iterator[Sign]:
    """The few that are many times as large as the largest of all others."""
    ordered = sorted(rows, key=lambda row: row["orbs"])
    most = max(1, len(ordered) // 20)
    for at in range(len(ordered) - 1, len(ordered) - 1 - most, -1):
        if at < GRANTS or not ordered[at - 1]["orbs"] or ordered[at]["orbs"] < GRANTS_FACTOR * ordered[at - 1]["orbs"]:
            continue
        large = ordered[at:]
        accounts = sorted({row["account"] for row in large})
        first, last = min(row["at"] for row in large), max(row["at"] for row in large)
        sentence = (
            f"{number(len(large), noun)} of {number(sum(row['orbs'] for row in large))} orbs, {said_when(first, last)}, for "
            f"{', '.join(map(shown, accounts[:3]))}{f' and {number(len(accounts) - 3)} more' if len(accounts) > 3 else ''}: the "
            f"largest of the {number(at)} others has {number(ordered[at - 1]['orbs'])}, half of them "
            f"{number(int(median(row['orbs'] for row in ordered[:at])))} or less"
        )
        yield sign("unusual_entries", MEDIUM, accounts[0], len(large), sentence, first, last)
        return


def _many(rows: list[dict[str, Any]], noun: str) -> Iterator[Sign]:
    """Many for one account, or for many accounts within an hour."""
    by_account = Counter(row["account"] for row in rows)
    twice = {id: count for id, count in Counter(row["id"] for row in rows).items() if count > 1}
    if twice:
        own = [row for row in rows if row["id"] in twice]
        whose = sorted({row["account"] for row in own})
        sentence = (
            f"{number(len(own), noun)} have the ids of others, for example {shown(own[0]['id'])}, for "
            f"{', '.join(map(shown, whose[:3]))}: {number(sum(row['orbs'] for row in own), 'orb')} "
            f"{said_when(min(row['at'] for row in own), max(row['at'] for row in own))}"
        )
        yield sign("unusual_entries", MEDIUM, whose[0], len(own), sentence)
    if len(by_account) >= 2:
        (account, count), (_, next_count) = by_account.most_common(2)
        if count >= MANY_GRANTS and count >= MANY_GRANTS_FACTOR * next_count:
            own = [row for row in rows if row["account"] == account]
            first, last = min(row["at"] for row in own), max(row["at"] for row in own)
            sentence = (
                f"{number(count, noun)} for {shown(account)}, {number(sum(row['orbs'] for row in own), 'orb')} {said_when(first, last)}; "
                f"no other account has more than {number(next_count)}"
            )
            yield sign("unusual_entries", MEDIUM, account, count, sentence, first, last)
    hours: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        hours[row["at"] // HOUR].append(row)
    most = max(hours, key=lambda hour: (len({row["account"] for row in hours[hour]}), -hour), default=None)
    if most is None:
        return
    inside = hours[most]
    accounts = {row["account"] for row in inside}
    # What is done each week or month for all accounts has such an hour each time.
    others = sum(2 * len({row["account"] for row in of}) >= len(accounts) for hour, of in hours.items() if abs(hour - most) > 24)
    if len(accounts) < MANY_ACCOUNTS or others:
        return
    first, last = min(row["at"] for row in inside), max(row["at"] for row in inside)
    sentence = (
        f"{number(len(inside), noun)} for {number(len(accounts), 'account')} within an hour, "
        f"{number(sum(row['orbs'] for row in inside), 'orb')} {said_when(first, last)}; {number(len(rows) - len(inside))} in the "
        "rest of the entries"
    )
    # Orbs for everybody are what a month or a gift begins with.
    yield sign("unusual_entries", MEDIUM if noun == "revocation" else LOW, "the ledger", len(inside), sentence, first, last)


def _prices(of: Compared, stated: set[str]) -> Iterator[Sign]:
    """Routes that cost one amount until a time and another since, or for one account. Services may change amounts that no policy states."""
    captured = of.holds.filter(pc.greater(of.holds["captured"], 0)).sort_by("at")
    routes: defaultdict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for route, at, orbs, account in zip(
        *(column.to_pylist() for column in (captured["holds_route"], captured["at"].cast(pa.int64()), captured["captured"], captured["account"]))
    ):
        routes[route].append((at // 1_000, orbs, account))
    for route, rows in sorted(routes.items()):
        level = MEDIUM if route in stated else LOW
        yield from _step(route, rows, level)
        yield from _own_price(route, rows, level)


def _step(route: str, rows: list[tuple[int, int, str]], level: str) -> Iterator[Sign]:
    """The time from which a route costs another amount."""
    first, last = rows[0][1], rows[-1][1]
    if first == last:
        first = Counter(orbs for _, orbs, _ in rows[: len(rows) // 4]).most_common(1)[0][0] if len(rows) >= 4 else first
        last = Counter(orbs for _, orbs, _ in rows[-(len(rows) // 4) :]).most_common(1)[0][0] if len(rows) >= 4 else last
    if first == last:
        return
    # The split that has the most captures of the first amount before it, and of the last after it.
    score = best = sum(orbs == last for _, orbs, _ in rows)
    at = 0
    for index, (_, orbs, _) in enumerate(rows, start=1):
        score += (orbs == first) - (orbs == last)
        if score > best:
            best, at = score, index
    before, after = rows[:at], rows[at:]
    if (
        min(len(before), len(after)) < PRICE_CALLS
        or sum(orbs == first for _, orbs, _ in before) < PRICE_PART * len(before)
        or sum(orbs == last for _, orbs, _ in after) < PRICE_PART * len(after)
    ):
        return
    since, until = after[0][0], after[-1][0]
    sentence = (
        f"{shown(route) if route else 'a route'} costs {number(first, 'orb')} in {number(len(before), 'call')} until "
        f"{time_of(before[-1][0]):%Y-%m-%d %H:%M}, and {number(last)} in {number(len(after), 'call')} since "
        f"{time_of(since):%Y-%m-%d %H:%M}"
    )
    yield sign("other_price", level, route, len(after), sentence, since, until)


def _own_price(route: str, rows: list[tuple[int, int, str]], level: str) -> Iterator[Sign]:
    """An account for which a route costs another amount than for all others."""
    by_account: defaultdict[str, Counter[int]] = defaultdict(Counter)
    whole: Counter[int] = Counter()
    for _, orbs, account in rows:
        by_account[account][orbs] += 1
        whole[orbs] += 1
    usual, count = whole.most_common(1)[0]
    for account, of in sorted(by_account.items()):
        amount, own = of.most_common(1)[0]
        others = whole.total() - of.total()
        if amount == usual or own < PRICE_CALLS or own < PRICE_PART * of.total() or count - of[usual] < PRICE_PART * others or others < PRICE_CALLS:
            continue
        times = [at for at, _, one in rows if one == account]
        sentence = (
            f"{shown(route) if route else 'a route'} costs {shown(account)} {number(amount, 'orb')} in {number(own, 'call')} "
            f"{said_when(times[0], times[-1])}, and all others {number(usual)} in {number(count - of[usual])} of {number(others)}"
        )
        yield sign("other_price", level, account, own, sentence, times[0], times[-1])
