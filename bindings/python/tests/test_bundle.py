"""Evidence that a third party checks: what is in a bundle, and every way in which it may not be what it says."""

from __future__ import annotations

import io
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from made_up_calls import Page
from orbgate import Policy, TableError, audit, report
from orbgate.__main__ import main

pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("vl_convert")

from orbgate._report import bundle  # noqa: E402

pytestmark = pytest.mark.once

TEXT = "orbgate: 1\nname: small\napis: {shop: {base_path: '', scopes: {buy: {orbs: 3, routes: [POST /buy]}, look: {orbs: false, routes: [GET /]}}}}\n"
ROWS = "".join(f"{method},{target},user,look buy,{caller},{status}\n" for caller in "ab" for method, target, status in
               [("GET", "/", 200), ("POST", "/buy", 403), ("GET", "/buy", 200), ("GET", "/../", 400)] * 5)  # fmt: skip


class Made:
    def __init__(self, folder: Path) -> None:
        self.log, self.policy, self.bundle = folder / "calls.csv", folder / "policy.yaml", folder / "evidence.zip"
        self.log.write_text(f"method,target,kind,scopes,caller,answer\n{ROWS}GET\n")
        self.policy.write_text(TEXT)
        self.arguments = ["report", str(self.log), "--policy", str(self.policy), "--out", str(folder / "page.html"), "--bundle", str(self.bundle)]
        self.arguments += ["--column", "served_status=answer", "--tolerate", "1", "--title", "A week", "--top", "7"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    result = Made(tmp_path_factory.mktemp("made"))
    assert main(result.arguments) == 0
    return result


def test_the_page_has_the_command_that_verifies_it(made: Made, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = (made.log.parent / "page.html").read_text()
    [command] = re.findall("<dt>Verify</dt><dd><code>(.*?)</code>", page)
    command = command.replace("FILE", "calls.csv")
    assert command == "python -m orbgate verify evidence.zip --log calls.csv"
    monkeypatch.chdir(made.log.parent)
    assert main(shlex.split(command)[3:]) == 0 and "DIFFERS" not in capsys.readouterr().out
    # A log of other rows makes another page.
    shutil.copy(made.bundle, tmp_path)
    (tmp_path / "calls.csv").write_text(made.log.read_text().replace("200", "403"))
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)[3:]) == 1


def failed(rows: Any) -> dict[str, str]:
    return {row.what: row.about for row in rows if row.is_same is False}


def test_a_bundle_has_what_the_page_was_made_of(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    data = made.bundle.read_bytes()
    assert main(made.arguments) == 0 and made.bundle.read_bytes() == data
    assert f"{made.bundle}: sha256:{sha256(data).hexdigest()}\n" in capsys.readouterr().out
    with zipfile.ZipFile(made.bundle) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(files["manifest.json"])
    assert manifest["log"]["files"] == [{"name": "calls.csv", "sha256": sha256(made.log.read_bytes()).hexdigest(), "first_row": 1, "last_row": 41}]
    assert manifest["log"]["arguments"]["columns"] == {"served_status": "answer"} and manifest["log"]["arguments"]["tolerate"] == "1"
    assert (manifest["title"], manifest["top"], manifest["policy"]) == ("A week", 7, Policy.from_yaml(TEXT).digest)
    assert manifest["calls"] == {"allowed": 20, "denied": 20, "unread": 1} and files["policy.yaml"] == TEXT.encode()
    assert manifest["sha256"] == {name: sha256(data).hexdigest() for name, data in files.items() if name != "manifest.json"}
    assert "tolerate=1" in files["report.html"].decode()
    figures = report(made.log, Policy.from_yaml(TEXT), columns={"served_status": "answer"}).figures
    tables = dict(bundle.tables(figures))
    assert {f"tables/{name}.parquet" for name in tables} == {name for name in files if name.startswith("tables/")} and len(tables) > 15
    for name in ("decisions_routes", "orbs_routes", "served_mismatches", "denials_groups", "log_first_unread"):
        rows = pq.read_table(io.BytesIO(files[f"tables/{name}.parquet"])).to_pylist()
        assert [list(row.values()) for row in rows] == [[list(value) if isinstance(value, tuple) else value for value in row] for row in tables[name]] and rows


def test_a_row_is_found_in_its_file(made: Made, tmp_path: Path) -> None:
    """Some numbers of rows were within a file, others over all files, of which nobody knew how many rows each has."""
    call, end = "GET,/,user,look,a,200\n", "torn\n"
    rows = {"b.csv": [call] * 2 + [end], "a.csv": [], "c.csv": [call], **{f"d{at}.csv": [end] for at in range(9)}}
    for name, of in rows.items():
        (tmp_path / name).write_text("".join(["method,target,kind,scopes,caller,served_status\n", *of]))
    paths, written = [tmp_path / name for name in rows], tmp_path / "evidence.zip"
    again = report(paths, Policy.from_yaml(TEXT))
    written.write_bytes(again.bundle())
    assert not failed(audit.verify(written, paths[::-1]))
    assert [(file.name, file.first_row, file.last_row) for file in again.figures.log.files] == [
        ("b.csv", 1, 3), ("a.csv", None, None), ("c.csv", 4, 4), *((f"d{at}.csv", 5 + at, 5 + at) for at in range(9))
    ]
    words = " ".join(Page(again.html).texts)
    for phrase in ("b.csv, rows 1 to 3  sha", "a.csv, no rows  sha", "c.csv, row 4  sha", "and 2 more files, rows 12 to 13 ", "d7.csv, row 12  sha", "d8.csv, row 13  sha", "numbered across all files in this order"):
        assert phrase in words
    assert "`b.csv`, row 3 of it: " in words and "first rows (across files)" in words
    (kind,) = again.figures.log.unread_by_reason
    assert kind.first == (3, 5, 6, 7, 8)


def test_columns_may_be_named_in_any_order(made: Made, tmp_path: Path) -> None:
    bundles = []
    for names in (("scopes", "kind", "caller"), ("caller", "scopes", "kind")):
        bundles.append(tmp_path / f"{names[0]}.zip")
        columns = [word for name in names for word in ("--column", f"{name}={name}")]
        assert main([*made.arguments, *columns, "--bundle", str(bundles[-1])]) == 0
        assert not failed(audit.verify(bundles[-1], [made.log]))
    first, second = (bundle.read_bytes() for bundle in bundles)
    assert first == second


# A log of which nothing is decided, one with rows that cannot be read, and one with calls; all options that say how to read a log.
ORDERS = {
    "none.jsonl": "",
    "bad.jsonl": "no JSON\n",
    "calls.jsonl": '{"verb":"GET","url":"/","kinds":"user","client":"a","code":200,"ts":"2026-11-02"}\n{"verb":"GET"}\n',
    "calls.csv": "verb,url,kinds,client,code,ts\nGET,/,user,a,200,2026-11-02\nGET\n",
}
NAMED = {"method": "verb", "target": "url", "kind": "kinds", "time": "ts", "caller": "client", "served_status": "code"}
OPTIONS = [*(["--column", f"{name}={of}"] for name, of in NAMED.items()), ["--scopes", "look"], ["--allow-bonus-orbs"], ["--time-zone", "+02:00"], ["--tolerate", "1"]]


@pytest.mark.parametrize("name", ORDERS)
def test_no_order_of_options_is_seen(made: Made, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / name
    log.write_text(ORDERS[name])
    seen = set()
    for seed in range(4):
        options, path = random.Random(seed).sample(OPTIONS, len(OPTIONS)), tmp_path / f"{seed}.zip"
        arguments = [word for option in options for word in option]
        assert main(["report", str(log), *arguments, "--policy", str(made.policy), "--out", str(tmp_path / "page.html"), "--bundle", str(path)]) == 0
        assert not failed(audit.verify(path, [log])), options
        capsys.readouterr()
        assert main(["replay", str(log), *arguments, "--policy", str(made.policy)]) == 0
        seen.add((path.read_bytes(), capsys.readouterr().out))
    assert len(seen) == 1
    assert name not in ("none.jsonl", "bad.jsonl") or seen.pop()[1].count("No row could be read, so the log might not have") == len(NAMED)


def test_no_column_is_named_twice(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*made.arguments, "--column", "kind=a", "--column", "kind=b"])
    assert "--column kind is given twice" in capsys.readouterr().err


def test_it_is_made_again_from_the_log_wherever_that_is(made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moved = tmp_path / "elsewhere.txt"
    shutil.copy(made.log, moved)
    assert not failed(audit.verify(made.bundle, [moved]))
    assert main(["verify", str(made.bundle), "--log", str(moved)]) == 0
    out = capsys.readouterr().out
    assert "same         report.html, made again: identical\n" in out and "not checked  signature: there is no signature" in out
    assert main(["verify", str(made.bundle)]) == 0
    output = capsys.readouterr().out
    assert "not checked  repetition: no log was given" in output
    assert output.endswith("same; not checked: whether the log gives the same numbers (--log), who made it (--public-key)\n")


def test_another_log_is_not_the_log(made: Made, tmp_path: Path) -> None:
    other = tmp_path / "calls.csv"
    other.write_text(made.log.read_text() + "GET,/,user,look,a,200\n")
    failures = failed(audit.verify(made.bundle, [other]))
    assert failures.keys() == {"log calls.csv", f"log {other}"} and main(["verify", str(made.bundle), "--log", str(other)]) == 1
    assert failed(audit.verify(made.bundle, [made.log, other])).keys() == {f"log {other}"}


def changed(made: Made, path: Path, change: Any) -> Path:
    """The bundle with other content, and with the digests of that content."""
    files = bundle.unpack(made.bundle.read_bytes())
    change(files)
    path.write_bytes(bundle.pack(files))
    return path


def test_what_was_changed_is_named(made: Made, tmp_path: Path) -> None:
    def page(files: dict[str, bytes]) -> None:
        files["report.html"] = files["report.html"].replace(b"20", b"21")

    def resealed(files: dict[str, bytes]) -> None:
        """One who changes the page can change its digest, too: the findings in the tables show it, and the log."""
        page(files)
        manifest = json.loads(files["manifest.json"])
        manifest["sha256"]["report.html"] = sha256(files["report.html"]).hexdigest()
        files["manifest.json"] = json.dumps(manifest).encode()

    def policy(files: dict[str, bytes]) -> None:
        files["policy.yaml"] = files["policy.yaml"].replace(b"GET /]", b"GET /, GET /more]")

    path = tmp_path / "changed.zip"
    assert failed(audit.verify(changed(made, path, page))).keys() == {"report.html"}
    assert failed(audit.verify(changed(made, path, resealed))).keys() == {"findings on the page", "sums on the page"}
    assert failed(audit.verify(path, [made.log])).keys() == {"findings on the page", "sums on the page", "report.html, made again", "manifest.json, made again"}
    assert failed(audit.verify(changed(made, path, policy))).keys() == {"policy.yaml", "policy of policy.yaml"}
    assert failed(audit.verify(changed(made, path, lambda files: files.update(more=b"")))).keys() == {"more"}
    assert failed(audit.verify(changed(made, path, lambda files: files.pop("tables/decisions_routes.parquet")))).keys() == {"tables/decisions_routes.parquet"}
    assert main(["verify", str(path)]) == 1


def resealed(made: Made, path: Path, change: Any) -> Path:
    """The bundle with other content, of which its manifest has the digests: only a check of the content finds it."""

    def seal(files: dict[str, bytes]) -> None:
        manifest = json.loads(files["manifest.json"])
        change(files, manifest)
        manifest["sha256"] = {name: sha256(data).hexdigest() for name, data in files.items() if name != "manifest.json"}
        files["manifest.json"] = json.dumps(manifest).encode()

    return changed(made, path, seal)


def test_every_file_is_compared_with_the_one_that_is_made_again(made: Made, tmp_path: Path) -> None:
    path, routes = tmp_path / "changed.zip", "tables/decisions_routes.parquet"
    with zipfile.ZipFile(made.bundle) as archive:
        names = {*archive.namelist()}
    again = {f"{name}, made again" for name in names - {"policy.yaml"}}
    whole = audit.verify(made.bundle, [made.log])
    assert {row.what for row in whole if row.what.endswith("made again")} == again and not failed(whole)

    def table(change: Any) -> Any:
        def write(files: dict[str, bytes], manifest: dict[str, Any]) -> None:
            files[routes] = change(pq.read_table(io.BytesIO(files[routes])))

        return write

    def written(table: Any) -> bytes:
        sink = io.BytesIO()
        pq.write_table(table, sink, compression="none", row_group_size=1)
        return sink.getvalue()

    differs = {"manifest.json, made again": "it differs"}
    for change, differences in (
        (lambda files, manifest: files.update(more=b""), {"more, made again": "it is only in the bundle"}),
        (lambda files, manifest: files.pop(routes), {f"{routes}, made again": "it is missing from the bundle"}),
        (table(lambda table: written(table.slice(1))), {f"{routes}, made again": "it differs"}),
        (table(lambda table: b"no table"), {f"{routes}, made again": "it is not a table: "}),
        (table(written), {}),
    ):
        rows = audit.verify(resealed(made, path, change), [made.log])
        failures = {what: about for what, about in failed(rows).items() if what.endswith("made again")}
        assert failures.keys() == {**differences, **differs}.keys()
        assert all(failures[what].startswith(about) for what, about in differences.items())
    (same,) = [row for row in rows if row.what == f"{routes}, made again"]
    assert (same.is_same, same.about) == (True, "the same rows, but different bytes")


def test_another_version_may_make_other_bytes_but_not_other_numbers(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "changed.zip"

    def older(files: dict[str, bytes], manifest: dict[str, Any]) -> None:
        manifest["made_by"]["pyarrow"] = "0.0"
        files["report.html"] += b"<!-- by an older version -->"

    def other(files: dict[str, bytes], manifest: dict[str, Any]) -> None:
        older(files, manifest)
        manifest["calls"]["denied"] += 1

    checks = {row.what: row for row in audit.verify(resealed(made, path, older), [made.log])}
    manifest = checks["manifest.json, made again"]
    assert manifest.is_same and "made with pyarrow 0.0, but this is" in manifest.about
    assert failed(checks.values()).keys() == {"report.html, made again"}
    assert failed(audit.verify(resealed(made, path, other), [made.log])).keys() == {"sums of calls", "sums on the page", "report.html, made again", "manifest.json, made again"}


def test_both_policies_are_those_of_the_manifest(tmp_path: Path) -> None:
    made = Made(tmp_path)
    base = tmp_path / "base.yaml"
    base.write_text(TEXT.replace("orbs: 3", "orbs: 4"))
    assert main([*made.arguments, "--base", str(base)]) == 0 and not failed(audit.verify(made.bundle))
    for name in ("policy.yaml", "base.yaml"):
        path = resealed(made, tmp_path / "changed.zip", lambda files, manifest: files.update({name: files[name].replace(b"GET /]", b"GET /, GET /more]")}))
        assert failed(audit.verify(path)).keys() == {f"policy of {name}"}


def test_what_is_no_bundle_is_refused(made: Made, tmp_path: Path) -> None:
    path, data = tmp_path / "no.zip", made.bundle.read_bytes()
    compressed = io.BytesIO()
    with zipfile.ZipFile(compressed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", b"0" * 1_000_000)
    twice = io.BytesIO(data)
    with zipfile.ZipFile(twice, "a") as archive, pytest.warns(UserWarning):
        archive.writestr("report.html", b"another page")
    for content, why in (
        (b"", "cannot be read as an archive"),
        (data[:-9], "cannot be read as an archive"),
        (b"hidden" + data, "was changed"),
        (data + b"hidden", "cannot be read as an archive|was changed"),
        (compressed.getvalue(), "is compressed"),
        (bundle.pack({"manifest.json": b'{"orbgate_evidence": 2}'}), "has format 2"),
    ):
        path.write_bytes(content)
        with pytest.raises(TableError, match=why):
            audit.verify(path)
        assert main(["verify", str(path)]) == 2
    for content, why in (
        (twice.getvalue(), "the archive contains `report.html` twice"),
        (bundle.pack({}), "it contains no `manifest.json`"),
        (bundle.pack({"manifest.json": b"[]"}), "is not the manifest of a bundle"),
        (bundle.pack({"manifest.json": b"{"}), "cannot be read"),
        (bundle.pack({"manifest.json": b'{"orbgate_evidence": 1, "top": 1, "top": 2}'}), "duplicate field `top`"),
    ):
        path.write_bytes(content)
        assert why in failed(audit.verify(path))["bundle"] and main(["verify", str(path)]) == 1


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A bundle with all parts that there can be."""
    folder = tmp_path_factory.mktemp("whole")
    result = Made(folder)
    base, properties = folder / "base.yaml", folder / "policy.test.yaml"
    base.write_text(TEXT.replace("orbs: 3", "orbs: 4"))
    properties.write_text("orbgate_test: 1\nproperties: ['at most 3 orbs | any * | *']\n")
    assert main([*result.arguments, "--base", str(base), "--properties", str(properties)]) == 0
    return result


def test_every_part_of_a_bundle_may_be_missing_or_something_else(whole: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A manifest whose `made_by` was a string ended in a traceback, and so did a bundle without a policy."""
    files = bundle.unpack(whole.bundle.read_bytes())
    assert not failed(audit.verify(whole.bundle, [whole.log])) and {"base.yaml", "properties.test.yaml"} < files.keys()
    path, manifest = tmp_path / "changed.zip", json.loads(files["manifest.json"])
    changed: list[tuple[str, dict[str, bytes]]] = []
    for name in ("report.html", "policy.yaml", "base.yaml", "properties.test.yaml", "tables/findings.parquet", "tables/properties_rows.parquet"):
        changed.append((f"without {name}", {of: data for of, data in files.items() if of != name}))
        changed += [(f"{name} as {data!r}", {**files, name: data}) for data in (b"", b"\xff\x00")]
    parts: dict[str, Callable[[Any], Any]] = {"": lambda of: of, "log": lambda of: of["log"], "arguments": lambda of: of["log"]["arguments"], "file": lambda of: of["log"]["files"][0], "made_by": lambda of: of["made_by"]}
    for where, part in parts.items():
        for name, value in part(manifest).items():
            for other in ("gone", True, [1], {"x": 1}, "\ud800") if where in ("", "log") else ("gone", 7, "\ud800"):
                # Python takes true for 1.
                if other == value and type(other) is type(value):
                    continue
                copy = json.loads(files["manifest.json"])
                part(copy).pop(name) if other == "gone" else part(copy).update({name: other})
                changed.append((f"{where} {name} as {other!r}", {**files, "manifest.json": json.dumps(copy).encode()}))
    for what, inside in changed:
        path.write_bytes(bundle.pack(inside))
        assert main(["verify", str(path), "--log", str(whole.log)]) == 1, what
        captured = capsys.readouterr()
        assert "DIFFERS" in captured.out and not captured.err, what


def test_what_was_not_checked_is_no_check(made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = changed(made, tmp_path / "changed.zip", lambda files: files.update({"report.html": b""}))
    lines = len(audit.verify(path))
    assert main(["verify", str(path)]) == 1
    assert f": 1 of {lines - 2} checks failed; not checked:" in capsys.readouterr().out


def test_a_damaged_archive_is_said_to_be_one(made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of what cannot be read, nobody knows what it was."""
    path, data = tmp_path / "damaged.zip", bytearray(made.bundle.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert main(["verify", str(path)]) == 2 and "damaged or not a bundle" in capsys.readouterr().err


def test_the_built_in_policy_and_another_are_in_it(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    log.write_text('{"method":"GET","target":"/api/v1/external/orbs","token":{"kind":"user","scopes":"read:orbs"}}\n')
    policy, base = Policy.external(), Policy.from_yaml(TEXT)
    path = tmp_path / "evidence.zip"
    path.write_bytes(report(log, policy, base=base).bundle())
    files = bundle.unpack(path.read_bytes())
    assert Policy.from_yaml(files["policy.yaml"]) == policy and files["base.yaml"] == TEXT.encode()
    assert [route.line for route in Policy.from_yaml(policy.text).routes()] == [route.line for route in policy.routes()]
    assert not failed(audit.verify(path, [log])) and "tables/changes_rows.parquet" in files


def test_a_bundle_is_signed(made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("minisign") is None:
        pytest.skip("minisign is missing: apt-get install minisign")
    keys = {}
    for name in ("auditor", "somebody"):
        keys[name] = tmp_path / f"{name}.pub", tmp_path / f"{name}.key"
        subprocess.run(["minisign", "-G", "-W", "-p", keys[name][0], "-s", keys[name][1]], check=True, capture_output=True)
    public, secret = keys["auditor"]
    assert main([*made.arguments, "--sign", str(secret)]) == 0
    signature = Path(f"{made.bundle}.minisig")
    first = signature.read_bytes()
    assert main([*made.arguments, "--sign", str(secret)]) == 0 and signature.read_bytes() == first
    assert sha256(made.bundle.read_bytes()).hexdigest().encode() in first
    text = public.read_text().splitlines()[1]
    for key in (str(public), text):
        assert not failed(audit.verify(made.bundle, public_key=key))
    assert failed(audit.verify(made.bundle, public_key=str(keys["somebody"][0]))).keys() == {"signature"}
    other = changed(made, tmp_path / "other.zip", lambda files: files.update({"report.html": b""}))
    assert "signature" in failed(audit.verify(other, public_key=str(public), signature=str(signature)))
    assert "there is no" in failed(audit.verify(other, public_key=str(public)))["signature"]
    capsys.readouterr()
    assert main(["verify", str(made.bundle), "--public-key", str(public)]) == 0 and "same         signature: made with this key\n" in capsys.readouterr().out
    assert main([*made.arguments, "--sign", str(public)]) == 2
    with pytest.raises(SystemExit):
        main([*made.arguments[:6], "--sign", str(secret)])
    os.unlink(signature)
