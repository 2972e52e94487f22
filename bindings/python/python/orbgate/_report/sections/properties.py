"""The section about properties: whether the policy has them for all requests, and the requests that violate them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings.words import PROPERTIES
from ..numbers import shown
from ..._number import number
from . import parts
from .parts import CODE, NAME, NUMBER, WORDS, Section

if TYPE_CHECKING:
    from ..._answers import PropertyResult, Witness
    from ..proved import Properties

# The most characters of a property, which is shown completely.
MOST_OF_A_PROPERTY = 400


def properties(proved: Properties, top: int) -> Section:
    failed, count = len(proved.failed), number(len(proved.rows), "property", "properties")
    held = len(proved.rows) - failed
    finding = f"{number(held)} of {count}" if failed else count
    finding += f" {'holds' if held == 1 else 'hold'} for all requests, including requests that the log does not contain. "
    if little := len(proved.rows.where(lambda row: row.warning is not None)):
        finding += f"{number(little)} of them {'holds' if little == 1 else 'hold'} trivially; the table shows the reason. "
    finding += "A proof decides a request for each rule of the policy that the property applies to."
    if any(_is_of_one_scope(row) for row in proved.rows):
        finding += " If `apart` names no scopes, it is checked for tokens with one scope each, because a token with every scope may call everything."
    rows = [
        (_text(row), number(row.line), "yes" if row.holds else "no", "–" if row.rules is None else number(row.rules), _because(row))
        for row in sorted(proved.rows, key=lambda row: (row.holds, row.warning is None))
    ]
    columns = {"property": CODE, "line": NUMBER, "holds": NAME, "rules checked": NUMBER, "because": WORDS}
    tables = [parts.table(f"Properties of {shown(proved.file)}", columns, rows, top, source="properties_rows")]
    against = [
        (
            _text(row),
            _token(witness),
            parts.call(allowed.method, allowed.target) if allowed.scope is None else f"scope {shown(allowed.scope)}",
            shown(allowed.rule),
            number(allowed.line),
        )
        for row in proved.failed
        for witness in row.witnesses
        for allowed in witness.requests
    ]
    if against:
        columns = {"property": CODE, "token": CODE, "allowed call": CODE, "rule": WORDS, "policy line": NUMBER}
        tables.append(parts.table("Allowed requests that violate properties", columns, against, top, source="properties_rows"))
    return Section(PROPERTIES, finding, [], tables)


def _because(row: PropertyResult) -> str:
    if row.error is not None:
        return shown(row.error, MOST_OF_A_PROPERTY)
    if row.witnesses:
        return f"{number(len(row.witnesses), 'witness', 'witnesses')} below"
    none = "no token with one scope violates it" if _is_of_one_scope(row) else "no request violates it"
    return none if row.warning is None else f"warning: {row.warning}"


def _is_of_one_scope(row: PropertyResult) -> bool:
    """Whether a property is checked for tokens with one scope each, because it is `apart` without scopes."""
    claim, callers, *_ = [*map(str.split, row.text.split("|")), []]
    return claim == ["apart"] and callers[1:] in ([], ["*"])


def _text(row: PropertyResult) -> str:
    return shown(row.text, MOST_OF_A_PROPERTY)


def _token(witness: Witness) -> str:
    scopes = " ".join(witness.token.scopes)
    return f"{witness.token.kind} {shown(scopes, MOST_OF_A_PROPERTY) if scopes else 'without scopes'}"
