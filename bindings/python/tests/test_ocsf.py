"""`python -m orbgate report --ocsf`: every event is valid against the published schema, and says what was decided."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from made_up_calls import POLICY, rows, table
from orbgate import logs
from orbgate.__main__ import main

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")
# It has the schema as schema.ocsf.io publishes it, and makes a JSON Schema of each class.
ocsf = pytest.importorskip("ocsf_json_schema")
validators = pytest.importorskip("fastjsonschema")

from orbgate._report.ocsf import SCHEMA  # noqa: E402

pytestmark = pytest.mark.once

ORBS, KEYS = "/api/v1/external/orbs", "/api/v1/external/keys"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJlLW9mLWFubg"
CALL = {"method": "GET", "target": ORBS, "kind": "user", "scopes": "read:orbs", "caller": "ann", "time": "2026-11-02T09:00:00.25Z", "status": 200}


@lru_cache(maxsize=None)
def schema() -> dict[str, Any]:
    result: dict[str, Any] = ocsf.get_ocsf_schema(version=SCHEMA)
    return result


@lru_cache(maxsize=None)
def validator(class_uid: int, profiles: tuple[str, ...]) -> Any:
    embedded = ocsf.OcsfJsonSchemaEmbedded(schema())
    made = json.dumps(embedded.get_class_schema(embedded.lookup_class_name_from_uid(class_uid), list(profiles)))
    # fastjsonschema takes each `$` of a pattern for its end, also the one in that of e-mail addresses.
    return validators.compile(json.loads(made.replace("#$%", r"#\\x24%")))


def check(event: dict[str, Any]) -> None:
    """Required attributes, types and enums, no unknown attribute; and captions that are those of the numbers."""
    validator(event["class_uid"], tuple(event["metadata"].get("profiles", ())))(event)
    of = next(of for of in schema()["classes"].values() if of["uid"] == event["class_uid"])
    for name, attribute in of["attributes"].items():
        caption = event.get(attribute.get("sibling") or "")
        if name in event and caption is not None and event[name] != 99:
            assert attribute["enum"][str(event[name])]["caption"] == caption, name


def events(tmp_path: Path, log: Path, *options: str, code: int = 0) -> list[dict[str, Any]]:
    out = tmp_path / "events.jsonl"
    assert main(["report", str(log), "--out", str(tmp_path / "page.html"), "--ocsf", str(out), *options]) == code
    written = [json.loads(line) for line in out.read_text("ascii").splitlines()]
    for event in written:
        check(event)
    return written


def of_calls(tmp_path: Path, *calls: dict[str, Any], code: int = 0) -> list[dict[str, Any]]:
    log = tmp_path / "calls.jsonl"
    log.write_text("".join(f"{json.dumps(call)}\n" for call in calls), "utf-8")
    return events(tmp_path, log, "--column", "served_status=status", code=code)


def test_each_decision_of_a_log_is_a_valid_event(tmp_path: Path) -> None:
    made_up = rows(3_000)
    log = tmp_path / "calls.parquet"
    statuses = pa.array([(200, 403, 404, 500, 302, None)[at % 6] for at in range(len(made_up))], pa.int64())
    pq.write_table(table(made_up).append_column("served_status", statuses), log)
    written = events(tmp_path, log, "--tolerate", "100%")
    decided = [event for event in written if event["class_uid"] != 2004]
    summary = logs.replay(logs.read(log), POLICY).to_dict()
    assert sum(event["action"] == "Allowed" for event in decided) == summary["allowed"] > 100
    assert sum(event["action"] == "Denied" for event in decided) == summary["denied"] > 100
    reasons = {row["reason"]: row["count"] for row in summary["reasons"]}
    assert {reason: sum(event["status_code"] == reason for event in decided) for reason in reasons} == reasons
    alerts = summary["served"]
    assert sum(event["severity"] == "High" for event in decided) == alerts["served_though_denied"] > 0
    assert sum(event["severity"] == "Medium" for event in decided) == alerts["refused_though_allowed"] > 0
    # A row of the log has its number, and no query.
    for event in decided:
        row = made_up[event["metadata"]["sequence"] - 1]
        assert event["time"] == (0 if row["time"] is None else row["time"].timestamp() * 1_000)
        assert event["actor"]["user"].get("uid") == row["caller"]
        path = event.get("http_request", {}).get("url", {}).get("path")
        assert path == (None if row["target"] is None else row["target"].partition("?")[0])
    assert "hidden" not in (tmp_path / "events.jsonl").read_text("ascii")


def test_findings_are_events_after_the_decisions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = of_calls(tmp_path, CALL, {**CALL, "target": KEYS}, {**CALL, "status": 403})
    printed = capsys.readouterr().out
    assert [event["class_uid"] for event in written[:4]] == [6003, 6003, 6003, 2004]
    served, refused = written[3:5]
    assert (served["severity"], served["finding_info"]["types"], served["unmapped"]["affected"]) == ("High", ["served_though_denied"], 1)
    assert (refused["severity"], refused["finding_info"]["types"]) == ("Medium", ["refused_though_allowed"])
    for event in written[3:]:
        assert f"{event['severity'].lower()}: {event['message']} {event['remediation']['desc']}\n" in printed
    assert len({event["finding_info"]["uid"] for event in written[3:]}) == len(written) - 3
    assert f"{tmp_path / 'events.jsonl'}: {len(written)} OCSF {SCHEMA} events\n" in printed
    again = of_calls(tmp_path, CALL, {**CALL, "target": KEYS}, {**CALL, "status": 403})
    assert again == written


def test_an_event_says_what_was_decided_and_what_the_server_did(tmp_path: Path) -> None:
    served, denied, lost = of_calls(tmp_path, CALL, {**CALL, "target": f"{KEYS}#x", "caller": "192.0.2.7", "status": 403}, {**CALL, "method": "BREW", "target": "/tea", "status": 500})[:3]
    assert served["time"] == datetime(2026, 11, 2, 9, 0, 0, 250_000, timezone.utc).timestamp() * 1_000
    assert (served["type_uid"], served["type_name"], served["is_alert"]) == (600302, "API Activity: Read", False)
    assert served["api"] == {"operation": f"GET {ORBS}", "service": {"name": "external"}}
    assert served["actor"] == {"user": {"uid": "ann", "type_id": 1, "type": "User"}} and served["src_endpoint"] == {"name": "ann"}
    assert served["http_request"] == {"http_method": "GET", "url": {"path": ORBS}} and served["http_response"] == {"code": 200}
    assert served["authorizations"][0]["decision"] == "allow" and served["authorizations"][0]["policy"]["uid"] == POLICY.digest
    assert served["unmapped"] == {"scope": "read:orbs", "consumes": True, "bonus_allowed": False}
    assert (denied["action"], denied["disposition"], denied["status"], denied["status_code"]) == ("Denied", "Blocked", "Failure", "malformed_request")
    assert denied["unmapped"] == {"detail": "fragment"} and denied["http_request"]["url"] == {"path": f"{KEYS}#…"}
    assert denied["src_endpoint"] == {"ip": "192.0.2.7"}
    assert (lost["activity_id"], lost["activity_name"], lost["api"], lost["status"]) == (99, "BREW", {"operation": "BREW"}, "Unknown")
    assert "http_method" not in lost["http_request"]


def test_a_question_by_scope_is_an_authorized_session(tmp_path: Path) -> None:
    question = {"by_scope": "read:inference", "kind": "user", "scopes": "read:inference", "caller": "ann", "status": None}
    allowed, denied = of_calls(tmp_path, question, {**question, "by_scope": JWT, "kind": "organisation"})[:2]
    assert (allowed["type_uid"], allowed["privileges"], allowed["action"]) == (300301, ["read:inference"], "Allowed")
    assert allowed["user"] == {"uid": "ann", "type_id": 1, "type": "User"} and allowed["time"] == 0
    assert denied["action"] == "Denied" and denied["user"]["type"] == "organisation" and denied["privileges"][0].startswith("(like a token)")


def test_no_event_has_a_token(tmp_path: Path) -> None:
    written = of_calls(
        tmp_path,
        {**CALL, "target": f"{ORBS}?access_token={JWT}", "caller": JWT},
        {**CALL, "target": f"/{JWT}/x", "method": f"GET {JWT}"},
        {**CALL, "kind": JWT, "scopes": JWT},
        {**CALL, "target": f"https://ann:{JWT}@host{ORBS}#{JWT}"},
        {"by_scope": JWT, "kind": "user", "scopes": JWT},
    )
    assert len(written) > 5
    text = (tmp_path / "events.jsonl").read_text("ascii")
    assert not [part for part in JWT.split(".") if part in text]


@pytest.mark.long
def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    """A log eight times as long, in a process of its own each."""
    part, peaks = table(rows(10_000)), []
    for times in (1, 8):
        log = tmp_path / f"{times}.parquet"
        pq.write_table(pa.concat_tables([part] * times), log)
        command = "import resource, sys; from orbgate.__main__ import main; main(sys.argv[1:]); print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        arguments = ["report", str(log), "--out", str(tmp_path / "page.html"), "--ocsf", str(tmp_path / "events.jsonl")]
        ran = subprocess.run([sys.executable, "-c", command, *arguments], capture_output=True, text=True, check=True)
        peaks.append(int(ran.stdout.split()[-1]))
    events = (tmp_path / "events.jsonl").read_bytes().count(b"\n")
    assert events > 8 * 7_500 and (tmp_path / "events.jsonl").stat().st_size > 50_000_000
    assert peaks[1] < peaks[0] + 40_000, peaks


def test_a_file_of_events_is_not_gone_on_with_and_not_half_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "calls.jsonl"
    log.write_text(json.dumps(CALL), "utf-8")
    with pytest.raises(SystemExit):
        events(tmp_path, log, "--resume", str(tmp_path / "state"))
    assert "--resume cannot be used with --ocsf" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["report", str(log), "--out", str(tmp_path / "page.html"), "--ocsf", str(log)])
    assert "--ocsf is the log itself" in capsys.readouterr().err and log.read_text("utf-8") == json.dumps(CALL)
    (broken := tmp_path / "broken.parquet").write_bytes(b"PAR1")
    missing = ["report", str(broken), "--out", str(tmp_path / "page.html"), "--ocsf", str(tmp_path / "events.jsonl")]
    assert main(missing) == 2 and not [*tmp_path.glob("events.jsonl*")]
