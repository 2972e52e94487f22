"""Finds columns in a form that requests and tokens don't have, which makes the decisions misleading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .._extras import needs
from .._number import number
from .._terms import TokenKind
from . import private


class Slip(NamedTuple):
    """A likely mistake in a column. `pattern` is tried on values that are neither usual nor an earlier slip. `result` is the
    effect on one call, and on several.
    """

    column: str
    pattern: str
    what: str
    result: tuple[str, str]
    remedy: str


INVALID = ("It was decided as a call with an invalid token. ", "They were decided as calls with an invalid token. ")
MALFORMED = ("It is malformed. ", "They are malformed. ")
NO_RESULT = ("", "")
SPACES = "Separate scopes with spaces, or write a list. If all calls have the same scopes, set `scopes`."
WORDS = "A kind must be exactly `user` or `organisation`. If all calls have the same kind, set `kind`."
KINDS = [kind.value for kind in TokenKind if kind != TokenKind.UNKNOWN]
# Words that say that the token was refused.
REFUSED = ("expired", "invalid", "rejected", "revoked")
ALIKE = rf"(?i)^\s*({'|'.join(KINDS)})\s*$"
OTHER = Slip("kind", "", "an unknown kind", INVALID, WORDS)
SLIPS = (
    Slip("kind", ALIKE, "a kind in the wrong letter case or with spaces", INVALID, WORDS),
    Slip("kind", "^$", "an empty kind", INVALID, "For a call without a token, use `null` or leave the kind out."),
    Slip(
        "kind", r"^\s*-\s*$", "the kind `-`", INVALID,
        "If `-` means no value, as in the JSON logs of API gateways, use `null` or leave the kind out. These calls then have no token.",
    ),
    OTHER,
    Slip("scopes", r"^\[", "a list written as a string", NO_RESULT, SPACES),
    Slip("scopes", ",", "commas between scopes", NO_RESULT, SPACES),
    Slip(
        "method", "[a-z]", "lower-case letters in the method", MALFORMED,
        "Methods must be exactly as received, in capitals. Map a column that contains them to `method`.",
    ),
    Slip(
        "target", "", "a target that does not start with `/`", MALFORMED,
        "A target is the path and query of the request line, not a whole URL. Map a column that contains it to `target`.",
    ),
)
COLUMNS = tuple(dict.fromkeys(slip.column for slip in SLIPS))
OF_TOKENS = ("kind", "scopes")
NOUNS = {"kind": "a kind", "scopes": "scopes", "method": "a method", "target": "a target"}
# The most characters of a value in a warning.
EXAMPLE = 60


class Slips:
    """Counts slips in decided rows."""

    def __init__(self) -> None:
        # The number of values in each column, and the count and first value of each slip.
        self._values = dict.fromkeys(COLUMNS, 0)
        self._slips = [(0, "")] * len(SLIPS)
        # Whether the log has a status, and the slips in kinds of rows without one.
        self._has_status = False
        self._unknown = [(0, "")] * len(SLIPS)
        self._pa = needs("pyarrow", "logs")
        self._pc = needs("pyarrow.compute", "logs")

    def count(self, texts: Mapping[str, Any], is_decided: Any, statuses: Any) -> None:
        """Counts these rows. If no status shows that the server served a call, its kind is how the log marks an invalid
        token; without any status, only a word that says so.
        """
        pc = self._pc
        is_served, is_unknown = pc.less(statuses, 400).fill_null(False), pc.is_null(statuses)
        marks = self._pa.array([word.encode() for word in REFUSED], texts["kind"].type)
        is_unknown = pc.and_(is_unknown, pc.invert(pc.is_in(texts["kind"], marks)))
        self._has_status = self._has_status or statuses.null_count < len(statuses)
        for column in COLUMNS:
            values = texts[column].filter(pc.and_(is_decided, pc.is_valid(texts[column])))
            is_empty = pc.equal(pc.binary_length(values), 0)
            self._values[column] += len(values) - (pc.sum(is_empty).as_py() or 0)
            if column == "kind":
                for flags, slips in ((is_served, self._slips), (is_unknown, self._unknown)):
                    self._see(column, texts[column].filter(pc.and_(pc.and_(is_decided, pc.is_valid(texts[column])), flags)), slips)
            else:
                self._see(column, values.filter(pc.invert(is_empty)), self._slips)

    def _see(self, column: str, values: Any, slips: list[tuple[int, str]]) -> None:
        """Counts the slips in these values. Each distinct value is checked once."""
        pc = self._pc
        values, calls = values.filter(pc.invert(self._usual(column, values))).value_counts().flatten()
        for at, slip in enumerate(SLIPS):
            if slip.column == column:
                is_slip = pc.match_substring_regex(values, slip.pattern)
                so_far, example = slips[at]
                slips[at] = (
                    so_far + (pc.sum(calls.filter(is_slip)).as_py() or 0),
                    example or next((_shown(value.as_py()) for value in values.filter(is_slip)), ""),
                )
                values, calls = (of.filter(pc.invert(is_slip)) for of in (values, calls))

    def _usual(self, column: str, values: Any) -> Any:
        """Values that can't be slips. Checked without a pattern, because all targets might be different."""
        if column == "kind":
            return self._pc.is_in(values, self._pa.array([kind.encode() for kind in KINDS], values.type))
        if column == "target":
            return self._pc.starts_with(values, "/")
        return self._pa.repeat(False, len(values))

    @property
    def counted(self) -> list[Any]:
        """The counts."""
        return [self._values, self._slips, self._has_status, self._unknown]

    @counted.setter
    def counted(self, counted: list[Any]) -> None:
        self._values, self._slips, self._has_status, self._unknown = counted

    def warnings(self) -> list[str]:
        """A warning for each slip in kinds or scopes, because such a token would look as if it had few scopes. Slips in other
        columns need at least half of the values; fewer are mistakes of single callers, not of the log.
        """
        return [
            f"{self._found_in(slip, calls, example)} {slip.result[calls > 1]}{slip.remedy}"
            for slip, known, unknown in zip(SLIPS, self._slips, self._unknown)
            # In a log with statuses, a word that is no misspelling can mark invalid tokens of calls that broke off.
            for calls, example in [known if slip is OTHER and self._has_status else (known[0] + unknown[0], known[1] or unknown[1])]
            if calls and (slip.column in OF_TOKENS or 2 * calls >= self._values[slip.column])
        ]

    def _found_in(self, slip: Slip, calls: int, example: str) -> str:
        have = "has" if calls == 1 else "have"
        if not example:
            return f"{number(calls, 'call')} {have} {slip.what}."
        for_example = "" if f"`{example}`" in slip.what else f", for example `{example}`"
        return f"{number(calls)} of {number(self._values[slip.column], 'call')} with {NOUNS[slip.column]} {have} {slip.what}{for_example}."


def _shown(value: bytes) -> str:
    """The start of a value, without a query and a user, which can contain secrets."""
    return (private.target(value.decode("utf-8", "backslashreplace")) or "")[:EXAMPLE]
