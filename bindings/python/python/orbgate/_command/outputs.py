"""The rule for every file that a command writes: it replaces nothing that the command reads or writes otherwise."""

from __future__ import annotations

import argparse
import os

from .._read.files import files
from .._read.input import STANDARD_INPUT

INPUTS = "policy", "base", "properties", "sign"
OUTPUTS = "out", "bundle", "ocsf", "resume", "proposal"


def check_outputs(options: argparse.Namespace) -> None:
    """Ends the command if an output is the log, another input or another output, even by another name of the same file."""
    given = {f"--{name}": path for name in (*INPUTS, *OUTPUTS) if (path := getattr(options, name, None)) is not None}
    outputs = {name: path for name, path in given.items() if name[2:] in OUTPUTS}
    if "--sign" in given:
        given["the signature"] = outputs["the signature"] = f"{options.bundle}.minisig"
    log = [path for path in files(options.log) if path != STANDARD_INPUT] if outputs else []
    for name, path in outputs.items():
        if any(_is_same(path, file) for file in log):
            options.parser.error(f"{name} is the log itself")
        for other, file in given.items():
            if other != name and _is_same(path, file):
                options.parser.error(f"{name} and {other} are the same file")


def _is_same(one: str, other: str) -> bool:
    """Whether both are one regular file, now or once it is written. A terminal or a pipe can take several outputs."""
    if os.path.exists(one) and os.path.exists(other):
        return os.path.isfile(one) and os.path.samefile(one, other)
    return os.path.normcase(os.path.realpath(one)) == os.path.normcase(os.path.realpath(other))
