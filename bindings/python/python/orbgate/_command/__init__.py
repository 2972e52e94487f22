"""The commands of `python -m orbgate`. Each module adds its command to the parser."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from .._policy import Policy


def parser_of(commands: Any, name: str, what: str, description: str, epilog: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
    """A new command."""
    form = argparse.RawDescriptionHelpFormatter
    parser: argparse.ArgumentParser = commands.add_parser(name, help=what, description=description, epilog=epilog, formatter_class=form)
    parser.set_defaults(run=run, parser=parser)
    return parser


def policy_of(path: str | None) -> Policy:
    """The policy in a file, or the built-in one."""
    return Policy.external() if path is None else Policy.from_file(path)


def count(text: str) -> int:
    """The type of an option that is a number."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"`{text}` is not a number")
    return int(text)
