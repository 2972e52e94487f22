"""Instances whose rows have only the classes of statuses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from ...._number import number
from ...numbers import MEDIUM, share, shown
from ...thresholds import CLASS_ROWS, MASKED_CALLS, MASKED_PART
from ...timelines import HOUR, LET_IN, time_of
from ..ground import Cover, Ground, Sign, name, said_when, sign


def status_classes(ground: Ground) -> tuple[list[Sign], Cover]:
    """Instances whose rows have only the classes of statuses from a time on, such as 200 for 201 and 204, or 200 for everything."""
    assert ground.period is not None
    found: list[Sign] = []
    served, sources = 0, set[bytes]()
    by_source: defaultdict[bytes, list[dict[str, Any]]] = defaultdict(list)
    without: defaultdict[bytes, list[dict[str, Any]]] = defaultdict(list)
    for row in ground.evidence.source_statuses.rows():
        if row["source"] is not None:
            (without if row["status"] is None else by_source)[row["source"]].append(row)
    for source, one in _without(by_source, without):
        found.append(one)
        sources.add(source)
    every, odd = (sum(row["calls"] for rows in by_source.values() for row in rows if not at or row["status"] % 100) for at in (0, 1))
    lasts = {source: max((row["last"] for row in rows if row["status"] % 100), default=0) for source, rows in by_source.items()}
    for source, rows in sorted(by_source.items()):
        since = lasts[source]
        # A function that lives for minutes can do one kind of work, which always has one status.
        if not since:
            continue
        own = [row for row in rows if row["second"] > since]
        count, statuses = sum(row["calls"] for row in own), {row["status"] for row in own}
        # At the rate of the other instances in the same hours, or else of the whole log, many of these rows would have another status.
        hours = {row["hour"] for row in own}
        near = [row for other in by_source if lasts[other] > since for row in by_source[other] if row["hour"] in hours]
        all_near, odd_near = (sum(row["calls"] for row in near if not at or row["status"] % 100) for at in (0, 1))
        all_near, odd_near = (all_near, odd_near) if all_near >= MASKED_CALLS else (every, odd)
        if count >= MASKED_CALLS and count * odd_near >= CLASS_ROWS * all_near and ground.period.last - since > HOUR:
            only = f"only {min(statuses)}" if len(statuses) == 1 else "only classes, such as 200 for 201 and 204,"
            outcomes = [
                row for row in ground.evidence.source_outcomes.rows() if row["source"] == source and row["outcome"] == LET_IN and row["second"] >= since
            ]
            let_in = sum(row["calls"] for row in outcomes) if statuses == {200} else 0
            not_accused = f"; {number(let_in)} of them look served although the policy denies them, which shows nothing" if let_in else ""
            sentence = (
                f"the column `served_status` has {only} in the {number(count, 'row')} of {shown(name(source))} since "
                f"{time_of(since):%Y-%m-%d %H:%M}; in the whole log, {share(odd, every)} of the rows have others{not_accused}"
            )
            found.append(sign("other_spelling", MEDIUM, name(source), count, sentence, since, ground.period.last))
            served += let_in
            sources.add(source)
    return found, Cover(served, frozenset(), frozenset(sources))


def _without(by_source: dict[bytes, list[dict[str, Any]]], without: dict[bytes, list[dict[str, Any]]]) -> Iterator[tuple[bytes, Sign]]:
    """Instances whose rows have no status from a time on, while nearly all rows of the others have one."""
    for source, rows in sorted(without.items()):
        since, until, count = min(row["second"] for row in rows), max(row["last"] for row in rows), sum(row["calls"] for row in rows)
        inside = [(other, row) for other, of in by_source.items() for row in of if row["second"] >= since]
        own, near = (sum(row["calls"] for other, row in inside if (other == source) == is_own) for is_own in (True, False))
        lacking = sum(row["calls"] for other, of in without.items() if other != source for row in of if row["second"] >= since)
        if count >= MASKED_CALLS and count >= MASKED_PART * (count + own) and near >= MASKED_CALLS and near >= MASKED_PART * (near + lacking):
            sentence = (
                f"the column `served_status` has no status of HTTP in {number(count, 'row')} of {shown(name(source))} "
                f"{said_when(since, until)}, and in {number(lacking)} of all others"
            )
            yield source, sign("other_spelling", MEDIUM, name(source), count, sentence, since, until, min(row["row"] for row in rows))
