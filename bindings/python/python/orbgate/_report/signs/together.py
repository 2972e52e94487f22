"""What several callers have in common: a scope that they all lack for a time, an address that lost its token, an address from which many come once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from ..._native import is_earned
from ..._number import number
from ..failures import LACKS, WITHOUT
from ..numbers import LOW, MEDIUM, shown
from ..thresholds import BROKEN_CALLS, BROKEN_SECONDS, LOST_CALLERS, LOST_CALLS, TRIAL_CALLERS, TRIAL_PART
from ..tokens import network
from ..timelines import FEW, OK, Window, pieces, window
from .ground import Cover, Ground, Sign, name, said_when, sign


def together(ground: Ground, cover: Cover) -> Iterator[Sign]:
    """The signs about several callers."""
    if ground.period is None or not ground.has_hours:
        return
    if "scopes" not in cover.columns:
        yield from _lost_scopes(ground)
    if ground.evidence.has_addresses:
        if "kind" not in cover.columns:
            yield from _addresses(ground)
        yield from _trials(ground)


def _lost_scopes(ground: Ground) -> Iterator[Sign]:
    """A scope that several callers lack in the same time, and had before or after."""
    scope_of = {str(route): route.scope for route in ground.policy.routes()}
    # A login gets old by itself, and a scope that it gave is then lacking.
    earned = {str(route) for route in ground.policy.routes() if any(is_earned(scope) for scopes in route.scopes or ((route.scope,),) for scope in scopes)}
    stretches: defaultdict[str, list[tuple[bytes, Window, int]]] = defaultdict(list)
    for caller, rows in ground.timelines.failing(FEW // 2, LACKS):
        rows = [row for row in rows if row["location"] not in earned]
        lacking = {row["scope"] or scope_of.get(row["location"] or "") for row in rows if row["outcome"] in LACKS}
        if caller is None:
            continue
        for scope in lacking - {None}:
            of = [row for row in rows if (row["scope"] or scope_of.get(row["location"] or "")) == scope]
            ordered = pieces(of, LACKS)
            failed = [piece for piece in ordered if piece.failed and not piece.others]
            had = sum(row["calls"] for row in of if row["outcome"] == OK)
            if failed and had >= FEW // 2:
                since, until = failed[0].first, failed[-1].last
                inside = sum(piece.others for piece in ordered if since <= piece.first and piece.last <= until)
                count = sum(piece.failed for piece in failed)
                if count >= FEW // 2 and 9 * inside <= count:
                    stretches[str(scope)].append(
                        (caller, Window(since, until, count, count + inside, 0, 0, 0, 0, 0), min(row["row"] for row in of if row["outcome"] in LACKS))
                    )
    for scope, some in sorted(stretches.items()):
        since, until = min(of.since for _, of, _ in some), max(of.until for _, of, _ in some)
        count = sum(of.failed for _, of, _ in some)
        if len(some) < LOST_CALLERS or count < LOST_CALLS:
            continue
        named = ", ".join(shown(name(caller)) for caller, *_ in sorted(some, key=lambda one: (-one[1].failed, one[0]))[:3])
        sentence = (
            f"{number(len(some), 'caller')}, for example {named}, lack {shown(scope)} in {number(count, 'call')} "
            f"{said_when(since, until)}, and had it before or after"
        )
        yield sign("lost_scope", MEDIUM, scope, count, sentence, since, until, min(row for *_, row in some))


def _addresses(ground: Ground) -> Iterator[Sign]:
    """An address whose calls have no valid token for a time, while its callers are served elsewhere."""
    known = {row.caller for row in ground.failures if row.outcome in WITHOUT}
    callers: defaultdict[bytes, set[bytes]] = defaultdict(set)
    served: defaultdict[bytes, set[bytes]] = defaultdict(set)
    for row in ground.evidence.visits:
        if row["caller"] is not None:
            callers[row["address"]].add(row["caller"])
            if row["class"] == "served":
                served[row["caller"]].add(row["address"])
    for address, rows in ground.addresses.failing(BROKEN_CALLS, WITHOUT):
        if address is None:
            continue
        own = sorted(caller for caller in callers[address] if len(served[caller]) > 1)
        stretch = window(pieces([row for row in rows if row["location"] is not None], WITHOUT))
        if (
            stretch is None
            or len(callers[address]) != 1
            or not own
            or name(own[0]) in known
            or stretch.failed < BROKEN_CALLS
            or stretch.until - stretch.since < BROKEN_SECONDS
            or not stretch.is_change
        ):
            continue
        after = f", and {number(stretch.after_failed)} of {number(stretch.after)} after" if stretch.after else ""
        sentence = (
            f"{shown(name(own[0]))} has no valid token in {number(stretch.failed)} of {number(stretch.calls, 'call')} from address "
            f"{shown(name(address))} {said_when(stretch.since, stretch.until)}, while it is served at another address; before, in "
            f"{number(stretch.before_failed)} of {number(stretch.before)}{after}"
        )
        yield sign(
            "broken_address",
            LOW if stretch.is_over else MEDIUM,
            name(own[0]),
            stretch.failed,
            sentence,
            stretch.since,
            stretch.until,
            min(row["row"] for row in rows if row["outcome"] in WITHOUT),
        )


def _trials(ground: Ground) -> Iterator[Sign]:
    """Addresses at which many callers with tokens of organisations are seen for a short time, and nowhere else."""
    assert ground.period is not None
    organisations = {row["caller"] for row in ground.evidence.held.rows() if row["kind"] == b"organisation"}
    spans: dict[bytes, dict[str, Any]] = {}
    homes: defaultdict[bytes, set[bytes]] = defaultdict(set)
    for row in ground.evidence.visits:
        if row["caller"] in organisations:
            of = spans.setdefault(row["caller"], {"first": row["second"], "last": row["last"], "calls": 0, "row": row["row"]})
            of.update(
                first=min(of["first"], row["second"]), last=max(of["last"], row["last"]), calls=of["calls"] + row["calls"], row=min(of["row"], row["row"])
            )
            homes[row["caller"]].add(row["address"])
    longest = TRIAL_PART * (ground.period.last - ground.period.first)
    at: defaultdict[bytes, list[bytes]] = defaultdict(list)
    for caller, addresses in homes.items():
        if len(addresses) == 1 and spans[caller]["last"] - spans[caller]["first"] <= longest:
            at[next(iter(addresses))].append(caller)
    # A service of the same network that acts for its users.
    many = {address: callers for address, callers in at.items() if len(callers) >= TRIAL_CALLERS and network(address) is not None}
    if many:
        callers = sorted(caller for some in many.values() for caller in some)
        calls = sum(spans[caller]["calls"] for caller in callers)
        first, last = min(spans[caller]["first"] for caller in callers), max(spans[caller]["last"] for caller in callers)
        sentence = (
            f"{number(len(callers), 'caller')} with tokens of organisations, for example "
            f"{', '.join(shown(name(caller)) for caller in callers[:3])}, are seen only once, and only at "
            f"{number(len(many), 'address', 'addresses')}: {', '.join(shown(name(one)) for one in sorted(many)[:3])}; "
            f"{number(calls, 'call')} {said_when(first, last)}"
        )
        yield sign("trial_callers", LOW, name(min(many)), calls, sentence, first, last, min(spans[caller]["row"] for caller in callers))
