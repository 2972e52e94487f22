"""Columns that a log writes otherwise than requests and tokens have them: then the decisions say little of the calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .._extras import needs
from .._number import number
from .._terms import TokenKind
from . import private


class Slip(NamedTuple):
    """A way to write a column. `pattern` is of values that are not set aside as `usual`, nor of a slip before it."""

    column: str
    pattern: str
    what: str
    remedy: str


SPACES = "Scopes are divided by spaces: write spaces or a list in the log, or where all calls have the same, say them as `scopes`."
WORDS = "A kind is `user` or `organisation`, in these letters: where all calls are of one kind, say it as `kind`."
KINDS = [kind.value for kind in TokenKind if kind != TokenKind.UNKNOWN]
ALIKE = rf"(?i)^\s*({'|'.join(KINDS)})\s*$"
SLIPS = (
    Slip("kind", ALIKE, "With a kind in other letters or among spaces, and so decided as with an invalid token", WORDS),
    Slip("kind", "^$", "With an empty kind, and so decided as with an invalid token", "A call without a token has no kind: `null`, or nothing at all."),
    Slip(
        "kind", r"^\s*-\s*$", "With `-` as kind, and so decided as with an invalid token",
        "If it stands for no value, as in the JSON logs of API gateways, write `null`, or nothing at all: then these calls have no token.",
    ),
    Slip("kind", "", "Of no known kind, and so decided as with an invalid token", WORDS),
    Slip("scopes", r"^\[", "With a list written as a string for scopes", SPACES),
    Slip("scopes", ",", "With commas in the scopes", SPACES),
    Slip(
        "method", "[a-z]", "With small letters in the method, and so malformed",
        "A method is as it came over the wire, in capitals: name a column that has it so, as `method`.",
    ),
    Slip(
        "target", "", "With a target that does not start with `/`, and so malformed",
        "A target is the path and query of the request line, no whole URL: name a column that has it, as `target`.",
    ),
)
COLUMNS = tuple(dict.fromkeys(slip.column for slip in SLIPS))
OF_TOKENS = ("kind", "scopes")
# How much of a value a warning shows.
EXAMPLE = 60


class Slips:
    """Counts them in rows that are decided."""

    def __init__(self) -> None:
        # Values of each column, and of each slip how many of them, with the first.
        self._values = dict.fromkeys(COLUMNS, 0)
        self._found = [(0, "")] * len(SLIPS)
        self._pa = needs("pyarrow", "logs")
        self._pc = needs("pyarrow.compute", "logs")

    def count(self, texts: Mapping[str, Any], is_decided: Any) -> None:
        """Counts these rows."""
        pc = self._pc
        for column in COLUMNS:
            values = texts[column].filter(pc.and_(is_decided, pc.is_valid(texts[column])))
            is_empty = pc.equal(pc.binary_length(values), 0)
            self._values[column] += len(values) - (pc.sum(is_empty).as_py() or 0)
            if column != "kind":
                values = values.filter(pc.invert(is_empty))
            # Each different value is looked at once.
            values, calls = values.filter(pc.invert(self._usual(column, values))).value_counts().flatten()
            for at, slip in enumerate(SLIPS):
                if slip.column == column:
                    is_slip = pc.match_substring_regex(values, slip.pattern)
                    so_far, example = self._found[at]
                    self._found[at] = (
                        so_far + (pc.sum(calls.filter(is_slip)).as_py() or 0),
                        example or next((_shown(value.as_py()) for value in values.filter(is_slip)), ""),
                    )
                    values, calls = (of.filter(pc.invert(is_slip)) for of in (values, calls))

    def _usual(self, column: str, values: Any) -> Any:
        """Values that are no slip, told without a pattern; targets may all be different."""
        if column == "kind":
            return self._pc.is_in(values, self._pa.array([kind.encode() for kind in KINDS], values.type))
        if column == "target":
            return self._pc.starts_with(values, "/")
        return self._pa.repeat(False, len(values))

    @property
    def counted(self) -> list[Any]:
        """What was counted."""
        return [self._values, self._found]

    @counted.setter
    def counted(self, counted: list[Any]) -> None:
        self._values, self._found = counted

    def warnings(self) -> list[str]:
        """A sentence for each slip of a token, which would be taken for one that holds nothing too much, and for each other that at least half of
        its column has: fewer are those of some callers, and no slip of the log.
        """
        return [
            f"{slip.what}: {number(calls, 'call')}{f' of {self._values[slip.column]:,} with a value, as `{example}`' if example else ''}. {slip.remedy}"
            for slip, (calls, example) in zip(SLIPS, self._found)
            if calls and (slip.column in OF_TOKENS or 2 * calls >= self._values[slip.column])
        ]


def _shown(value: bytes) -> str:
    """The start of a value. A query, and what comes before a host, may carry what nobody should read in a report."""
    return (private.target(value.decode("utf-8", "backslashreplace")) or "")[:EXAMPLE]
