"""Many objects of a route that are tried."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from ...._number import number
from ...evidence import LACKING, MISSING, SERVED, UNKNOWN
from ...failures import BROKEN, Failure
from ...numbers import MEDIUM, bound, shown
from ...thresholds import OBJECTS, OBJECTS_PART
from ...timelines import DAY, FEW, HOUR, time_of
from ..ground import Cover, Ground, Sign, name, said_when, sign

# How the calls failed, in words.
FAILED = {MISSING: "were answered with 404", LACKING: "were refused", UNKNOWN: "were refused without a valid token"}

# The column that says who, in words.
WHO = {"caller": "", "address": "address ", "token": "token "}


class Explained:
    """The calls whose failure is another finding: a client that works as before, of which all calls of a route fail since a time, a token that
    only a part of the servers refuses, and a scope that several callers lack since a time.
    """

    def __init__(self, ground: Ground, unequal: Iterable[Sign], lost: Collection[str]) -> None:
        self._begin = None if ground.period is None else time_of(ground.period.first)
        self._broken: defaultdict[tuple[str | None, str | None], list[Failure]] = defaultdict(list)
        self._unequal = {one.subject for one in unequal}
        self._lost = {str(route) for route in ground.policy.routes() if route.scope in lost}
        self._at: defaultdict[str, set[str]] = defaultdict(set)
        for visit in ground.evidence.visits:
            if visit["caller"] is not None and visit["class"] in FAILED:
                self._at[name(visit["address"])].add(name(visit["caller"]))
        for row in ground.failures:
            if row.looks_like == BROKEN:
                self._broken[row.caller, row.route].append(row)

    def has(self, column: str, who: str, location: str, of: str) -> bool:
        """Whether the calls that ended so are explained: of a caller, or of one at an address."""
        callers = {who} if column != "address" else self._at[who]
        if self.is_lost(location, of) or (of == UNKNOWN and who in self._unequal):
            return True
        return any(self._is_as_before(row) for caller in callers for row in self._broken[caller, location])

    def is_lost(self, location: str, of: str) -> bool:
        """Whether the calls lack a scope that several callers lost."""
        return of == LACKING and location in self._lost

    def _is_as_before(self, row: Failure) -> bool:
        """Whether a client makes these calls at a rate like before. Who tries objects makes far more."""
        if self._begin is None or row.before < FEW:
            return False
        before, during = (max(HOUR, (until - since).total_seconds()) for since, until in ((self._begin, row.since), (row.since, row.until)))
        return row.calls * before <= MOST_AS_BEFORE * row.before * during


# A client that works as before makes at most so many times as many calls.
MOST_AS_BEFORE = 4


def enumerations(column: str, table: Any, is_exact: bool, cover: Cover, others: Explained) -> Iterator[Sign]:
    """Many different objects of a route, in most of which the calls failed."""
    rows = by_object(table)
    yield from _by_hour(column, rows, is_exact, cover, others)
    groups = rows.group_by(["who", "location", "class"])
    sums = groups.aggregate([("one", "sum"), ("calls", "sum"), ("second", "min"), ("last", "max"), ("row", "min"), ("number", "min"), ("most", "max")])
    failed = sums.filter(pc.and_(pc.is_in(sums["class"], pa.array([*FAILED])), pc.greater_equal(sums["calls_sum"], FEW)))
    sums = sums.join(failed.select(["who", "location"]), ["who", "location"], join_type="left semi").to_pylist()
    by: defaultdict[tuple[bytes, str], dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in sums:
        by[row["who"], row["location"]][row["class"]] = row
    broken, gone = _broken(by)
    for (who, location), classes in sorted(by.items()):
        every = sum(row["calls_sum"] for row in classes.values())
        for of, how in FAILED.items():
            row = classes.get(of)
            if (
                row is None
                or (who, of) in broken
                or (location, of) in gone
                or row["one_sum"] < OBJECTS
                or row["calls_sum"] < OBJECTS_PART * every
                or (of == LACKING and "scopes" in cover.columns)
                or others.has(column, name(who), location, of)
            ):
                continue
            ids = ""
            whole = sum(one["one_sum"] for one in classes.values())
            least, most = (
                choose((one[column_of] for one in classes.values() if one[column_of] is not None), default=None)
                for choose, column_of in ((min, "number_min"), (max, "most_max"))
            )
            if least is not None and most is not None and most - least + 1 <= 2 * whole:
                ids = f", with ids from {least} to {most}"
            let_in = classes.get(SERVED)
            served = f"; {number(let_in['calls_sum'])} others of them succeeded" if let_in is not None else ""
            method = location.partition(" ")[0]
            head = ", with the method HEAD, whose responses show only whether an object exists" if method == "HEAD" else ""
            sentence = (
                f"{WHO[column]}{shown(name(who))} tries {bound(row['one_sum'], is_exact, 'different object')} of {location}{ids}: "
                f"{number(row['calls_sum'])} of {number(every, 'call')} {how} "
                f"{said_when(row['second_min'], row['last_max'])}{head}{served}"
            )
            yield sign("enumeration", MEDIUM, name(who), row["calls_sum"], sentence, row["second_min"], row["last_max"], row["row_min"], is_exact)
            break


def by_object(table: Any) -> Any:
    """The counts of objects, with the hour of each and a column to count them."""
    columns = {name: table[name] for name in ("who", "location", "class", "calls", "second", "last", "row", "number", "most")}
    return pa.table({**columns, "one": pa.repeat(1, table.num_rows), "hour": pc.divide(table["second"], HOUR)})


def _broken(by: dict[tuple[bytes, str], dict[str, dict[str, Any]]]) -> tuple[set[tuple[bytes, str]], set[tuple[str, str]]]:
    """The callers that fail in one way at several routes that served them otherwise, and the routes at which several callers fail so: a token
    that was revoked, or a version that was removed.
    """
    callers: Counter[tuple[bytes, str]] = Counter()
    routes: Counter[tuple[str, str]] = Counter()
    for (who, location), classes in by.items():
        for of in FAILED:
            failed = classes[of]["calls_sum"] if of in classes else 0
            if failed >= 10 and SERVED in classes and 2 * failed > sum(row["calls_sum"] for row in classes.values()) - failed:
                callers[who, of] += of != MISSING
                routes[location, of] += 1
    return {key for key, count in callers.items() if count >= 2}, {key for key, count in routes.items() if count >= 2}


def _by_hour(column: str, rows: Any, is_exact: bool, cover: Cover, others: Explained) -> Iterator[Sign]:
    """Objects of a route that are tried within hours, by a caller with more other calls before and after."""
    key = ["who", "location", "hour"]
    sums = rows.group_by([*key, "class"]).aggregate([("one", "sum"), ("calls", "sum"), ("second", "min"), ("last", "max"), ("row", "min")])
    tried = sums.filter(pc.and_(pc.is_in(sums["class"], pa.array([*FAILED])), pc.greater_equal(sums["one_sum"], OBJECTS / 5)))
    if not tried.num_rows:
        return
    every_of, whole = (
        {
            tuple(row[column] for column in columns): row["calls_sum"]
            for row in of_those(rows, tried, columns).group_by(columns).aggregate([("calls", "sum")]).to_pylist()
        }
        for columns in (key, key[:2])
    )
    hours: defaultdict[tuple[bytes, str, str], list[tuple[dict[str, Any], int]]] = defaultdict(list)
    for row in tried.to_pylist():
        who, location, every = row["who"], row["location"], every_of[row["who"], row["location"], row["hour"]]
        if row["calls_sum"] >= OBJECTS_PART * every:
            hours[who, location, row["class"]].append((row, every))
    for (who, location, of), some in sorted(hours.items()):
        objects, failed, every = sum(row["one_sum"] for row, _ in some), sum(row["calls_sum"] for row, _ in some), sum(calls for _, calls in some)
        # What fails in most calls of the whole log is told for the whole log.
        if (
            objects < OBJECTS
            or failed >= OBJECTS_PART * whole[who, location]
            or (of == LACKING and "scopes" in cover.columns)
            or failed > 3 * objects
            or others.is_lost(location, of)
        ):
            continue
        first, last, at = min(row["second_min"] for row, _ in some), max(row["last_max"] for row, _ in some), min(row["row_min"] for row, _ in some)
        if last - first > DAY:
            continue
        sentence = (
            f"{WHO[column]}{shown(name(who))} tries {bound(objects, is_exact, 'different object')} of {location}: {number(failed)} of "
            f"{number(every, 'call')} {FAILED[of]} {said_when(first, last)}, of {number(whole[who, location])} in the whole log"
        )
        yield sign("enumeration", MEDIUM, name(who), failed, sentence, first, last, at, is_exact)


def of_those(rows: Any, others: Any, columns: list[str]) -> Any:
    """The rows that have the values of others in these columns."""
    return rows.select([*columns, "calls"]).join(others.select(columns), columns, join_type="left semi")
