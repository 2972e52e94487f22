"""Findings that are accepted until a day, from a file: kind, subject, reason and end."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from datetime import date, datetime
from hashlib import sha256
from typing import Any, NamedTuple

from .._errors import TableError
from .._read.lines import once
from .._rows import Rows

MEMBERS = ("finding", "subject", "reason", "until")
# The subject of every finding of a kind.
EVERY = "*"


class Acceptance(NamedTuple):
    """A finding that is accepted until the end of a day: its kind, its subject or `*`, the reason, and whether it still counts (`is_valid`) and
    was needed (`is_used`). `is_valid` compares the day with the last time of the log.
    """

    finding: str
    subject: str
    reason: str
    until: date
    is_valid: bool
    is_used: bool


class Acceptances(NamedTuple):
    """The acceptances of a file, and its SHA-256."""

    sha256: str
    rows: tuple[Acceptance, ...]

    def at(self, last: datetime | None) -> tuple[Acceptance, ...]:
        """The rows, with those valid whose day isn't before the log's last time. A log without times has no end to compare with."""
        return tuple(row._replace(is_valid=last is not None and last.date() <= row.until) for row in self.rows)


def read_accepted(path: str | os.PathLike[str], kinds: Iterable[str]) -> Acceptances:
    """The acceptances in a file of JSON Lines. Raises `TableError` with all errors at once, and `OSError` if it can't be read."""
    with open(path, "rb") as file:
        data = file.read()
    known, rows, errors = {*kinds}, [], []
    for at, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        wrong = _wrong(line, known)
        if isinstance(wrong, Acceptance):
            rows.append(wrong)
        else:
            errors += [f"{os.fspath(path)}:{at}:1: {one}" for one in wrong]
    if errors:
        raise TableError("\n".join(errors))
    return Acceptances(sha256(data).hexdigest(), tuple(rows))


def _wrong(line: bytes, known: set[str]) -> Acceptance | list[str]:
    """The acceptance of a line, or what is wrong with it."""
    try:
        row: Any = json.loads(line, object_pairs_hook=once)
    except (RecursionError, ValueError) as error:
        return [f"no acceptance in JSON: {error}"]
    if not isinstance(row, dict):
        return ["an acceptance is an object with `finding`, `subject`, `reason` and `until`"]
    errors = [f"unknown member `{name}` (known: {', '.join(f'`{of}`' for of in MEMBERS)})" for name in row if name not in MEMBERS]
    errors += [f"`{name}` must be a string that is not empty" for name in MEMBERS if not isinstance(row.get(name), str) or not row[name].strip()]
    if isinstance(row.get("finding"), str) and row["finding"].strip() and row["finding"] not in known:
        errors.append(f"there is no finding `{row['finding']}`")
    until = None
    if isinstance(row.get("until"), str) and row["until"].strip():
        try:
            until = date.fromisoformat(row["until"])
        except ValueError:
            errors.append(f"`until` must be a day such as 2026-12-31, not `{row['until']}`")
    if errors or until is None:
        return errors
    return Acceptance(row["finding"], row["subject"], row["reason"], until, False, False)


def split(findings: Rows[Any], rows: tuple[Acceptance, ...]) -> tuple[Rows[Any], Rows[Acceptance]]:
    """The findings that aren't accepted, and the acceptances with their use. A finding is accepted if all its subjects are."""
    used: set[int] = set()

    def covering(kind: str, subject: str) -> list[int]:
        return [at for at, row in enumerate(rows) if row.is_valid and row.finding == kind and row.subject in (subject, EVERY)]

    def is_accepted(finding: Any) -> bool:
        by = [covering(finding.kind, subject) for subject in finding.subjects or (EVERY,)]
        if not all(by):
            return False
        used.update(at for of in by for at in of)
        return True

    left = findings.where(lambda finding: not is_accepted(finding))
    return left, Rows(Acceptance, (row._replace(is_used=at in used) for at, row in enumerate(rows)))


def split_signs(signs: Rows[Any], rows: tuple[Acceptance, ...]) -> tuple[Rows[Any], list[Acceptance]]:
    """The signs that aren't accepted, and the acceptances with their use."""
    by = [[at for at, row in enumerate(rows) if row.is_valid and row.finding == sign.kind and row.subject in (sign.subject, EVERY)] for sign in signs]
    used = {at for of in by for at in of}
    left = Rows(type(signs[0]) if signs else Acceptance, (sign for sign, of in zip(signs, by) if not of)) if signs else signs
    return left, [row._replace(is_used=at in used) for at, row in enumerate(rows)]
