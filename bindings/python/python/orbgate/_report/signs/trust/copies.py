"""Rows, and days, that are in the log twice."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from ...._number import number
from ...numbers import MEDIUM, share
from ...thresholds import COPY_ALIKE, COPY_APART, COPY_HOUR_PART, COPY_HOUR_ROWS, COPY_PART, COPY_ROWS, DAY_COPIES, DAY_PART, DAY_ROWS
from ...timelines import DAY, HOUR, time_of
from ..ground import Ground, Sign, said_when, sign


def copied_rows(ground: Ground) -> Iterator[Sign]:
    """Rows that are in the log twice."""
    evidence = ground.evidence
    rows = [*evidence.copies.rows()]
    copied = [row for row in rows if row["calls"] > 1]
    if len(copied) < COPY_ROWS:
        return
    # A shipper repeats the rows of all instances, or of one.
    within: list[dict[str, Any]] = []
    for columns in (("hour",), ("hour", "instance")):
        hours, of = (Counter(_hour_of(row, columns) for row in some) for some in (rows, copied))
        dense = {hour for hour, count in of.items() if count >= COPY_HOUR_ROWS and count >= COPY_HOUR_PART * hours[hour]}
        if not within and sum(of[hour] for hour in dense) >= COPY_ROWS:
            within = [row for row in copied if _hour_of(row, columns) in dense]
    most = Counter(row["calls"] for row in copied).most_common(1)[0][0]
    if not within and evidence.has_fractions and len(copied) >= COPY_PART * len(rows):
        within = copied
    # What a client sends twice follows at once; what is shipped twice comes after other rows.
    apart = [row for row in copied if row["last_row"] - row["row"] >= COPY_APART]
    if not within and evidence.has_fractions and len(apart) >= COPY_ROWS:
        within = apart
    if not within or sum(row["calls"] == most for row in within) < COPY_ALIKE * len(within):
        return
    extra = sum(row["calls"] - 1 for row in within)
    first, last = min(row["second"] for row in within), max(row["second"] for row in within)
    is_exact = not evidence.mask
    extra_share = share(sum(row["calls"] - 1 for row in within), sum(row["calls"] for row in rows))
    one = min(within, key=lambda row: row["row"])
    sentence = (
        f"{'' if is_exact else 'at least '}{number(extra, 'row')} ({extra_share}{'' if is_exact else ' of the sampled ones'}) "
        f"{'is a copy' if extra == 1 else 'are copies'} of other rows in all columns, {said_when(first, last)}; for example row "
        f"{number(one['last_row'])} of row {number(one['row'])}"
    )
    yield sign("copied_rows", MEDIUM, "the log", extra, sentence, first, last, one["last_row"], is_exact)


def _hour_of(row: dict[str, Any], columns: tuple[str, ...]) -> tuple[object, ...]:
    """The hour of a row, and its instance if it's named."""
    return (row["second"] // HOUR, *(row[column] for column in columns[1:]))


def repeated_days(ground: Ground) -> Iterator[Sign]:
    """A day whose rows are those of another day in everything but the day."""
    evidence = ground.evidence
    if not evidence.has_fractions:
        return
    days: defaultdict[int, set[int]] = defaultdict(set)
    of_key: defaultdict[int, set[int]] = defaultdict(set)
    firsts: dict[int, tuple[int, int]] = {}
    for row in evidence.copies.rows():
        day = row["second"] // DAY
        days[day].add(row["row_key"])
        of_key[row["row_key"]].add(day)
        firsts[day] = min((row["row"], row["second"]), firsts.get(day, (row["row"], row["second"])))
    pairs: Counter[tuple[int, int]] = Counter()
    for some in of_key.values():
        if 1 < len(some) <= DAY_COPIES:
            pairs.update((one, other) for one in some for other in some if one < other)
    for (one, other), count in pairs.most_common(1):
        if count >= DAY_ROWS and count >= DAY_PART * max(len(days[one]), len(days[other])):
            a, b = (f"{time_of(day * DAY):%Y-%m-%d}" for day in (one, other))
            part = share(count, max(len(days[one]), len(days[other])))
            sentence = (
                f"{part} of the rows of {b} are those of {a} in all columns and to the fraction of a second, except for the day: one of the two days is a copy"
            )
            yield sign("repeated_day", MEDIUM, b, count, sentence, other * DAY, other * DAY + DAY - 1, firsts[other][0], not evidence.mask)
