"""The option `--properties` and its output, shared by several commands."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .._count.text import shown
from .._number import number
from .._policy import Policy

if TYPE_CHECKING:
    from .._report.proved import Properties


def add_properties_to(parser: argparse.ArgumentParser) -> None:
    """Adds the option."""
    parser.add_argument("--properties", metavar="FILE", help="test file with properties; exit with 1 if one does not hold for all requests")


def prove(options: argparse.Namespace, policy: Policy) -> Properties | None:
    """Proves or refutes the properties in the given file."""
    if options.properties is None:
        return None
    from .._report.proved import properties_of

    return properties_of(policy, options.properties)


def code(proved: Properties | None, code: int) -> int:
    """The exit code of a command that would exit with `code`: 1 instead of 0 if a property doesn't hold."""
    return 1 if proved is not None and proved.failed and not code else code


def text(proved: Properties, path: str) -> str:
    """The results for a file, in the format of `orbgate test`."""
    lines = []
    for row in proved.failed:
        lines.append(f"FAIL {shown(path)}:{row.line}:{row.column}: {shown(row.text)}")
        lines += [f"  {shown(why)}" for why in ([row.error] if row.error is not None else map(str, row.witnesses))]
    for row in proved.rows:
        if row.warning is not None:
            lines.append(f"{shown(path)}:{row.line}:{row.column}: warning: {shown(row.text)}: {row.warning}")
    properties = number(len(proved.rows), "property", "properties")
    result = f"{len(proved.failed):,} of {properties} failed" if proved.failed else f"ok: {properties}"
    return "\n".join([*lines, f"{shown(path)}: {result}"]) + "\n"


def to_dict(proved: Properties, path: str) -> dict[str, Any]:
    """The results in the form of JSON. The members are those of `orbgate test --json`, with witnesses as sentences."""
    rows = [
        {
            "property": row.text,
            "location": {"line": row.line, "column": row.column},
            "holds": row.holds,
            "rules": row.rules,
            "error": row.error,
            "warning": row.warning,
            "witnesses": list(map(str, row.witnesses)),
        }
        for row in proved.rows
    ]
    return {"file": path, "sha256": proved.sha256, "failed": len(proved.failed), "properties": rows}
