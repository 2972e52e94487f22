"""A summary as text."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from .._number import number
from .._read.input import STANDARD_INPUT
from .unread import alike

# The most routes in the text. The JSON has all of them.
SHOWN_ROUTES = 40
SHOWN_CHANGES = 40
# Marks and letters that are invisible although Python counts them as printable.
NOT_SEEN = re.compile("[\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u2800\\u3164\\ufe00-\\ufe0f\\uffa0\\U000e0100-\\U000e01ef]")
# Invisible spaces: a browser shows several as one.
SPACES = re.compile(r"\A +| +\Z|(?<= ) +")
# The name of all calls that name no caller.
NO_CALLER = "(no caller)"
# Placeholders for absent values. If the log contains such a string, it is escaped.
NOTHING = {NO_CALLER, "(no route)", "(none)", "(empty)", "–"}
WORD = re.compile(r"\S+")


def text(summary: dict[str, Any]) -> str:
    """The summary as a few tables."""
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: dict[str, Any]) -> list[str]:
    rows = summary["rows"]
    log = "standard input" if summary["log"] == STANDARD_INPUT else shown(summary["log"])
    lines = [f"{number(rows, 'row')} of {log}, under policy {summary['policy'][:19]}"]
    if summary["first_time"]:
        lines.append(f"from {summary['first_time']} to {summary['last_time']}")
    lines += [f"warning: {shown(warning)}" for warning in summary["warnings"]]
    given = {name: value for name, value in summary["arguments"].items() if value is not None and name not in ("top", "examples")}
    if given:
        lines.append(f"read with {', '.join(shown(f'{name}={argument(value)}') for name, value in given.items())}")
    lines += _table([[number(summary[name]), name] for name in ("allowed", "denied", "errors")])
    lines += _served(summary["served"])
    lines += _section("by reason", [[number(row["count"]), row["reason"]] for row in summary["reasons"]])
    lines += _routes(summary["routes"])
    lines += _orbs(summary["orbs"])
    denied = [[_count(row), row["reason"] if row["detail"] is None else f"{row['reason']}: {row['detail']}", shown(row["call"])] for row in summary["top_denied"]]
    lines += _section("denied most", denied)
    callers = [[_count(row), shown(row["caller"])] for row in summary["top_denied_callers"]]
    # They might come from many callers, so they are last regardless of their number.
    nobody = [[number(summary["denied_without_caller"]), NO_CALLER]] if callers and summary["denied_without_caller"] else []
    lines += _section("callers denied most", [*callers, *nobody])
    if "changes" in summary:
        lines += _changes(summary["changes"])
    return lines + unread_rows(summary["errors_by_reason"])


def unread_rows(kinds: list[dict[str, Any]]) -> list[str]:
    """The reasons why rows could not be read, each with its first rows."""
    rows = []
    for kind in kinds:
        (row, message), *more = [(number(first["row"]), first["message"]) for first in kind["first"]]
        # The message quotes values of the first row, which the others might not have.
        also = "also" if alike(kind) else "similar:"
        after = f"; {also} row {', '.join(row for row, _ in more)}" if more else ""
        rest = " and others" if kind["count"] > len(kind["first"]) else ""
        rows.append([number(kind["count"]), f"row {row}: {shown(message)}{after}{rest}"])
    return _section("rows that could not be read, by reason", rows)


def _served(served: dict[str, Any]) -> list[str]:
    names = ("served_though_denied", "refused_though_allowed", "served_and_allowed", "refused_and_denied", "redirected", "unclear")
    rows = [[number(served[name]), name.replace("_", " ")] for name in names]
    return _section("server responses", rows if served["calls_with_status"] else [])


def argument(value: object) -> str:
    """An argument as it was given."""
    if isinstance(value, dict):
        return " ".join(f"{column}={name}" for column, name in value.items())
    if isinstance(value, list):
        return ", ".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _count(row: dict[str, Any]) -> str:
    """A count, marked if it is a lower bound because rare items were dropped."""
    return f"{'' if row['is_exact'] else 'at least '}{number(row['count'])}"


def _routes(routes: list[dict[str, Any]]) -> list[str]:
    columns = {"calls": "calls", "allowed": "allowed", "denied": "denied", "consuming": "consuming"}
    columns |= {"orbs": "stated_amount", "unstated": "calls_without_stated_amount"}
    rows = [[*(number(row[name]) for name in columns.values()), _route(row["route"])] for row in routes[:SHOWN_ROUTES]]
    lines = _section("by route", [[*columns, "route"], *rows] if rows else [])
    return lines + _more(len(routes) - SHOWN_ROUTES, "routes")


def _route(route: str | None) -> str:
    return shown(route) if route else "(none)"


def _orbs(orbs: dict[str, Any]) -> list[str]:
    rows = [
        [number(orbs["calls"]), "calls consume orbs"],
        [number(orbs["stated_amount"]), "orbs with a stated amount"],
        [number(orbs["calls_without_stated_amount"]), "calls without a stated amount"],
        [number(orbs["calls_that_allow_bonus_orbs"]), "calls allow bonus orbs"],
    ]
    return _section("orbs", rows if orbs["calls"] else [])


def _changes(changes: dict[str, Any]) -> list[str]:
    rows = changes["by_decision_and_route"]
    lines = ["", f"{number(changes['changed'])} would change from policy {changes['base'][:19]}, {number(changes['unchanged'])} not"]
    lines.append(f"{number(changes['newly_allowed'])} newly allowed, {number(changes['newly_denied'])} newly denied,")
    lines.append(f"{number(changes['otherwise_charged'])} allowed with other orbs, {number(changes['otherwise_denied'])} denied for another reason:")
    for change in rows[:SHOWN_CHANGES]:
        route = _route(change["route"])
        lines.append(f"  {number(change['count'])}  {change['old']} → {change['new']}  {route}")
        lines += [f"    row {_example(example)}" for example in change["examples"]]
    return lines + _more(len(rows) - SHOWN_CHANGES, "changes")


def _example(example: dict[str, Any]) -> str:
    texts = {name: shown(str(value or "")) for name, value in example.items()}
    question = f"scope {texts['by_scope']}" if example["by_scope"] is not None else f"{texts['method']} {texts['target']}"
    token = "no token" if example["kind"] is None else f"{texts['kind']}: {texts['scopes']}"
    caller = "" if example["caller"] is None else f", {texts['caller']}"
    malformed = "" if example["detail"] is None else f", malformed: {texts['detail']}"
    return f"{texts['row']}: {question} ({token}{caller}{malformed})"


def _more(count: int, what: str) -> list[str]:
    return [f"  … and {number(count)} more {what} (use --json to list all)"] if count > 0 else []


def _section(heading: str, rows: list[list[str]]) -> list[str]:
    return ["", f"{heading}:", *_table(rows)] if rows else []


def _table(rows: list[list[str]]) -> list[str]:
    """Rows in aligned columns. Columns of numbers are right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    numbers = [all(map(_is_number, column[1:])) and _is_number(column[-1]) for column in zip(*rows)]
    cells = (
        (cell.rjust(width) if is_number else cell.ljust(width) for cell, width, is_number in zip(row, widths, numbers))
        for row in rows
    )
    return [f"  {'  '.join(row)}".rstrip() for row in cells]


def _is_number(cell: str) -> bool:
    return cell.removeprefix("at least ")[:1].isdigit()


def shown(text: str) -> str:
    """A string of a log on one line. Escapes unprintable and look-alike characters, and strings equal to a placeholder.

    >>> print(*map(shown, ["(no caller)", "(no caller) 2", "\u2013"]))
    \\x28no caller) (no caller) 2 \\u2013
    >>> print(*map(shown, ["acme", " acme", "acme\\u00a0", "\\u0430cme", "\\u0430\\u0441\\u043c\\u0435 API", "acme\\u0301"]))
    acme \\x20acme acme\\xa0 \\u0430cme \u0430\u0441\u043c\u0435 API acme\\u0301
    """
    if text in NOTHING:
        return f"{_escape(text[0])}{text[1:]}"
    spaces = {at for match in SPACES.finditer(text) for at in range(*match.span())}
    is_composed = unicodedata.is_normalized("NFC", text)
    # Checked per word, because a name can contain words in two scripts.
    mixed = {at for word in WORD.finditer(text) for at in _of_two_scripts(word)}
    return "".join(
        _escape(char)
        if at in spaces or not char.isprintable() or NOT_SEEN.match(char)
        or not is_composed and _is_composed(char) or at in mixed
        else char
        for at, char in enumerate(text)
    )


def _of_two_scripts(word: re.Match[str]) -> list[int]:
    """The positions of letters that look like Latin letters, in a word that also has Latin letters."""
    scripts = [unicodedata.name(char, "").partition(" ")[0] for char in word[0]]
    return [word.start() + at for at, script in enumerate(scripts) if script in ("CYRILLIC", "GREEK")] if "LATIN" in scripts else []


def _is_composed(char: str) -> bool:
    """Whether NFC might replace the character, alone or with the one before."""
    return unicodedata.category(char)[0] == "M" or "\u1160" <= char <= "\u11ff" or not unicodedata.is_normalized("NFC", char)


def _escape(char: str) -> str:
    return f"\\x{ord(char):02x}" if char in " (" else char.encode("unicode_escape").decode("ascii")
