"""`python -m orbgate calls`."""

from __future__ import annotations

import argparse
import csv
import sys
from typing import Any

from .._count.text import shown
from .._extras import needs
from .._number import number
from .._read import private
from . import count, parser_of, policy_of
from .replay import add_log_to, exit_code, open_log, progress

DESCRIPTION = "List the decisions of a log about one caller, one object or one token, in the order of the log."

EPILOG = """\
An object is a part of a path, such as /patients/7: calls are listed whose path has these segments one after the other.
A name can be written as a report shows it, with its escapes.

examples:
  python -m orbgate calls requests.jsonl --caller svc-tmp
  python -m orbgate calls access.log --column caller=user --object /patients/7 --limit 500 --csv > patient.csv
  python -m orbgate calls requests.jsonl --column token=token --fingerprint 9f86d081884c7d65

exit codes:
  0  the calls are listed, as many as --limit allows
  2  the command could not run, or more rows were unreadable than --tolerate allows
"""

COLUMNS = ("row", "time", "caller", "method", "target", "decision", "reason", "scope", "status")


def add_to(commands: Any) -> None:
    """Adds the command to a parser."""
    parser = parser_of(commands, "calls", "list the decisions about one caller, object or token", DESCRIPTION, EPILOG, run)
    add_log_to(parser)
    parser.add_argument("--policy", metavar="FILE", help="policy to use instead of the built-in one")
    about = parser.add_mutually_exclusive_group(required=True)
    about.add_argument("--caller", metavar="NAME", help="calls of this caller")
    about.add_argument("--object", metavar="PATH", type=_object, help="calls whose path has these segments, such as /patients/7")
    about.add_argument("--fingerprint", metavar="TOKEN", help="calls with the token of this fingerprint. Needs --column token=NAME")
    parser.add_argument("--limit", type=count, default=100, metavar="N", help="list at most N calls (default: 100)")
    parser.add_argument("--csv", action="store_true", help="print the calls as CSV, and the number of them on standard error")


def run(options: argparse.Namespace) -> int:
    """Lists the calls."""
    needs("pyarrow", "logs")
    from .._count.decided import Decided

    policy, log = policy_of(options.policy), open_log(options)
    if options.fingerprint is not None and "token" not in log.schema.names:
        options.parser.error("--fingerprint needs the log's column of tokens: --column token=NAME")
    rows: list[tuple[str, ...]] = []
    found = calls = 0
    with progress(log) as watch:
        decided = Decided(log, policy, watch, unused=("served_status",) if options.csv else ())
        for part in decided.parts():
            calls += part.calls.num_rows
            such = _such(part.calls, options)
            at = such.to_pylist() if hasattr(such, "to_pylist") else []
            found += len(at)
            if at and len(rows) < options.limit:
                first = at[: options.limit - len(rows)]
                rows += [_row(*pair) for pair in zip(part.calls.take(first).to_pylist(), part.decided.take(first).to_pylist())]
    said = f"{number(found, 'call')} of {number(calls)}" + (f", the first {number(len(rows))} listed" if len(rows) < found else "")
    if options.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows([COLUMNS, *(map(_cell, row) for row in rows)])
        print(said, file=sys.stderr)
    else:
        for row in rows:
            print("  ".join(shown(cell) if cell else "-" for cell in row))
        print(said)
    for warning in decided.warnings:
        print(f"warning: {shown(warning)}", file=sys.stderr)
    return exit_code(options, log, decided.unread, calls + decided.unread, decided.broken)


def _such(calls: Any, options: argparse.Namespace) -> Any:
    """The positions of the calls that are listed."""
    pc = needs("pyarrow.compute", "logs")
    if options.object is None:
        column, value = ("caller", options.caller) if options.caller is not None else ("token", options.fingerprint)
        is_such = pc.equal(calls[column], value.encode("utf-8", "surrogateescape"))
        if column == "caller" and "\\" in value:
            pa = needs("pyarrow", "logs")
            # As a report shows the name.
            alike = [name for name in pc.unique(calls[column]).to_pylist() if name is not None and shown(_text(name) or "") == value]
            is_such = pc.or_(is_such, pc.is_in(calls[column], pa.array(alike, pa.binary())))
    else:
        path = pc.list_element(pc.split_pattern(calls["target"].fill_null(b""), b"?", max_splits=1), 0)
        is_such = pc.match_substring(pc.binary_join_element_wise(path, b"/", b""), options.object)
    return pc.indices_nonzero(is_such.fill_null(False))


def _row(call: dict[str, Any], decided: dict[str, Any]) -> tuple[str, ...]:
    """A call and its decision as strings, without likely secrets."""
    cells = (
        call["row"],
        call["time"] and call["time"].isoformat(" "),
        _text(call["caller"]),
        private.method(_text(call["method"])),
        private.target(_text(call["target"])),
        decided["decision"],
        decided["reason"],
        decided["scope"],
        call["served_status"],
    )
    return tuple("" if cell is None else str(cell) for cell in cells)


def _cell(text: str) -> str:
    """A cell of CSV: on one line, and never a formula of a spreadsheet.

    >>> _cell("=1+1"), _cell("a\\nb"), _cell("2026-11-06")
    ("'=1+1", 'a\\\\nb', '2026-11-06')
    """
    text = shown(text) if text else text
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text


# What a formula begins with.
FORMULA = ("=", "+", "-", "@")


def _text(name: bytes | None) -> str | None:
    return None if name is None else name.decode("utf-8", "backslashreplace")


def _object(text: str) -> bytes:
    path = "/" + text.strip("/") + "/"
    if path == "//":
        raise argparse.ArgumentTypeError(f"`{text}` is no part of a path such as /patients/7")
    return path.encode("utf-8", "surrogateescape")
