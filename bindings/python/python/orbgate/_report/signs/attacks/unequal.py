"""One token, or caller, that servers answer differently."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from ...._number import number
from ...evidence import LACKING, SERVED, UNKNOWN
from ...failures import WITHOUT
from ...numbers import HIGH, MEDIUM, shown
from ...thresholds import TURNS, TURN_CALLS
from ...timelines import HOUR, OK, REJECTED
from ..ground import Cover, Ground, Sign, name, said_when, sign


def unequal_tokens(ground: Ground) -> Iterator[Sign]:
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


def unequal_instances(ground: Ground, cover: Cover) -> Iterator[Sign]:
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
