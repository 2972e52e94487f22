"""Puts every case through a language's public interface: `run.py LANGUAGE PROGRAM…`. README.md describes what it says to the program."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

CASES = Path(__file__).resolve().parent
COLUMNS = "name policy method target by_scope kind scopes bonus decision status reason detail api route scope orbs".split()
ANSWERS = [*COLUMNS[8:], "about"]

# How each language can be asked; `set`: with scopes that are interned, too.
FORMS = {
    "c": "single packed batch batch_packed route route_packed set",
    "cpp": "single batch route set",
    "go": "single batch route set",
    "java": "single batch route set",
    "node": "single batch route set",
    "python": "single",
}

Row = dict[str, str]


def cases() -> Iterator[tuple[str, Row]]:
    """Every row with its file and line."""
    for path in sorted(CASES.glob("*.tsv")):
        lines = path.read_bytes().decode().split("\n")
        assert lines.pop() == "", f"{path}: the last line doesn't end"
        comments = next(at for at, line in enumerate(lines) if not line.startswith("#"))
        assert lines[comments].split("\t") == COLUMNS, f"{path}: not the header row"
        names = set()
        for number, line in enumerate(lines[comments + 1 :], start=comments + 2):
            cells = line.split("\t")
            assert len(cells) == len(COLUMNS) and cells[0] not in names, f"{path}:{number}: not 16 cells, or the name is taken"
            names.add(cells[0])
            yield f"{path.name}:{number}: {cells[0]}", dict(zip(COLUMNS, cells))


def plain(cell: str) -> bytes:
    r"""`\xNN` is a byte, `\\` a backslash, and a backslash before anything else an error."""

    def byte(escape: re.Match[bytes]) -> bytes:
        assert escape[1], f"an escape of `{cell}`"
        return b"\\" if escape[1] == b"\\" else bytes.fromhex(escape[1][1:].decode())

    return re.sub(rb"\\(\\|x[0-9A-Fa-f]{2})?", byte, cell.encode())


def charge(orbs: str) -> str:
    """What programs say of a charge: whether it consumes, how many, and whether bonus orbs are allowed."""
    amount, _, bonus = orbs.partition(" ")
    consumes = amount != "free"
    amount = {"free": "0", "unstated": "null"}.get(amount, amount)
    return f"{consumes} {amount} {bool(bonus)}".lower() if orbs else ""


class Asked:
    """A request, what it is expected to be about, and the answers. One that finds this for others has no expected answer."""

    def __init__(self, location: str, row: Row, about: Asked | None) -> None:
        self.location, self.row, self.about = location, row, about
        self.is_case = "decision" in row
        # A denial can name a template that has no such method.
        self.route = row["route"].split(" ") if self.is_case and row["target"] and " " in row["route"] else ["", ""]
        self.found: dict[str, list[str]] = {}

    def cells(self) -> list[str]:
        asked = [plain(self.row[column]).hex() for column in ("method", "target", "by_scope", "scopes")]
        return [*asked, self.row["kind"], self.row["bonus"], *self.route]

    def forms(self, known: str) -> set[str]:
        """What a program must answer: those of the language that this row can be asked in."""
        words = known.split()
        ways = {way for way in words if way != "set"}
        ways -= {"batch", "batch_packed"} if self.row["by_scope"] else set()
        ways -= set() if self.route[0] else {"route", "route_packed"}
        return ways | ({f"{way} set" for way in ways} if "set" in words else set())

    def wrong(self, known: str) -> Iterator[str]:
        expected = next(iter(self.found.values()), [])
        if self.is_case:
            expected = [self.row[column] for column in COLUMNS[8:15]] + [charge(self.row["orbs"])]
            named = dict(zip(ANSWERS, next(iter(self.about.found.values()), []))) if self.about else {}
            expected.append(named.get("route", "") if named.get("scope") else "")
        if forms := self.forms(known) ^ self.found.keys():
            yield f"no answer, or one too many, as {sorted(forms)}"
        for form, cells in self.found.items():
            for column, cell, other in zip(ANSWERS, cells, expected):
                if cell != other:
                    yield f"{form}: {column} is `{cell}`, not `{other}`"


def ask(program: list[str], groups: dict[str, list[Asked]]) -> None:
    """Asks a program everything at once."""
    rows = [asked for group in groups.values() for asked in group]
    lines = []
    for policy, group in groups.items():
        lines += [f"{len(group)}\t{policy}", *("\t".join(asked.cells()) for asked in group)]
    text = "".join(f"{line}\n" for line in lines)
    ended = subprocess.run(program, input=text.encode(), stdout=subprocess.PIPE, check=False)
    if ended.returncode:
        sys.exit(f"`{' '.join(program)}` ended with {ended.returncode}")
    for line in ended.stdout.decode().splitlines():
        number, form, *cells = line.split("\t")
        found = rows[int(number)].found
        assert len(cells) == len(ANSWERS) and form not in found, f"an answer with other cells, or twice: `{line}`"
        found[form] = cells


def main(language: str, *program: str) -> int:
    groups: dict[str, list[Asked]] = defaultdict(list)
    abouts: dict[tuple[str, str, str], Asked] = {}
    for location, row in cases():
        # The specification's policy is compiled in, too, under no name.
        file = CASES.parent / "external.yaml" if row["policy"] == "external" else CASES / f"policies/{row['policy']}.yaml"
        for policy in (str(file), "") if row["policy"] == "external" else (str(file),):
            about, request = None, (policy, row["method"], row["target"])
            unscoped = {column: row[column] for column in COLUMNS[:6]} | {"kind": "user", "scopes": "", "bonus": "no"}
            if not row["by_scope"] and not (about := abouts.get(request)):
                about = abouts[request] = Asked(f"{location} (about)", unscoped, None)
                groups[policy].append(about)
            groups[policy].append(Asked(location, row, about))
    ask(list(program), groups)
    rows = [asked for group in groups.values() for asked in group]
    wrong = [f"{asked.location}: {error}" for asked in rows for error in asked.wrong(FORMS[language])]
    ran = [asked for asked in rows if asked.is_case]
    print(*wrong, f"ran {len(ran)} cases with {sum(len(asked.found) for asked in ran)} answers", sep="\n")
    return int(bool(wrong) or not ran)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
