"""Warnings about a log: columns that weren't read, columns that no row has, and rows that look wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from .._columns import NAMES
from .._errors import TableError
from .._extras import needs
from .._number import number
from .slips import Slips


class NoColumnError(TableError):
    """A named column that no row has. Decisions without it would be meaningless."""


class UnnamedColumnError(TableError):
    """A log without a column of this name, for which no other column was named."""

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message, column)
        self.column = column

    def __str__(self) -> str:
        return str(self.args[0])


class ResumeError(TableError):
    """A log that can't be resumed, because its first rows have changed."""


class Notes:
    """Collects warnings while a log is read."""

    def __init__(self, columns: Mapping[str, str], values: Mapping[str, object]) -> None:
        self._unseen = dict(columns)
        self._values = {name: value for name, value in values.items() if value is not None}
        self._overruled: dict[str, str] = {}
        self._alike: dict[str, str] = {}
        self._members: list[str] = []
        # Rows with a quote that isn't closed correctly. The rows after them might be part of a value.
        self.torn = 0
        # Other columns that are dropped, because the first part of the log has no column with the same name and type.
        self.left_out: dict[str, None] = {}
        # For each named member, the number of rows without it because its parent isn't an object.
        self.bare: dict[str, int] = {}
        self._rows = self._kinds = self._scopes = self._scopes_alone = 0
        self._slips = Slips()
        self._pc = needs("pyarrow.compute", "logs")

    @property
    def unseen(self) -> dict[str, str]:
        """The named columns that no row has had so far."""
        return self._unseen

    def see(self, column: str) -> None:
        """Notes that a column exists."""
        self._unseen.pop(column, None)

    def has(self, known: Iterable[str], columns: Mapping[str, str]) -> None:
        """Notes which columns the log has, and which of them are read."""
        known = list(known)
        self._members = self._members or known
        for name in columns:
            self.see(name)
        for name in self._values:
            if name in known:
                self._overruled[name] = name
        used = {name.partition(".")[0] for name in columns.values()} | {*columns.values(), *self._values}
        for name in NAMES:
            if name not in columns and name not in self._values:
                # A `status` might be the server's response or an engine's decision, so the user has to choose.
                plain = "status" if name == "served_status" else _plain(name)
                alike = (other for other in known if other not in used and plain in (other, _plain(other)))
                if (other := next(alike, None)) is not None:
                    self._alike[name] = other

    def count(self, texts: Mapping[str, Any], is_decided: Any, statuses: Any) -> None:
        """Counts decided rows, with and without the columns of a token."""
        pc = self._pc
        kinds = pc.and_(pc.is_valid(texts["kind"]), is_decided)
        scopes = pc.greater(pc.binary_length(texts["scopes"]), 0).fill_null(False)
        scopes = pc.and_(scopes, is_decided)
        self._rows += pc.sum(is_decided).as_py() or 0
        self._kinds += pc.sum(kinds).as_py() or 0
        self._scopes += pc.sum(scopes).as_py() or 0
        self._scopes_alone += pc.sum(pc.and_not(scopes, kinds)).as_py() or 0
        self._slips.count(texts, is_decided, statuses)

    @property
    def counted(self) -> list[Any]:
        """The counts of decided rows."""
        return [self._rows, self._kinds, self._scopes, self._scopes_alone, self._slips.counted, self.bare]

    @counted.setter
    def counted(self, counted: list[Any]) -> None:
        self._rows, self._kinds, self._scopes, self._scopes_alone, self._slips.counted, self.bare = counted

    def check(self) -> None:
        """Raises `NoColumnError` if no row of the log has a named column."""
        for column, name in self._unseen.items():
            if self._rows:
                there = f"; the first row has `{'`, `'.join(self._members)}`" if self._members else ""
                raise NoColumnError(f"no row has `{name}`, which was named for `{column}`{there}")

    def warnings(self, rows: int, without: Collection[str]) -> list[str]:
        """Warnings about the `rows` that were read so far, one sentence or more each, without those about these columns. The most severe come first."""
        warnings = []
        if not self._rows:
            warnings.append(nothing_decided(rows))
            warnings += [f"No row could be read, so the log might not have `{name}`, which was named for `{column}`." for column, name in self._unseen.items()]
        elif 2 * (unread := rows - self._rows) >= rows:
            warnings.append(f"{number(unread)} of {number(rows, 'row')} could not be read. No number includes them.")
        if self.torn:
            warnings.append(f"{number(self.torn, 'row')} {_have(self.torn)} a quote that is not closed correctly. The rows after {'it' if self.torn == 1 else 'each'} might be part of a value instead of calls.")
        if self._rows and not self._kinds:
            warnings.append("No row has a token kind, so every call was decided as a call without a token. Set `kind`, or name the column that contains it.")
        elif self._scopes_alone:
            decided = "it was decided as a call" if self._scopes_alone == 1 else "they were decided as calls"
            warnings.append(f"{number(self._scopes_alone, 'call')} {_have(self._scopes_alone)} scopes but no token kind, so {decided} without a token.")
        if self._kinds and not self._scopes:
            warnings.append("No row has scopes, so every token was decided as a token without scopes. Set `scopes`, or name the column that contains them.")
        warnings += self._slips.warnings()
        for member, calls in sorted(self.bare.items()):
            warnings.append(f"{number(calls, 'row')} {_have(calls)} no `{member}`, because `{member.rpartition('.')[0]}` is not an object.")
        for name, other in self._alike.items():
            if name not in without:
                warnings.append(f"The log's column `{other}` was not read. If it contains `{name}`, map it with `{name}={other}`.")
        for name in self.left_out:
            warnings.append(f"Values of `{name}` were not written, because the log's first rows do not have this column, or have it with another type.")
        for name in self._overruled:
            warnings.append(f"The log's column `{name}` was not read, because `{name}` is set to {_quoted(self._values[name])} for all calls.")
        return warnings


def nothing_decided(unread: int) -> str:
    """A warning about a log without calls, which might be the wrong file or an empty one."""
    why = "the log has no rows" if not unread else "its only row could not be read" if unread == 1 else f"none of its {number(unread, 'row')} could be read"
    return f"No call was decided: {why}."


def breaks_off(rows: int, why: str) -> str:
    """A warning that the log has more rows than were counted."""
    return f"The log breaks off after {number(rows, 'row')}: {why}. No number includes the rows after that."


def _plain(name: str) -> str:
    """A column name without case, punctuation and plural ending, to find similar names."""
    return "".join(filter(str.isalnum, name)).casefold().removesuffix("s")


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _quoted(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"`{value}`"
