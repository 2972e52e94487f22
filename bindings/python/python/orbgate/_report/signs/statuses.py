"""Statuses that one by one mean nothing: redirected calls, limits, and paths that all lack the same base path."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..._number import number
from ..._read import private
from ..numbers import FACT, LOW, MEDIUM, share, shown
from ..thresholds import (
    BASE_CALLS, BASE_LEFT_OUT, BASE_PART, LASTING_EDGE, LIMITED_CALLS, LIMITED_HOURS, LIMITED_PART, OLD_CALLERS,
    REDIRECTED_CALLS, REDIRECTED_PART, REDIRECTED_ROUTE,
    REDIRECTED_ROUTES,
)  # fmt: skip
from ..timelines import OK, Window, outlying, pieces, window
from .ground import Ground, Sign, name, said_when, sign


def statuses(ground: Ground) -> Iterator[Sign]:
    """The signs in the statuses of all calls together."""
    if ground.period is None:
        return
    rows = [row for row in ground.evidence.statuses.rows() if ground.period.first <= row["second"] and row["last"] <= ground.period.last]
    if ground.has_hours:
        yield from _redirected(rows)
        yield from _limited(rows)
    yield from _lost(ground)


def _redirected(rows: list[dict[str, Any]]) -> Iterator[Sign]:
    """Nearly all calls of routes that were served before are redirected: what an outage of a login looks like."""
    of = [
        {
            "bin": row["hour"],
            "outcome": "3" if 300 <= (row["status"] or 0) < 400 and row["status"] != 304 else OK,
            "first": row["second"],
            "last": row["last"],
            "calls": row["calls"],
        }
        for row in rows
        if row["location"] is not None and row["outcome"] == OK
    ]
    every, stretch = of, window(pieces(of, {"3"}))
    if not _is_outage(stretch):
        # Only some of the routes: those of which a part of the calls was redirected for now.
        routes: Counter[str] = Counter()
        for row in rows:
            routes[row["location"] or ""] += row["calls"] if row["status"] in (302, 303, 307) else 0
        some = {route for route, count in routes.items() if count >= REDIRECTED_ROUTE}
        of = [
            one
            for one, row in zip(of, (row for row in rows if row["location"] is not None and row["outcome"] == OK))
            if row["location"] in some and row["status"] not in (301, 308)
        ]
        stretch = window(pieces(of, {"3"}))
    if not _is_outage(stretch):
        # Only some of the servers, whatever the route: a route that moved is redirected until the end.
        stretch = outlying(pieces(every, {"3"}))
        if stretch is not None and (stretch.failed < REDIRECTED_CALLS or not stretch.is_over or len(_routes(rows, stretch)) < REDIRECTED_ROUTES):
            return
    if stretch is None:
        return
    statuses: Counter[int] = Counter()
    for row in rows:
        is_inside = stretch.since <= row["second"] and row["last"] <= stretch.until
        statuses[row["status"] or 0] += row["calls"] if is_inside and 300 <= (row["status"] or 0) < 400 and row["status"] != 304 else 0
    status = statuses.most_common(1)[0][0]
    sentence = (
        f"{number(stretch.failed)} of {number(stretch.calls, 'allowed call')} were answered with {status} "
        f"{said_when(stretch.since, stretch.until)}, before it {number(stretch.before_failed)} of {number(stretch.before)}, after "
        f"it {number(stretch.after_failed)} of {number(stretch.after)}"
    )
    yield sign("redirected", MEDIUM, "all callers", stretch.failed, sentence, stretch.since, stretch.until)


def _routes(rows: list[dict[str, Any]], stretch: Window) -> set[str]:
    """The routes of which calls were redirected in a stretch of time."""
    inside = [row for row in rows if stretch.since <= row["second"] and row["last"] <= stretch.until and row["location"] is not None]
    return {row["location"] for row in inside if 300 <= (row["status"] or 0) < 400 and row["status"] != 304}


def _is_outage(stretch: Window | None) -> bool:
    return stretch is not None and stretch.failed >= REDIRECTED_CALLS and stretch.failed >= REDIRECTED_PART * stretch.calls and stretch.is_change


def _limited(rows: list[dict[str, Any]]) -> Iterator[Sign]:
    """Calls over a limit for hours, from the first such hour to the last."""
    hours: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        of = hours[row["hour"]]
        of[0] += row["calls"]
        of[1] += row["calls"] if row["status"] == 429 else 0
    limited = sorted(hour for hour, (calls, over) in hours.items() if over and over >= LIMITED_PART / 2 * calls)
    if len(limited) < LIMITED_HOURS:
        return
    inside = [hours[hour] for hour in range(limited[0], limited[-1] + 1) if hour in hours]
    calls, over = sum(of[0] for of in inside), sum(of[1] for of in inside)
    if over < LIMITED_CALLS or over < LIMITED_PART * calls:
        return
    such = [row for row in rows if row["status"] == 429 and limited[0] <= row["hour"] <= limited[-1]]
    first, last = min(row["second"] for row in such), max(row["last"] for row in such)
    sentence = f"{number(over)} of {number(calls, 'call')} ({share(over, calls)}) were answered with 429 {said_when(first, last)}"
    yield sign("rate_limited", MEDIUM, "all callers", over, sentence, first, last, min(row["row"] for row in such))


def _lost(ground: Ground) -> Iterator[Sign]:
    """Unknown paths that begin alike: a base path or a version that the policy lacks, or another spelling of one that it has."""
    templates = [route.template for route in ground.policy.routes()]
    known = {start for template in templates for start in (_start(template, 1), _start(template, 2))}
    starts: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    rows = [row for row in ground.evidence.lost.rows() if row["start"]]
    for row in rows:
        # Of scanners, each tries many starts. All routes below another spelling of the base path belong together.
        base = FIRST_SEGMENT.match(row["start"])
        starts[base[0] if base and _spelling(base[0], known) else row["start"]].append(row)
    served: Counter[bytes | None] = Counter()
    for row in ground.evidence.made.rows():
        served[row["caller"]] += row["calls"] if row["is_allowed"] else 0
    yield from _without_base(ground, templates, rows)
    every, is_behind = sum(row["calls"] for row in ground.evidence.made.rows()), False
    for start, of in sorted(starts.items(), key=lambda one: -sum(row["calls"] for row in one[1])):
        calls, callers = sum(row["calls"] for row in of), {row["caller"] for row in of}
        spelling = _spelling(start, known)
        own = sum(row["calls"] for row in rows if row["caller"] in callers)
        if (
            calls < (BASE_LEFT_OUT if spelling and FIRST_SEGMENT.fullmatch(start) else BASE_CALLS)
            or start in known
            or (not spelling and calls < BASE_PART * own / 2)
            or ("/" not in start.lstrip("/") and not spelling)
        ):
            continue
        gone = sum(row["calls"] for row in of if row["status"] == 410)
        if gone * 10 >= 9 * calls:
            # A version that was removed answers so since the log begins.
            continue
        seconds = [row["second"] for row in of if row["second"] is not None]
        first, last = (min(seconds), max(row["last"] for row in of if row["last"] is not None)) if seconds else (None, None)
        other = f", another spelling of {shown(spelling)}" if spelling else ", which the policy does not have"
        who = (
            " without a caller"
            if callers == {None}
            else f" by {shown(name(next(iter(callers))))}"
            if len(callers) == 1
            else f" by {number(len(callers), 'caller')}"
        )
        sentence = (
            f"{number(calls, 'call')}{who} without a route begin with "
            f"{shown(private.target(start))}{other}{f', {said_when(first, last)}' if first is not None else ''}"
        )
        # What old versions of an application call all the time is no change.
        whole = 0 if ground.period is None else ground.period.last - ground.period.first
        # At night, few applications are started.
        edge = max(LASTING_EDGE * whole, min(NIGHT, whole / 4))
        is_lasting = (
            (is_behind or not spelling)
            and first is not None
            and last is not None
            and ground.period is not None
            and first - edge <= ground.period.first
            and last + edge >= ground.period.last
        )
        is_few = 100 * calls < every or all(served[caller] > sum(row["calls"] for row in of if row["caller"] == caller) for caller in callers)
        level = FACT if is_lasting and is_few else LOW
        yield sign("lost_base_path", level, private.target(start) or "", calls, sentence, first, last, min(row["row"] for row in of))
        # Behind an old version that is called all the time, there can be another.
        if level == LOW:
            return
        is_behind = True


def _without_base(ground: Ground, templates: Sequence[str], rows: list[dict[str, Any]]) -> Iterator[Sign]:
    """Unknown paths that lack the base path of the policy's."""
    first: defaultdict[str, set[str]] = defaultdict(set)
    for template in templates:
        segments = template.split("/")[1:]
        for count in range(1, len(segments)):
            if any(segment.startswith("{") for segment in segments[: count + 1]):
                break
            first["/" + "/".join(segments[:count])].add(segments[count])
    base = max(first, key=lambda one: (len(first[one]), -len(one), one), default=None)
    own = {template.split("/")[1] for template in templates if template.count("/")}
    if base is None or len(first[base]) < 2:
        return
    by_caller: defaultdict[bytes | None, list[dict[str, Any]]] = defaultdict(list)
    every: Counter[bytes | None] = Counter()
    for row in rows:
        every[row["caller"]] += row["calls"]
        segment = row["start"].split("/")[1]
        if segment in first[base] - own:
            by_caller[row["caller"]].append(row)
    # Who tries other paths, too, is a scanner.
    lost = {caller: of for caller, of in by_caller.items() if sum(row["calls"] for row in of) >= BASE_PART * every[caller]}
    of_all = [row for of in lost.values() for row in of]
    calls = sum(row["calls"] for row in of_all)
    if calls < BASE_LEFT_OUT:
        return
    seconds = [row["second"] for row in of_all if row["second"] is not None]
    since, until = (min(seconds), max(row["last"] for row in of_all if row["last"] is not None)) if seconds else (None, None)
    begins = sorted({f"/{row['start'].split('/')[1]}" for row in of_all})
    named = f"{' and '.join(begins[:2])}{f' and {number(len(begins) - 2)} more' if len(begins) > 2 else ''}"
    who = " without a caller" if {*lost} == {None} else f" by {shown(name(next(iter(lost))))}" if len(lost) == 1 else f" by {number(len(lost), 'caller')}"
    sentence = (
        f"{number(calls, 'call')}{who} without a route lack the base path {base}, and begin with "
        f"{named}{f', {said_when(since, until)}' if since is not None else ''}"
    )
    yield sign("lost_base_path", LOW, base, calls, sentence, since, until, min(row["row"] for row in of_all))


def of_old_versions(ground: Ground, signs: Iterable[Sign]) -> frozenset[str]:
    """The callers whose calls without a route are those of an old version of an application, which several callers use in the whole log."""
    lasting = {one.subject for one in signs if one.kind == "lost_base_path" and one.level == FACT}
    by_start: defaultdict[str, Counter[bytes]] = defaultdict(Counter)
    every: Counter[bytes] = Counter()
    for row in ground.evidence.lost.rows() if lasting else ():
        if row["caller"] is not None and row["start"]:
            by_start[private.target(row["start"]) or ""][row["caller"]] += row["calls"]
            every[row["caller"]] += row["calls"]
    old: Counter[bytes] = Counter()
    for start in lasting:
        if len(by_start[start]) >= OLD_CALLERS:
            old.update(by_start[start])
    return frozenset(name(caller) for caller, calls in old.items() if calls >= BASE_PART * every[caller])


# The first segment of a path, with all slashes before it.
FIRST_SEGMENT = re.compile("/+[^/]*")
# A night, in seconds.
NIGHT = 36_000


def _start(path: str, count: int) -> str:
    """The first segments of a path."""
    return "/".join(path.split("/")[: count + 1])


def _spelling(start: str, known: set[str]) -> str:
    """The start of a template that this is another spelling of."""
    plain = "/" + "/".join(part for part in start.lower().split("/") if part)
    for one in sorted(known, key=len, reverse=True):
        if one and one != start and one.lower() == plain:
            return one
    return ""
