"""Renders the page of a report."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
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
    from .accepted import Acceptance
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


def render(figures: Figures, policy: Policy, title: str, top: int) -> str:
    """The page, which is complete in itself: no scripts, no other files, no network."""
    style = (files(__package__) / "page.css").read_text("utf-8")
    # A log can contain anything, so the page can load or run nothing but this style.
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return _template().render(
        title=title,
        style=Markup(style),
        security=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        policy=policy,
        policy_name=shown(policy.name or "without a name"),
        routes=number(len(policy.routes()), "route"),
        period=period(figures.times.first, figures.times.last)
        + (f", and {number(figures.outlying_calls, 'call')} far outside" if figures.times.outlying else ""),
        files=_files(figures.log.files[:FIRST_FILES]),
        folded=_files(figures.log.files[FIRST_FILES:MOST_FILES]),
        folded_rows=_row_range(figures.log.files[FIRST_FILES:MOST_FILES]),
        more_files=max(0, len(figures.log.files) - MOST_FILES),
        more_rows=_row_range(figures.log.files[MOST_FILES:]),
        options=_options(figures, top),
        changes=figures.changes,
        base_name=shown(figures.changes.base_name or "without a name") if figures.changes else "",
        findings=figures.findings[:FIRST_FINDINGS],
        more_findings=figures.findings[FIRST_FINDINGS:],
        facts=figures.facts,
        accepted=[_accepted(row) for row in figures.accepted],
        nothing=nothing(figures),
        checked=[] if figures.findings else checked(figures),
        lacks=responses(figures) if figures.calls and not figures.served.calls else "",
        calls=number(figures.calls, "call"),
        anchor=anchor,
        properties=figures.properties,
        properties_name=shown(figures.properties.file) if figures.properties else "",
        warnings=[shown(warning, MOST_OF_A_WARNING) for warning in figures.log.warnings],
        version=VERSION,
        private=RULE,
        tiles=[tile._replace(figure=_breakable(tile.figure), note=_breakable(tile.note)) for tile in _tiles(figures)],
        sections=sections(figures, policy, top),
    )


def _compiled() -> Template:
    environment = Environment(
        loader=PackageLoader("orbgate._report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["parts"] = _parts
    return environment.get_template("page.html")


# Compiled once, when it is needed. Not a decorator: the type checker's stubs and the function would differ.
_template = cache(_compiled)


def _accepted(row: Acceptance) -> str:
    """An acceptance, in words."""
    use = "accepted, and left out above" if row.is_used else "not in this log" if row.is_valid else "no longer accepted"
    return f"{row.finding} of {shown(row.subject)}, until {row.until}: {use}. Reason: {shown(row.reason, MOST_OF_A_WARNING)}"


def _files(files: Sequence[LogFile]) -> list[tuple[str, str | None, str]]:
    """The files with their digests and rows."""
    return [(shown(file.name), file.sha256, _row_range([file])) for file in files]


def _row_range(files: Sequence[LogFile]) -> str:
    """The rows of the log that the files contain."""
    rows = [row for file in files for row in (file.first_row, file.last_row) if row is not None]
    if not rows:
        return "no rows"
    return f"row {number(rows[0])}" if rows[0] == rows[-1] else f"rows {number(rows[0])} to {number(rows[-1])}"


def _options(figures: Figures, top: int) -> list[str]:
    """The options of the report, complete, so that they can be used again."""
    given = {**figures.log.arguments, "top": None if top == TOP else top}
    options = []
    for name, value in given.items():
        if isinstance(value, dict):
            options += [f"column {column}={of_log}" for column, of_log in value.items()]
        elif value is not None:
            options.append(f"{name}={argument(value)}")
    return [shown(option, MOST_OF_AN_OPTION) for option in options]


def _parts(code: str) -> Markup:
    """A long route or target that can break after each `/`, but not inside a word."""
    return Markup(escape(code).replace("/", Markup("/<wbr>"))) if len(code) > SHORT else escape(code)


def _breakable(text: str) -> Markup:
    """A text of a tile in which long numbers can break after a comma, and long reasons after a `_`."""
    whole = LONG.sub(lambda number: number[0].replace(",", ",<wbr>"), escape(text))
    return Markup(LONG_WORD.sub(lambda word: word[0].replace("_", "_<wbr>"), whole))


def _tiles(figures: Figures) -> Sequence[Tile]:
    of_rows = f"and {number(figures.log.unread, 'unread row')}" if figures.log.unread else "in the log"
    calls = Tile("Calls", number(figures.calls), of_rows)
    if not figures.calls:
        return (calls, *_proved(figures.properties))
    orbs = f"{share(figures.consuming, figures.calls)} of all"
    if figures.served.calls and figures.consuming:
        orbs += f", of which the server served {number(figures.orbs.total.served_calls)}"
    if figures.amount:
        served = f", of which served {number(figures.orbs.total.served_orbs)}" if figures.served.calls else ""
        orbs = f"would be charged {number(figures.amount, 'orb')}{served}"
        orbs += f", {number(figures.without_amount, 'call')} with no price stated" if figures.without_amount else ""
    unused, about = len(figures.unused), f"scopes of the {number(len(figures.scopes.granted))} granted"
    if figures.callers.counts:
        unused, about = len(figures.unused_by_caller), f"pairs of caller and scope; {number(unused, 'scope')} {'is' if unused == 1 else 'are'} never used"
    denied = sum(caller.denied > 0 for caller in figures.callers.counts)
    callers = "the log names no callers"
    if figures.callers.counts:
        callers = f"{bound(denied, figures.callers.is_exact)} with denied calls"
    # Unreadable rows have no decision.
    whole = "readable calls" if figures.log.unread else "all"
    first, *others = [f"{number(row.calls)} {row.reason}" for row in figures.denied_for] or [""]
    # A tile's note makes its whole row as high.
    reasons = (
        f"{first}, {number(figures.denied - figures.denied_for[0].calls)} for {number(len(others), 'other reason')}"
        if len(others) > 1
        else ", ".join([first, *others])
    )
    return (
        calls,
        Tile("Allowed", number(figures.allowed), f"{share(figures.allowed, figures.calls)} of {whole}"),
        Tile("Denied", number(figures.denied), f"{share(figures.denied, figures.calls)} of {whole}{': ' if figures.denied else ''}{reasons}"),
        *_otherwise(figures),
        *_changed(figures),
        Tile("Consume orbs", number(figures.consuming), orbs),
        Tile("Unused grants", bound(unused, figures.scopes.by_caller_is_exact), about),
        Tile("Missing scopes", number(len(figures.scopes.missing)), "in denied calls"),
        Tile("Unknown scopes", bound(figures.unknown.different, figures.unknown.is_exact), "in valid tokens, not in the policy"),
        _without_token(figures),
        Tile("Callers", bound(figures.callers.different, figures.callers.is_exact), callers),
        *_flagged(figures),
        *_proved(figures.properties),
    )


def _without_token(figures: Figures) -> Tile:
    """Calls without a token, and calls with a token of unknown kind."""
    malformed, invalid = figures.unauthenticated.malformed_without_token, figures.unauthenticated.malformed_with_invalid_token
    note = f"{share(figures.without_token, figures.calls)} of all{f', {number(malformed)} of them malformed' if malformed else ''}"
    if figures.with_invalid_token:
        note += f"; {number(figures.with_invalid_token)} ({share(figures.with_invalid_token, figures.calls)}) with a token of unknown kind"
        note += f", {number(invalid)} of them malformed" if invalid else ""
    return Tile("Without a token", number(figures.without_token), note)


def _otherwise(figures: Figures) -> Sequence[Tile]:
    """Mismatches between server and policy, if the log has statuses."""
    if not figures.served.calls:
        return []
    served, refused = figures.served.of(SERVED_THOUGH_DENIED), figures.served.of(REFUSED_THOUGH_ALLOWED)
    apart = f"; {number(figures.served.redirected)} redirected, not counted here" if figures.served.redirected else ""
    return [
        Tile(
            "Server/policy mismatches",
            number(served + refused),
            f"{number(served)} served but denied by the policy; {number(refused)} rejected but allowed{apart}",
        )
    ]


def _changed(figures: Figures) -> Sequence[Tile]:
    changes = figures.changes
    if changes is None:
        return []
    others = f", {number(changes.otherwise_charged)} with other orbs" if changes.otherwise_charged else ""
    others += f", {number(changes.otherwise_denied)} denied for another reason" if changes.otherwise_denied else ""
    return [
        Tile(
            "Changed decisions",
            number(changes.calls),
            f"against the other policy: {number(changes.newly_allowed)} only allowed here, {number(changes.newly_denied)} only denied here{others}",
        )
    ]


def _flagged(figures: Figures) -> Sequence[Tile]:
    """The callers whose denied calls look like those of a probe or of a misconfigured or stale client."""
    if not figures.denied and not figures.denials.failures:
        return []
    failures = figures.denials.failures
    signs = {
        (row.looks_like, row.caller)
        for rows in (figures.denials.groups, failures.where(lambda row: row.counted != ALL))
        for row in rows
        if row.looks_like is not None
    }
    # A client has a group for each scope that it lacks. Calls without a caller are not counted, because they might come from many callers.
    clients = Counter(what for what, caller in signs if caller is not None)
    notes = [number(clients[what], what, SEVERAL[what]) for what in RULES if clients[what]]
    notes += [f"{one(what)}, {NO_CALLER}" for what in RULES if (what, None) in signs]
    # No single one of their callers stands out.
    notes += [f"{one(row.looks_like)} of many callers" for row in failures if row.counted == ALL]
    named = len({caller for _, caller in signs if caller is not None})
    figure = "unnamed" if notes and not named else bound(named, figures.denials.is_exact)
    return [Tile("Flagged callers", figure, ", ".join(notes) or "no group of denied calls looks like a probe or a misconfigured client")]


def _proved(proved: Properties | None) -> Sequence[Tile]:
    if proved is None:
        return []
    held = len(proved.rows) - len(proved.failed)
    return [Tile("Properties", f"{number(held)} of {number(len(proved.rows))}", "hold for all requests")]
