"""Accepted findings, an earlier report, a ledger in a bundle, and lists of calls: what the signs of a report are used with."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from incidents import PUBLIC, START, YAML, Log

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

from orbgate import audit, report  # noqa: E402
from orbgate.__main__ import main  # noqa: E402
from orbgate._report import bundle  # noqa: E402
from pyarrow import csv as arrow_csv  # type: ignore[import-untyped]  # noqa: E402
from pyarrow import parquet  # noqa: E402
from test_signs import MARKED, administrator, refunded, slow_walk  # noqa: E402

pytestmark = pytest.mark.once


def logged(path: Path, *happened: Any) -> list[str]:
    """A log in a file, and the arguments that read it."""
    log = Log(False)
    for each in happened:
        each(log)
    arrow_csv.write_csv(log.table().drop_columns(["address"]), path / "calls.csv")
    (path / "policy.yaml").write_text(YAML.replace("admin: { orbs", "admin: { sensitive: true, orbs"))
    public = [word for route in PUBLIC for word in ("--public", route)]
    return ["--policy", str(path / "policy.yaml"), "--column", "served_status=status", "--time-zone", "UTC", *public]


def accepted(path: Path, **members: Any) -> str:
    row = {"finding": "repeated_object", "subject": "partner-pay", "reason": "an audit of ours, ticket 7", "until": "2026-11-30", **members}
    # The times of this log have no zone.
    zone = {"finding": "warnings", "subject": "*", "reason": "the log is in UTC", "until": "2026-12-31"}
    (path / "accept.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(zone) + "\n")
    return str(path / "accept.jsonl")


def test_an_accepted_finding_fails_nothing_until_its_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = logged(tmp_path, refunded)
    arguments = ["report", str(tmp_path / "calls.csv"), *options, "--out", str(tmp_path / "page.html"), "--fail-on", "medium"]
    assert main(arguments) == 1
    assert "medium: One object is changed" in capsys.readouterr().out
    events = ["--ocsf", str(tmp_path / "events.jsonl")]
    assert main([*arguments, *events, "--accept", accepted(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "One object is changed" not in said and "accepted until 2026-11-30: repeated_object of partner-pay: an audit of ours, ticket 7" in said
    assert "an audit of ours, ticket 7" in (tmp_path / "page.html").read_text("utf-8")
    assert "One object is changed" not in (tmp_path / "events.jsonl").read_text("utf-8")
    # Another caller, another kind, and a day before the log's last time.
    for other in ({"subject": "web-app"}, {"finding": "retries"}, {"until": "2026-11-01"}):
        assert main([*arguments, "--accept", accepted(tmp_path, **other)]) == 1
    assert "ended on 2026-11-01: repeated_object of partner-pay" in capsys.readouterr().out


def test_all_errors_of_a_file_of_acceptances_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = logged(tmp_path)
    file = accepted(tmp_path, finding="enumerations", until="soon", why="x")
    with open(file, "a") as lines:
        lines.write('{"finding": "retries"\n{"finding": "retries", "subject": "*", "until": "2026-01-01"}\n')
    assert main(["report", str(tmp_path / "calls.csv"), *options, "--out", str(tmp_path / "page.html"), "--accept", file]) == 2
    said = capsys.readouterr().err
    for word in ("jsonl:1:1: unknown member `why`", "jsonl:1:1: there is no finding `enumerations`", "jsonl:1:1: `until` must be a day", "jsonl:3:1: no acceptance in JSON", "jsonl:4:1: `reason` must be"):
        assert word in said, said


def test_what_is_new_since_an_earlier_report(tmp_path: Path) -> None:
    """The administrator of the whole log isn't new in the log's own time, but is since an earlier report."""

    def always(log: Log) -> None:
        for at in range(40):
            log.add(log.part(at / 40), "GET", "/v1/audit", kind="user", scopes="admin", caller="svc-tmp")

    def made(name: str, *happened: Any, **options: Any) -> Any:
        log = Log(False)
        for each in happened:
            each(log)
        return report(log.table(), MARKED, columns={"served_status": "status"}, time_zone="UTC", public=PUBLIC, **options)

    earlier = tmp_path / "earlier.zip"
    earlier.write_bytes(made("earlier").bundle())
    assert "new_sensitive" not in {row.kind for row in made("now", always).figures.findings}
    since = made("now", always, since=earlier)
    [finding] = [row for row in since.figures.findings if row.kind == "new_sensitive"]
    assert finding.subjects == ("svc-tmp",) and "holds admin" in finding.sentence
    assert "new_sensitive" not in {row.kind for row in made("same", since=earlier).figures.findings}


def test_a_bundle_with_other_files_is_made_again_from_them(tmp_path: Path) -> None:
    options = logged(tmp_path, slow_walk, administrator)
    log, bundle, accept = str(tmp_path / "calls.csv"), str(tmp_path / "evidence.zip"), accepted(tmp_path)
    earlier = tmp_path / "earlier.zip"
    assert main(["report", log, *options, "--out", str(tmp_path / "page.html"), "--bundle", str(earlier)]) == 0
    assert main(["report", log, *options, "--out", str(tmp_path / "page.html"), "--bundle", bundle, "--accept", accept, "--since", str(earlier)]) == 0
    rows = audit.verify(bundle, [log], accept=accept, since=earlier)
    assert {row.is_same for row in rows} == {True, None}, [row for row in rows if row.is_same is False]
    assert [row.what for row in audit.verify(bundle, [log], accept=accept) if row.is_same is False] == ["file of --since"]
    changed = accepted(tmp_path, reason="another reason")
    assert "file of --accept" in [row.what for row in audit.verify(bundle, [log], accept=changed, since=earlier) if row.is_same is False]


def test_calls_about_one_caller_or_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def about(log: Log) -> None:
        for at in range(5):
            log.call("web-app", START + timedelta(hours=9, minutes=at), f"GET /v1/accounts/77{at}{'/balance' if at else ''}?token=s3cret", status=200)

    options = logged(tmp_path, about)
    log = str(tmp_path / "calls.csv")
    assert main(["calls", log, *options, "--object", "/accounts/770", "--csv"]) == 0
    said = capsys.readouterr()
    [row] = csv.DictReader(io.StringIO(said.out))
    assert (row["caller"], row["method"], row["target"], row["decision"], row["reason"], row["status"]) == ("web-app", "GET", "/v1/accounts/770", "allow", "scope_held", "200")
    assert "1 call of " in said.err and "s3cret" not in said.out
    assert main(["calls", log, *options, "--caller", "rate-feed", "--limit", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and "the first 3 listed" in lines[-1] and all("rate-feed" in line for line in lines[:3])
    with pytest.raises(SystemExit):
        main(["calls", log, *options, "--fingerprint", "9f86d081884c7d65"])
    assert "--column token=NAME" in capsys.readouterr().err


def test_calls_by_a_name_as_the_page_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def about(log: Log) -> None:
        for name in ("web-\u0430pp", "=1+1\n2"):
            log.call("web-app", START + timedelta(hours=9), "GET /v1/accounts", caller=name, status=200)

    options = logged(tmp_path, about)
    log = str(tmp_path / "calls.csv")
    for shown, cell in (("web-\\u0430pp", "web-\\u0430pp"), ("=1+1\\n2", "'=1+1\\n2"), ("=1+1\n2", "'=1+1\\n2")):
        assert main(["calls", log, *options, "--caller", shown, "--csv"]) == 0
        said = capsys.readouterr()
        # A spreadsheet reads no formula, and each call is one line.
        assert [row["caller"] for row in csv.DictReader(io.StringIO(said.out))] == [cell] and said.out.count("\n") == 2 and "1 call of " in said.err


def test_without_the_log_the_parts_of_a_bundle_are_compared(tmp_path: Path) -> None:
    """Each change has right digests in the manifest, as a forger would write them."""
    log = Log(False)
    administrator(log)
    whole = report(log.table(), MARKED, columns={"served_status": "status"}, time_zone="UTC", public=PUBLIC).bundle()

    def checked(change: Any) -> list[str]:
        files = bundle.unpack(whole)
        manifest = json.loads(files.pop(bundle.MANIFEST))
        change(files, manifest)
        manifest["sha256"] = {name: sha256(data).hexdigest() for name, data in files.items()}
        files[bundle.MANIFEST] = (json.dumps(manifest, indent=2, ensure_ascii=False, sort_keys=True) + "\n").encode()
        (tmp_path / "evidence.zip").write_bytes(bundle.pack(files))
        return [row.what for row in audit.verify(tmp_path / "evidence.zip") if row.is_same is False]

    def emptied(name: str) -> Any:
        def change(files: dict[str, bytes], manifest: dict[str, Any]) -> None:
            data = io.BytesIO()
            parquet.write_table(bundle.read_table(files[name])[:0], data)
            files[name] = data.getvalue()

        return change

    def without_findings(files: dict[str, bytes], manifest: dict[str, Any]) -> None:
        """Neither the table nor the page has them."""
        emptied("tables/findings.parquet")(files, manifest)
        files["report.html"] = re.sub(rb'<li class="(high|medium|low)">.*', b"", files["report.html"])

    assert checked(lambda files, manifest: None) == []
    assert checked(emptied("tables/findings.parquet")) == ["findings on the page", "findings of signs and responses"]
    assert checked(without_findings) == ["findings of signs and responses"]
    assert checked(emptied("tables/decisions_routes.parquet")) == ["sums of calls"]
    assert checked(lambda files, manifest: manifest["calls"].update(denied=0)) == ["sums of calls", "sums on the page"]

    def on_the_page(files: dict[str, bytes], manifest: dict[str, Any]) -> None:
        files["report.html"] = re.sub(rb"(<dt>Denied</dt><dd><strong>)[^<]*", rb"\g<1>0", files["report.html"])

    assert checked(on_the_page) == ["sums on the page"]
    assert checked(lambda files, manifest: files.update({"notes.txt": b"x"})) == ["files of the bundle"]
    assert checked(lambda files, manifest: manifest.update(checked_by="a friend")) == ["manifest: members"]
    assert checked(lambda files, manifest: manifest["log"].update(files=[{"name": "other.csv"}])) == ["files of the log"]
