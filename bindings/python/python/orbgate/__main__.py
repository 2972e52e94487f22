"""The package's command line, `python -m orbgate`."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence

from . import __version__
from ._command import calls, privileges, replay, report, verify
from ._errors import PolicyError, TableError
from ._read.notes import UnnamedColumnError
from ._whole import NotWrittenError

FINE, COULD_NOT_RUN = 0, 2

# The errors of a write to a disk without room. Other files have names in their errors.
FULL = errno.ENOSPC, errno.EFBIG, errno.EDQUOT


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command. Returns its exit code."""
    called = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    name = called if called == "orbgate-py" else "python -m orbgate"
    parser = argparse.ArgumentParser(prog=name, description="Analyse logs with a scope and orb policy.")
    parser.add_argument("--version", action="version", version=f"orbgate {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    replay.add_to(commands)
    report.add_to(commands)
    privileges.add_to(commands)
    verify.add_to(commands)
    calls.add_to(commands)
    if sys.stdout is None:
        # Python has no standard output if it's closed, as in `… >&-`, and `print` would do nothing.
        print("error: standard output is closed", file=sys.stderr)
        return COULD_NOT_RUN
    options = parser.parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # For terminals that can't show a character, and file names that aren't valid text.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code: int = options.run(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The output was closed, as in `… | head`. The interpreter must not write again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return COULD_NOT_RUN
    except PolicyError as error:
        print(error, file=sys.stderr)
    except NotWrittenError as error:
        print(f"error: cannot write `{error.filename}`: {error.strerror}", file=sys.stderr)
    except OSError as error:
        if error.filename is None and error.errno in FULL:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            print(f"error: cannot write to standard output: {error.strerror}", file=sys.stderr)
        else:
            print(f"error: cannot open `{error.filename}`: {error.strerror}", file=sys.stderr)
    except UnnamedColumnError as error:
        print(f"error: {error}; name the right one: --column {error.column}=NAME", file=sys.stderr)
    except (ImportError, TableError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return COULD_NOT_RUN


if __name__ == "__main__":
    sys.exit(main())
