"""Counts unreadable rows by reason, so that many rows with one reason don't hide the others."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .._extras import needs
from .._read import private

# The most rows for each reason, and the most reasons. Further reasons are combined.
FIRST = 5
MOST_REASONS = 50
ANOTHER = "another reason"
# The most characters of an error.
LONGEST = 400

# The parts of an error that differ between rows with the same reason: file, value and position. Column names stay, because the
# same error in another column is a different reason. A value can contain any character, so it ends at the last backtick.
LOCATION = r"\A(`[^`]*`|standard input), row [\d,]+ of it: "
VALUE = r"(?s)( is| in|unknown field|duplicate field|variant|integer|floating point|boolean|character) `.*`"
TEXT = r'(?s)string ".*"'
WIDTH = r"\A1 value where"
DIGITS = r"\d+"
# Digits in these words stay.
WORDS = {"UTF-8": "UTF-\x00", "16 MiB": "\x01 MiB"}
KINDS = ((LOCATION, ""), *WORDS.items(), (VALUE, r"\1 `…`"), (TEXT, 'string "…"'), (WIDTH, "… values where"), (DIGITS, "…"), *((mark, word) for word, mark in WORDS.items()))

# For each reason, the number of rows, and the first rows with their errors. Plain data, so that it can be stored to resume.
Kinds = dict[str, list[Any]]


class UnreadReason(NamedTuple):
    """Rows that could not be read for the same reason. In `reason`, `…` replaces the parts that differ; `first` has the first
    rows, each with its error.
    """

    reason: str
    rows: int
    first: tuple[tuple[int, str], ...]


def count(kinds: Kinds, rows: Any, errors: Any) -> None:
    """Counts rows by their errors."""
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    # An error can quote a value of any length.
    is_long = pc.greater(pc.utf8_length(errors), LONGEST)
    reason = errors = pc.if_else(is_long, pc.binary_join_element_wise(pc.utf8_slice_codeunits(errors, 0, LONGEST), "…", ""), errors)
    for pattern, plain in KINDS:
        reason = pc.replace_substring_regex(reason, pattern, plain)
    # The first reasons have room, however the log is split.
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
    """The reasons. Those with the most rows come first."""
    reasons = (UnreadReason(reason, rows, tuple((row, private.message(why)) for row, why in first)) for reason, (rows, first) in kinds.items())
    return sorted(reasons, key=lambda kind: (-kind.rows, kind.first))


def first_rows(kinds: Kinds, most: int) -> list[tuple[int, str]]:
    """The first rows, including the first row for each reason."""
    one = sorted((row, why) for _, first in kinds.values() for row, why in first[:1])
    others = sorted((row, why) for _, first in kinds.values() for row, why in first[1:])
    return [(row, private.message(why)) for row, why in sorted([*one, *others[: max(0, most - len(one))]])]


def alike(kind: dict[str, Any]) -> bool:
    """Whether all first rows of a reason, in the form of JSON, have the same error apart from its location."""
    return len({re.sub(LOCATION, "", first["message"]) for first in kind["first"]}) == 1


def to_dicts(reasons: list[UnreadReason]) -> list[dict[str, Any]]:
    """The reasons in the form of JSON."""
    return [
        {"reason": kind.reason, "count": kind.rows, "first": [{"row": row, "message": why} for row, why in kind.first]}
        for kind in reasons
    ]
