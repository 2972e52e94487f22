"""`python -m orbgate report`."""

from __future__ import annotations

import argparse
import contextlib
import os
from hashlib import sha256
from typing import Any

from .._count.text import shown
from .._number import number
from .._policy import Policy
from .._report import TITLE, check_needs, make
from .._report.numbers import LEVELS, TOP
from .._whole import whole
from .properties import add_properties_to, code, prove, text
from .replay import add_log_to, add_resume_to, exit_code, is_log, open_log, progress

DESCRIPTION = (
    "Decide every request of a log, and write a page of HTML about it: charts and tables in one file, no scripts."
)

EPILOG = """\
On the page are the calls that the server served or refused otherwise than the policy decides; those that were allowed
and denied, by reason and by route; those that consumed orbs, over time; the scopes that were granted and never used, and
those that denied calls lacked; and the callers who were denied most. It names callers, and says at its end what it leaves out, as queries.
Formats and columns are those of `replay --help`.

examples:
  python -m orbgate report requests.jsonl --out report.html
  python -m orbgate report access.log.gz --kind user --scopes 'read:orbs read:keys' --out report.html
  python -m orbgate report calls.parquet --column caller=client_id --out report.html --title 'November, first week'
  python -m orbgate report calls.csv --policy new.yaml --base old.yaml --out new.html
  python -m orbgate report access.log --out report.html --properties policy.test.yaml
  python -m orbgate report access.log --out report.html --ocsf events.jsonl
  python -m orbgate report access.log --out report.html --bundle evidence.zip --sign auditor.key

exit codes:
  0  the page is of every row, allowed or denied; or of all but as many as --tolerate says
  1  it is, and a property of --properties does not hold, or there is a finding of the level of --fail-on or a higher one
  2  could not run, or more rows could not be read; the page is of all others, and says so; also if 1 holds, too
  130  interrupted by Ctrl-C, with --resume also by SIGTERM; nothing was written but the file of --resume
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
    add_properties_to(parser)
    parser.add_argument("--out", metavar="FILE", required=True, help="where to write the page")
    parser.add_argument("--bundle", metavar="FILE", help="also write the page with its tables, the policies and a manifest as a ZIP archive")
    parser.add_argument("--sign", metavar="KEY", help="sign the bundle with this secret key of minisign, into FILE.minisig")
    parser.add_argument("--ocsf", metavar="FILE", help="also write each decision and each finding as an event of OCSF, a line of JSON each")
    add_resume_to(parser, "the page is written")
    parser.add_argument("--title", default=TITLE, help="what the page is called")
    parser.add_argument("--fail-on", choices=LEVELS, help="exit with 1 if there is a finding of this level or a higher one")
    parser.add_argument("--top", type=_top, default=TOP, metavar="N", help="at most N rows in each table")
    parser.set_defaults(run=run, parser=parser)


def run(options: argparse.Namespace) -> int:
    """Makes the page and says what is on it."""
    if options.sign and not options.bundle:
        options.parser.error("--sign without --bundle")
    if options.resume and options.ocsf:
        options.parser.error("--resume with --ocsf: a file of events that is begun cannot be gone on with")
    written = {"--out": options.out, "--bundle": options.bundle, "--ocsf": options.ocsf, "--resume": options.resume}
    for name, path in written.items():
        for file in (options.policy, options.base, options.properties, options.sign):
            if file is not None and path is not None and os.path.exists(path) and os.path.samefile(path, file):
                options.parser.error(f"{name} is the policy, the properties or the key itself")
    policy = Policy.external() if options.policy is None else Policy.from_file(options.policy)
    base = None if options.base is None else Policy.from_file(options.base)
    # Before the needs of logs, which are fewer.
    check_needs()
    proved = prove(options, policy)
    from .._count.resume import Resume
    from .._report.ocsf import SCHEMA, writing
    from .._report.verify import sign

    log = open_log(options)
    for name, path in written.items():
        if path is not None and is_log(path, log):
            options.parser.error(f"{name} is the log itself")
    resume = None if options.resume is None else Resume(options.resume, log, policy, base)
    with progress(log, resume) as watch, contextlib.nullcontext() if options.ocsf is None else writing(options.ocsf, policy) as events:
        made = make(log, policy, options.title, options.top, watch, base, proved, resume, events)
    made.save(options.out)
    found = made.figures
    said = f"{number(found.calls, 'call')}, {number(found.allowed)} allowed, {number(found.denied)} denied"
    unread = f", {number(found.log.unread, 'row')} unread" if found.log.unread else ""
    print(f"{options.out}: {said}{unread}")
    for warning in found.log.warnings:
        print(f"warning: {shown(warning)}")
    for finding in found.findings:
        print(f"{finding.level}: {shown(finding.sentence)} {finding.action}")
    if not found.findings:
        print("nothing to do")
    if proved is not None:
        print(text(proved, options.properties), end="")
    if events is not None:
        undated = f", {number(events.without_time)} of them without a time, written as 0" if events.without_time else ""
        print(f"{options.ocsf}: {number(events.written, 'event')} of OCSF {SCHEMA}{undated}")
    if options.bundle:
        bundle = made.bundle()
        with whole(options.bundle) as part, open(part, "wb") as file:
            file.write(bundle)
        print(f"{options.bundle}: sha256:{sha256(bundle).hexdigest()}")
    if options.sign:
        print(f"{sign(options.bundle, options.sign)}: signature of minisign")
    if resume is not None:
        resume.remove()
    exits = code(proved, exit_code(options, log, found.log.unread, found.calls + found.log.unread, found.log.broken))
    fails = LEVELS[: LEVELS.index(options.fail_on) + 1] if options.fail_on else ()
    return exits or int(any(finding.level in fails for finding in found.findings))


def _top(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 1 on")
    return int(text)
