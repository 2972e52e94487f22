"""What the files of findings share: the sections with the details, and words for calls and callers."""

from __future__ import annotations

from collections.abc import Sequence

from ..._count.text import NO_CALLER
from ..._number import number
from ..denials import SEVERAL
from ..numbers import bound, shown

# The most further callers that a finding names, and the most pairs of route and caller, or callers with their calls.
MOST_NAMES, MOST_PAIRS = 5, 3
# The most characters of the names in a finding about an outage.
MOST_OF_NAMES = 200
# The sections with the details.
SERVER, CAUSES, CHANGED, UNREAD, WARNINGS = (
    "Server responses and policy decisions",
    "Likely causes of denials",
    "Changes against the other policy",
    "Unread rows",
    "Warnings",
)
PROPERTIES, UNUSED, UNKNOWN, NO_CALLS, ORBS, ROUTES, TOKENS = "Properties", "Unused grants", "Unknown scopes", "No calls", "Orbs", "Routes", "Tokens"
SIGNS = "Signs"


def who(caller: str | None) -> str:
    return NO_CALLER if caller is None else shown(caller)


def named(callers: Sequence[str | None]) -> str:
    """Further callers, at most a few of them."""
    more = [f"{number(len(callers) - MOST_NAMES)} more"] if len(callers) > MOST_NAMES else []
    return ", ".join([*map(who, callers[:MOST_NAMES]), *more])


def one(what: str) -> str:
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"


def look_like(rows: Sequence[object], is_exact: bool, what: str) -> str:
    return f"{bound(len(rows), is_exact, 'caller')} {f'looks like {one(what)}' if len(rows) == 1 else f'look like {SEVERAL[what]}, for example'}"


def were(count: int) -> str:
    return f"{number(count, 'call')} {'was' if count == 1 else 'were'}"


def them(count: int) -> str:
    return "it" if count == 1 else "them"
