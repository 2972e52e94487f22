"""`python -m orbgate privileges`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from .. import audit
from .._count.text import shown, unread_rows
from .._count.unread import to_dicts
from .._extras import needs
from .._number import number
from .._policy import Policy
from .._whole import whole
from .replay import add_log_to, exit_code, is_log, open_log, progress, share

DESCRIPTION = "Say which scopes each caller of a log holds and never uses, and what it needs at least."

EPILOG = """\
A caller uses a scope where it allowed at least one of its calls. What a caller uses is the least that it needs for the calls that were
allowed. The proposal is JSON: the `client_id` and `scope` of each client that holds more than --most-unused says, as in client metadata
(RFC 7591). Scopes that the policy does not have are said apart: they do not count for --most-unused, and the proposal keeps them.

examples:
  python -m orbgate privileges requests.parquet --column caller=client_id --proposal less.json
  python -m orbgate privileges calls.csv --most-unused 2 --top 50

exit codes:
  0  no caller holds more scopes that it never uses than --most-unused says
  1  some caller does
  2  could not run, or some call was not counted: rows that could not be read, beyond --tolerate, or, beyond --tolerate-uncounted,
     calls without a caller or with a token of no known kind, as of a `kind` that is written otherwise or of scopes without one;
     or no call was decided, or none has a valid token; also if 1 holds
"""


def add_to(commands: Any) -> None:
    """Adds the command to a parser."""
    parser = commands.add_parser(
        "privileges",
        help="say what each caller holds and never uses",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_log_to(parser)
    parser.add_argument("--policy", metavar="FILE", help="policy to decide with, instead of the built-in one")
    parser.add_argument("--most-unused", type=_count, default=0, metavar="N", help="how many scopes a caller may hold and never use")
    parser.add_argument(
        "--tolerate-uncounted", type=share, default=share("0"), metavar="N", help="exit as if all were counted if up to N calls, or N%% of them, name no caller, have a token of no known kind, or are of callers beyond the limit"
    )
    parser.add_argument("--json", action="store_true", help="print the callers who hold too much, and what was not counted, as JSON")
    parser.add_argument("--proposal", metavar="FILE", help="write what each client needs as JSON")
    parser.add_argument("--top", type=_count, default=20, metavar="N", help="show the N callers who hold most that they never use")
    parser.set_defaults(run=run, parser=parser)


def run(options: argparse.Namespace) -> int:
    """Finds the scopes of all callers and prints what is too much."""
    needs("pyarrow", "logs")
    policy = Policy.external() if options.policy is None else Policy.from_file(options.policy)
    log = open_log(options)
    if options.proposal and (is_log(options.proposal, log) or _is_same(options.proposal, options.policy)):
        options.parser.error("--proposal is the log or the policy itself")
    with progress(log) as watch:
        made = audit.check(log, policy, most_unused=options.most_unused, watch=watch)
    found = made.found
    if options.proposal:
        with whole(options.proposal) as part, open(part, "w", encoding="utf-8", newline="\n") as file:
            json.dump(found.proposal(options.most_unused), file, indent=2, ensure_ascii=False)
            file.write("\n")
    print(_json(made, options) if options.json else _text(made, options.most_unused, options.top), end="")
    unread = exit_code(options, log, found.unread, found.calls + found.unread, found.broken)
    if not found.calls:
        print("error: no call was decided, so nobody was checked", file=sys.stderr)
    elif not found.with_valid_token:
        print("error: no call has a valid token, so nobody was checked", file=sys.stderr)
    said, tolerated = options.tolerate_uncounted
    is_tolerated = found.uncounted <= tolerated(found.calls)
    level = "tolerated" if is_tolerated else "error"
    if uncounted := found.left_out + found.without_caller:
        print(f"{level}: {number(uncounted, 'call')} not counted for a caller", file=sys.stderr)
    if found.with_unknown_token:
        print(f"{level}: {number(found.with_unknown_token, 'call')} with a token of no known kind, which may hold anything", file=sys.stderr)
    if found.uncounted:
        of_all = f"{number(found.uncounted)} of {number(found.calls, 'call')} not counted"
        allowed = f"{of_all}, which --tolerate-uncounted {said} allows"
        print(allowed if is_tolerated else f"error: {of_all}, so callers might hold more (allow this with --tolerate-uncounted)", file=sys.stderr)
    if unread or not is_tolerated or not found.with_valid_token:
        return 2
    return 1 if made.over else 0


def _text(made: audit.Check, most: int, top: int) -> str:
    found = made.found
    lines = [f"warning: {shown(said)}" for said in found.warnings]
    held = f"more than {number(most, 'scope')}" if most else "a scope or more"
    lines.append(f"{number(len(made.over), 'caller')} of {len(found.rows):,} with {held} held and never used")
    if unknown := sum(bool(row.unknown) for row in found.rows):
        lines.append(f"{number(unknown, 'caller')} of {len(found.rows):,} with scopes that the policy does not have")
    lines += [f"not counted: {shown(said)}" for said in found.not_counted]
    for row in made.over[:top]:
        lines += ["", f"{shown(row.caller)}: {number(row.calls, 'call')}, {row.allowed:,} allowed"]
        lines += [f"  never used: {shown(scope)}" for scope in row.unused]
        lines += [f"  unknown:    {shown(scope)}" for scope in row.unknown]
        for scope, last in row.last_used.items():
            lines.append(f"  used:       {shown(scope)}" + ("" if last is None else f", last at {last.isoformat()}Z"))
    if len(made.over) > top:
        lines += ["", f"and {number(len(made.over) - top, 'caller')} more"]
    lines += unread_rows(to_dicts(list(found.unread_by_reason)))
    return "\n".join(lines) + "\n"


def _json(made: audit.Check, options: argparse.Namespace) -> str:
    found = made.found
    said = {
        "policy": found.policy, "most_unused": options.most_unused, "tolerate": options.tolerate[0], "tolerate_uncounted": options.tolerate_uncounted[0], "calls": found.calls, "callers": len(found.rows), "over": made.over.to_dicts(),
        "uncounted": found.uncounted, "unread": found.unread, "not_counted": list(found.not_counted), "warnings": list(found.warnings),
    }  # fmt: skip
    return json.dumps(said, indent=2, ensure_ascii=False, default=lambda time: f"{time.isoformat()}Z") + "\n"


def _is_same(path: str, other: str | None) -> bool:
    return other is not None and os.path.exists(path) and os.path.samefile(path, other)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"`{text}` is not a number")
    return int(text)
