"""`python -m orbgate report`."""

from __future__ import annotations

import argparse
import contextlib
from hashlib import sha256
from typing import Any

from .._count.text import shown
from .._number import number
from .._policy import Policy
from .._report import TITLE, check_needs, make
from .._report.numbers import LEVELS, TOP
from .._whole import whole_file
from . import parser_of, policy_of
from .outputs import check_outputs
from .properties import add_properties_to, code, prove, text
from .replay import add_log_to, add_resume_to, exit_code, open_log, progress

DESCRIPTION = (
    "Decide every request in a log, and write an HTML page with charts and tables: one file without scripts."
)

EPILOG = """\
The page shows calls that the server served or refused although the policy decides differently; allowed and denied calls by
reason and route; orbs over time; unused and missing scopes; and the callers with the most denied calls. It names callers, and
lists at its end what it leaves out, such as queries. `replay --help` lists formats and columns.

examples:
  python -m orbgate report requests.jsonl --out report.html
  python -m orbgate report access.log.gz --kind user --scopes 'read:orbs read:keys' --out report.html
  python -m orbgate report calls.parquet --column caller=client_id --out report.html --title 'November, first week'
  python -m orbgate report calls.csv --policy current.yaml --base next.yaml --out next.html
  python -m orbgate report access.log --out report.html --properties policy.test.yaml
  python -m orbgate report access.log --out report.html --ocsf events.jsonl
  python -m orbgate report calls.csv --out report.html --column hold=hold_id --entries entries.jsonl
  python -m orbgate report access.log --out report.html --bundle evidence.zip --sign auditor.key

exit codes:
  0  the page covers every row, whether allowed or denied, except for unreadable rows that --tolerate allows
  1  the same, but a property of --properties does not hold, or there is a finding of the --fail-on level or higher
  2  the command could not run, or more rows were unreadable; the page covers all others. This takes precedence over 1
  130  interrupted by Ctrl-C, or by SIGTERM with --resume; nothing was written except the --resume file
"""


def add_to(commands: Any) -> None:
    """Adds the command to a parser."""
    parser = parser_of(commands, "report", "write an HTML page about a log", DESCRIPTION, EPILOG, run)
    add_log_to(parser)
    parser.add_argument("--policy", metavar="FILE", help="policy that decided the log (default: the built-in one)")
    parser.add_argument("--base", metavar="FILE", help="any other policy, older or newer; lists calls that it decides differently, and when the server switched between the two")
    add_properties_to(parser)
    parser.add_argument("--entries", metavar="FILE", help="also compare the calls that consume orbs with a ledger: what `orbgate orbs entries --format json` has written. Needs --column hold=NAME or account=NAME")
    parser.add_argument(
        "--accept", metavar="FILE", help="findings that are accepted until a day: JSON Lines with `finding`, `subject` (or `*`), `reason` and `until`"
    )
    parser.add_argument("--since", metavar="BUNDLE", help="say what is new since the report of this bundle, instead of since the log's first part")
    parser.add_argument("--out", metavar="FILE", required=True, help="where to write the page")
    parser.add_argument("--bundle", metavar="FILE", help="also write the page with its tables, the policies and a manifest as a ZIP archive")
    parser.add_argument("--sign", metavar="KEY", help="sign the bundle with this minisign secret key; writes FILE.minisig")
    parser.add_argument("--ocsf", metavar="FILE", help="also write each decision and finding as an OCSF event, one JSON line each")
    add_resume_to(parser, "the page is written")
    parser.add_argument("--title", default=TITLE, help="title of the page")
    parser.add_argument("--fail-on", choices=LEVELS, help="exit with 1 if there is a finding of this level or higher")
    parser.add_argument("--top", type=_top, default=TOP, metavar="N", help="show at most N rows in each table")


def run(options: argparse.Namespace) -> int:
    """Writes the page and prints the findings."""
    if options.sign and not options.bundle:
        options.parser.error("--sign requires --bundle")
    if options.entries and options.resume:
        options.parser.error("--entries cannot be used with --resume, which does not include the ledger")
    if options.resume and options.ocsf:
        options.parser.error("--resume cannot be used with --ocsf, because a partly written file of events cannot be continued")
    check_outputs(options)
    policy = policy_of(options.policy)
    base = None if options.base is None else Policy.from_file(options.base)
    # Before opening the log, which needs fewer packages.
    check_needs()
    proved = prove(options, policy)
    from .._count.resume import Resume
    from .._report.findings import nothing
    from .._report.ocsf import SCHEMA, writing
    from .._report.verify import sign
    from .._read.entries import entries

    ledger = None if options.entries is None else entries(options.entries)
    log = open_log(options)
    resume = None if options.resume is None else Resume(options.resume, log, policy, base)
    with progress(log, resume) as watch, contextlib.nullcontext() if options.ocsf is None else writing(options.ocsf, policy) as events:
        made = make(log, policy, options.title, options.top, watch, base, proved, resume, events, ledger, options.accept, options.since)
        made.save(options.out)
    figures = made.figures
    counts = f"{number(figures.calls, 'call')}, {number(figures.allowed)} allowed, {number(figures.denied)} denied"
    unread = f", {number(figures.log.unread, 'row')} unread" if figures.log.unread else ""
    print(f"{options.out}: {counts}{unread}")
    for warning in figures.log.warnings:
        print(f"warning: {shown(warning)}")
    for finding in figures.findings:
        print(f"{finding.level}: {shown(finding.sentence)} {finding.action}")
    for row in figures.accepted:
        said = f"accepted until {row.until}" if row.is_used else "not needed" if row.is_valid else f"ended on {row.until}"
        print(f"{said}: {row.finding} of {shown(row.subject)}: {shown(row.reason)}")
    if not figures.findings:
        verdict = nothing(figures)
        print(f"{verdict[0].lower()}{verdict[1:].rstrip('.')}")
    if proved is not None:
        print(text(proved, options.properties), end="")
    if events is not None:
        undated = f", {number(events.without_time)} of them without a time (written as 0)" if events.without_time else ""
        print(f"{options.ocsf}: {number(events.written, f'OCSF {SCHEMA} event')}{undated}")
    if options.bundle:
        bundle = made.bundle()
        with whole_file(options.bundle) as file:
            file.write(bundle)
        print(f"{options.bundle}: sha256:{sha256(bundle).hexdigest()}")
    if options.sign:
        print(f"{sign(options.bundle, options.sign)}: minisign signature")
    if resume is not None:
        resume.remove()
    exits = code(proved, exit_code(options, log, figures.log.unread, figures.calls + figures.log.unread, figures.log.broken))
    fails = LEVELS[: LEVELS.index(options.fail_on) + 1] if options.fail_on else ()
    return exits or int(any(finding.level in fails for finding in figures.findings))


def _top(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 1 on")
    return int(text)
