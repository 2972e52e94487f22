"""What a server answered, against what the policy decides: the statuses that say that it served a call, and those that say that it refused one."""

from __future__ import annotations

from typing import Any

from .._extras import needs
from .._terms import Effect, Reason

# Of any other status, as 409 or 500, nobody knows: the server may have let the call in before it failed.
REFUSALS = tuple(sorted({reason.status for reason in Reason if reason.status is not None}))
# An absent object or a wrong body of a call that may be made: for a call that the policy allows, these say nothing of the server's own policy.
ERRORS = (400, 404)
# It answers from the client's own copy, and leads nowhere else.
NOT_MODIFIED = 304
ANSWERS = SERVED, REDIRECTED, REFUSED, UNCLEAR = "served", "redirected", "refused", "unclear"
SERVED_THOUGH_DENIED, REFUSED_THOUGH_ALLOWED = "served though denied", "refused though allowed"
# As the page says it.
RULE = (
    f"A status below 300 is served, and so is {NOT_MODIFIED}; others below 400 are redirected, as to a login, which is counted apart and is "
    f"neither; {', '.join(str(status) for status in REFUSALS if status not in ERRORS)} are refused, and so are "
    f"{' and '.join(map(str, ERRORS))} where the policy denies the call. Where it allows it, these may be an absent object or a wrong body, "
    "and say neither, as any other status"
)


def served(status: Any, is_allowed: Any) -> Any:
    """What statuses say of calls that the policy allows or denies: `served`, `redirected`, `refused`, `unclear`, null where there is none."""
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    is_refused = pc.is_in(status, pa.array(REFUSALS, pa.int64()))
    is_error = pc.and_(pc.is_in(status, pa.array(ERRORS, pa.int64())), is_allowed.fill_null(False))
    is_refused = pc.and_(is_refused, pc.invert(is_error))
    is_redirected = pc.and_(pc.greater_equal(status, 300), pc.not_equal(status, NOT_MODIFIED))
    below = pc.if_else(is_redirected, REDIRECTED, SERVED)
    said = pc.if_else(pc.less(status, 400), below, pc.if_else(is_refused, REFUSED, UNCLEAR))
    return pc.if_else(pc.is_valid(status), said, None)


def mismatch(said: Any, is_allowed: Any) -> Any:
    """Where the server did otherwise than the policy decides; null elsewhere."""
    pc = needs("pyarrow.compute", "logs")
    denied = pc.and_(pc.equal(said, SERVED), pc.invert(is_allowed))
    allowed = pc.and_(pc.equal(said, REFUSED), is_allowed)
    return pc.if_else(denied.fill_null(False), SERVED_THOUGH_DENIED, pc.if_else(allowed.fill_null(False), REFUSED_THOUGH_ALLOWED, None))


def served_though_denied(status: Any, decision: Any) -> Any:
    """Which calls the server served though they are denied."""
    pc = needs("pyarrow.compute", "logs")
    is_allowed = pc.equal(decision, Effect.ALLOW.value)
    return pc.equal(mismatch(served(status, is_allowed), is_allowed), SERVED_THOUGH_DENIED).fill_null(False)
