"""The sections of a report, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..findings.words import NO_CALLS, TOKENS, UNREAD
from ..numbers import bound, shown
from ..._number import number
from . import callers, calls, denials, orbs, parts, properties, scopes
from .parts import CODE, NUMBER, WORDS, Section

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
        *_tokens(found, top),
        denials.told_apart(found, top),
    ]


def _proved(found: Figures, top: int) -> Sequence[Section]:
    return [] if found.properties is None else [properties.properties(found.properties, top)]


def _tokens(found: Figures, top: int) -> Sequence[Section]:
    uses = found.tokens.uses
    if not uses:
        return []
    rows = [(row.token, row.what, parts.some([*map(shown, row.clients)]), parts.some([*map(shown, row.networks)]), number(row.calls), number(row.row)) for row in uses[:top]]
    columns = {"token": CODE, "what": WORDS, "clients": CODE, "networks": CODE, "calls": NUMBER, "first row": NUMBER}
    finding = f"{bound(len({row.token for row in uses}), found.tokens.is_exact, 'token')} {'is' if len(uses) == 1 else 'are'} used in a suspicious way. Only fingerprints are shown."
    return [Section(TOKENS, finding, [], [parts.table("Tokens used in a suspicious way", columns, rows, top, len(uses), "tokens_uses")])]


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
