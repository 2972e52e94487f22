"""`python -m orbgate replay`."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .._columns import NAMES
from .._count.replay import replayed
from .._extras import needs
from .._number import number
from .._policy import Policy
from .._read.files import FORMATS
from .._read.input import STANDARD_INPUT
from .._read.reader import Reader, read
from .._read.times import UNITS
from .properties import add_properties_to, code, prove, text, to_dict

if TYPE_CHECKING:
    from .._count.resume import Resume

DESCRIPTION = "Decide every request of a log: how many were allowed and why, and what would change under another policy."

EPILOG = f"""\
formats, by the file's name unless --format says otherwise; text may be compressed with gzip or zstd:
{chr(10).join(f"  {name:9} {what}" for name, what in FORMATS.items())}

columns, which --column finds under another name, as in --column target=path or --column kind=token.kind:
  {", ".join(NAMES[:4])},
  {", ".join(NAMES[4:])}
An access log has method and target in its request, its status as served_status, and the fields vhost, host, identity, user, time, status,
size, referer, agent, and after them extra1, extra2 and so on. Without a kind, a request has no token.

examples:
  python -m orbgate replay requests.jsonl
  python -m orbgate replay access.log.gz --kind user --scopes 'read:orbs read:keys'
  python -m orbgate replay access.log* --column scopes=extra1 --column kind=extra2 --column caller=user --tolerate 1%
  python -m orbgate replay calls.parquet --column target=path --out decided.parquet
  python -m orbgate replay access.log --public 'GET /healthz'
  python -m orbgate replay calls.csv --policy new.yaml --base old.yaml --json
  zcat access.log.gz | python -m orbgate replay - --format access

exit codes:
  0  every row was decided, allowed or denied; or all but as many as --tolerate says
  1  so it was, and a property of --properties does not hold
  2  could not run, or more rows could not be read; all others were decided; also if 1 holds, too
  130  interrupted by Ctrl-C, with --resume also by SIGTERM; nothing was written but the file of --resume
"""


def add_to(commands: Any) -> None:
    """Adds the command to a parser."""
    parser = commands.add_parser(
        "replay",
        help="decide every request of a log",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_log_to(parser)
    parser.add_argument("--policy", metavar="FILE", help="policy to decide with, instead of the built-in one")
    parser.add_argument(
        "--base",
        metavar="FILE",
        help="policy to compare with: what would change from it to --policy; the built-in one where only --policy is given",
    )
    add_properties_to(parser)
    parser.add_argument("--no-base", action="store_true", help="compare with no policy")
    parser.add_argument("--out", metavar="FILE", help="write each request with its decision, and the log's other columns as log_NAME, to a Parquet file")
    add_resume_to(parser, "the summary is printed")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.add_argument("--top", type=_count, default=10, metavar="N", help="show the N calls and callers denied most")
    parser.add_argument("--examples", type=_count, default=3, metavar="N", help="show the first N rows of each change")
    parser.set_defaults(run=run, parser=parser)


def add_resume_to(parser: argparse.ArgumentParser, end: str) -> None:
    """Adds what keeps how far counting has come."""
    parser.add_argument(
        "--resume",
        metavar="FILE",
        help=f"keep in this file how far counting has come, every minute and when it is interrupted by Ctrl-C or SIGTERM; if it is there, go on from there. It is removed once {end}",
    )


def add_log_to(parser: argparse.ArgumentParser) -> None:
    """Adds what says which log to read, and how."""
    parser.add_argument(
        "log", metavar="LOG", nargs="+", help="file, or folder of files, to read; `-` is standard input; several are one log"
    )
    parser.add_argument("--format", choices=FORMATS, help="format of the log")
    parser.add_argument(
        "--column", action="append", default=[], type=_column, metavar="COLUMN=NAME", help="what the log calls a column"
    )
    parser.add_argument("--kind", choices=("user", "organisation"), help="whose token all requests carry")
    parser.add_argument("--scopes", help="scopes that the tokens of all requests carry, separated by spaces")
    parser.add_argument(
        "--allow-bonus-orbs", action="store_true", default=None, help="all requests let the call use bonus orbs"
    )
    parser.add_argument("--time-unit", choices=UNITS, help="what a time counts since 1970 where it is a number")
    parser.add_argument("--time-zone", metavar="ZONE", help="zone of times that name none, as +02:00 or Europe/Berlin; UTC if not said")
    parser.add_argument("--public", action="append", metavar="ROUTE", help="route that needs no token at the server, as 'GET /healthz'; may be given several times")
    parser.add_argument(
        "--tolerate",
        type=share,
        default=share("0"),
        metavar="N",
        help="exit with 0 also where up to N rows, or N%% of them, cannot be read: the internet sends what is not a request; a quote of CSV that "
        "does not close is never tolerated",
    )


def open_log(options: argparse.Namespace) -> Reader:
    """The log that the options of `add_log_to` name."""
    named = [column for column, _ in options.column]
    if twice := [column for column in NAMES if named.count(column) > 1]:
        options.parser.error(f"--column {twice[0]} twice, and which one counts is not guessed")
    log = read(
        options.log,
        format=options.format,
        columns=dict(options.column),
        kind=options.kind,
        scopes=options.scopes,
        allow_bonus_orbs_use=options.allow_bonus_orbs,
        time_unit=options.time_unit,
        time_zone=options.time_zone,
        public=options.public,
    )
    if (said := options.tolerate[0]) != "0":
        log.also["tolerate"] = said
    return log


def exit_code(options: argparse.Namespace, log: Reader, unread: int, rows: int, broken: str | None) -> int:
    """0 where every row was read, or as many as are wanted; a log that breaks off, or has a quote that does not close, is never enough."""
    if broken is not None:
        print(f"error: {broken}", file=sys.stderr)
        return 2
    said, tolerated = options.tolerate
    if log.torn_rows and said != "0":
        print("error: a quote does not close as it must, which --tolerate never allows: the rows after it may be forged", file=sys.stderr)
        return 2
    if unread > tolerated(rows):
        print(f"error: {unread:,} of {number(rows, 'row')} could not be read, so results might be incomplete (allow this with --tolerate)", file=sys.stderr)
        return 2
    if unread:
        print(f"{unread:,} of {rows:,} rows could not be read, which --tolerate {said} allows", file=sys.stderr)
    return 0


def is_log(path: str, log: Reader) -> bool:
    """Whether a path is one of the log's files."""
    return os.path.exists(path) and any(os.path.samefile(path, file) for file in log.paths if file != STANDARD_INPUT)


def run(options: argparse.Namespace) -> int:
    """Replays a log and prints what was counted."""
    needs("pyarrow", "logs")
    from .._count.resume import Resume

    policy, base = _policies(options)
    proved = prove(options, policy)
    log = open_log(options)
    if options.out and is_log(options.out, log):
        options.parser.error("--out is the log itself")
    if options.resume and options.out:
        options.parser.error("--resume with --out: a Parquet file that is begun cannot be gone on with")
    for file in (options.policy, options.base, options.properties):
        if options.resume and file is not None and os.path.exists(options.resume) and os.path.samefile(options.resume, file):
            options.parser.error("--resume is the policy or the properties")
    if options.resume and is_log(options.resume, log):
        options.parser.error("--resume is the log itself")
    resume = None if options.resume is None else Resume(options.resume, log, policy, base, f"replay with {number(options.examples, 'example')}")
    with progress(log, resume) as watch:
        summary = replayed(log, policy, base, options.out, options.top, options.examples, watch, resume)
    if options.json:
        said = summary.to_dict()
        print(json.dumps(said if proved is None else {**said, "properties": to_dict(proved, options.properties)}, indent=2, ensure_ascii=False))
    else:
        print(summary, end="" if proved is None else f"\n{text(proved, options.properties)}")
    if resume is not None:
        resume.remove()
    return code(proved, exit_code(options, log, summary.errors, summary.rows, None if summary.broken is None else str(summary.broken)))


def _policies(options: argparse.Namespace) -> tuple[Policy, Policy | None]:
    """The policy to decide with, and the one to compare with."""
    if options.no_base and options.base:
        options.parser.error("--base and --no-base")
    policy = Policy.external() if options.policy is None else Policy.from_file(options.policy)
    base = Policy.external() if options.base is None else Policy.from_file(options.base)
    is_one_given = options.policy is not None or options.base is not None
    return policy, base if is_one_given and not options.no_base else None


@contextlib.contextmanager
def progress(log: Reader, resume: Resume | None = None) -> Iterator[Callable[[], None] | None]:
    """Shows on a terminal how far reading has come, and says where an interrupted command can be gone on with."""
    try:
        tqdm = needs("tqdm", "logs").tqdm if sys.stderr.isatty() else None
    except ImportError:
        tqdm = None
    try:
        with _interrupted_by_signals(resume):
            yield from _bar(log, tqdm) if tqdm else (None,)
    except KeyboardInterrupt:
        if resume is not None and resume.rows:
            on = f"the same command goes on after them, with --resume {shlex.quote(resume.path)}"
            print(f"interrupted after {number(resume.rows, 'row')}; {on}", file=sys.stderr)
        else:
            rows = f"after {number(log.rows, 'row')}" if log.rows else "before any row was read"
            print(f"interrupted {rows}; nothing was written", file=sys.stderr)
        raise


@contextlib.contextmanager
def _interrupted_by_signals(resume: Resume | None) -> Iterator[None]:
    """Has Ctrl-C and `kill` write first what was counted. Only a main thread has signals, and what is ignored stays so."""
    if resume is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    heeded = [one for one in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(one) != signal.SIG_IGN]
    before = {one: signal.signal(one, lambda *_: resume.interrupt()) for one in heeded}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _bar(log: Reader, tqdm: Any) -> Iterator[Callable[[], None]]:
    with tqdm(total=log.size, unit="B", unit_scale=True, unit_divisor=1024, leave=False, file=sys.stderr) as bar:

        def watch() -> None:
            bar.set_postfix_str(f"{log.rows:,} rows", refresh=False)
            bar.update(log.position - bar.n)

        yield watch


def _column(text: str) -> tuple[str, str]:
    column, equals, name = text.partition("=")
    if column not in NAMES or not equals or not name:
        raise argparse.ArgumentTypeError(f"`{text}` is not COLUMN=NAME, where COLUMN is one of {', '.join(NAMES)}")
    return column, name


def share(text: str) -> tuple[str, Callable[[int], float]]:
    """How many rows of how many: a number, or a part in percent."""
    number, percent, rest = text.partition("%")
    if rest or not re.fullmatch(r"[0-9]+(\.[0-9]+)?" if percent else "[0-9]+", number):
        raise argparse.ArgumentTypeError(f"`{text}` is neither a number nor a part in percent, as 5 or 0.5%")
    return text, lambda rows: rows * float(number) / 100 if percent else float(number)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"`{text}` is not a number")
    return int(text)
