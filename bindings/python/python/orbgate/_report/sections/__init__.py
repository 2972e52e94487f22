"""The sections of a report, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..findings import NO_CALLS, UNREAD
from ..numbers import shown
from ..._number import number
from . import callers, calls, denials, orbs, parts, properties, scopes
from .parts import NUMBER, WORDS, Section

if TYPE_CHECKING:
    from ..._policy import Policy
    from ..figures import Figures


def sections(found: Figures, policy: Policy, top: int) -> Sequence[Section]:
    """The sections, in their order; each table has at most `top` rows."""
    unread = [_unread(found, top)] if found.log.unread or found.log.broken else []
    if not found.calls:
        nothing = "The log has no calls, so the report has no charts or tables."
        return [*unread, Section(NO_CALLS, nothing, [], []), *_proved(found, top)]
    # Sections without tables are combined.
    made = _sections(found, policy, top)
    rest = [(section.name, section.finding) for section in made if not section.tables]
    return [*unread, *(section for section in made if section.tables), *([Section("No findings", "", [], [], rest)] if rest else [])]


def _sections(found: Figures, policy: Policy, top: int) -> Sequence[Section]:
    return [
        *([calls.served(found, top)] if found.served.calls else []),
        *([] if found.changes is None else [calls.changes(found.changes, found.calls, policy.name, top)]),
        *_proved(found, top),
        calls.reasons(found, top),
        calls.routes(found, policy, top),
        calls.times(found, top),
        orbs.orbs(found, top),
        scopes.unused(found, policy, top),
        scopes.unknown(found, policy, top),
        scopes.missing(found, top),
        scopes.probed(found, top),
        callers.callers(found, top),
        denials.told_apart(found, top),
    ]


def _proved(found: Figures, top: int) -> Sequence[Section]:
    return [] if found.properties is None else [properties.properties(found.properties, top)]


def _unread(found: Figures, top: int) -> Section:
    finding = f"{number(found.log.unread, 'row')} could not be read, so {'it was' if found.log.unread == 1 else 'they were'} not decided and not counted below."
    if found.log.broken:
        finding += f" After the rows that were read, the log breaks off: {shown(found.log.broken)}."
    rows = [
        (number(kind.rows), shown(kind.why), ", ".join([*map(number, kind.first), *(["…"] if kind.rows > len(kind.first) else [])]))
        for kind in found.log.unread_by_reason
    ]
    first = "first rows (across files)" if len(found.log.files) > 1 else "first rows"
    columns = {"rows": NUMBER, "error in the first row": WORDS, first: WORDS}
    table = parts.table("Rows that could not be read, by reason", columns, rows, top, source="log_unread_by_reason")
    return Section(UNREAD, finding, [], [table] if rows else [])
