"""Rows of another system."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from ...._number import number
from ...numbers import MEDIUM, shown
from ...thresholds import APART_ADDRESSES, APART_CALLS, APART_PART
from ..ground import Ground, Sign, name, said_when, sign


def other_systems(ground: Ground) -> Iterator[Sign]:
    """Instances whose clients call no other instance, while all others share theirs: rows of another system."""
    assert ground.period is not None
    evidence = ground.evidence
    if not (evidence.has_instances and evidence.has_addresses):
        return
    of_address: defaultdict[bytes, set[bytes]] = defaultdict(set)
    rows: defaultdict[bytes, list[dict[str, Any]]] = defaultdict(list)
    for row in evidence.source_addresses.rows():
        if row["source"] is not None and row["address"] is not None:
            of_address[row["address"]].add(row["source"])
            rows[row["source"]].append(row)
    # Instances with a client in common are of one system.
    group: dict[bytes, bytes] = {source: source for source in rows}

    def head(source: bytes) -> bytes:
        while group[source] != source:
            source = group[source]
        return source

    for shared in of_address.values():
        heads = sorted({head(source) for source in shared})
        group.update((other, heads[0]) for other in heads)
    groups: defaultdict[bytes, list[bytes]] = defaultdict(list)
    for source in sorted(rows):
        groups[head(source)].append(source)
    calls = {one: sum(row["calls"] for source in sources for row in rows[source]) for one, sources in groups.items()}
    main = max(calls, key=lambda one: (calls[one], one), default=b"")
    for one, sources in groups.items():
        addresses = {row["address"] for source in sources for row in rows[source]}
        if one == main or len(groups[main]) < 2 or calls[one] < APART_CALLS or len(addresses) < APART_ADDRESSES:
            continue
        first, last = min(row["second"] for source in sources for row in rows[source]), max(row["last"] for source in sources for row in rows[source])
        # Rows of a region that has its own clients are in the whole log.
        most = APART_PART if last - first < (ground.period.last - ground.period.first) / 2 else APART_PART / 2
        if calls[one] > most * calls[main]:
            continue
        named = ", ".join(shown(name(source)) for source in sources[:3])
        sentence = (
            f"none of the {number(len(addresses), 'address', 'addresses')} in the {number(calls[one], 'row')} of {named} "
            f"{said_when(first, last)} is in the rows of another "
            f"instance, while the {number(len(groups[main]))} others share theirs, as if these rows were of another system, for example of a test"
        )
        at = min(row["row"] for source in sources for row in rows[source])
        yield sign("other_system", MEDIUM, name(sources[0]), calls[one], sentence, first, last, at)
