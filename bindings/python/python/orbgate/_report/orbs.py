"""Counts the orbs that calls consume by route, scope, caller and time, under this policy and another one."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._count.counts import Counts, HeavyCounts, Times
from .._count.heavy import Heavy
from .._count.served import ANSWERS, REFUSED, SERVED, UNCLEAR, served
from .._rows import Rows
from .._terms import Effect

if TYPE_CHECKING:
    from .._count.decided import Part
    from .spans import Span, Unit


PARAMETER = re.compile(r"\{[^/]*\}")
# A call that is answered with such a status or a greater one might have failed.
FAILED = 400


class Charged(NamedTuple):
    """Calls that consume orbs: their number, the orbs that the policy states for them, and the number of calls without a stated
    amount.

    The fields `served_*`, `refused_*` and `unknown_*` split these by the server's response, and add up to the total. A call is
    unknown if it was redirected, or if its status is missing or unclear. The fields `base_*` are for the other policy; None
    without one.
    """

    calls: int
    orbs: int
    unstated: int
    served_calls: int
    served_orbs: int
    served_unstated: int
    refused_calls: int
    refused_orbs: int
    refused_unstated: int
    unknown_calls: int
    unknown_orbs: int
    unknown_unstated: int
    base_calls: int | None
    base_orbs: int | None
    base_unstated: int | None


class RouteOrbs(NamedTuple):
    """The orbs of a route. `route` is None for decisions by scope. The other fields are those of `Charged`.

    `route` and `scope` are those of this policy. Routes of the other policy are the same if only the names of parameters or the
    scope differ.
    """

    route: str | None
    scope: str | None
    calls: int
    orbs: int
    unstated: int
    served_calls: int
    served_orbs: int
    served_unstated: int
    refused_calls: int
    refused_orbs: int
    refused_unstated: int
    unknown_calls: int
    unknown_orbs: int
    unknown_unstated: int
    base_calls: int | None
    base_orbs: int | None
    base_unstated: int | None


class ScopeOrbs(NamedTuple):
    """The orbs of a scope. The other fields are those of `Charged`."""

    scope: str | None
    calls: int
    orbs: int
    unstated: int
    served_calls: int
    served_orbs: int
    served_unstated: int
    refused_calls: int
    refused_orbs: int
    refused_unstated: int
    unknown_calls: int
    unknown_orbs: int
    unknown_unstated: int
    base_calls: int | None
    base_orbs: int | None
    base_unstated: int | None


class CallerOrbs(NamedTuple):
    """The orbs of a caller; None for calls that name no caller. The other fields are those of `Charged`, and lower bounds unless
    `is_exact`.
    """

    caller: str | None
    calls: int
    orbs: int
    unstated: int
    served_calls: int
    served_orbs: int
    served_unstated: int
    refused_calls: int
    refused_orbs: int
    refused_unstated: int
    unknown_calls: int
    unknown_orbs: int
    unknown_unstated: int
    base_calls: int | None
    base_orbs: int | None
    base_unstated: int | None
    is_exact: bool


class SpanOrbs(NamedTuple):
    """The orbs of the calls from `start` to before `end`. The other fields are those of `Charged`."""

    start: datetime
    end: datetime
    calls: int
    orbs: int
    unstated: int
    served_calls: int
    served_orbs: int
    served_unstated: int
    refused_calls: int
    refused_orbs: int
    refused_unstated: int
    unknown_calls: int
    unknown_orbs: int
    unknown_unstated: int
    base_calls: int | None
    base_orbs: int | None
    base_unstated: int | None


class AnsweredOrbs(NamedTuple):
    """The orbs of calls by the server's response: `served`, `redirected`, `refused` or `unclear`. The other fields are those of
    `Charged`.
    """

    served: str
    calls: int
    orbs: int
    unstated: int


class FailedOrbs(NamedTuple):
    """Calls that consume orbs and were answered with this `status` of 400 or above, so they might have failed. `row` is the first
    of them, counted from 1. The other fields are those of `Charged`.
    """

    route: str | None
    scope: str | None
    status: int
    calls: int
    orbs: int
    unstated: int
    row: int


class Orbs(NamedTuple):
    """The orbs of a log. Rows with the most stated orbs come first; `times` is in order.

    `without_time` calls that consume orbs have no time, so they aren't in `times`. `answered` covers calls with a status, and
    `failed` those that might have failed. `without_charge` allowed calls by scope are in none of these, because the policy states no charge
    for a call by their scope: whether they consume orbs depends on the route.
    """

    total: Charged
    routes: Rows[RouteOrbs]
    scopes: Rows[ScopeOrbs]
    callers: Rows[CallerOrbs]
    callers_is_exact: bool
    times: Rows[SpanOrbs]
    without_time: int
    answered: Rows[AnsweredOrbs]
    failed: Rows[FailedOrbs]
    without_charge: int


class OrbCounts:
    """Counts the orbs of calls under the policy and the other one."""

    def __init__(self, has_base: bool) -> None:
        self.callers = Heavy()
        self.by_caller = HeavyCounts(("caller", "is_base", "amount", "answer"), self._take, self.callers)
        self._sides = (False, True) if has_base else (False,)
        self._locations = Counts(("is_base", "route", "scope", "amount", "answer"))
        self._times = Times(("is_base", "amount", "answer"))
        self._failed = Counts(("route", "scope", "amount", "served_status"), least=("row",))
        self.without_charge = 0

    def add(self, part: Part) -> None:
        """Counts calls with their decisions, row by row."""
        is_unknown = pc.and_(
            pc.and_(pc.equal(part.decided["decision"], Effect.ALLOW.value), pc.is_null(part.decided["consumes"])), pc.is_valid(part.decided["scope"])
        )
        self.without_charge += pc.sum(is_unknown).as_py() or 0
        for is_base, decided in zip(self._sides, (part.decided, part.before)):
            columns = {name: decided[name] for name in ("route", "scope", "amount")}
            columns |= {name: part.calls[name] for name in ("caller", "time", "served_status", "row")}
            columns["is_base"] = pa.repeat(pa.scalar(is_base), decided.num_rows)
            # The server's responses apply only to this policy.
            status = part.calls["served_status"]
            columns["answer"] = pa.nulls(len(status), pa.string()) if is_base else served(status, pa.repeat(True, len(status)), decided["reason"])
            charged = pa.table(columns).filter(decided["consumes"])
            if not charged.num_rows:
                continue
            self._locations.add(charged)
            self._times.add(charged)
            self.by_caller.add(charged)
            if not is_base:
                self._failed.add(charged.filter(pc.greater_equal(charged["served_status"], FAILED)))

    def figures(self, times: Iterable[Span], unit: Unit | None) -> Orbs:
        """The figures, with times in the spans of the page."""
        locations = list(self._locations.rows())
        routes = self._sums(((_shape(row["route"]), row["scope"] if row["route"] is None else None), row) for row in locations)
        # This policy's names; the other policy's for routes that consume orbs only there.
        names = {_shape(row["route"]): (row["route"], row["scope"]) for row in sorted(locations, key=lambda row: not row["is_base"])}
        by_route = []
        for (shape, scope), of in routes.items():
            route, its_scope = names[shape] if shape else (None, scope)
            by_route.append(RouteOrbs(route, its_scope, *of))
        scopes = self._sums((row["scope"], row) for row in locations)
        starts = [(row["time"], row) for row in self._times.rows() if row["time"] is not None]
        spans = self._sums((unit.floor(time), row) for time, row in starts) if unit is not None else {}
        callers = []
        for caller, entry in self.callers:
            parts = ({"is_base": is_base, "amount": amount, "answer": answer, "calls": calls} for (is_base, amount, answer), calls in entry.parts.items())
            name = None if caller is None else caller.decode("utf-8", "backslashreplace")
            callers.append(CallerOrbs(name, *self._sum(parts), entry.is_exact))
        nothing = self._sum(())
        return Orbs(
            self._sum(locations),
            Rows(RouteOrbs, sorted(by_route, key=_most)),
            Rows(ScopeOrbs, sorted((ScopeOrbs(scope, *of) for scope, of in scopes.items()), key=_most)),
            Rows(CallerOrbs, sorted(callers, key=_most)),
            self.callers.is_exact,
            Rows(SpanOrbs, (SpanOrbs(span.start, span.end, *spans.get(span.start, nothing)) for span in times)),
            sum(row["calls"] for row in self._times.rows() if row["time"] is None and not row["is_base"]),
            Rows(AnsweredOrbs, self._answered(locations)),
            Rows(FailedOrbs, self._failures()),
            self.without_charge,
        )

    def _failures(self) -> Iterable[FailedOrbs]:
        sums: dict[tuple[Any, ...], list[int]] = {}
        for row in self._failed.rows():
            of = sums.setdefault((row["route"], row["scope"], row["served_status"]), [0, 0, 0, row["row"]])
            of[:] = [
                of[0] + row["calls"],
                of[1] + row["calls"] * (row["amount"] or 0),
                of[2] + (row["calls"] if row["amount"] is None else 0),
                min(of[3], row["row"]),
            ]
        rows = [FailedOrbs(*key, *of) for key, of in sums.items()]
        return sorted(rows, key=lambda row: (-row.orbs, -row.calls, row.route or "", row.scope or "", row.status))

    def _answered(self, locations: Sequence[dict[str, Any]]) -> Iterable[AnsweredOrbs]:
        sums = self._sums((row["answer"], row) for row in locations if not row["is_base"] and row["answer"] is not None)
        return (AnsweredOrbs(of, *sums[of][:3]) for of in ANSWERS if of in sums)

    def _take(self, rows: Iterable[dict[str, Any]]) -> None:
        for row in rows:
            self.callers.add(row["caller"], row["calls"]).parts[row["is_base"], row["amount"], row["answer"]] += row["calls"]

    def _sums(self, rows: Iterable[tuple[Any, dict[str, Any]]]) -> dict[Any, Charged]:
        grouped: dict[Hashable, list[dict[str, Any]]] = {}
        for key, row in rows:
            grouped.setdefault(key, []).append(row)
        return {key: self._sum(of) for key, of in grouped.items()}

    def _sum(self, rows: Iterable[dict[str, Any]]) -> Charged:
        """Sums in Python's integers, because a sum of orbs can have more than 64 bits."""
        sums = {of: [0, 0, 0] for of in (False, True, SERVED, REFUSED, UNCLEAR)}
        for row in rows:
            answer = row["answer"] if row["answer"] in (SERVED, REFUSED) else UNCLEAR
            for of in (True,) if row["is_base"] else (False, answer):
                sums[of][0] += row["calls"]
                sums[of][1] += row["calls"] * (row["amount"] or 0)
                sums[of][2] += row["calls"] if row["amount"] is None else 0
        base = sums[True] if True in self._sides else (None, None, None)
        return Charged(*sums[False], *sums[SERVED], *sums[REFUSED], *sums[UNCLEAR], *base)


def _shape(route: str | None) -> str | None:
    """A route without the names of its parameters, which two policies can name differently."""
    return None if route is None else PARAMETER.sub("{}", route)


def _most(row: Any) -> tuple[Any, ...]:
    """A sort key: most stated orbs, then most calls, then by name."""
    return -row.orbs, -row.calls, -(row.base_orbs or 0), -(row.base_calls or 0), tuple(str(name) for name in row[: row._fields.index("calls")])
