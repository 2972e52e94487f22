"""Attacks that are counted by what they are about: objects, addresses, tokens, and names that only look like others."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations, groupby
from statistics import median
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from ... import _native
from ..._number import number
from ..evidence import LACKING, MISSING, SERVED, UNKNOWN
from ..failures import ATTACK, BROKEN, WITHOUT, Failure
from ..numbers import HIGH, LOW, MEDIUM, bound, shown
from ..thresholds import (
    GUESSES, GUESSES_PART, NAMES_AT_ADDRESS, OBJECTS, OBJECTS_PART, READ_FACTOR, READ_MOST, READ_OBJECTS, READ_USERS, REPEATS, REPEATS_FACTOR, SERIES_CALLS, SERIES_HOURS, SERIES_STEP, TURN_CALLS, TURNS, USERS_ALIKE, USERS_AT_ADDRESS, USERS_HOURS,
)  # fmt: skip
from ..timelines import FEW, HOUR, OK, OWN, REJECTED, time_of
from .ground import Cover, Ground, Sign, name, said_when, sign

# How the calls failed, in words.
FAILED = {MISSING: "were answered with 404", LACKING: "were refused", UNKNOWN: "were refused without a valid token"}
# The column that says who, in words.
WHO = {"caller": "", "address": "address ", "token": "token "}


def attacks(ground: Ground, cover: Cover) -> Iterator[Sign]:
    """The attacks, without callers that another finding says to attack."""
    known = {row.caller for row in ground.failures if row.looks_like == ATTACK}
    unequal = (*_unequal(ground), *_instances(ground, cover))
    others = _Explained(ground, unequal)
    told: set[tuple[str, str]] = set()
    has_callers = False
    for column, objects in ground.evidence.objects:
        table = objects.table()
        if table is None:
            continue
        has_callers |= column == "caller"
        # Of an address, a job and others read objects together.
        is_alone = column == "caller" or not has_callers
        series = (*_series(column, table, objects.is_exact), *_slow_series(column, table, objects.is_exact)) if is_alone else ()
        for found in (*_enumerations(column, table, objects.is_exact, cover, others), *series, *_repeated(column, table, objects.is_exact)):
            # A caller, its address and its token are one sign.
            what = found.kind, str(found.first)
            if what not in told and not (column == "caller" and found.subject in known and found.kind == "enumeration"):
                told.add(what)
                yield found
        if column == "caller":
            yield from _far_more(ground, cover, table, objects.is_exact)
    yield from _guesses(ground, known)
    yield from _addresses(ground)
    yield from unequal
    if not cover.are_clients_other:
        yield from _lookalikes(ground)


class _Explained:
    """The calls whose failure is another finding: a client that works as before, of which all calls of a route fail since a time, and a token
    that only a part of the servers refuses.
    """

    def __init__(self, ground: Ground, unequal: Iterable[Sign]) -> None:
        self._begin = None if ground.period is None else time_of(ground.period.first)
        self._broken: defaultdict[tuple[str | None, str | None], list[Failure]] = defaultdict(list)
        self._unequal = {one.subject for one in unequal}
        for row in ground.failures:
            if row.looks_like == BROKEN:
                self._broken[row.caller, row.route].append(row)

    def has(self, who: str, location: str, of: str) -> bool:
        """Whether the calls that ended so are explained."""
        return (of == UNKNOWN and who in self._unequal) or any(self._is_as_before(row) for row in self._broken[who, location])

    def _is_as_before(self, row: Failure) -> bool:
        """Whether a client makes these calls at a rate like before. Who tries objects makes far more."""
        if self._begin is None or row.before < FEW:
            return False
        before, during = (max(HOUR, (until - since).total_seconds()) for since, until in ((self._begin, row.since), (row.since, row.until)))
        return row.calls * before <= MOST_AS_BEFORE * row.before * during


# A client that works as before makes at most so many times as many calls.
MOST_AS_BEFORE = 4


def _enumerations(column: str, table: Any, is_exact: bool, cover: Cover, others: _Explained) -> Iterator[Sign]:
    """Many different objects of a route, in most of which the calls failed."""
    rows = _objects(table)
    yield from _by_hour(column, rows, is_exact, cover)
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
                or others.has(name(who), location, of)
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


def _objects(table: Any) -> Any:
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


def _by_hour(column: str, rows: Any, is_exact: bool, cover: Cover) -> Iterator[Sign]:
    """Objects of a route that are tried within hours, by a caller with more other calls before and after."""
    key = ["who", "location", "hour"]
    sums = rows.group_by([*key, "class"]).aggregate([("one", "sum"), ("calls", "sum"), ("second", "min"), ("last", "max"), ("row", "min")])
    tried = sums.filter(pc.and_(pc.is_in(sums["class"], pa.array([*FAILED])), pc.greater_equal(sums["one_sum"], OBJECTS / 5)))
    if not tried.num_rows:
        return
    every_of, whole = (
        {tuple(row[column] for column in columns): row["calls_sum"] for row in _of_those(rows, tried, columns).group_by(columns).aggregate([("calls", "sum")]).to_pylist()}
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
        if objects < OBJECTS or failed >= OBJECTS_PART * whole[who, location] or (of == LACKING and "scopes" in cover.columns) or failed > 3 * objects:
            continue
        first, last, at = min(row["second_min"] for row, _ in some), max(row["last_max"] for row, _ in some), min(row["row_min"] for row, _ in some)
        if last - first > DAY:
            continue
        sentence = (
            f"{WHO[column]}{shown(name(who))} tries {bound(objects, is_exact, 'different object')} of {location}: {number(failed)} of "
            f"{number(every, 'call')} {FAILED[of]} {said_when(first, last)}, of {number(whole[who, location])} in the whole log"
        )
        yield sign("enumeration", MEDIUM, name(who), failed, sentence, first, last, at, is_exact)


def _slow_series(column: str, table: Any, is_exact: bool) -> Iterator[Sign]:
    """Objects that a caller reads once, each with a higher id than the one before, over days, among others that it reads again and again."""
    rows = _objects(table)
    is_read = pc.and_(pc.equal(rows["class"], SERVED), pc.match_substring_regex(rows["location"], r"^(GET|HEAD) "))
    rows = rows.filter(pc.and_(is_read, pc.equal(rows["number"], rows["most"])).fill_null(False))
    key = ["who", "location"]
    many = rows.group_by(key).aggregate([("one", "sum")])
    rows = rows.join(many.filter(pc.greater_equal(many["one_sum"], OBJECTS)).select(key), key, join_type="left semi")
    once = rows.filter(pc.less_equal(rows["calls"], 2)).sort_by([(column, "ascending") for column in (*key, "number")]).combine_chunks()
    if once.num_rows < OBJECTS:
        return
    step, later = (pc.subtract(once[name][1:], once[name][:-1]) for name in ("number", "second"))
    is_same = pc.and_(*(pc.equal(once[name][1:], once[name][:-1]) for name in key))
    follows = pc.and_(is_same, pc.less_equal(step, SLOW_STEP))
    near = once[1:].append_column("rises", pc.greater_equal(later, 0).cast(pa.int64())).filter(follows)
    sums = near.group_by(key).aggregate([("one", "sum"), ("rises", "sum"), ("second", "min"), ("second", "max"), ("row", "min"), ("number", "min"), ("number", "max")])
    # Of objects in any order, half have a higher id than the one before.
    ordered = pc.greater_equal(pc.max_element_wise(sums["rises_sum"], pc.subtract(sums["one_sum"], sums["rises_sum"])), pc.multiply(sums["one_sum"], SLOW_PART))
    found = sums.filter(pc.and_(pc.greater_equal(sums["one_sum"], OBJECTS), ordered))
    if not found.num_rows:
        return
    whole = {(row["who"], row["location"]): row for row in rows.group_by(key).aggregate([("one", "sum"), ("calls", "sum")]).to_pylist()}
    of_found = table.filter(pc.is_in(table["who"], found["who"].combine_chunks())).group_by("who").aggregate([("location", "count_distinct")]).to_pylist()
    routes = {row["who"]: row["location_count_distinct"] for row in of_found}
    for row in found.sort_by([("who", "ascending"), ("location", "ascending")]).to_pylist():
        of, objects = whole[row["who"], row["location"]], row["one_sum"]
        others, again = of["one_sum"] - objects, of["calls_sum"] - objects
        # A job reads nothing twice, and makes no other calls.
        is_job = again < 2 * others and routes[row["who"]] < SLOW_ROUTES
        if row["second_max"] - row["second_min"] <= SERIES_HOURS * HOUR or others < FEW or is_job or row["number_max"] - row["number_min"] > 2 * SLOW_STEP * objects:
            continue
        sentence = (
            f"{WHO[column]}{shown(name(row['who']))} reads {bound(objects, is_exact, 'different object')} of {row['location']} with ids from {row['number_min']} to "
            f"{row['number_max']}, each once and in their order, {said_when(row['second_min'], row['second_max'])}, and among them {number(others)} others, "
            f"{number(again)} times"
        )
        yield sign("enumeration", LOW, name(row["who"]), objects, sentence, row["second_min"], row["second_max"], row["row_min"], is_exact)


# The largest step from one id of a slow series to the next, the smallest part of them that are in order, and the fewest routes of who is no job.
SLOW_STEP, SLOW_PART, SLOW_ROUTES = 3, 0.9, 3


def _series(column: str, table: Any, is_exact: bool) -> Iterator[Sign]:
    """Objects with consecutive ids that a caller reads once, and otherwise reads some here and there."""
    rows = _objects(table)
    is_read = pc.and_(pc.equal(rows["class"], SERVED), pc.match_substring_regex(rows["location"], r"^(GET|HEAD) "))
    rows = rows.filter(pc.and_(is_read, pc.equal(rows["number"], rows["most"])).fill_null(False))
    key = ["who", "location", "hour"]
    many = rows.group_by(key).aggregate([("one", "sum")])
    many = rows.join(many.filter(pc.greater_equal(many["one_sum"], OBJECTS)).select(key), key, join_type="left semi")
    if not many.num_rows:
        return
    many = many.sort_by([(column, "ascending") for column in (*key, "number")]).combine_chunks()
    # Of a series, nearly each id comes soon after the one before.
    step = pc.subtract(many["number"][1:], many["number"][:-1])
    is_same = [pc.equal(many[column][1:], many[column][:-1]) for column in key]
    follows = pc.and_(pc.and_(is_same[0], is_same[1]), pc.and_(is_same[2], pc.less_equal(step, SERIES_STEP)))
    aggregations = [("one", "sum"), ("calls", "sum"), ("second", "min"), ("second", "max"), ("row", "min"), ("number", "min"), ("number", "max")]
    hours = many[1:].filter(follows).group_by(key).aggregate(aggregations)
    is_once = pc.less_equal(hours["calls_sum"].cast(pa.float64()), pc.multiply(hours["one_sum"].cast(pa.float64()), SERIES_CALLS))
    dense = hours.filter(pc.and_(is_once, pc.greater_equal(hours["one_sum"], OBJECTS)))
    if not dense.num_rows:
        return
    columns = ["who", "location"]
    wholes = rows.join(dense.select(columns), columns, join_type="left semi").group_by(columns).aggregate([("one", "sum")]).to_pylist()
    whole = {(row["who"], row["location"]): row["one_sum"] for row in wholes}
    by: defaultdict[tuple[bytes, str], list[dict[str, Any]]] = defaultdict(list)
    for row in dense.to_pylist():
        by[row["who"], row["location"]].append(row)
    for (who, location), some in sorted(by.items()):
        objects, first, last = sum(row["one_sum"] for row in some), min(row["second_min"] for row in some), max(row["second_max"] for row in some)
        # What reads nothing else is a job.
        if last - first > SERIES_HOURS * HOUR or whole[who, location] - objects < FEW:
            continue
        least, most = min(row["number_min"] for row in some), max(row["number_max"] for row in some)
        # Of many ids, some follow each other by chance.
        if most - least > 2 * SERIES_STEP * objects:
            continue
        ids = f"{least} to {most}"
        sentence = (
            f"{WHO[column]}{shown(name(who))} reads {bound(objects, is_exact, 'different object')} of {location} with ids from {ids} "
            f"{said_when(first, last)}, and {number(whole[who, location] - objects)} others in the whole log"
        )
        yield sign("enumeration", LOW, name(who), sum(row["calls_sum"] for row in some), sentence, first, last, min(row["row_min"] for row in some), is_exact)


def _far_more(ground: Ground, cover: Cover, table: Any, is_exact: bool) -> Iterator[Sign]:
    """Users who read many times as many different objects of a route as other users do. How many a machine reads depends on its work."""
    kinds: defaultdict[bytes, set[bytes]] = defaultdict(set)
    for row in ground.evidence.held.rows():
        if row["caller"] is not None and row["kind"] is not None:
            kinds[row["caller"]].add(row["kind"])
    users = pa.array([caller for caller, of in kinds.items() if of == {b"user"}], pa.binary())
    if {"kind", "caller"} & cover.columns or len(users) < READ_USERS:
        return
    is_read = pc.and_(pc.equal(table["class"], SERVED), pc.match_substring_regex(table["location"], r"^(GET|HEAD) "))
    read = _objects(table.filter(pc.and_(is_read, pc.is_in(table["who"], users)).fill_null(False)))
    sums = read.group_by(["who", "location"]).aggregate([("one", "sum"), ("calls", "sum"), ("second", "min"), ("last", "max"), ("row", "min")])
    many = pc.unique(sums.filter(pc.greater_equal(sums["one_sum"], READ_OBJECTS))["location"])
    by: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in sums.filter(pc.is_in(sums["location"], many.cast(sums["location"].type))).to_pylist():
        by[row["location"]].append(row)
    for location, some in sorted(by.items()):
        some.sort(key=lambda row: (row["one_sum"], row["who"]))
        usual = some[len(some) * 9 // 10 - 1]["one_sum"]
        far = [row for row in some if row["one_sum"] >= max(READ_OBJECTS, READ_FACTOR * usual)]
        if len(some) < READ_USERS or not far or len(far) > READ_MOST:
            continue
        others = some[: len(some) - len(far)]
        for row in far:
            first, last, hours = _fewest_hours(read, row)
            sentence = (
                f"{shown(name(row['who']))} reads {bound(row['one_sum'], is_exact, 'different object')} of {location} in {number(row['calls_sum'], 'call')}, "
                f"most of them within {number(hours, 'hour')} {said_when(first, last)}; of {number(len(others), 'other user')}, none reads more than {number(others[-1]['one_sum'])}"
            )
            yield sign("many_objects", LOW, name(row["who"]), row["calls_sum"], sentence, first, last, row["row_min"], is_exact)


def _fewest_hours(read: Any, of: dict[str, Any]) -> tuple[int, int, int]:
    """The first and the last second of the fewest hours that have nine in ten of a user's objects of a route, and the number of these hours."""
    own = read.filter(pc.and_(pc.equal(read["who"], of["who"]), pc.equal(read["location"], of["location"])))
    hours = own.group_by("hour").aggregate([("one", "sum"), ("second", "min"), ("last", "max")]).sort_by([("one_sum", "descending"), ("hour", "ascending")]).to_pylist()
    left, most = 0.9 * of["one_sum"], []
    for row in hours:
        if left <= 0:
            break
        most.append(row)
        left -= row["one_sum"]
    return min(row["second_min"] for row in most), max(row["second_min"] for row in most), len(most)


def _of_those(rows: Any, others: Any, columns: list[str]) -> Any:
    """The rows that have the values of others in these columns."""
    return rows.select([*columns, "calls"]).join(others.select(columns), columns, join_type="left semi")


DAY = 86_400


def _repeated(column: str, table: Any, is_exact: bool) -> Iterator[Sign]:
    """One object that is changed far more often than others of its route."""
    if not is_exact:
        return
    changed = table.filter(pc.and_(pc.equal(table["class"], SERVED), pc.invert(pc.match_substring_regex(table["location"], r"^(GET|HEAD|OPTIONS) "))))
    often = changed.filter(pc.greater_equal(changed["calls"], REPEATS))
    if not often.num_rows:
        return
    routes = {route for route in often["location"].to_pylist()}
    usual: dict[str, list[int]] = defaultdict(list)
    for row in changed.filter(pc.is_in(changed["location"], pa.array(sorted(routes)))).select(["location", "calls"]).to_pylist():
        usual[row["location"]].append(row["calls"])
    for row in often.sort_by([("calls", "descending"), ("row", "ascending")]).to_pylist()[:10]:
        counts = sorted(usual[row["location"]])
        # Where some objects are changed often, some are changed more often; one that stands out has a gap below it.
        above = len(counts) - bisect_left(counts, row["calls"])
        least = next(
            (at for at in range(len(counts) - above, len(counts) * 9 // 10, -1) if counts[at] >= REPEATS and counts[at] >= REPEATS_FACTOR * counts[at - 1]),
            None,
        )
        # Where many objects are, each is changed by its own device.
        if len(counts) < 10 or least is None or len(counts) - least > REPEATED_MOST:
            continue
        of = f" {row['number']}" if row["number"] is not None and row["number"] == row["most"] else ""
        sentence = (
            f"{WHO[column]}{shown(name(row['who']))} calls {row['location']} {number(row['calls'])} times for one object{of}, and "
            f"each time it succeeds, {said_when(row['second'], row['last'])}; half of all objects have {number(int(median(counts)))} "
            "such calls or fewer"
        )
        yield sign("repeated_object", MEDIUM, name(row["who"]), row["calls"], sentence, row["second"], row["last"], row["row"])


# The most objects that stand out.
REPEATED_MOST = 5


def _guesses(ground: Ground, known: set[str | None]) -> Iterator[Sign]:
    """Passwords or tokens that are tried for long, however slowly: by a caller, or else from an address."""
    told, alone = set(known), _alone(ground)
    columns = [("caller", ground.timelines), *([("address", ground.addresses)] if ground.evidence.has_addresses else [])]
    attacked = {row.route: row.failed for row in ground.failures if row.looks_like == ATTACK}
    for column, timelines in columns:
        for caller, rows in timelines.failing(GUESSES, WITHOUT):
            if caller is None or name(caller) in told:
                continue
            for location, of in groupby(
                sorted(
                    (row for row in rows if row["location"] is not None or row["outcome"] in WITHOUT), key=lambda row: (row["location"] or "", row["first"])
                ),
                key=lambda row: row["location"],
            ):
                every = [*of]
                refused = [row for row in every if row["outcome"] in (OWN, *(WITHOUT - {OWN}))]
                failed, calls = sum(row["calls"] for row in refused), sum(row["calls"] for row in every)
                first, last = min((row["first"] for row in refused), default=0), max((row["last"] for row in refused), default=0)
                if failed < GUESSES or location is None or last - first < HOUR or failed < 2 * attacked.get(location, 0):
                    continue
                is_own = any(row["outcome"] == OWN for row in refused)
                looks = is_own or SIGN_IN in _last_word(location)
                # A client with an expired token that reads the same route is broken, and is another finding.
                if not looks or failed < GUESSES_PART * calls:
                    continue
                # An application's users mistype passwords where they also sign in.
                lonely = alone.get((column, caller))
                if lonely is not None and (2 * lonely[1] < failed or lonely[1] < GUESSES / 2):
                    continue
                after = sum(row["calls"] for row in every if row["outcome"] == OK and row["first"] >= last)
                mean = failed / max(1, (last - first) / HOUR)
                then = f"; then {number(after, 'call')} succeeded" if after else ""
                sentence = (
                    f"{shown(name(caller))} tries {location} {number(failed)} times without a valid password or token, about "
                    f"{number(max(1, round(mean)))} an hour, {said_when(first, last)}{then}"
                )
                yield sign("guesses", HIGH if after else MEDIUM, name(caller), failed, sentence, first, last, min(row["row"] for row in refused))
                told.add(name(caller))
                break


def _alone(ground: Ground) -> dict[tuple[str, bytes], tuple[int, int]]:
    """By caller and address, the addresses from which more calls were refused without a valid token than were served, and their refused calls;
    empty without addresses.
    """
    refused: defaultdict[bytes, Counter[bytes | None]] = defaultdict(Counter)
    served: Counter[bytes] = Counter()
    found: defaultdict[tuple[str, bytes], list[int]] = defaultdict(lambda: [0, 0])
    for row in ground.evidence.visits:
        if row["class"] == UNKNOWN:
            refused[row["address"]][row["caller"]] += row["calls"]
        elif row["class"] == SERVED:
            served[row["address"]] += row["calls"]
    for address, callers in refused.items():
        is_alone = served[address] < callers.total()
        for column, name_of, calls in (
            ("address", address, callers.total()),
            *(("caller", caller, count) for caller, count in callers.items() if caller is not None),
        ):
            of = found[column, name_of]
            of[:] = [of[0] + is_alone, of[1] + (calls if is_alone else 0)]
    return {key: (of[0], of[1]) for key, of in found.items()}


SIGN_IN = "sign in"
WORDS = (
    "login",
    "logon",
    "signin",
    "sign-in",
    "session",
    "sessions",
    "token",
    "tokens",
    "password",
    "oauth",
    "auth",
    "authenticate",
    "verify",
    "otp",
    "code",
    "pin",
)


def _last_word(location: str) -> str:
    """Whether a route is one at which callers sign in, by its last literal segment."""
    method, _, path = location.partition(" ")
    words = [word.lower() for word in path.split("/") if word and not word.startswith("{")]
    return SIGN_IN if method == "POST" and words and words[-1] in WORDS else ""


def _addresses(ground: Ground) -> Iterator[Sign]:
    """Many callers at one address: all refused, or all usually elsewhere."""
    if not ground.evidence.has_addresses:
        return
    rows = [row for row in ground.evidence.places.rows() if row["address"] is not None]
    homes: defaultdict[bytes, Counter[bytes]] = defaultdict(Counter)
    by: defaultdict[bytes, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        who = row["caller"] if row["caller"] is not None else row["token"]
        if who is not None:
            homes[who][row["address"]] += row["calls"]
            by[row["address"]].append({**row, "who": who})
    away_at: dict[bytes, set[bytes]] = {}
    for address, of in by.items():
        served = {row["who"] for row in of if row["class"] == SERVED}
        away_at[address] = {who for who in served if homes[who].total() > homes[who][address] and max(homes[who], key=lambda place: homes[who][place]) != address} | {
            who for who in served if len(homes[who]) > 1 and 2 * homes[who][address] < homes[who].total()
        }
    for address, of in sorted(by.items()):
        first, last, first_row = min(row["second"] for row in of), max(row["last"] for row in of), min(row["row"] for row in of)
        names = {row["who"] for row in of if row["who"] != address}
        served = {row["who"] for row in of if row["class"] == SERVED}
        refused = {row["who"] for row in of if row["class"] in (UNKNOWN, LACKING)} - served - {address}
        if len(refused) >= NAMES_AT_ADDRESS and 10 * len(refused) >= 9 * len(names):
            calls = sum(row["calls"] for row in of if row["who"] in refused)
            example = ", ".join(shown(name(one), 40) for one in sorted(refused)[:2])
            sentence = (
                f"address {shown(name(address))} makes calls as {number(len(refused))} different callers, all of them refused: "
                f"{number(calls, 'call')} {said_when(first, last)}, for example as {example}"
            )
            yield sign("many_names", MEDIUM, name(address), calls, sentence, first, last, first_row)
            continue
        # The hours with the most callers that are usually elsewhere.
        away = away_at[address]
        # Phones share the addresses of their networks, and have another one each hour.
        alike = sum(3 * len(others) >= len(away) for others in away_at.values()) if len(away) >= USERS_AT_ADDRESS else 0
        if not alike or alike > USERS_ALIKE:
            continue
        hours: defaultdict[int, set[bytes]] = defaultdict(set)
        for row in of:
            if row["who"] in away and row["class"] == SERVED:
                hours[row["hour"]].add(row["who"])
        most = max(hours, key=lambda hour: (len(set().union(*(hours.get(hour + at, set()) for at in range(USERS_HOURS)))), -hour))
        inside = set().union(*(hours.get(most + at, set()) for at in range(USERS_HOURS)))
        if len(inside) < USERS_AT_ADDRESS or 10 * len(inside) < 7 * len(away):
            continue
        within = [row for row in of if row["who"] in inside and most <= row["hour"] < most + USERS_HOURS]
        calls, first, last = sum(row["calls"] for row in within), min(row["second"] for row in within), max(row["last"] for row in within)
        sentence = (
            f"address {shown(name(address))} makes calls as {number(len(inside))} different callers within "
            f"{number(max(1, -(-(last - first) // HOUR)), 'hour')}, {number(calls, 'call')} {said_when(first, last)}; these callers "
            "are usually at other addresses"
        )
        yield sign("many_users", MEDIUM, name(address), calls, sentence, first, last, min(row["row"] for row in within))


def _unequal(ground: Ground) -> Iterator[Sign]:
    """One token that is refused and served in turn: a part of the servers doesn't know that it was revoked, or doesn't know its key."""
    if not ground.evidence.has_tokens:
        return
    of_sources: defaultdict[bytes, dict[bytes, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for row in ground.evidence.of_sources.rows():
        if row["who"] is not None and row["source"] is not None:
            of_sources[row["who"]][row["source"]][row["class"]] += row["calls"]
    for token, rows in ground.tokens.failing():
        if token is None:
            continue
        ordered = sorted((row for row in rows if row["outcome"] in (OK, REJECTED, *WITHOUT)), key=lambda row: (row["first"], row["row"]))
        refused = [row for row in ordered if row["outcome"] != OK]
        if not refused:
            continue
        since, until = min(row["first"] for row in refused), max(row["last"] for row in refused)
        let_in = sum(row["calls"] for row in ordered if row["outcome"] == OK and row["first"] >= since)
        turns = sum(1 for one, other in zip(ordered, ordered[1:]) if (one["outcome"] == OK) != (other["outcome"] == OK))
        failed = sum(row["calls"] for row in refused)
        if turns < TURNS or failed < TURN_CALLS or let_in < TURN_CALLS or until - since < 60:
            continue
        sources = of_sources.get(token, {})
        serving = sorted(source for source, counts in sources.items() if counts[SERVED] and 10 * (counts[LACKING] + counts[UNKNOWN]) < counts[SERVED])
        refusing = sorted(source for source, counts in sources.items() if counts[LACKING] + counts[UNKNOWN] > counts[SERVED])
        where = (
            f"; it is served by {', '.join(shown(name(one)) for one in serving[:3])} and refused by {', '.join(shown(name(one)) for one in refusing[:3])}"
            if serving and refusing
            else ""
        )
        sentence = (
            f"token {shown(name(token))} is refused and served in turn {said_when(since, until)}: {number(failed, 'call')} refused, "
            f"and {number(let_in)} served after the first of them{where}, as if a part of the servers did not know that it was "
            "revoked"
        )
        yield sign("unequal_answers", HIGH if where else MEDIUM, name(token), let_in, sentence, since, until, min(row["row"] for row in refused))


def _instances(ground: Ground, cover: Cover) -> Iterator[Sign]:
    """Without tokens: a caller that nearly all instances refuse from a time on, while another one serves it."""
    if ground.evidence.has_tokens or not ground.evidence.has_instances:
        return
    by: defaultdict[bytes, list[dict[str, Any]]] = defaultdict(list)
    for row in ground.evidence.of_sources.rows():
        if row["source"] is not None and row["class"] in (SERVED, LACKING, UNKNOWN):
            by[row["who"]].append(row)
    for who, rows in sorted(by.items()):
        refused = [row for row in rows if row["class"] != SERVED]
        if sum(row["calls"] for row in refused) < TURN_CALLS:
            continue
        last_served: Counter[bytes] = Counter()
        for row in rows:
            last_served[row["source"]] = max(last_served[row["source"]], row["last"] if row["class"] == SERVED else 0)
        # A single refusal can come long before: it begins when those that refuse the most have served for the last time.
        most = Counter(dict.fromkeys(last_served, 0))
        for row in refused:
            most[row["source"]] += row["calls"]
        served_until = max(last_served[source] for source in most if 2 * most[source] >= max(most.values()))
        # An instance that learns of it late refuses as many then: so it also begins before the longest times in which no instance served for the
        # last time, and ends after one of them.
        lasts = sorted({*last_served.values()} - {0})
        turns = sorted(range(1, len(lasts)), key=lambda at: lasts[at - 1] - lasts[at])[:MOST_TURNS]
        begun = (0, served_until, *(lasts[at - 1] for at in turns))
        starts = {min((row["second"] for row in refused if row["second"] > time), default=0) for time in begun} - {0}
        ends = sorted({*lasts[-1:], *(lasts[at] for at in turns)}, reverse=True)
        found = next(
            (
                (since, end, *sides)
                for since in sorted(starts)
                for end in ends
                if (sides := _sides(rows, since, end)) and sides[0] and sides[1] and min(sides[2:]) >= TURN_CALLS
            ),
            None,
        )
        if found is None:
            continue
        since, until, serving, refusing, let_in, failed = found
        if cover.sources.issuperset(serving):
            continue
        sentence = (
            f"{shown(name(who))} is refused by {_some(refusing)} ({number(failed, 'call')} {said_when(since, until)}), and in this "
            f"time served by {_some(serving)} ({number(let_in)}), as if {'it' if len(serving) == 1 else 'they'} did not know that a "
            "token was revoked"
        )
        yield sign("unequal_answers", HIGH, name(who), let_in, sentence, since, until, min(row["row"] for row in refused))


# The most times that are tried as those of a revocation.
MOST_TURNS = 6


def _sides(rows: list[dict[str, Any]], since: int, end: int) -> tuple[list[bytes], list[bytes], int, int]:
    """The instances that serve, and those that refuse, after the hour of a first refusal until a time, with their calls."""
    counts: defaultdict[bytes, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if since // HOUR < row["hour"] and row["last"] <= end:
            counts[row["source"]]["served" if row["class"] == SERVED else "refused"] += row["calls"]
    serving = sorted(source for source, of in counts.items() if of["served"] >= TURN_CALLS // 2 and 10 * of["refused"] <= of["served"])
    refusing = sorted(source for source, of in counts.items() if of["refused"] >= 2 and of["refused"] >= 9 * of["served"])
    return serving, refusing, sum(counts[one]["served"] for one in serving), sum(counts[one]["refused"] for one in refusing)


def _some(sources: list[bytes]) -> str:
    """The first instances by name."""
    more = f" and {number(len(sources) - 3)} more" if len(sources) > 3 else ""
    return f"{', '.join(shown(name(one)) for one in sources[:3])}{more}"


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


def _lookalikes(ground: Ground) -> Iterator[Sign]:
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
