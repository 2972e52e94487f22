"""Renders the page of a report."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from .._count.served import REFUSED_THOUGH_ALLOWED, SERVED_THOUGH_DENIED
from .._count.text import NO_CALLER, argument
from .._native import VERSION
from .._number import number
from .._read.private import RULE
from .denials import RULES, SEVERAL
from .failures import ALL
from .findings import checked, nothing
from .findings.server import responses
from .findings.words import one
from .numbers import TOP, bound, period, share, shown
from .sections import sections
from .sections.parts import anchor

if TYPE_CHECKING:
    from .._policy import Policy
    from .figures import Figures, LogFile
    from .proved import Properties


# The most files that are visible at first, and the most files that the page names.
FIRST_FILES, MOST_FILES = 10, 400
# The most findings that are visible at first.
FIRST_FINDINGS = 5
# The most characters of an option. Only absurd column names are longer.
MOST_OF_AN_OPTION = 2_000
# The most characters of a warning, which can name a column of any length.
MOST_OF_A_WARNING = 400


# Code of up to this many characters is never broken: `wide` in the template.
SHORT = 20
LONG, LONG_WORD = re.compile(r"\d{1,3}(?:,\d{3}){3,}"), re.compile(r"\b\w{17,}")


class Tile(NamedTuple):
    """A figure of the summary."""

    name: str
    figure: str
    note: str


def render(found: Figures, policy: Policy, title: str, top: int) -> str:
    """The page, which is complete in itself: no scripts, no other files, no network."""
    environment = Environment(
        loader=PackageLoader("orbgate._report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["parts"] = _parts
    style = (files(__package__) / "page.css").read_text("utf-8")
    # A log can contain anything, so the page can load or run nothing but this style.
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return environment.get_template("page.html").render(
        title=title,
        style=Markup(style),
        security=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        policy=policy,
        policy_name=shown(policy.name or "without a name"),
        routes=number(len(policy.routes()), "route"),
        period=period(found.times.first, found.times.last) + (f", and {number(found.outlying_calls, 'call')} far outside" if found.times.outlying else ""),
        files=_files(found.log.files[:FIRST_FILES]),
        folded=_files(found.log.files[FIRST_FILES:MOST_FILES]),
        folded_rows=_row_range(found.log.files[FIRST_FILES:MOST_FILES]),
        more_files=max(0, len(found.log.files) - MOST_FILES),
        more_rows=_row_range(found.log.files[MOST_FILES:]),
        options=_options(found, top),
        changes=found.changes,
        base_name=shown(found.changes.base_name or "without a name") if found.changes else "",
        findings=found.findings[:FIRST_FINDINGS],
        more_findings=found.findings[FIRST_FINDINGS:],
        nothing=nothing(found),
        checked=[] if found.findings else checked(found),
        lacks=responses(found) if found.calls and not found.served.calls else "",
        calls=number(found.calls, "call"),
        anchor=anchor,
        properties=found.properties,
        properties_name=shown(found.properties.file) if found.properties else "",
        warnings=[shown(said, MOST_OF_A_WARNING) for said in found.log.warnings],
        version=VERSION,
        private=RULE,
        tiles=[tile._replace(figure=_breakable(tile.figure), note=_breakable(tile.note)) for tile in _tiles(found)],
        sections=sections(found, policy, top),
    )


def _files(files: Sequence[LogFile]) -> list[tuple[str, str | None, str]]:
    """The files with their digests and rows."""
    return [(shown(file.name), file.sha256, _row_range([file])) for file in files]


def _row_range(files: Sequence[LogFile]) -> str:
    """The rows of the log that the files contain."""
    rows = [row for file in files for row in (file.first_row, file.last_row) if row is not None]
    if not rows:
        return "no rows"
    return f"row {number(rows[0])}" if rows[0] == rows[-1] else f"rows {number(rows[0])} to {number(rows[-1])}"


def _options(found: Figures, top: int) -> list[str]:
    """The options of the report, complete, so that they can be used again."""
    given = {**found.log.arguments, "top": None if top == TOP else top}
    said = []
    for name, value in given.items():
        if isinstance(value, dict):
            said += [f"column {column}={of_log}" for column, of_log in value.items()]
        elif value is not None:
            said.append(f"{name}={argument(value)}")
    return [shown(option, MOST_OF_AN_OPTION) for option in said]


def _parts(code: str) -> Markup:
    """A long route or target that can break after each `/`, but not inside a word."""
    return Markup(escape(code).replace("/", Markup("/<wbr>"))) if len(code) > SHORT else escape(code)


def _breakable(text: str) -> Markup:
    """A text of a tile in which long numbers can break after a comma, and long reasons after a `_`."""
    whole = LONG.sub(lambda number: number[0].replace(",", ",<wbr>"), escape(text))
    return Markup(LONG_WORD.sub(lambda word: word[0].replace("_", "_<wbr>"), whole))


def _tiles(found: Figures) -> Sequence[Tile]:
    of_rows = f"and {number(found.log.unread, 'unread row')}" if found.log.unread else "in the log"
    calls = Tile("Calls", number(found.calls), of_rows)
    if not found.calls:
        return (calls, *_proved(found.properties))
    orbs = f"{share(found.consuming, found.calls)} of all"
    if found.served.calls and found.consuming:
        orbs += f", of which the server served {number(found.orbs.total.served_calls)}"
    if found.amount:
        served = f", of which served {number(found.orbs.total.served_orbs)}" if found.served.calls else ""
        orbs = f"would be charged {number(found.amount, 'orb')}{served}"
        orbs += f", {number(found.without_amount, 'call')} with no price stated" if found.without_amount else ""
    unused, about = len(found.unused), f"scopes of the {number(len(found.scopes.granted))} granted"
    if found.callers.counts:
        unused, about = len(found.unused_by_caller), f"pairs of caller and scope; {number(unused, 'scope')} {'is' if unused == 1 else 'are'} never used"
    denied = sum(caller.denied > 0 for caller in found.callers.counts)
    callers = "the log names no callers"
    if found.callers.counts:
        callers = f"{bound(denied, found.callers.is_exact)} with denied calls"
    # Unreadable rows have no decision.
    whole = "readable calls" if found.log.unread else "all"
    first, *others = [f"{number(row.calls)} {row.reason}" for row in found.denied_for] or [""]
    # A tile's note makes its whole row as high.
    reasons = f"{first}, {number(found.denied - found.denied_for[0].calls)} for {number(len(others), 'other reason')}" if len(others) > 1 else ", ".join([first, *others])
    return (
        calls,
        Tile("Allowed", number(found.allowed), f"{share(found.allowed, found.calls)} of {whole}"),
        Tile("Denied", number(found.denied), f"{share(found.denied, found.calls)} of {whole}{': ' if found.denied else ''}{reasons}"),
        *_otherwise(found),
        *_changed(found),
        Tile("Consume orbs", number(found.consuming), orbs),
        Tile("Unused grants", bound(unused, found.scopes.by_caller_is_exact), about),
        Tile("Missing scopes", number(len(found.scopes.missing)), "in denied calls"),
        Tile("Unknown scopes", bound(found.unknown.different, found.unknown.is_exact), "in valid tokens, not in the policy"),
        _without_token(found),
        Tile("Callers", bound(found.callers.different, found.callers.is_exact), callers),
        *_flagged(found),
        *_proved(found.properties),
    )


def _without_token(found: Figures) -> Tile:
    """Calls without a token, and calls with a token of unknown kind."""
    malformed, invalid = found.unauthenticated.malformed_without_token, found.unauthenticated.malformed_with_invalid_token
    note = f"{share(found.without_token, found.calls)} of all{f', {number(malformed)} of them malformed' if malformed else ''}"
    if found.with_invalid_token:
        note += f"; {number(found.with_invalid_token)} ({share(found.with_invalid_token, found.calls)}) with a token of unknown kind"
        note += f", {number(invalid)} of them malformed" if invalid else ""
    return Tile("Without a token", number(found.without_token), note)


def _otherwise(found: Figures) -> Sequence[Tile]:
    """Mismatches between server and policy, if the log has statuses."""
    if not found.served.calls:
        return []
    served, refused = found.served.of(SERVED_THOUGH_DENIED), found.served.of(REFUSED_THOUGH_ALLOWED)
    apart = f"; {number(found.served.redirected)} redirected, not counted here" if found.served.redirected else ""
    return [Tile("Server/policy mismatches", number(served + refused), f"{number(served)} served but denied by the policy; {number(refused)} rejected but allowed{apart}")]


def _changed(found: Figures) -> Sequence[Tile]:
    changes = found.changes
    if changes is None:
        return []
    others = f", {number(changes.otherwise_charged)} with other orbs" if changes.otherwise_charged else ""
    others += f", {number(changes.otherwise_denied)} denied for another reason" if changes.otherwise_denied else ""
    return [Tile("Changed decisions", number(changes.calls), f"against the other policy: {number(changes.newly_allowed)} only allowed here, {number(changes.newly_denied)} only denied here{others}")]


def _flagged(found: Figures) -> Sequence[Tile]:
    """The callers whose denied calls look like those of a probe or of a misconfigured or stale client."""
    if not found.denied and not found.denials.failures:
        return []
    failures = found.denials.failures
    signs = {(row.looks_like, row.caller) for rows in (found.denials.groups, failures.where(lambda row: row.counted != ALL)) for row in rows if row.looks_like is not None}
    # A client has a group for each scope that it lacks. Calls without a caller are not counted, because they might come from many callers.
    clients = Counter(what for what, caller in signs if caller is not None)
    said = [number(clients[what], what, SEVERAL[what]) for what in RULES if clients[what]]
    said += [f"{one(what)}, {NO_CALLER}" for what in RULES if (what, None) in signs]
    # No single one of their callers stands out.
    said += [f"{one(row.looks_like)} of many callers" for row in failures if row.counted == ALL]
    named = len({caller for _, caller in signs if caller is not None})
    figure = "unnamed" if said and not named else bound(named, found.denials.is_exact)
    return [Tile("Flagged callers", figure, ", ".join(said) or "no group of denied calls looks like a probe or a misconfigured client")]


def _proved(found: Properties | None) -> Sequence[Tile]:
    if found is None:
        return []
    held = len(found.rows) - len(found.failed)
    return [Tile("Properties", f"{number(held)} of {number(len(found.rows))}", "hold for all requests")]
