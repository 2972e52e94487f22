"""The scopes that calls used, needed and lacked. Most routes need one scope, and their rows are never looked at one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _native
from .._extras import needs
from .._terms import Reason

if TYPE_CHECKING:
    from .._policy import Policy


class Used(NamedTuple):
    """For each call, its scopes, separated by spaces; null if there are none.

    An allowed call `used` the scopes of the alternatives that its token has whole, and `needed` those that are in all of
    these. A denied call was `missing` the scopes of the owner's alternative that its token lacks.
    """

    used: Any
    needed: Any
    missing: Any


def used(policy: Policy, calls: Any, decided: Any) -> Used:
    """The scopes of each call with its decision."""
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    scope = _whole(decided["scope"]).cast(pa.string())
    reason = _whole(decided["reason"])
    is_held, is_missing = (pc.equal(reason, outcome.value) for outcome in (Reason.SCOPE_HELD, Reason.SCOPE_MISSING))
    held, missing = (pc.if_else(which, scope, None) for which in (is_held, is_missing))
    is_more = pc.and_(pc.or_(is_held, is_missing), pc.is_valid(_whole(decided["needs"])))
    rows = pc.indices_nonzero(is_more)
    if not len(rows):
        return Used(held, held, missing)
    pairs = zip(*(_whole(column).take(rows).to_pylist() for column in (decided["route"], calls["scopes"])))
    known: dict[tuple[str, bytes | None], tuple[str, ...]] = {}
    triples = []
    for route, scopes in pairs:
        if (route, scopes) not in known:
            known[route, scopes] = _native.scopes_on_route(policy, route, scopes or b"") or ("", "", "")
        triples.append([text or None for text in known[route, scopes]])
    whole = (pc.replace_with_mask(plain, is_more, pa.array(texts, pa.string())) for plain, texts in zip((held, held, missing), zip(*triples)))
    # An allowed call was missing nothing, even if its token lacks the owner's alternative.
    return Used(*(pc.if_else(counts, column, None) for counts, column in zip((is_held, is_held, is_missing), whole)))


def _whole(column: Any) -> Any:
    """A column as one array."""
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column
