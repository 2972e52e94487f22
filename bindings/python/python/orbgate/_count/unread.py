"""Which rows of a log could not be read, by why: many of one kind do not hide the others."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .._extras import needs
from .._read import private

# How many rows of each reason are kept, and how many reasons. The rest of them have one place together.
FIRST = 5
MOST_REASONS = 50
ANOTHER = "another reason"
# How many characters of what is wrong with a row are kept.
LONGEST = 400

# What differs between rows of one kind: in which file a row is, what it says, and where. The name of a column stays: what is wrong with one is
# another kind than the same of another. A value may have any sign in it, so it ends with the last one.
LOCATION = r"\A(`[^`]*`|standard input), row [\d,]+ of it: "
VALUE = r"(?s)( is| in|unknown field|duplicate field|variant|integer|floating point|boolean|character) `.*`"
TEXT = r'(?s)string ".*"'
WIDTH = r"\A1 value where"
DIGITS = r"\d+"
# These are words, whose digits stay.
WORDS = {"UTF-8": "UTF-\x00", "16 MiB": "\x01 MiB"}
KINDS = ((LOCATION, ""), *WORDS.items(), (VALUE, r"\1 `…`"), (TEXT, 'string "…"'), (WIDTH, "… values where"), (DIGITS, "…"), *((mark, word) for word, mark in WORDS.items()))

# By the reason, how many rows, and the first of them with what is wrong with each: plain data, which can be kept to resume.
Kinds = dict[str, list[Any]]


class UnreadReason(NamedTuple):
    """Rows that could not be read for one reason, in which `…` is what differs; `first` are the first of them, each with what is wrong with it."""

    reason: str
    rows: int
    first: tuple[tuple[int, str], ...]


def count(kinds: Kinds, rows: Any, errors: Any) -> None:
    """Counts rows and what is wrong with each of them."""
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    # A value that a message shows may have any length.
    is_long = pc.greater(pc.utf8_length(errors), LONGEST)
    reason = errors = pc.if_else(is_long, pc.binary_join_element_wise(pc.utf8_slice_codeunits(errors, 0, LONGEST), "…", ""), errors)
    for pattern, plain in KINDS:
        reason = pc.replace_substring_regex(reason, pattern, plain)
    # Those that come first have room, however the log is cut.
    for name in pc.unique(reason).to_pylist():
        if len(kinds.keys() - {ANOTHER}) < MOST_REASONS:
            kinds.setdefault(name, [0, []])
    reason = pc.if_else(pc.is_in(reason, pa.array(list(kinds), pa.string())), reason, ANOTHER)
    table = pa.table({"reason": reason, "row": rows, "error": errors})
    for group in table.group_by("reason", use_threads=False).aggregate([([], "count_all")]).to_pylist():
        kind = kinds.setdefault(group["reason"], [0, []])
        kind[0] += group["count_all"]
        wanted = FIRST - len(kind[1])
        if wanted > 0:
            first = table.filter(pc.equal(table["reason"], group["reason"])).slice(0, wanted)
            kind[1] += zip(first["row"].to_pylist(), first["error"].to_pylist())


def by_reason(kinds: Kinds) -> list[UnreadReason]:
    """The reasons, first that of most rows."""
    found = (UnreadReason(reason, rows, tuple((row, private.message(why)) for row, why in first)) for reason, (rows, first) in kinds.items())
    return sorted(found, key=lambda kind: (-kind.rows, kind.first))


def first_rows(kinds: Kinds, most: int) -> list[tuple[int, str]]:
    """The first rows, and of each reason the first one."""
    one = sorted((row, why) for _, first in kinds.values() for row, why in first[:1])
    others = sorted((row, why) for _, first in kinds.values() for row, why in first[1:])
    return [(row, private.message(why)) for row, why in sorted([*one, *others[: max(0, most - len(one))]])]


def alike(kind: dict[str, Any]) -> bool:
    """Whether the first rows of a reason, as JSON has it, have all the same wrong with them, wherever they are."""
    return len({re.sub(LOCATION, "", first["message"]) for first in kind["first"]}) == 1


def to_dicts(found: list[UnreadReason]) -> list[dict[str, Any]]:
    """The reasons as JSON has them."""
    return [
        {"reason": kind.reason, "count": kind.rows, "first": [{"row": row, "message": why} for row, why in kind.first]}
        for kind in found
    ]
