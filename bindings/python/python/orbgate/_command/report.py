"""`python -m orbgate report`."""

from __future__ import annotations

import argparse
import os
from typing import Any

from .._policy import Policy
from .._report import TITLE, TOP, check_needs, make
from .._report.numbers import number
from .replay import add_log_to, exit_code, is_log, open_log, progress

DESCRIPTION = (
    "Decide every request of a log, and write a page of HTML about it: charts and tables in one file, no scripts."
)

EPILOG = """\
On the page are the calls that the server served or refused otherwise than the policy decides; those that were allowed
and denied, by reason and by route; those that consumed orbs, over time; the scopes that were granted and never used, and
those that denied calls lacked; and the callers who were denied most. It names callers, and has no tokens and no queries.
Formats and columns are those of `replay --help`.

examples:
  python -m orbgate report requests.jsonl --out report.html
  python -m orbgate report access.log.gz --kind user --scopes 'read:orbs read:keys' --out report.html
  python -m orbgate report calls.parquet --column caller=client_id --out report.html --title 'November, first week'
  python -m orbgate report calls.csv --policy new.yaml --base old.yaml --out new.html

exit codes:
  0  the page is of every row, whatever the decisions; or of all but as many as --tolerate says
  2  could not run, or more rows could not be read; the page is of all others, and says so
"""


def add_to(commands: Any) -> None:
    """Adds the command to a parser."""
    parser = commands.add_parser(
        "report",
        help="write a page of HTML about a log",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_log_to(parser)
    parser.add_argument("--policy", metavar="FILE", help="policy to decide with, instead of the built-in one")
    parser.add_argument("--base", metavar="FILE", help="policy to compare with: what it decides otherwise")
    parser.add_argument("--out", metavar="FILE", required=True, help="where to write the page")
    parser.add_argument("--title", default=TITLE, help="what the page is called")
    parser.add_argument("--top", type=_top, default=TOP, metavar="N", help="at most N rows in each table")
    parser.set_defaults(run=run, parser=parser)


def run(options: argparse.Namespace) -> int:
    """Makes the page and says what is on it."""
    for file in (options.policy, options.base):
        if file is not None and os.path.exists(options.out) and os.path.samefile(options.out, file):
            options.parser.error("--out is the policy itself")
    policy = Policy.external() if options.policy is None else Policy.from_file(options.policy)
    base = None if options.base is None else Policy.from_file(options.base)
    # Before the needs of logs, which are fewer.
    check_needs()
    log = open_log(options)
    if is_log(options.out, log):
        options.parser.error("--out is the log itself")
    with progress(log) as watch:
        made = make(log, policy, options.title, options.top, watch, base)
    made.save(options.out)
    found = made.figures
    said = f"{number(found.calls, 'call')}, {number(found.allowed)} allowed, {number(found.denied)} denied"
    unread = f", {number(found.unread, 'row')} unread" if found.unread else ""
    print(f"{options.out}: {said}{unread}")
    return exit_code(options, found.unread, found.calls + found.unread, found.broken)


def _top(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 1 on")
    return int(text)
