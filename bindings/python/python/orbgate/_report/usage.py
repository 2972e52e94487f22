"""Counts the scopes in a log's tokens, and the scopes that its calls used."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from sys import intern
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._answers import ScopeUse
from .._count.counts import HeavyCounts
from .._count.heavy import Heavy
from .._count.used import used
from .._read import private
from .._rows import Rows
from .._terms import TokenKind
from .denials import KINDS
from .figures import CallerScope, MissingScope, UnknownScope, UnknownScopeBy
from .signs import HELD, USED, Covered, Seen, days_since

if TYPE_CHECKING:
    from .._policy import Policy

# The most scopes that the policy doesn't have to count separately.
UNKNOWN_SCOPES = 10_000
# The most callers whose scopes are counted separately.
CALLERS = 10_000
USER = pa.array([TokenKind.USER.value.encode()], pa.binary())
# The most scope strings in the cache.
TEXTS = 50_000
# The most bytes of scope strings in the cache.
TEXTS_BYTES = 1 << 25


class Usage:
    """Counts how often tokens had scopes and calls used them: all scopes of the policy, and the most frequent other scopes."""

    def __init__(self, policy: Policy) -> None:
        self.unknown = Heavy(UNKNOWN_SCOPES)
        self.callers = Heavy(CALLERS)
        self.unknown_held = Heavy(UNKNOWN_SCOPES)
        self.texts = HeavyCounts(("scopes",), self._take_texts, self.unknown, new=self._new_scopes)
        self.held = HeavyCounts(("caller", "scopes", "used", "is_user"), self._take, self.callers, self.unknown_held, new=self._new_held)
        self._policy = policy
        self._granted: Counter[str] = Counter()
        self._used: Counter[str] = Counter()
        self._needed: Counter[str] = Counter()
        self._missing: Counter[tuple[str, str | None]] = Counter()
        self._carried: dict[bytes, tuple[list[str], list[str]]] = {}
        self._carried_bytes = 0

    def add(self, calls: Any, decided: Any) -> Any:
        """Counts calls with their decisions. Returns the scopes that each call used, and those that it lacked."""
        scopes = used(self._policy, calls, decided)
        lacked = pa.table({"missing": scopes.missing, "route": decided["route"]}).filter(pc.is_valid(scopes.missing))
        for row in lacked.group_by(["missing", "route"]).aggregate([([], "count_all")]).to_pylist():
            for scope in row["missing"].split():
                self._missing[scope, row["route"]] += row["count_all"]
        columns = {
            "caller": calls["caller"],
            "scopes": calls["scopes"].fill_null(b""),
            "used": scopes.used,
            "needed": scopes.needed,
            "is_user": pc.is_in(calls["kind"], USER),
        }
        held = pa.table(columns).filter(pc.is_in(calls["kind"], KINDS))
        self.texts.add(held)
        for name, counts in (("used", self._used), ("needed", self._needed)):
            for row in held.group_by(name).aggregate([([], "count_all")]).to_pylist():
                for scope in (row[name] or "").split():
                    counts[scope] += row["count_all"]
        self.held.add(held.filter(pc.is_valid(held["caller"])))
        return scopes

    def rows(self) -> Rows[ScopeUse]:
        """The scopes of the policy. The most granted come first."""
        uses = (ScopeUse(scope, granted, self._used[scope], self._needed[scope], in_policy=True) for scope, granted in self._granted.items())
        return Rows(ScopeUse, sorted(uses, key=lambda use: (-use.granted, use.scope)))

    def missing_rows(self) -> Rows[MissingScope]:
        """The scopes that denied calls lacked. The most frequent come first."""
        routes: defaultdict[str, Counter[str | None]] = defaultdict(Counter)
        for (scope, route), calls in self._missing.items():
            routes[scope][route] += calls
        rows = (
            MissingScope(scope, of.total(), tuple(route for route in sorted(of, key=lambda route: (-of[route], route or "")) if route is not None))
            for scope, of in routes.items()
        )
        return Rows(MissingScope, sorted(rows, key=lambda row: (-row.calls, row.scope)))

    def unknown_rows(self) -> Rows[UnknownScope]:
        """The other scopes. The most granted come first."""
        entries = self.unknown.first(len(self.unknown))
        return Rows(UnknownScope, (UnknownScope(scope, entry.count, entry.is_exact) for scope, entry in entries))

    def unknown_by_caller(self) -> Rows[UnknownScopeBy]:
        """The other scopes by caller. The most granted come first."""
        rows = (UnknownScopeBy(caller.decode("utf-8", "backslashreplace"), scope, entry.count, entry.is_exact) for (caller, scope), entry in self.unknown_held)
        return Rows(UnknownScopeBy, sorted(rows, key=lambda row: (-row.granted, row.caller, row.scope)))

    def caller_rows(self) -> Rows[CallerScope]:
        """The scopes that each caller had and used, for callers whose calls were all counted."""
        rows = []
        for caller, entry in self.callers:
            if entry.is_exact:
                scopes = {scope for scope, _ in entry.parts}
                rows += [
                    CallerScope(caller.decode("utf-8", "backslashreplace"), scope, entry.parts[scope, False], entry.parts[scope, True]) for scope in scopes
                ]
        return Rows(CallerScope, sorted(rows, key=lambda use: (-use.granted, use.caller, use.scope)))

    def carried(self, caller: bytes, scope: str, by_user: bool) -> int | None:
        """The number of a caller's calls whose valid token, or user token, had a scope of the policy; None if it isn't exact."""
        entry = self.callers.get(caller)
        if entry is None:
            return 0 if self.callers.is_exact else None
        others = entry.parts[scope, None] if by_user else 0
        return entry.parts[scope, False] - others if entry.is_exact else None

    def _take_texts(self, rows: Iterable[dict[str, Any]]) -> None:
        for row in rows:
            known, unknown = self._scopes_of(row["scopes"])
            for scope in known:
                self._granted[scope] += row["calls"]
            for scope in unknown:
                self.unknown.add(scope, row["calls"])

    def _new_scopes(self) -> int:
        scopes = {scope for text in self.texts.different("scopes") for scope in self._scopes_of(text)[1]}
        return sum(scope not in self.unknown for scope in scopes)

    def _new_held(self) -> int:
        """The new callers, and unknown scopes, which any caller might have."""
        callers = sum(caller not in self.callers for caller in self.held.different("caller"))
        return callers + sum(len(self._scopes_of(text)[1]) for text in self.held.different("scopes"))

    def _take(self, rows: Iterable[dict[str, Any]]) -> None:
        for row in rows:
            known, unknown = self._scopes_of(row["scopes"])
            for scope in unknown:
                self.unknown_held.add((row["caller"], scope), row["calls"])
            if known:
                parts = self.callers.add(row["caller"], len(known) * row["calls"]).parts
                for scope in known:
                    parts[scope, False] += row["calls"]
                    if not row["is_user"]:
                        parts[scope, None] += row["calls"]
                for scope in (row["used"] or "").split():
                    # A scope that the token earned isn't a grant of its issuer.
                    if scope in known:
                        parts[intern(scope), True] += row["calls"]

    def _scopes_of(self, text: bytes) -> tuple[list[str], list[str]]:
        """The scopes in a scope string: scopes of the policy, and other scopes."""
        scopes = self._carried.get(text)
        if scopes is None:
            uses = self._policy.scope_usage([(b"GET", b"/", "user", text)])
            known, unknown = ([use.scope for use in uses if use.in_policy is there] for there in (True, False))
            known = list(map(intern, known))
            scopes = known, [intern(_kept(scope)) for scope in unknown]
            self._carried_bytes += len(text)
            if len(self._carried) >= TEXTS or self._carried_bytes > TEXTS_BYTES:
                self._carried.clear()
                self._carried_bytes = len(text)
            self._carried[text] = scopes
        return scopes


def _kept(scope: str) -> str:
    """An unknown scope in its display form, which bounds its length."""
    return private.scope(scope)


def with_windows(rows: Rows[CallerScope], seen: Iterable[Seen], periods: Sequence[Covered], is_whole: bool) -> Rows[CallerScope]:
    """The scopes of callers with the last use of each, and the days of logs without one: since then, or else since the caller had the scope."""
    last = {(row.caller, row.value): row.last for row in seen if row.dimension == USED}
    first = {(row.caller, row.value): row.first for row in seen if row.dimension == HELD}

    def windowed(row: CallerScope) -> CallerScope:
        use = last.get((row.caller, row.scope))
        since = use or first.get((row.caller, row.scope))
        days = None if since is None or not is_whole else days_since(since, periods)
        return row._replace(last_used=use, days=days)

    return Rows(CallerScope, map(windowed, rows))
