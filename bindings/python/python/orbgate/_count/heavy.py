"""Counts items of which a log might have too many for memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

# The distinct callers, calls or scopes that are counted separately. Beyond twice as many, rare ones are dropped.
DISTINCT = 100_000


class Heavy:
    """The most frequent items, found with the Space-Saving algorithm (Metwally and others, 2005) in whole batches.

    An item with more than one part in `distinct` of all counts is always kept. Once items have been dropped, a new item might
    be one of them, so its count is a lower bound. Counts of items from before the first drop stay exact.
    """

    def __init__(self, distinct: int = DISTINCT) -> None:
        self.is_exact = True
        self._distinct = distinct
        self._entries: dict[Any, Entry] = {}
        self._missed = 0
        self._most = 0

    def __len__(self) -> int:
        """The least number of distinct items."""
        return max(self._most, len(self._entries))

    def __contains__(self, thing: object) -> bool:
        return thing in self._entries

    def __iter__(self) -> Iterator[tuple[Any, Entry]]:
        """The kept items, each with its counts."""
        return iter(self._entries.items())

    def get(self, thing: object) -> Entry | None:
        """The counts of an item, if it is kept."""
        return self._entries.get(thing)

    @property
    def room(self) -> int:
        """The number of new items before rare ones are dropped."""
        return max(0, 2 * self._distinct - len(self._entries))

    def add(self, thing: Any, count: int) -> Entry:
        """Counts an item, and returns its entry."""
        entry = self._entries.get(thing)
        if entry is None:
            entry = self._entries[thing] = Entry(self._missed, self.is_exact)
        entry.count += count
        return entry

    def settle(self) -> None:
        """Drops rare items if there are too many."""
        if len(self._entries) <= 2 * self._distinct:
            return
        self._most = len(self)
        self.is_exact = False
        # No dropped item had more than this, including counts that were missed before.
        most = sorted((entry.count + entry.missed for entry in self._entries.values()), reverse=True)
        self._missed = most[self._distinct]
        self._entries = {
            thing: entry for thing, entry in self._entries.items() if entry.count + entry.missed > self._missed
        }

    def first(self, count: int) -> list[tuple[Any, Entry]]:
        """The most frequent items. Items with equal counts are sorted by name."""
        return sorted(self, key=lambda item: (-item[1].count, str(item[0])))[:count]


class Entry:
    """The counts of an item since it was added, and the most that could have been missed before."""

    __slots__ = ("_parts", "count", "is_exact", "missed")

    def __init__(self, missed: int, is_exact: bool) -> None:
        self.count = 0
        self.missed = missed
        self.is_exact = is_exact
        self._parts: Counter[Any] | None = None

    @property
    def parts(self) -> Counter[Any]:
        """The counts of its parts."""
        if self._parts is None:
            self._parts = Counter()
        return self._parts
