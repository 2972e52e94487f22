"""Signs in a log: facts that findings are about, each with its subject. They are found in counts of the whole log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..._rows import Rows
from ..thresholds import Threshold
from ..thresholds import table as thresholds
from ..timelines import time_of
from .ground import Cover, Ground, Sign
from .attacks import attacks
from .instances import instances
from .ledger import entries
from .news import HELD, MOST_SEEN, USED, kept, news, seen
from .statuses import of_old_versions, statuses
from .trust import doubts, not_made
from .together import together
from .window import Covered, Earlier, Seen, days_since, joined, merged

__all__ = ["HELD", "USED", "Cover", "Covered", "Earlier", "Ground", "Seen", "Sign", "Signs", "days_since", "joined", "signs"]


class Signs(NamedTuple):
    """All signs. `seen` and `periods` are those of this log and of earlier reports: who was seen with what, unless `seen_is_whole` only a
    part of it, and in which times. `cover` is what the doubts about the log cover, so that no caller is accused of it."""

    signs: Rows[Sign]
    seen: Rows[Seen]
    seen_is_whole: bool
    periods: Rows[Covered]
    thresholds: Rows[Threshold]
    not_made: tuple[str, ...]
    cover: Cover


def signs(ground: Ground) -> Signs:
    """The signs in a log, those about the log itself first."""
    doubtful, cover = doubts(ground)
    of_ledger, more = entries(ground)
    cover = cover._replace(columns=cover.columns | more.columns)
    found = [*doubtful, *(one for one in of_ledger if not _is_of_copy(one, doubtful) and not _is_of_other(one, doubtful))]
    rows = seen(ground)
    if not ground.is_other_policy:
        of_several = [*together(ground, cover)]
        lost = {one.subject for one in of_several if one.kind == "lost_scope"}
        found += [*attacks(ground, cover, lost), *instances(ground), *of_several, *statuses(ground), *news(ground, rows, cover)]
        cover = cover._replace(old=of_old_versions(ground, found))
    earlier, period = ground.earlier, ground.period
    whole = merged(rows, () if earlier is None else earlier.seen)
    is_whole = len(whole) < MOST_SEEN and ground.evidence.uses.is_exact and ground.evidence.held.is_exact and (earlier is None or earlier.is_whole)
    periods = [*(() if earlier is None else earlier.periods), *([] if period is None else [Covered(time_of(period.first), time_of(period.last))])]
    return Signs(Rows(Sign, found), kept(whole), is_whole, Rows(Covered, sorted(periods)), thresholds(), not_made(ground), cover)


def _is_of_copy(one: Sign, doubtful: Sequence[Sign]) -> bool:
    """Whether sums of calls differ from a ledger's in a day whose rows are those of another day."""
    days = [of for of in doubtful if of.kind == "repeated_day"]
    if one.kind not in BY_CALLS or one.first is None or one.last is None:
        return False
    return any(of.first is not None and of.last is not None and of.first <= one.first and one.last <= of.last for of in days)


def _is_of_other(one: Sign, doubtful: Sequence[Sign]) -> bool:
    """Whether calls with another account are only in rows that look as of another system."""
    spans = [(of.first, of.last) for of in doubtful if of.kind == "other_system" and of.first is not None and of.last is not None]
    return (
        one.kind == "other_account" and one.first is not None and one.last is not None and any(first <= one.first and one.last <= last for first, last in spans)
    )


# What the calls of a day are compared for.
BY_CALLS = ("calls_missing", "captures_missing", "other_price")
