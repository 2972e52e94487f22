"""Counts of things when a log may have too many different ones for memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

# How many different callers, calls or scopes are counted apart; beyond twice as many, the rare ones are dropped.
DISTINCT = 100_000


class Heavy:
    """The heavy hitters among things, by the Space-Saving algorithm (Metwally and others, 2005), in whole batches.

    A thing with more than one part in `distinct` of all counts is always there. Once things are dropped, a new thing may be one of
    them, so its count is a lower bound. The counts of things that were there from the start stay exact.
    """

    def __init__(self, distinct: int = DISTINCT) -> None:
        self.is_exact = True
        self._distinct = distinct
        self._entries: dict[Any, Entry] = {}
        self._missed = 0
        self._most = 0

    def __len__(self) -> int:
        """How many different things there are, at least."""
        return max(self._most, len(self._entries))

    def __contains__(self, thing: object) -> bool:
        return thing in self._entries

    def __iter__(self) -> Iterator[tuple[Any, Entry]]:
        """The things that are there, each with its counts."""
        return iter(self._entries.items())

    def get(self, thing: object) -> Entry | None:
        """The counts of a thing, if it is there."""
        return self._entries.get(thing)

    @property
    def room(self) -> int:
        """How many new things there may be before rare ones are dropped."""
        return max(0, 2 * self._distinct - len(self._entries))

    def add(self, thing: Any, count: int) -> Entry:
        """Counts a thing; its entry also holds the other counts of it."""
        entry = self._entries.get(thing)
        if entry is None:
            entry = self._entries[thing] = Entry(self._missed, self.is_exact)
        entry.count += count
        return entry

    def settle(self) -> None:
        """Drops the rare things if there are too many."""
        if len(self._entries) <= 2 * self._distinct:
            return
        self._most = len(self)
        self.is_exact = False
        # No dropped thing had more than this, also counting what was missed of it before.
        most = sorted((entry.count + entry.missed for entry in self._entries.values()), reverse=True)
        self._missed = most[self._distinct]
        self._entries = {
            thing: entry for thing, entry in self._entries.items() if entry.count + entry.missed > self._missed
        }

    def first(self, count: int) -> list[tuple[Any, Entry]]:
        """The most frequent ones; of equals, the first by name."""
        return sorted(self, key=lambda item: (-item[1].count, str(item[0])))[:count]


class Entry:
    """What was counted of a thing since it is there, and at most how much was missed before."""

    __slots__ = ("_parts", "count", "is_exact", "missed")

    def __init__(self, missed: int, is_exact: bool) -> None:
        self.count = 0
        self.missed = missed
        self.is_exact = is_exact
        self._parts: Counter[Any] | None = None

    @property
    def parts(self) -> Counter[Any]:
        """Counts of its parts."""
        if self._parts is None:
            self._parts = Counter()
        return self._parts
