"""Values that are cut, or in another spelling."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from ...._number import number
from ...._read import private
from ...evidence import SHORT
from ...numbers import MEDIUM, shown
from ...thresholds import CUT_ENDS, CUT_PART, CUT_ROWS, SPELT_PART, SPELT_ROWS
from ..ground import Cover, Ground, Sign, name, said_when, sign

# The kinds of tokens that are written as this package writes them.
KINDS = (b"user", b"organisation")

# Lengths at which systems cut values.
ROUND = frozenset({
    32, 40, 48, 50, 60, 63, 64, 80, 96, 100, 120, 127, 128, 150, 160, 180, 200,
    250, 254, 255, 256, 400, 500, 511, 512, 1_000, 1_023, 1_024, 2_047, 2_048, 4_096,
})  # fmt: skip


def cut_columns(ground: Ground) -> tuple[list[Sign], Cover]:
    """Columns whose values end in the middle of names at one length."""
    found: list[Sign] = []
    served, columns = 0, set[str]()
    rows = [*ground.evidence.lengths.rows()]
    for column, of, what in (("scopes", "scopes", "scopes of the policy"), ("target", "every target", "templates of the policy")):
        parts: Counter[int] = Counter()
        for row in rows:
            if row["column"] == column and row["is_part"]:
                parts[row["length"]] += row["calls"]
        if not parts:
            continue
        at, count = parts.most_common(1)[0]
        if count < CUT_ROWS or count < CUT_PART * parts.total():
            continue
        cut = [row for row in rows if row["column"] == column and row["length"] == at and row["is_part"]]
        if len({row["end"] for row in cut}) < CUT_ENDS and at not in ROUND:
            continue
        first, last, row = (
            min((row["second"] for row in cut if row["second"] is not None), default=None),
            max((row["last"] for row in cut if row["last"] is not None), default=None),
            min(row["row"] for row in cut),
        )
        all_at = sum(row["calls"] for row in rows if row["column"] == of and row["length"] == at)
        every = sum(row["calls"] for row in rows if row["column"] == of)
        of_them = sum(row["calls"] for row in rows if row["column"] == of and row["length"] == at and row["is_served"])
        not_accused = f"; {number(of_them)} of them were served although the policy denies what is left, which shows nothing" if of_them else ""
        sentence = (
            f"the column `{column}` is cut at {number(at, 'byte')}: {number(all_at)} of {number(every, 'value')} have this length, "
            f"and {number(count)} of them end in the middle of {what}, the first in row "
            f"{number(row)}{_since(ground, first, last)}{not_accused}"
        )
        found.append(sign("cut_column", MEDIUM, column, all_at, sentence, first, last, row))
        served += of_them
        columns.add(column)
    return found, Cover(served, frozenset(columns))


def _since(ground: Ground, first: int | None, last: int | None) -> str:
    return f", {said_when(first, last)}" if first is not None and last is not None else ""


def other_spellings(ground: Ground, is_cut: bool) -> tuple[list[Sign], Cover]:
    """Kinds, methods and scopes that no server would have served: the column changed, not the server."""
    found: list[Sign] = []
    served, columns = 0, set[str]()
    values: defaultdict[tuple[str, bytes], list[dict[str, Any]]] = defaultdict(list)
    for row in ground.evidence.spellings.rows():
        if row["value"] is not None:
            values[row["column"], row["value"]].append(row)
    for (column, value), rows in sorted(values.items()):
        # A cut value is also short.
        is_own = (
            value in KINDS
            if column == "kind"
            else is_cut and value == SHORT
            if column == "scopes"
            else (value.isalpha() and value.isupper() and len(value) <= 16)
        )
        count, let_in = sum(row["calls"] for row in rows), sum(row["calls"] for row in rows if row["is_served"])
        if is_own or let_in < SPELT_ROWS or let_in < SPELT_PART * count:
            continue
        first, last = (
            min((row["second"] for row in rows if row["second"] is not None), default=None),
            max(
                (row["last"] for row in rows if row["last"] is not None),
                default=None,
            ),
        )
        if column == "scopes":
            sentence = (
                f"the scopes of {number(count, 'call')} are not the policy's, but would be if they were not written "
                f"{_spelling(name(value))}{_since(ground, first, last)}; the server served {number(let_in)} of these calls, so the log "
                "changed rather than the server"
            )
            found.append(sign("other_spelling", MEDIUM, column, count, sentence, first, last, min(row["row"] for row in rows)))
            served += let_in
            columns.add(column)
            continue
        every = sum(row["calls"] for of in values for row in values[of] if of[0] == column)
        others = sorted({of[1] for of in values if of[0] == column and of[1] != value and (of[1] in KINDS or (column == "method" and of[1].isupper()))})
        usual = f", otherwise {' or '.join(f'`{shown(_harmless(column, other))}`' for other in others[:2])}" if others else ""
        sentence = (
            f"the column `{column}` is written `{shown(_harmless(column, value))}` in {number(count)} of "
            f"{number(every, 'row')}{_since(ground, first, last)}{usual}; the server served {number(let_in)} of these calls, so the "
            "log changed rather than the server"
        )
        found.append(sign("other_spelling", MEDIUM, f"{column} {_harmless(column, value)}", count, sentence, first, last, min(row["row"] for row in rows)))
        served += let_in
        columns.add(column)
    return found, Cover(served, frozenset(columns))


def _spelling(form: str) -> str:
    """How scopes are written, in words."""
    before = form.partition("after ")[2]
    return f"after `{shown(private.scope(before))}`" if before else form


def _harmless(column: str, value: bytes) -> str:
    """A kind or a method for display, without likely secrets."""
    return (private.method(name(value)) if column == "method" else private.token(name(value))) or ""
