"""Properties that the policy must have for all requests, and the requests that refute them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings import PROPERTIES
from ..numbers import shown
from ..._number import number
from . import parts
from .parts import CODE, NAME, NUMBER, WORDS, Section

if TYPE_CHECKING:
    from ..._property import PropertyResult, Witness
    from ..proved import Properties

# A property is a line of a file that somebody wrote, and must be read to its end.
MOST_OF_A_PROPERTY = 400


def properties(found: Properties, top: int) -> Section:
    failed, count = len(found.failed), number(len(found.rows), "property", "properties")
    finding = "Proved for all requests, also for those that the log does not have: "
    finding += f"{number(len(found.rows) - failed)} of {count}. " if failed else f"all of {count}. "
    if little := len(found.rows.where(lambda row: row.warning is not None)):
        finding += f"{number(little)} of those that hold {'says' if little == 1 else 'say'} little: see why. "
    finding += "A proof decides a request for each rule of the policy that a property is about."
    if any(_is_of_one_scope(row) for row in found.rows):
        finding += " Where `apart` names no scopes, its tokens have one scope each: one with every scope may call everything."
    rows = [
        (_text(row), number(row.line), "yes" if row.holds else "no", "–" if row.rules is None else number(row.rules), _because(row))
        for row in sorted(found.rows, key=lambda row: (row.holds, row.warning is None))
    ]
    columns = {"property": CODE, "line": NUMBER, "holds": NAME, "rules looked at": NUMBER, "because": WORDS}
    tables = [parts.table(f"Properties of {shown(found.file)}", columns, rows, top, source="properties_rows")]
    against = [
        (_text(row), _token(witness), parts.call(allowed.method, allowed.target) if allowed.scope is None else f"scope {shown(allowed.scope)}", shown(allowed.rule), number(allowed.line))
        for row in found.failed
        for witness in row.witnesses
        for allowed in witness.requests
    ]
    if against:
        columns = {"property": CODE, "token": CODE, "may make the call": CODE, "by": WORDS, "policy line": NUMBER}
        tables.append(parts.table("Requests that are allowed against them", columns, against, top, source="properties_rows"))
    return Section(PROPERTIES, finding, [], tables)


def _because(row: PropertyResult) -> str:
    if row.error is not None:
        return shown(row.error, MOST_OF_A_PROPERTY)
    if row.witnesses:
        return f"{number(len(row.witnesses), 'witness', 'witnesses')} below"
    none = "no token with one scope is against it" if _is_of_one_scope(row) else "none is against it"
    return none if row.warning is None else f"warning: {row.warning}"


def _is_of_one_scope(row: PropertyResult) -> bool:
    """Whether a property is about tokens with one scope each, because it keeps calls apart and names no scopes."""
    claim, callers, *_ = [*map(str.split, row.text.split("|")), []]
    return claim == ["apart"] and callers[1:] in ([], ["*"])


def _text(row: PropertyResult) -> str:
    return shown(row.text, MOST_OF_A_PROPERTY)


def _token(witness: Witness) -> str:
    scopes = " ".join(witness.token.scopes)
    return f"{witness.token.kind} {shown(scopes, MOST_OF_A_PROPERTY) if scopes else 'without scopes'}"
