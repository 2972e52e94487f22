"""The package's command line, `python -m orbgate`."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from . import __version__
from ._command import privileges, replay, report, verify
from ._errors import PolicyError, TableError
from ._read.notes import UnnamedColumnError

FINE, COULD_NOT_RUN = 0, 2


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
    except OSError as error:
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
