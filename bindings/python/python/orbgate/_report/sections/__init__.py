"""The sections of a report, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..findings.words import NO_CALLS, SIGNS, TOKENS, UNREAD
from ..numbers import bound, shown
from ..._number import number
from . import callers, calls, denials, orbs, parts, properties, scopes
from .parts import CODE, NAME, NUMBER, WORDS, Section

if TYPE_CHECKING:
    from ..._policy import Policy
    from ..figures import Figures


def sections(figures: Figures, policy: Policy, top: int) -> Sequence[Section]:
    """The sections, in their order; each table has at most `top` rows."""
    unread = [_unread(figures, top)] if figures.log.unread or figures.log.broken else []
    if not figures.calls:
        nothing = "The log has no calls, so the report has no charts or tables."
        return [*unread, Section(NO_CALLS, nothing, [], []), *_proved(figures, top)]
    # Sections without tables are combined.
    made = _sections(figures, policy, top)
    rest = [(section.name, section.finding) for section in made if not section.tables]
    return [*unread, *(section for section in made if section.tables), *([Section("No findings", "", [], [], rest)] if rest else [])]


def _sections(figures: Figures, policy: Policy, top: int) -> Sequence[Section]:
    return [
        *([calls.served(figures, top)] if figures.served.calls else []),
        *([] if figures.changes is None else [calls.changes(figures.changes, figures.calls, policy.name, top)]),
        *_proved(figures, top),
        calls.reasons(figures, top),
        calls.routes(figures, policy, top),
        calls.times(figures, top),
        orbs.orbs(figures, top),
        scopes.unused(figures, policy, top),
        scopes.unknown(figures, policy, top),
        scopes.missing(figures, top),
        scopes.probed(figures, top),
        callers.callers(figures, top),
        *_tokens(figures, top),
        _signs(figures, top),
        denials.told_apart(figures, top),
    ]


def _proved(figures: Figures, top: int) -> Sequence[Section]:
    return [] if figures.properties is None else [properties.properties(figures.properties, top)]


def _tokens(figures: Figures, top: int) -> Sequence[Section]:
    uses = figures.tokens.uses
    if not uses:
        return []
    rows = [
        (row.token, row.what, parts.some([*map(shown, row.clients)]), parts.some([*map(shown, row.networks)]), number(row.calls), number(row.row))
        for row in uses[:top]
    ]
    columns = {"token": CODE, "what": WORDS, "clients": CODE, "networks": CODE, "calls": NUMBER, "first row": NUMBER}
    finding = (
        f"{bound(len({row.token for row in uses}), figures.tokens.is_exact, 'token')} {'is' if len(uses) == 1 else 'are'} used "
        "in a suspicious way. Only fingerprints are shown."
    )
    return [Section(TOKENS, finding, [], [parts.table("Tokens used in a suspicious way", columns, rows, top, len(uses), "tokens_uses")])]


def _signs(figures: Figures, top: int) -> Section:
    """The signs, the checks that need more columns, and the numbers that findings depend on."""
    found, thresholds = figures.signs.signs, figures.signs.thresholds
    rows = [(row.level, row.kind.replace("_", " "), shown(row.subject), bound(row.affected, row.is_exact), row.sentence) for row in found[:top]]
    values = [f"{100 * row.value:g}% {row.unit}" if row.unit.startswith("of ") else f"{row.value:,g} {row.unit}" for row in thresholds]
    by_finding: dict[str, list[str]] = {}
    for row, value in zip(thresholds, values):
        by_finding.setdefault(row.findings.replace("_", " "), []).append(f"{value}: {row.name} ({row.healthy})")
    limits = [(name, "; ".join(of)) for name, of in by_finding.items()]
    signs = parts.table("Signs", {"level": NAME, "kind": NAME, "about": WORDS, "calls": NUMBER, "what": WORDS}, rows, top, len(found), "signs_signs")
    numbers = parts.table(
        "Numbers that these findings depend on, and the healthy log that fixed each",
        {"finding": NAME, "numbers": WORDS},
        limits,
        len(limits),
        len(limits),
        "signs_thresholds",
    )
    nothing = "No sign that the log is incomplete, that anything is new, or that objects, addresses or tokens are tried."
    finding = f"{number(len(found), 'sign')} in the counts of the whole log." if found else nothing
    return Section(SIGNS, " ".join([finding, *figures.signs.not_made]), [], [*([signs] if rows else []), numbers._replace(is_folded=True)])


def _unread(figures: Figures, top: int) -> Section:
    finding = (
        f"{number(figures.log.unread, 'row')} could not be read, so {'it was' if figures.log.unread == 1 else 'they were'} not decided and not counted below."
    )
    if figures.log.broken:
        finding += f" After the rows that were read, the log breaks off: {shown(figures.log.broken)}."
    rows = [
        (number(kind.rows), shown(kind.why), ", ".join([*map(number, kind.first), *(["…"] if kind.rows > len(kind.first) else [])]))
        for kind in figures.log.unread_by_reason
    ]
    first = "first rows (across files)" if len(figures.log.files) > 1 else "first rows"
    columns = {"rows": NUMBER, "error in the first row": WORDS, first: WORDS}
    table = parts.table("Rows that could not be read, by reason", columns, rows, top, source="log_unread_by_reason")
    return Section(UNREAD, finding, [], [table] if rows else [])
