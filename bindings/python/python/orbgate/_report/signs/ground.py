"""What signs are found in, and what they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._read import private
from ..numbers import when
from ..timelines import time_of

if TYPE_CHECKING:
    from ..._policy import Policy
    from ..evidence import Evidence
    from ..failures import Failure, Period
    from ..reconciled import Compared
    from ..timelines import Timelines
    from .window import Earlier


class Sign(NamedTuple):
    """A fact: its kind and level, whom or what it is about, the number of affected calls or rows (a lower bound unless `is_exact`), a sentence
    without its full stop, and the first of them.
    """

    kind: str
    level: str
    subject: str
    affected: int
    is_exact: bool
    sentence: str
    first: datetime | None
    last: datetime | None
    row: int | None


class Cover(NamedTuple):
    """What doubts about the log cover: calls that look served although denied; which of callers, scopes, targets, kinds, methods, holds without
    calls and calls without entries can't be relied on; and the sources of whose rows nothing can. `old` are callers whose calls without a route
    are those of an old version of an application. `are_clients_other` states whether even machines have other names than before.
    """

    served: int = 0
    columns: frozenset[str] = frozenset()
    sources: frozenset[bytes] = frozenset()
    old: frozenset[str] = frozenset()
    are_clients_other: bool = False


class Ground(NamedTuple):
    """What signs are found in. `ledger` are the entries of a ledger with the calls, if it is compared. `timed` are the counts by time of the
    whole log, and `period` its time without outlying ones. `unread` are the seconds since which many rows can't be read.
    """

    evidence: Evidence
    policy: Policy
    period: Period | None
    timelines: Timelines
    addresses: Timelines
    tokens: Timelines
    timed: list[dict[str, Any]]
    failures: Iterable[Failure]
    is_other_policy: bool
    earlier: Earlier | None = None
    ledger: Compared | None = None
    unread: Sequence[int] = ()

    @property
    def has_hours(self) -> bool:
        """Whether the log has times of day."""
        return self.period is not None and self.period.has_hours

    @property
    def hours(self) -> float:
        """The length of the log in hours."""
        return 0.0 if self.period is None else (self.period.last - self.period.first) / 3_600


def sign(
    kind: str,
    level: str,
    subject: str,
    affected: int,
    sentence: str,
    first: int | None = None,
    last: int | None = None,
    row: int | None = None,
    is_exact: bool = True,
) -> Sign:
    """A sign between two seconds."""
    return Sign(kind, level, subject, affected, is_exact, sentence, None if first is None else time_of(first), None if last is None else time_of(last), row)


def name(text: bytes | None) -> str:
    """A name in a log as a string, without anything that looks like a JWT."""
    return "(no caller)" if text is None else private.token(text.decode("utf-8", "backslashreplace"))


def said_when(first: int | None, last: int | None) -> str:
    """From when to when, in words; empty without times."""
    return "" if first is None or last is None else when(time_of(first), time_of(last), False)
