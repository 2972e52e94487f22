"""Counts rows batch by batch in Arrow. Memory grows with the distinct keys, not with the rows."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .heavy import Heavy

# The most rows of counts that wait to be merged.
WAITING_ROWS = 1 << 20
# The most bytes of counts that wait for heavy hitters.
WAITING_BYTES = 1 << 25
# The most tables that wait, because even a small table takes kilobytes.
WAITING_PARTS = 128
# The most rows of counts that are converted to Python at once, which takes about ten times the memory of Arrow.
ROWS_OF_PYTHON = 1 << 14
# The most bytes that are converted at once, for rows with long strings.
BYTES_OF_PYTHON = 1 << 23
# The most distinct times. With more, the next longer unit is used, which is still shorter than a chart's spans.
MOST_TIMES = 1 << 16
UNITS = ("second", "minute", "hour", "day")

FIRST = pc.ScalarAggregateOptions(skip_nulls=False, min_count=0)


class Counts:
    """Counts rows with the same `keys`, and keeps the first values of the columns `first`, and the least and greatest values of
    other columns.
    """

    def __init__(self, keys: Sequence[str], first: Sequence[str] = (), least: Sequence[str] = (), greatest: Sequence[str] = (), use_threads: bool = True) -> None:
        self._keys = list(keys)
        # The first row is known only with one thread, which keeps the order.
        self._use_threads = use_threads and not first
        aggregations = [*((name, "first", FIRST) for name in first), *((name, "min") for name in least), *((name, "max") for name in greatest)]
        self._aggregations: list[tuple[Any, ...]] = aggregations
        self._parts: list[Any] = []
        self._settled = 0

    def add(self, table: Any) -> None:
        """Counts the rows of a table."""
        ones = pa.repeat(pa.scalar(1, pa.int64()), table.num_rows)
        self._parts.append(self._grouped(table.append_column("calls", ones)))
        # The threshold grows with the merged rows, so that mostly distinct rows are not merged again for each batch.
        self.settle(0 if len(self._parts) > WAITING_PARTS else max(WAITING_ROWS, 2 * self._settled))

    def settle(self, most: int) -> int:
        """Merges the counts if they have more rows than `most`, and returns their number of rows."""
        if len(self._parts) > 1 and self._rows() > most:
            self.change(lambda table: table)
        return self._rows()

    def change(self, change: Callable[[Any], Any]) -> None:
        """Changes the keys, and merges counts whose keys are now equal."""
        self._parts = [self._grouped(change(pa.concat_tables(self._parts)))]
        self._settled = self._rows()

    def state(self) -> dict[str, Any]:
        """The counts as plain data."""
        self.settle(0)
        data = io.BytesIO()
        for part in self._parts:
            with pa.ipc.new_stream(data, part.schema) as stream:
                stream.write_table(part)
        return {"parts": data.getvalue(), "settled": self._settled}

    def restore(self, state: dict[str, Any]) -> None:
        """Restores the counts."""
        self._parts = [pa.ipc.open_stream(state["parts"]).read_all()] if state["parts"] else []
        self._settled = state["settled"]

    def rows(self) -> Iterator[dict[str, Any]]:
        """The counts, each with its keys, its first values and `calls`."""
        if self._parts:
            self.settle(0)
            # After merging, only the first part can have rows.
            part = self._parts[0]
            fitting = part.num_rows * BYTES_OF_PYTHON // max(1, part.nbytes)
            for batch in part.to_batches(min(ROWS_OF_PYTHON, max(1, fitting))):
                yield from batch.to_pylist()

    def _rows(self) -> int:
        return sum(part.num_rows for part in self._parts)

    def _grouped(self, table: Any) -> Any:
        groups = table.group_by(self._keys, use_threads=self._use_threads)
        grouped = groups.aggregate([("calls", "sum"), *self._aggregations])
        grouped = grouped.select([*self._keys, *(f"{name}_{what}" for name, what, *_ in self._aggregations), "calls_sum"])
        return grouped.rename_columns([*self._keys, *(name for name, *_ in self._aggregations), "calls"])


class HeavyCounts(Counts):
    """Counts by heavy hitters and other keys. Counts wait here until an item might be dropped, because Python rows are slow.
    `take` adds them to the heavy hitters. `new` returns how many new items wait, by default one for each row.
    """

    def __init__(
        self, keys: Sequence[str], take: Callable[[Iterable[dict[str, Any]]], None], *heavies: Heavy, new: Callable[[], int] | None = None
    ) -> None:
        super().__init__(keys)
        self._take = take
        self._heavies = heavies
        self._new = new or self._rows

    def add(self, table: Any) -> None:
        super().add(table)
        # Merging might free enough memory. Giving early changes no result, because only `drop` drops items.
        if self._bytes() > WAITING_BYTES:
            self.settle(0)
            if self._bytes() > WAITING_BYTES // 2:
                self.give()

    def drop(self) -> None:
        """Drops rare items if there are too many."""
        room = min(heavy.room for heavy in self._heavies)
        if self._rows() > WAITING_ROWS // 2 or (self._rows() > room and self._new() > room):
            self.give()
        for heavy in self._heavies:
            heavy.settle()

    def give(self) -> None:
        """Adds the waiting counts to the heavy hitters."""
        self._take(self.rows())
        self._parts, self._settled = [], 0

    def _bytes(self) -> int:
        return sum(part.nbytes for part in self._parts)

    def different(self, key: str) -> list[Any]:
        """The distinct waiting values of a key."""
        values: list[Any] = pc.unique(pa.chunked_array([chunk for part in self._parts for chunk in part[key].chunks])).to_pylist()
        return values


class Times(Counts):
    """Counts by time and other keys: by the second, or by a longer unit if the log has too many.

    With `ends`, each count also has the exact times of its first and last call, `earliest` and `latest`.
    """

    def __init__(self, keys: Sequence[str] = (), first: Sequence[str] = (), ends: bool = False) -> None:
        super().__init__(["time", *keys], first, ["earliest"] if ends else [], ["latest"] if ends else [])
        self._unit = 0
        self._ends = ends

    def state(self) -> dict[str, Any]:
        return {**super().state(), "unit": self._unit}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._unit = state["unit"]

    def add(self, table: Any) -> None:
        if self._ends:
            table = table.append_column("earliest", table["time"]).append_column("latest", table["time"])
        super().add(self._floored(table))
        while self.settle(MOST_TIMES) > MOST_TIMES and self._unit + 1 < len(UNITS):
            self._unit += 1
            self.change(self._floored)

    def _floored(self, table: Any) -> Any:
        time = pc.floor_temporal(table["time"], unit=UNITS[self._unit])
        return table.set_column(table.column_names.index("time"), "time", time)
