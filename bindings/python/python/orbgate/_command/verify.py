"""`python -m orbgate verify`."""

from __future__ import annotations

import argparse
from typing import Any

from .. import audit
from .._count.text import shown
from .._number import number
from .._report import check_needs
from . import parser_of

DESCRIPTION = "Check that a bundle from `report --bundle` is complete and signed, and that its log gives the same results."

EPILOG = """\
With --log, the files are identified by their SHA-256, whatever their paths. The policy in the bundle decides the log again, and every
file of the bundle is compared. Without --log, the manifest, the tables and the page are only checked against each other, which does not
detect numbers that were invented in all of them.
The last line lists what was not checked.

examples:
  python -m orbgate verify evidence.zip
  python -m orbgate verify evidence.zip --log access.log.gz --public-key auditor.pub

exit codes:
  0  everything that was checked is the same; --log and --public-key check more
  1  something differs, a part of the bundle is missing, invalid or occurs twice, or the signature was not made with the key
  2  the command could not run, or the bundle cannot be read, for example because it is damaged or another program wrote it
"""

WORDS = {True: "same", False: "DIFFERS", None: "not checked"}


def add_to(commands: Any) -> None:
    """Adds the command to a parser."""
    parser = parser_of(commands, "verify", "check a bundle, and make it again", DESCRIPTION, EPILOG, run)
    parser.add_argument("bundle", metavar="BUNDLE", help="bundle to check")
    parser.add_argument("--log", metavar="LOG", nargs="+", default=[], help="files or folder of the log, to make the bundle again")
    parser.add_argument("--entries", metavar="FILE", help="entries of the ledger that the report read")
    parser.add_argument("--accept", metavar="FILE", help="file of accepted findings that the report read")
    parser.add_argument("--since", metavar="BUNDLE", help="earlier bundle that the report read")
    parser.add_argument("--public-key", metavar="KEY", help="minisign public key, as a file or text, that must have signed the bundle")
    parser.add_argument("--signature", metavar="FILE", help="file with the signature (default: BUNDLE.minisig)")


def run(options: argparse.Namespace) -> int:
    """Checks a bundle and prints the result of each check."""
    if options.signature and not options.public_key:
        options.parser.error("--signature requires --public-key")
    check_needs()
    rows = audit.verify(
        options.bundle,
        options.log,
        public_key=options.public_key,
        signature=options.signature,
        entries=options.entries,
        accept=options.accept,
        since=options.since,
    )
    for row in rows:
        print(f"{WORDS[row.is_same]:11}  {shown(row.what)}: {shown(row.about)}")
    differ = sum(row.is_same is False for row in rows)
    checked = sum(row.is_same is not None for row in rows)
    result = f"{differ} of {number(checked, 'check')} failed" if differ else "everything that was checked is the same"
    left = [*([] if options.log else ["whether the log gives the same numbers (--log)"]), *([] if options.public_key else ["who made it (--public-key)"])]
    print(f"{options.bundle}: {result}{'; not checked: ' + ', '.join(left) if left else ''}")
    return 1 if differ else 0
