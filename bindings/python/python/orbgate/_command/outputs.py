"""The rule for every file that a command writes: it replaces nothing that the command reads or writes otherwise."""

from __future__ import annotations

import argparse

from .._read.files import files
from .._read.input import STANDARD_INPUT
from .._whole import is_same_file

INPUTS = "policy", "base", "properties", "sign", "entries", "accept", "since"
OUTPUTS = "out", "bundle", "ocsf", "resume", "proposal"


def check_outputs(options: argparse.Namespace) -> None:
    """Ends the command if an output is the log, another input or another output, even by another name of the same file."""
    given = {f"--{name}": path for name in (*INPUTS, *OUTPUTS) if (path := getattr(options, name, None)) is not None}
    outputs = {name: path for name, path in given.items() if name[2:] in OUTPUTS}
    if "--sign" in given:
        given["the signature"] = outputs["the signature"] = f"{options.bundle}.minisig"
    log = [path for path in files(options.log) if path != STANDARD_INPUT] if outputs else []
    for name, path in outputs.items():
        if any(is_same_file(path, file) for file in log):
            options.parser.error(f"{name} is the log itself")
        for other, file in given.items():
            if other != name and is_same_file(path, file):
                options.parser.error(f"{name} and {other} are the same file")
