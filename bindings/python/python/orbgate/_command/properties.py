"""The option `--properties`, and what it prints: the same for every command that has it."""

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
    parser.add_argument("--properties", metavar="FILE", help="test file whose properties the policy must have for all requests; exit with 1 where it lacks one")


def prove(options: argparse.Namespace, policy: Policy) -> Properties | None:
    """Proves or refutes what the option asks for."""
    if options.properties is None:
        return None
    from .._report.proved import properties_of

    return properties_of(policy, options.properties)


def code(found: Properties | None, code: int) -> int:
    """The exit code of a command that would end with this one: 1 where it ran, and a property does not hold."""
    return 1 if found is not None and found.failed and not code else code


def text(found: Properties, path: str) -> str:
    """What was found in the file of this path, in the lines of `orbgate test`."""
    lines = []
    for row in found.failed:
        lines.append(f"FAIL {shown(path)}:{row.line}:{row.column}: {shown(row.text)}")
        lines += [f"  {shown(why)}" for why in ([row.error] if row.error is not None else map(str, row.witnesses))]
    for row in found.rows:
        if row.warning is not None:
            lines.append(f"{shown(path)}:{row.line}:{row.column}: warning: {shown(row.text)}: {row.warning}")
    properties = number(len(found.rows), "property", "properties")
    result = f"{len(found.failed):,} of {properties} failed" if found.failed else f"ok: {properties}"
    return "\n".join([*lines, f"{shown(path)}: {result}"]) + "\n"


def to_dict(found: Properties, path: str) -> dict[str, Any]:
    """What was found, as JSON has it; its members are those of `orbgate test --json`, with witnesses as sentences."""
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
        for row in found.rows
    ]
    return {"file": path, "sha256": found.sha256, "failed": len(found.failed), "properties": rows}
