"""`python -m orbgate privileges`."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import timedelta
from typing import Any

from .. import audit
from .._count.text import shown, unread_rows
from .._count.unread import to_dicts
from .._extras import needs
from .._number import number
from .._report.numbers import UNUSED_DAYS
from .._whole import whole_text
from . import count, parser_of, policy_of
from .outputs import check_outputs
from .replay import add_log_to, exit_code, open_log, progress, share

DESCRIPTION = "List the scopes that each caller in a log has but never uses, and the least set of scopes that it needs."

EPILOG = """\
A caller uses a scope if the scope allowed at least one of its calls. The used scopes are the least set that a caller needs for its allowed
calls. The proposal is JSON: the `client_id` and `scope` of each client with more unused scopes than --most-unused, as in client metadata
(RFC 7591). It removes only scopes without a use for --days days of logs, and lists the others with their days. Scopes that the policy does
not have are listed separately. They do not count for --most-unused, and the proposal keeps them.

examples:
  python -m orbgate privileges requests.parquet --column caller=client_id --proposal less.json
  python -m orbgate privileges november.csv --since october.zip --proposal less.json
  python -m orbgate privileges calls.csv --most-unused 2 --top 50

exit codes:
  0  no caller has more unused scopes than --most-unused
  1  a caller has more
  2  the command could not run, or not everything was counted: more unreadable rows than --tolerate allows; more calls without a caller
     or with a token of unknown kind than --tolerate-uncounted allows, for example if `kind` is misspelt or scopes have no kind; no
     decided call; or no call with a valid token. This takes precedence over 1
"""


def add_to(commands: Any) -> None:
    """Adds the command to a parser."""
    parser = parser_of(commands, "privileges", "list the scopes that each caller has but never uses", DESCRIPTION, EPILOG, run)
    add_log_to(parser)
    parser.add_argument("--policy", metavar="FILE", help="policy to use instead of the built-in one")
    parser.add_argument("--most-unused", type=count, default=0, metavar="N", help="how many unused scopes a caller may have (default: 0)")
    parser.add_argument(
        "--tolerate-uncounted", type=share, default=share("0"), metavar="N", help="tolerate up to N calls, or N%% of them, that name no caller, have a token of unknown kind, or are by callers beyond the limit"
    )
    parser.add_argument("--json", action="store_true", help="print the callers with too many unused scopes, and what was not counted, as JSON")
    parser.add_argument("--proposal", metavar="FILE", help="write the scopes that each client needs as JSON")
    parser.add_argument("--days", type=count, default=UNUSED_DAYS, metavar="N", help=f"propose to remove scopes without a use for N days of logs (default: {UNUSED_DAYS})")
    parser.add_argument("--since", metavar="BUNDLE", help="also count the logs of this report's bundle, and those before it: what they saw, and their days")
    parser.add_argument("--top", type=count, default=20, metavar="N", help="show the N callers with the most unused scopes (default: 20)")


def run(options: argparse.Namespace) -> int:
    """Finds the scopes of all callers, and prints those that are never used."""
    needs("pyarrow", "logs")
    check_outputs(options)
    policy = policy_of(options.policy)
    log = open_log(options)
    with progress(log) as watch:
        made = audit.check(log, policy, most_unused=options.most_unused, watch=watch, since=options.since)
    privileges = made.found
    if options.proposal:
        with whole_text(options.proposal) as file:
            json.dump(privileges.proposal(options.most_unused, days=options.days), file, indent=2, ensure_ascii=False)
            file.write("\n")
    print(_json(made, options) if options.json else _text(made, options.most_unused, options.top), end="")
    unread = exit_code(options, log, privileges.unread, privileges.calls + privileges.unread, privileges.broken)
    if not privileges.calls:
        print("error: no call was decided, so no caller was checked", file=sys.stderr)
    elif not privileges.with_valid_token:
        print("error: no call has a valid token, so no caller was checked", file=sys.stderr)
    limit, tolerated = options.tolerate_uncounted
    is_tolerated = privileges.uncounted <= tolerated(privileges.calls)
    level = "tolerated" if is_tolerated else "error"
    if uncounted := privileges.left_out + privileges.without_caller:
        print(f"{level}: {number(uncounted, 'call')} not counted for a caller", file=sys.stderr)
    if privileges.with_unknown_token:
        print(f"{level}: {number(privileges.with_unknown_token, 'call')} with a token of unknown kind, whose scopes are not known", file=sys.stderr)
    if privileges.uncounted:
        of_all = f"{number(privileges.uncounted)} of {number(privileges.calls, 'call')} not counted"
        allowed = f"{of_all}, as allowed by --tolerate-uncounted {limit}"
        print(allowed if is_tolerated else f"error: {of_all}, so callers might have more unused scopes (allow this with --tolerate-uncounted)", file=sys.stderr)
    if unread or not is_tolerated or not privileges.with_valid_token:
        return 2
    return 1 if made.over else 0


def _text(made: audit.Check, most: int, top: int) -> str:
    privileges = made.found
    lines = [f"warning: {shown(warning)}" for warning in privileges.warnings]
    unused = f"more than {number(most, 'unused scope')}" if most else "unused scopes"
    lines.append(f"{len(made.over):,} of {number(len(privileges.rows), 'caller')} {'has' if len(made.over) == 1 else 'have'} {unused}")
    if unknown := sum(bool(row.unknown) for row in privileges.rows):
        lines.append(f"{unknown:,} of {number(len(privileges.rows), 'caller')} {'has' if unknown == 1 else 'have'} scopes that the policy does not have")
    lines += [f"not counted: {shown(part)}" for part in privileges.not_counted]
    lines.append(_window(privileges))
    for row in made.over[:top]:
        lines += ["", f"{shown(row.caller)}: {number(row.calls, 'call')}, {row.allowed:,} allowed"]
        lines += [f"  never used: {shown(scope)}{_days(row.days[scope])}" for scope in row.unused]
        lines += [f"  unknown:    {shown(scope)}" for scope in row.unknown]
        for scope, last in row.last_used.items():
            lines.append(f"  used:       {shown(scope)}" + ("" if last is None else f", last at {last.isoformat()}Z"))
    if len(made.over) > top:
        lines += ["", f"and {number(len(made.over) - top, 'more caller')}"]
    lines += unread_rows(to_dicts(list(privileges.unread_by_reason)))
    return "\n".join(lines) + "\n"


def _window(privileges: audit.Privileges) -> str:
    """How long the logs are."""
    times = privileges.times
    if not times:
        return "the log has no times, so it shows no days without a use"
    days = sum((last - first for first, last in times), timedelta()).days
    logs = f"{len(times)} logs, with those of earlier reports," if len(times) > 1 else "logs, with those of earlier reports," if privileges.since else "log"
    return f"{logs} of {number(days, 'day')}: {', '.join(f'{first.isoformat()}Z to {last.isoformat()}Z' for first, last in times)}"


def _days(days: int | None) -> str:
    """For how many days of logs a scope wasn't used."""
    return "" if days is None else f" ({number(days, 'day')})"


def _json(made: audit.Check, options: argparse.Namespace) -> str:
    privileges = made.found
    result = {
        "policy": privileges.policy, "most_unused": options.most_unused, "tolerate": options.tolerate[0], "tolerate_uncounted": options.tolerate_uncounted[0], "calls": privileges.calls, "callers": len(privileges.rows), "times": [{"first": first, "last": last} for first, last in privileges.times], "since": privileges.since, "over": made.over.to_dicts(),
        "uncounted": privileges.uncounted, "unread": privileges.unread, "not_counted": list(privileges.not_counted), "warnings": list(privileges.warnings),
    }  # fmt: skip
    return json.dumps(result, indent=2, ensure_ascii=False, default=lambda time: f"{time.isoformat()}Z") + "\n"
