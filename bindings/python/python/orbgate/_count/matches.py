"""Finds out whether a log and a policy belong together: the share of calls that match a route, and the base path that is missing."""

from __future__ import annotations

import re
from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from .._extras import needs
from .._number import number
from .._read import private
from .._terms import Reason

if TYPE_CHECKING:
    from .._policy import Policy

# A log of fewer calls says nothing of its policy.
FEWEST = 100
# Under one call in this many matches a route of a policy that belongs to another service.
UNMATCHED = 20
# One in so many calls without a route may show that a part of the log lacks a base path.
PART = 5
# A base path is named if at least this part of the calls, in tenths, matches a route with it.
NEARLY_ALL = 9
# The most different calls without a route that are kept. Those with the least digests are, so the order of rows doesn't matter.
CALLS = 4_096
# The longest path that is kept.
LONGEST = 512
# A path that begins in the same way as others: its first one, two and three segments.
STARTS = tuple(re.compile(rb"(?:/[^/?]+){%d}(?=[/?]|\Z)" % count) for count in (1, 2, 3))


class Warned(NamedTuple):
    """Why a log and a policy don't belong together, and whether another base path would help."""

    sentence: str
    is_base: bool


class Matches:
    """Counts the calls that match a route of a policy, and samples the others."""

    def __init__(self) -> None:
        self.calls: int = 0
        self.matched: int = 0
        # For each digest of a method and path, the two and the number of their calls.
        self.sample: dict[bytes, list[Any]] = {}

    def add(self, calls: Any, decided: Any) -> None:
        """Counts calls with their decisions, row by row. A call to a path that the policy has with another method matches."""
        pc = needs("pyarrow.compute", "logs")
        is_read = pc.is_valid(decided["reason"])
        is_malformed = pc.equal(decided["reason"], Reason.MALFORMED_REQUEST.value)
        is_nowhere = pc.and_(pc.and_(pc.is_null(decided["route"]), pc.is_null(decided["about"])), pc.is_null(calls["by_scope"]))
        is_unmatched = pc.and_(is_read, pc.and_not(is_nowhere, is_malformed)).fill_null(False)
        # A public route isn't one of the policy.
        is_counted = pc.and_not(is_read, pc.or_(is_malformed, pc.equal(decided["reason"], Reason.PUBLIC_ROUTE.value))).fill_null(False)
        unmatched, counted = (pc.sum(flags).as_py() or 0 for flags in (is_unmatched, is_counted))
        self.calls += counted
        self.matched += counted - unmatched
        if not unmatched:
            return
        pa = needs("pyarrow", "logs")
        lost = pa.table({"method": calls["method"], "target": pc.binary_slice(calls["target"], 0, LONGEST)}).filter(is_unmatched)
        for row in lost.group_by(["method", "target"]).aggregate([([], "count_all")]).to_pylist():
            path = (row["target"] or b"").partition(b"?")[0]
            key = blake2b(b"\0".join([row["method"] or b"", path]), digest_size=8).digest()
            self.sample.setdefault(key, [row["method"] or b"", path, 0])[2] += row["count_all"]
        if len(self.sample) > 2 * CALLS:
            self._trim()

    def _trim(self) -> None:
        self.sample = {key: self.sample[key] for key in sorted(self.sample)[:CALLS]}

    @property
    def is_other(self) -> bool:
        """Whether the log and the policy don't belong together."""
        return self.calls >= FEWEST and UNMATCHED * self.matched < self.calls

    def warning(self, policy: Policy) -> Warned | None:
        """A warning if they don't, or if a large part of the paths lacks a base path."""
        if not self.is_other:
            lost = self.calls - self.matched
            if lost < FEWEST or PART * lost < self.calls or (remedy := self._remedy(policy, " of these", "the")) is None:
                return None
            return Warned(f"{number(lost)} of {number(self.calls, 'call')} match no route of the policy.{remedy}", True)
        from .._policy import Policy as Policies

        of = "the built-in policy, which decides if no other is given" if policy.digest == Policies.external().digest else "the policy"
        matched = number(self.matched) if self.matched else "none"
        sentence = f"The log and the policy do not belong together: {matched} of {number(self.calls, 'call')} {'matches' if self.matched == 1 else 'match'} a route of {of}."
        remedy = self._remedy(policy, "", "the log's")
        return Warned(f"{sentence}{remedy or ''}", remedy is not None)

    def _remedy(self, policy: Policy, of: str, whose: str) -> str | None:
        """The base path that makes nearly all calls match that match no route."""
        self._trim()
        whole = sum(calls for _, _, calls in self.sample.values())
        bases = sorted({route.template[: at.end()] for route in policy.routes() for start in STARTS if (at := re.compile(start.pattern.decode()).match(route.template))})
        bases = [base for base in bases if "{" not in base]
        starts: Counter[bytes] = Counter()
        for _, path, calls in self.sample.values():
            for start in STARTS:
                if (match := start.match(path)) is not None:
                    starts[match[0]] += calls
        cut = [start for start in sorted(starts) if 10 * starts[start] >= NEARLY_ALL * whole]
        swapped = [*((start, "") for start in cut), *((start, base) for start in cut for base in bases)]
        for base in bases:
            if self._fits(policy, base.encode(), b"", whole):
                return f" With `{base}` in front of each path, nearly all{of} match: {whose} paths lack this base path."
        for cut_off, base in swapped:
            if self._fits(policy, base.encode(), cut_off, whole):
                put = f"With `{base}` in place of" if base else "Without"
                return f" {put} `{private.target(cut_off.decode('utf-8', 'backslashreplace'))}` at the start of each path, nearly all{of} match: {whose} paths have another base path."
        return None

    def _fits(self, policy: Policy, put: bytes, cut: bytes, whole: int) -> bool:
        pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
        kept = [(method, put + path[len(cut) :], calls) for method, path, calls in self.sample.values() if path.startswith(cut)]
        if not kept:
            return False
        table = pa.table({name: pa.array([row[at] for row in kept], pa.binary()) for at, name in enumerate(("method", "target"))})
        decided = policy.decide_table(table, kind="user", scopes="").to_pyarrow()
        is_found = pc.or_(pc.is_valid(decided["route"]), pc.is_valid(decided["about"]))
        matched: int = sum(calls for (_, _, calls), is_such in zip(kept, is_found.to_pylist()) if is_such)
        return 10 * matched >= NEARLY_ALL * whole
