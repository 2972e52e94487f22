"""What is to be known of a log before its numbers are believed: columns that are there and not read, and those that no row has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from .._columns import NAMES
from .._errors import TableError
from .._extras import needs
from .._number import number
from .slips import Slips


class NoColumnError(TableError):
    """A column that was named, and that no row has: what was decided without it is no answer."""


class UnnamedColumnError(TableError):
    """A log has no column of this name, and nobody has named another one for it."""

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message, column)
        self.column = column

    def __str__(self) -> str:
        return str(self.args[0])


class ResumeError(TableError):
    """A log that cannot be resumed: what is counted after another one's rows is no answer, either."""


class Notes:
    """Taken while a log is read."""

    def __init__(self, columns: Mapping[str, str], values: Mapping[str, object]) -> None:
        self._unseen = dict(columns)
        self._values = {name: value for name, value in values.items() if value is not None}
        self._overruled: dict[str, str] = {}
        self._alike: dict[str, str] = {}
        self._members: list[str] = []
        # Rows with a quote that does not close as it must: what comes after them may be a value, and no row.
        self.torn = 0
        # Other columns that do not come along, because the log's first part has none of that name and type.
        self.left_out: dict[str, None] = {}
        # In how many rows a member that was named is not there, because what it would be inside of is no object.
        self.bare: dict[str, int] = {}
        self._rows = self._kinds = self._scopes = self._scopes_alone = 0
        self._slips = Slips()
        self._pc = needs("pyarrow.compute", "logs")

    @property
    def unseen(self) -> dict[str, str]:
        """The columns that were named and that no row had so far."""
        return self._unseen

    def see(self, column: str) -> None:
        """A column is there."""
        self._unseen.pop(column, None)

    def has(self, known: Iterable[str], found: Mapping[str, str]) -> None:
        """The log has these columns, of which some are read."""
        known = list(known)
        self._members = self._members or known
        for name in found:
            self.see(name)
        for name in self._values:
            if name in known:
                self._overruled[name] = name
        used = {name.partition(".")[0] for name in found.values()} | {*found.values(), *self._values}
        for name in NAMES:
            if name not in found and name not in self._values:
                # A `status` may be the log's own, or what an engine decided: that is not guessed.
                plain = "status" if name == "served_status" else _plain(name)
                alike = (other for other in known if other not in used and plain in (other, _plain(other)))
                if (other := next(alike, None)) is not None:
                    self._alike[name] = other

    def count(self, texts: Mapping[str, Any], is_decided: Any) -> None:
        """Counts rows that are decided, with and without the columns of a token."""
        pc = self._pc
        kinds = pc.and_(pc.is_valid(texts["kind"]), is_decided)
        scopes = pc.greater(pc.binary_length(texts["scopes"]), 0).fill_null(False)
        scopes = pc.and_(scopes, is_decided)
        self._rows += pc.sum(is_decided).as_py() or 0
        self._kinds += pc.sum(kinds).as_py() or 0
        self._scopes += pc.sum(scopes).as_py() or 0
        self._scopes_alone += pc.sum(pc.and_not(scopes, kinds)).as_py() or 0
        self._slips.count(texts, is_decided)

    @property
    def counted(self) -> list[Any]:
        """What was counted of rows that are decided."""
        return [self._rows, self._kinds, self._scopes, self._scopes_alone, self._slips.counted, self.bare]

    @counted.setter
    def counted(self, counted: list[Any]) -> None:
        self._rows, self._kinds, self._scopes, self._scopes_alone, self._slips.counted, self.bare = counted

    def check(self) -> None:
        """Raises `NoColumnError` where a column was named that no row of the log had."""
        for column, name in self._unseen.items():
            if self._rows:
                there = f"; the first has `{'`, `'.join(self._members)}`" if self._members else ""
                raise NoColumnError(f"no row has `{name}`, which was named for `{column}`{there}")

    def warnings(self, rows: int, without: Collection[str]) -> list[str]:
        """Sentences about a log that was read, and of which these are the rows so far; the gravest first. None about columns that aren't used."""
        said = []
        if not self._rows:
            said.append(nothing_decided(rows))
            said += [f"Nobody knows whether the log has `{name}`, which was named for `{column}`." for column, name in self._unseen.items()]
        elif 2 * (unread := rows - self._rows) >= rows:
            said.append(f"Of {number(rows, 'row')}, {number(unread)} could not be read: no number has anything of them.")
        if self.torn:
            said.append(f"With a quote that does not close as it must: {number(self.torn, 'row')}. The rows after each may be what a value says, and no calls.")
        if self._rows and not self._kinds:
            said.append("No row has a kind, so every call was decided as one without a token: say `kind`, or which column has it.")
        elif self._scopes_alone:
            said.append(f"With scopes and no kind, or an empty one, and so decided as without a token: {number(self._scopes_alone, 'call')}.")
        if self._kinds and not self._scopes:
            said.append("No row has scopes, so every token was decided as one without any: say `scopes`, or which column has them.")
        said += self._slips.warnings()
        for member, calls in sorted(self.bare.items()):
            said.append(f"Without `{member}`, because `{member.rpartition('.')[0]}` is there and no object: {number(calls, 'row')}.")
        for name, other in self._alike.items():
            if name in without:
                continue
            said.append(f"The log has a column `{other}`, which was not read: for `{name}`, say `{name}={other}`.")
        for name in self.left_out:
            said.append(f"Not written: what the log has as `{name}`, of which its first rows have none, or one of another type.")
        for name in self._overruled:
            said.append(f"The log's own column `{name}` was not read: `{name}` is {_quoted(self._values[name])} for all calls.")
        return said


def nothing_decided(unread: int) -> str:
    """That a log has no calls, which is no good news: it may be another file, or one that nothing was written to."""
    return f"No call was decided: of {number(unread, 'row')}, none could be read." if unread else "No call was decided: the log has no rows."


def breaks_off(rows: int, why: str) -> str:
    """That a log has more than what was counted."""
    return f"The log breaks off after {number(rows, 'row')}, and what comes after them is in no number: {why}."


def _plain(name: str) -> str:
    """A name without what people misspell: case, signs between words, the ending of a plural."""
    return "".join(filter(str.isalnum, name)).casefold().removesuffix("s")


def _quoted(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"`{value}`"
