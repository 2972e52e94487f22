"""Compares a server's statuses with the policy's decisions: which calls it served, and which it refused."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from .._extras import needs
from .._native import is_earned
from .._terms import Effect, Reason

# Any other status, such as 409 or 500, is unclear: the server might have let the call in before it failed. A ledger's denial
# isn't the policy's.
OF_LEDGERS = (Reason.INSUFFICIENT_ORBS, Reason.LEDGER_UNAVAILABLE)
REFUSALS = tuple(sorted({reason.status for reason in Reason if reason.status is not None and reason not in OF_LEDGERS}))
# A missing object or an invalid body. For a call that the policy allows, these don't show whether the server refused it.
ERRORS = (400, 404)
# The client uses its own copy, so this isn't a redirect.
NOT_MODIFIED = 304
ANSWERS = SERVED, REDIRECTED, REFUSED, UNCLEAR = "served", "redirected", "refused", "unclear"
SERVED_THOUGH_DENIED, REFUSED_THOUGH_ALLOWED = "served though denied", "refused though allowed"
# By default, gates accept a token for so long after its expiry. The time of a row can be that of the response.
SKEW = timedelta(minutes=1)
# The text on the page.
RULE = (
    f"A status below 300 counts as served, and so does {NOT_MODIFIED}. Other statuses below 400 are redirects, for example "
    "to a login; they are counted separately, "
    f"as neither served nor refused. {', '.join(str(status) for status in REFUSALS if status not in ERRORS)} count as refused, and so do "
    f"{' and '.join(map(str, ERRORS))} if the policy denies the call. If it allows the call, these might mean a missing object or an invalid body, "
    "so they count as neither, like any other status. A public route’s own refusal, for example of a wrong password, also counts as neither"
)


def served(status: Any, is_allowed: Any, reason: Any) -> Any:
    """Classifies statuses of calls that the policy allows or denies for a reason: `served`, `redirected`, `refused`, `unclear`,
    or null without a status.
    """
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    is_refused = pc.is_in(status, pa.array(REFUSALS, pa.int64()))
    is_error = pc.and_(pc.is_in(status, pa.array(ERRORS, pa.int64())), is_allowed.fill_null(False))
    # The policy lets a call to a public route in without a token, but the route might ask for a password.
    is_own = pc.equal(reason, Reason.PUBLIC_ROUTE.value).fill_null(False)
    is_refused = pc.and_not(pc.and_not(is_refused, is_error), is_own)
    is_redirected = pc.and_(pc.greater_equal(status, 300), pc.not_equal(status, NOT_MODIFIED))
    below = pc.if_else(is_redirected, REDIRECTED, SERVED)
    response = pc.if_else(pc.less(status, 400), below, pc.if_else(is_refused, REFUSED, UNCLEAR))
    return pc.if_else(pc.is_valid(status), response, None)


def past_expiry(calls: Any, by: timedelta) -> Any:
    """Flags for calls at more than `by` after the expiry of their token."""
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    if "token_expires" not in calls.column_names:
        return pa.repeat(False, calls.num_rows)
    time = calls["time"]
    return pc.greater(time, pc.add(calls["token_expires"].cast(time.type), by)).fill_null(False)


def is_expired_token(calls: Any) -> Any:
    """Flags for calls that the server refused for their token although it was once valid: it expires within a minute, or has expired."""
    pc = needs("pyarrow.compute", "logs")
    return pc.and_(pc.equal(calls["served_status"], Reason.INVALID_TOKEN.status).fill_null(False), past_expiry(calls, -SKEW))


def is_refused_token(calls: Any, decided: Any) -> Any:
    """The same, and calls that were refused with 401 whose token the log shows without scopes, as of one that was revoked."""
    pc = needs("pyarrow.compute", "logs")
    is_bare = pc.and_(pc.is_valid(calls["kind"]), pc.equal(pc.binary_length(calls["scopes"].fill_null(b"")), 0)).fill_null(False)
    is_refused = pc.equal(calls["served_status"], Reason.INVALID_TOKEN.status).fill_null(False)
    return pc.or_(is_expired_token(calls), pc.and_not(pc.and_(is_refused, is_bare), is_old_login(calls, decided)))


def is_old_login(calls: Any, decided: Any) -> Any:
    """Flags for calls with a valid token that were refused with 401 because their route wants a scope that a newer or stronger login gives."""
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    is_refused = pc.equal(calls["served_status"], Reason.INSUFFICIENT_USER_AUTHENTICATION.status)
    is_lacking = pc.and_(is_refused, pc.equal(decided["reason"], Reason.SCOPE_MISSING.value)).fill_null(False)
    # The scope that owns the route, or the alternatives that the route needs, as JSON.
    needed = pc.coalesce(decided["needs"], decided["scope"])
    every = pc.unique(needed.filter(is_lacking)).drop_null().to_pylist()
    return pc.and_(is_lacking, pc.is_in(needed, pa.array([one for one in every if any(map(is_earned, _scopes(one)))], pa.string())))


def _scopes(needed: str) -> list[str]:
    """The scopes in a scope's name, or in alternatives as JSON."""
    return [scope for one in json.loads(needed) for scope in one] if needed.startswith("[") else [needed]


def is_preflight(calls: Any, position: Any) -> Any:
    """Flags for OPTIONS without a token, of a path for which the policy has no such method. `position` is the route or path of each call. A
    server can answer preflights of any path before it looks for a route.
    """
    pc = needs("pyarrow.compute", "logs")
    is_options = pc.and_(pc.equal(calls["method"], b"OPTIONS"), pc.is_null(calls["kind"]))
    return pc.and_(is_options, pc.or_(pc.is_null(position), pc.starts_with(position, "/").fill_null(False))).fill_null(False)


def mismatch(response: Any, is_allowed: Any) -> Any:
    """The kind of mismatch between server and policy for each call; null if they agree."""
    pc = needs("pyarrow.compute", "logs")
    denied = pc.and_(pc.equal(response, SERVED), pc.invert(is_allowed))
    allowed = pc.and_(pc.equal(response, REFUSED), is_allowed)
    return pc.if_else(denied.fill_null(False), SERVED_THOUGH_DENIED, pc.if_else(allowed.fill_null(False), REFUSED_THOUGH_ALLOWED, None))


def served_though_denied(status: Any, decided: Any) -> Any:
    """Flags for calls that the server served although the policy denies them."""
    pc = needs("pyarrow.compute", "logs")
    is_allowed = pc.equal(decided["decision"], Effect.ALLOW.value)
    return pc.equal(mismatch(served(status, is_allowed, decided["reason"]), is_allowed), SERVED_THOUGH_DENIED).fill_null(False)
