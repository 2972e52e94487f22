"""Reports on logs made by seed: 41 kinds of incidents, and logs that are odd but healthy. The authors of both knew neither rules nor pages."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import made_healthy
import made_incidents
import pytest
from orbgate import Policy, report

pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")

pytestmark = pytest.mark.once

SEED = 3
# The findings of which one says what happened, on the first screen.
SAID: dict[str, set[str]] = {
    "stuffing-fast": {"attack", "successful_attack"},
    "enumeration-allowed": {"enumeration"},
    "duplicates-shipped": {"copied_rows"},
    "privilege-added": {"new_since"},
}
# Seeds and numbers of logs: a flaky network and an old version of an application; users with a newsletter, on phones; an instance that is ill for
# minutes; a maintenance; instances that are replaced; a fleet of devices, each of which changes its own object; a maintenance of nine minutes.
HEALTHY = ((1, 4), (1, 5), (5, 11), (5, 43), (5, 47), (6, 24), (9, 35))
# Seeds whose logs changed a rule show nothing anymore: those of incidents up to 21, and of healthy logs up to 25. The page lists the last ones.
# The seed of which at most `ALARMS` of all logs may alarm.
WHOLE, ALARMS = 5, 1
FIRST_SCREEN = 5
WORDS = {"session": "user", "user": "user", "": ""}
COLUMNS = {name: name for name in ("target", "caller", "address", "instance", "account")} | {"served_status": "status"}


def read(folder: Path) -> tuple[Any, Policy, list[str]]:
    """The log with our words for kinds of tokens, its policy, and the routes that need no token."""
    text = (folder / "policy.yaml").read_text("utf-8")
    named = re.search(r"# reachable without a token: (.*)", text)
    public = {one.strip() for one in named[1].split(",")} if named else set()
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    if text.startswith("version: 1"):
        text = re.sub(r"^(  [\w.-]+:)\n    scopes:", r"\1\n    base_path: ''\n    scopes:", f"orbgate: 1\nname: service\n{text.partition(chr(10))[2]}", flags=re.MULTILINE)
    policy = Policy.from_yaml(text)
    with (folder / "log.csv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    templates = [route.template.split("/") for route in policy.routes()]
    served: set[str] = set()
    with (folder / "calls.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*rows[0], "kind", "caller"])
        for row in rows:
            writer.writerow([*row.values(), WORDS.get(row["token_kind"], "organisation"), row["subject"] or row["client"]])
            path = row["target"].partition("?")[0]
            is_known = any(len(of) == path.count("/") + 1 and all(a == b or b.startswith("{") for a, b in zip(path.split("/"), of)) for of in templates)
            # Health checks and preflights, which no policy lists.
            if not named and not is_known and row["status"].startswith("2") and not row["token_kind"] and re.fullmatch(r"/|(/[A-Za-z0-9._~-]+)+", path):
                served.add(f"{row['method']} {path}")
    return folder / "calls.csv", policy, sorted({*public, *served})


def findings(folder: Path) -> Any:
    log, policy, public = read(folder)
    return report(log, policy, columns=COLUMNS, time_zone="UTC", public=public).figures.findings


@pytest.mark.parametrize("kind", SAID)
def test_what_happened_is_on_the_first_screen(kind: str, tmp_path: Path) -> None:
    happened = made_incidents.write(SEED, kind, tmp_path)
    rows = findings(tmp_path)
    assert {row.kind for row in rows[:FIRST_SCREEN]} & SAID[kind], (happened, [(row.level, row.sentence) for row in rows])


def alarm(seed: int, number: int, folder: Path) -> object:
    """What is odd in a log and what the report says, if it is an alarm: a medium or high finding, or more than two low ones."""
    odd = made_healthy.write(seed, number, folder)
    rows = findings(folder)
    return None if [row.level for row in rows] in ([], ["low"], ["low", "low"]) else (odd, [(row.level, row.sentence) for row in rows])


@pytest.mark.parametrize(("seed", "number"), HEALTHY)
def test_a_healthy_log_has_no_alarm(seed: int, number: int, tmp_path: Path) -> None:
    assert alarm(seed, number, tmp_path) is None


@pytest.mark.long
def test_of_fifty_healthy_logs_at_most_one_has_an_alarm(tmp_path: Path) -> None:
    alarms = [said for number in range(made_healthy.COUNT) if (said := alarm(WHOLE, number, tmp_path)) is not None]
    assert len(alarms) <= ALARMS, alarms
