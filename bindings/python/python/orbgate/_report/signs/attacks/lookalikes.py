"""Names of callers that only look like others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations

from .... import _native
from ...._number import number
from ...numbers import MEDIUM, shown
from ...thresholds import OBJECTS
from ..ground import Ground, Sign, name, sign


def _typed(ground: Ground) -> Iterator[Sign]:
    """New clients, with tokens of organisations, whose names have one letter more, less or other than an older one's, where names are not so alike."""
    calls: Counter[bytes] = Counter()
    first: dict[bytes, tuple[int, int]] = {}
    for row in ground.evidence.held.rows():
        if row["caller"] is not None and row["kind"] == b"organisation":
            calls[row["caller"]] += row["calls"]
            first[row["caller"]] = min((row["second"], row["row"]), first.get(row["caller"], (row["second"], row["row"])))
    if ground.period is None or len(calls) > MOST_CLIENTS:
        return
    pairs = [(one, other) for one, other in combinations(sorted(calls), 2) if _is_one_letter(name(one), name(other))]
    for one, other in pairs if len(pairs) <= 2 else ():
        old, new = sorted((one, other), key=lambda caller: first[caller])
        if calls[old] >= OBJECTS / 2 and first[new][0] > ground.period.first + FIRST_PART * (ground.period.last - ground.period.first):
            sentence = (
                f"caller {shown(name(new))}, first seen in row {number(first[new][1])}, differs from {shown(name(old))} by one character: "
                f"{number(calls[new], 'call')}, compared with {number(calls[old])}"
            )
            yield sign("lookalike", MEDIUM, name(new), calls[new], sentence, None, None, first[new][1])


# A client is new if it isn't in the first part of the log.
FIRST_PART = 1 / 9

# More clients are not compared with each other.
MOST_CLIENTS = 500


def _is_one_letter(one: str, other: str) -> bool:
    """Whether two names differ by one letter, or by a character that looks like another: digits only count."""
    if abs(len(one) - len(other)) > 1 or min(len(one), len(other)) < 5:
        return False
    start = next((at for at, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
    for left, right in ((one[start + 1 :], other[start + 1 :]), (one[start + 1 :], other[start:]), (one[start:], other[start + 1 :])):
        if left == right:
            letters = one[start : len(one) - len(left)] + other[start : len(other) - len(right)]
            return letters.isalpha() or "".join(sorted(letters)) in ALIKE
    return False


# Two characters of which one is written for the other.
ALIKE = frozenset({"0o", "1l", "1i", "3e", "4a", "5s", "7t", "8b", "-_", "-.", "._"})


def lookalikes(ground: Ground) -> Iterator[Sign]:
    """Names of callers that look like another's, by the confusables of Unicode."""
    calls: Counter[bytes] = Counter()
    rows: dict[bytes, int] = {}
    for row in ground.evidence.held.rows():
        if row["caller"] is not None:
            calls[row["caller"]] += row["calls"]
            rows[row["caller"]] = min(row["row"], rows.get(row["caller"], row["row"]))
    yield from _typed(ground)
    strange = [caller for caller in calls if not name(caller).isascii() or name(caller) != name(caller).strip()]
    if not strange:
        return
    looks: defaultdict[str, list[bytes]] = defaultdict(list)
    for caller in calls:
        looks[_native.skeleton(name(caller).strip()).casefold()].append(caller)
    for caller in sorted(strange):
        others = [other for other in looks[_native.skeleton(name(caller).strip()).casefold()] if other != caller]
        if others:
            most = max(others, key=lambda other: (calls[other], other))
            if calls[most] < calls[caller] and most in strange:
                continue
            sentence = (
                f"caller {shown(name(caller))} only looks like {shown(name(most))}: {number(calls[caller], 'call')}, the first in row "
                f"{number(rows[caller])}, compared with {number(calls[most])}"
            )
            yield sign("lookalike", MEDIUM, name(caller), calls[caller], sentence, None, None, rows[caller])
