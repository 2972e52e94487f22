"""`python -m orbgate verify`."""

from __future__ import annotations

import argparse
from typing import Any

from .. import audit
from .._count.text import shown
from .._number import number
from .._report import check_needs

DESCRIPTION = "Check a bundle that `report --bundle` wrote: that it is whole, that it is signed, and that the log makes it again."

EPILOG = """\
With --log, the files are known by their SHA-256, wherever they are and whatever they are called; the log is decided again by the policy in the
bundle, and every file of the bundle is compared. Without --log only the bundle itself is checked, against what it says of itself: who made its
numbers up can make that fit. The last line says what was not checked.

examples:
  python -m orbgate verify evidence.zip
  python -m orbgate verify evidence.zip --log access.log.gz --public-key auditor.pub

exit codes:
  0  all that was checked is the same; without --log or --public-key, that is not all that could be
  1  something is not, a part of the bundle is missing, there twice or something else, or the signature is not by the key
  2  could not run, or it is no bundle that can be read: also where the archive is damaged, or another program wrote it
"""

WORDS = {True: "same", False: "DIFFERS", None: "not checked"}


def add_to(commands: Any) -> None:
    """Adds the command to a parser."""
    parser = commands.add_parser(
        "verify",
        help="check a bundle of evidence, and make it again",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("bundle", metavar="BUNDLE", help="the archive")
    parser.add_argument("--log", metavar="LOG", nargs="+", default=[], help="files of the log, or a folder, to make it again")
    parser.add_argument("--public-key", metavar="KEY", help="public key of minisign, a file or its text, that must have signed the archive")
    parser.add_argument("--signature", metavar="FILE", help="where the signature is, if not in BUNDLE.minisig")
    parser.set_defaults(run=run, parser=parser)


def run(options: argparse.Namespace) -> int:
    """Checks a bundle and prints what is the same."""
    if options.signature and not options.public_key:
        options.parser.error("--signature without --public-key")
    check_needs()
    found = audit.verify(options.bundle, options.log, public_key=options.public_key, signature=options.signature)
    for row in found:
        print(f"{WORDS[row.is_same]:11}  {shown(row.what)}: {shown(row.about)}")
    differ = sum(row.is_same is False for row in found)
    checked = sum(row.is_same is not None for row in found)
    said = f"{differ} of {number(checked, 'check')} failed" if differ else "all that was checked is the same"
    left = [*([] if options.log else ["whether its numbers are those of the log (--log)"]), *([] if options.public_key else ["who made it (--public-key)"])]
    print(f"{options.bundle}: {said}{'; not checked: ' + ', '.join(left) if left else ''}")
    return 1 if differ else 0
