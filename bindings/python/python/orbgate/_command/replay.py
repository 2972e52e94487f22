"""`python -m orbgate replay`."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .._columns import EVERY, NAMED_ONLY, NAMES
from .._count.replay import replayed
from .._extras import needs
from .._number import number
from .._policy import Policy
from .._read.files import FORMATS
from .._read.reader import Reader, read
from .._read.times import UNITS
from . import count, parser_of, policy_of
from .outputs import check_outputs
from .properties import add_properties_to, code, prove, text, to_dict

if TYPE_CHECKING:
    from .._count.resume import Resume

DESCRIPTION = "Decide every request in a log, and summarise the decisions, their reasons, and the changes from another policy."

EPILOG = f"""\
formats, detected from the file name unless you set --format; text can be compressed with gzip or zstd:
{chr(10).join(f"  {name:9} {what}" for name, what in FORMATS.items())}

columns, which --column maps to other names, for example --column target=path or --column kind=token.kind:
  {", ".join(NAMES[:4])},
  {", ".join(NAMES[4:])},
  and for `report` only if named: {", ".join(NAMED_ONLY)}
In an access log, method and target come from the request, and served_status from the status. Its fields are vhost, host, identity, user,
time, status, size, referer, agent, and then extra1, extra2 and so on. A request without a kind has no token.

examples:
  python -m orbgate replay requests.jsonl
  python -m orbgate replay access.log.gz --kind user --scopes 'read:orbs read:keys'
  python -m orbgate replay access.log* --column scopes=extra1 --column kind=extra2 --column caller=user --tolerate 1%
  python -m orbgate replay calls.parquet --column target=path --out decided.parquet
  python -m orbgate replay access.log --public 'GET /healthz'
  python -m orbgate replay calls.csv --policy new.yaml --base old.yaml --json
  zcat access.log.gz | python -m orbgate replay - --format access

exit codes:
  0  every row was decided, whether allowed or denied, except for unreadable rows that --tolerate allows
  1  the same, but a property of --properties does not hold
  2  the command could not run, or more rows were unreadable; all others were decided. This takes precedence over 1
  130  interrupted by Ctrl-C, or by SIGTERM with --resume; nothing was written except the --resume file
"""


def add_to(commands: Any) -> None:
    """Adds the command to a parser."""
    parser = parser_of(commands, "replay", "decide every request in a log", DESCRIPTION, EPILOG, run)
    add_log_to(parser)
    parser.add_argument("--policy", metavar="FILE", help="policy to use instead of the built-in one")
    parser.add_argument(
        "--base",
        metavar="FILE",
        help="policy to compare with; lists the changes from it to --policy (default: the built-in policy if --policy is given)",
    )
    add_properties_to(parser)
    parser.add_argument("--no-base", action="store_true", help="do not compare with another policy")
    parser.add_argument("--out", metavar="FILE", help="write each request with its decision, and the log's other columns as log_NAME, to a Parquet file")
    add_resume_to(parser, "the summary is printed")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.add_argument("--top", type=count, default=10, metavar="N", help="show the N most denied calls and callers (default: 10)")
    parser.add_argument("--examples", type=count, default=3, metavar="N", help="show the first N rows of each change (default: 3)")


def add_resume_to(parser: argparse.ArgumentParser, end: str) -> None:
    """Adds the option `--resume`."""
    parser.add_argument(
        "--resume",
        metavar="FILE",
        help=f"save the progress in this file every minute, and on Ctrl-C or SIGTERM; if the file exists, continue from there. It is removed once {end}",
    )


def add_log_to(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments for reading a log."""
    parser.add_argument(
        "log", metavar="LOG", nargs="+", help="file or folder to read, or `-` for standard input; several files are read as one log"
    )
    parser.add_argument("--format", choices=FORMATS, help="format of the log")
    parser.add_argument(
        "--column", action="append", default=[], type=_column, metavar="COLUMN=NAME", help="the log's name for a column"
    )
    parser.add_argument("--kind", choices=("user", "organisation"), help="kind of the token of every request")
    parser.add_argument("--scopes", help="scopes of the token of every request, separated by spaces")
    parser.add_argument(
        "--allow-bonus-orbs", action="store_true", default=None, help="every request allows bonus orbs"
    )
    parser.add_argument("--time-unit", choices=UNITS, help="unit of numeric times, which count from 1970")
    parser.add_argument("--time-zone", metavar="ZONE", help="zone of times without a zone, such as +02:00 or Europe/Berlin (default: UTC)")
    parser.add_argument("--public", action="append", metavar="ROUTE", help="route that needs no token, such as 'GET /healthz'; can be repeated")
    parser.add_argument(
        "--tolerate",
        type=share,
        default=share("0"),
        metavar="N",
        help="exit with 0 even if up to N rows, or N%% of them, are unreadable, for example because scanners sent invalid requests; an unclosed "
        "quote in CSV is never tolerated",
    )


def open_log(options: argparse.Namespace) -> Reader:
    """The log that the options of `add_log_to` name."""
    named = [column for column, _ in options.column]
    if twice := [column for column in EVERY if named.count(column) > 1]:
        options.parser.error(f"--column {twice[0]} is given twice")
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
    if (limit := options.tolerate[0]) != "0":
        log.also["tolerate"] = limit
    return log


def exit_code(options: argparse.Namespace, log: Reader, unread: int, rows: int, broken: str | None) -> int:
    """The exit code: 0 if every row was read, except for tolerated ones. An incomplete log or an unclosed quote is never tolerated."""
    if broken is not None:
        print(f"error: {broken}", file=sys.stderr)
        return 2
    limit, tolerated = options.tolerate
    if log.torn_rows and limit != "0":
        print("error: a quote is not closed correctly, so the rows after it might be forged; --tolerate never allows this", file=sys.stderr)
        return 2
    if unread > tolerated(rows):
        print(f"error: {unread:,} of {number(rows, 'row')} could not be read, so results might be incomplete (allow this with --tolerate)", file=sys.stderr)
        return 2
    if unread:
        print(f"{unread:,} of {rows:,} rows could not be read, as allowed by --tolerate {limit}", file=sys.stderr)
    return 0


def run(options: argparse.Namespace) -> int:
    """Replays a log and prints the summary."""
    needs("pyarrow", "logs")
    from .._count.resume import Resume

    if options.resume and options.out:
        options.parser.error("--resume cannot be used with --out, because a partly written Parquet file cannot be continued")
    check_outputs(options)
    policy, base = _policies(options)
    proved = prove(options, policy)
    log = open_log(options)
    resume = None if options.resume is None else Resume(options.resume, log, policy, base, f"replay with {number(options.examples, 'example')}")
    with progress(log, resume) as watch:
        summary = replayed(log, policy, base, options.out, options.top, options.examples, watch, resume)
    if options.json:
        result = summary.to_dict()
        print(json.dumps(result if proved is None else {**result, "properties": to_dict(proved, options.properties)}, indent=2, ensure_ascii=False))
    else:
        print(summary, end="" if proved is None else f"\n{text(proved, options.properties)}")
    if resume is not None:
        resume.remove()
    return code(proved, exit_code(options, log, summary.errors, summary.rows, None if summary.broken is None else str(summary.broken)))


def _policies(options: argparse.Namespace) -> tuple[Policy, Policy | None]:
    """The policy, and the policy to compare with."""
    if options.no_base and options.base:
        options.parser.error("--base cannot be used with --no-base")
    policy = policy_of(options.policy)
    base = policy_of(options.base)
    is_one_given = options.policy is not None or options.base is not None
    return policy, base if is_one_given and not options.no_base else None


@contextlib.contextmanager
def progress(log: Reader, resume: Resume | None = None) -> Iterator[Callable[[], None] | None]:
    """Shows the progress on a terminal, and prints how to continue an interrupted command."""
    try:
        tqdm = needs("tqdm", "logs").tqdm if sys.stderr.isatty() else None
    except ImportError:
        tqdm = None
    try:
        with _interrupted_by_signals(resume):
            yield from _bar(log, tqdm) if tqdm else (None,)
    except KeyboardInterrupt:
        if resume is not None and resume.rows:
            on = f"run the same command with --resume {shlex.quote(resume.path)} to continue"
            print(f"interrupted after {number(resume.rows, 'row')}; {on}", file=sys.stderr)
        else:
            rows = f"after {number(log.rows, 'row')}" if log.rows else "before any row was read"
            print(f"interrupted {rows}; nothing was written", file=sys.stderr)
        raise


@contextlib.contextmanager
def _interrupted_by_signals(resume: Resume | None) -> Iterator[None]:
    """Saves the progress on Ctrl-C and `kill`. Only the main thread can handle signals, and ignored signals stay ignored."""
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
    if column not in EVERY or not equals or not name:
        raise argparse.ArgumentTypeError(f"`{text}` is not COLUMN=NAME, where COLUMN is one of {', '.join(EVERY)}")
    return column, name


def share(text: str) -> tuple[str, Callable[[int], float]]:
    """The tolerated rows for a number of rows: a fixed number, or a percentage."""
    number, percent, rest = text.partition("%")
    if rest or not re.fullmatch(r"[0-9]+(\.[0-9]+)?" if percent else "[0-9]+", number):
        raise argparse.ArgumentTypeError(f"`{text}` is not a number or a percentage, such as 5 or 0.5%")
    return text, lambda rows: rows * float(number) / 100 if percent else float(number)
