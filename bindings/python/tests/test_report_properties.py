"""Properties of all requests in the report: on the page, in the summary, in the evidence, and in the exit codes for CI."""

from __future__ import annotations

import html
import io
import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, PolicyError, audit, report
from orbgate.__main__ import main

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

from made_up_calls import MARKUP, TABLE, check_harmless  # noqa: E402
from orbgate._report import bundle  # noqa: E402

pytestmark = pytest.mark.once

ACCOUNT = "GET /api/v1/external/account"
HOLDS = f"only | any read:account | {ACCOUNT}"
REFUTED = f"never | organisation * | {ACCOUNT}"
APART = f"apart | user read:account read:orbs | {ACCOUNT}, /api/v1/external/orbs"
HOLLOW = f'only | user "" | {ACCOUNT}'
ABOUT_NOTHING = f"never | any nope | {ACCOUNT}"


def file_of(folder: Path, *properties: str) -> Path:
    path = folder / "policy.test.yaml"
    path.write_text("orbgate_test: 1\nproperties:\n" + "".join(f"  - {text}\n" for text in properties))
    return path


def cells(page: str, caption: str) -> list[list[str]]:
    """The rows of a table on the page."""
    [table] = [table for table in re.findall(r"<table>.*?</table>", page, re.DOTALL) if f">{caption}</caption>" in table]
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", table.partition("<tbody>")[2], re.DOTALL)
    return [[html.unescape(cell).replace("<wbr>", "") for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)] for row in rows]


def test_the_page_says_which_properties_hold_and_who_is_against_the_others(tmp_path: Path) -> None:
    path = file_of(tmp_path, HOLDS, REFUTED, APART, ABOUT_NOTHING, HOLLOW)
    made = report(TABLE, Policy.external(), properties=path)
    proved = made.figures.properties
    assert proved is not None and proved.rows == Policy.external().properties(path.read_bytes()) and len(proved.failed) == 3
    texts = " ".join(check_harmless(made.html).texts)
    assert "2 of 5 properties hold for all requests, including requests that the log does not contain. 1 of them holds trivially; the table shows the reason." in texts and f"policy.test.yaml  sha256:{sha256(path.read_bytes()).hexdigest()}" in texts
    assert "Properties 2 of 5   hold for all requests" in texts.replace("\n", "")
    assert cells(made.html, "Properties of policy.test.yaml") == [
        [REFUTED, "4", "no", "1", "1 witness below"],
        [APART, "5", "no", "2", "1 witness below"],
        [ABOUT_NOTHING, "6", "no", "–", "the policy has no scope `nope`"],
        [HOLLOW, "7", "yes", str(proved.rows[4].rules), "warning: these callers may call nothing at all, so it says little"],
        [HOLDS, "3", "yes", str(proved.rows[0].rules), "no request violates it"],
    ]
    against = cells(made.html, "Allowed requests that violate properties")
    assert against[0][:3] == [REFUTED, "organisation read:account", ACCOUNT]
    line = next(route.line for route in Policy.external().routes() if str(route) == ACCOUNT)
    assert against[0][4] == str(line) and [row[0] for row in against[1:]] == [APART] * (len(against) - 1)
    # Both requests of one who should be kept apart.
    assert len(against) == 3 and against[1][1] == against[2][1] and against[1][2] != against[2][2]


@pytest.mark.parametrize("callers", ["any *", "user", "organisation *", "any read:orbs read:keys"])
def test_what_keeps_calls_apart_says_that_its_tokens_have_one_scope(callers: str, tmp_path: Path) -> None:
    """A token with every scope may call everything, so a reader must not take it for safe."""
    text = f"apart | {callers} | {ACCOUNT}, GET /api/v1/external/orbs"
    made = report(TABLE, Policy.external(), properties=file_of(tmp_path, text))
    [[*_, because]] = cells(made.html, "Properties of policy.test.yaml")
    assert ("checked for tokens with one scope each" in made.html) == (because == "no token with one scope violates it") == ("read" not in callers)


def test_all_hold_also_of_a_log_without_calls(tmp_path: Path) -> None:
    path = file_of(tmp_path, HOLDS)
    for log in (TABLE, TABLE.slice(0, 0)):
        made = report(log, Policy.external(), properties=path)
        assert ">1 property holds for all requests" in made.html and "Allowed requests that violate" not in made.html
    assert "<h2>Properties</h2>" not in report(TABLE, Policy.external()).html


def test_what_a_file_has_is_text_on_the_page(tmp_path: Path) -> None:
    path = file_of(tmp_path, HOLDS).rename(tmp_path / "<b>&.test.yaml")
    made = report(TABLE, Policy.external(), properties=path)
    assert "<b>" not in made.html and "Properties of &lt;b&gt;&amp;.test.yaml" in made.html
    yaml = json.dumps(f"never | any {MARKUP.split()[0]} | {ACCOUNT}")
    path.write_text(f"orbgate_test: 1\nproperties: [{yaml}]\n")
    check_harmless(report(TABLE, Policy.external(), properties=path).html)


def test_a_file_that_proves_nothing_is_no_proof(tmp_path: Path) -> None:
    path = tmp_path / "empty.test.yaml"
    for text, diagnostic in (
        ("orbgate_test: 1\ncases: [GET /api/v1/external/orbs | user read:orbs | allow]\n", "empty.test.yaml:1:1: the file has no `properties`"),
        ("orbgate_test: 1\nproperties: [never]\n", "empty.test.yaml:2:14: "),
    ):
        path.write_text(text)
        with pytest.raises(PolicyError) as error:
            report(TABLE, Policy.external(), properties=path)
        assert str(error.value).startswith(diagnostic)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "calls.csv"
    path.write_text("method,target,kind,scopes\nGET,/api/v1/external/account,user,read:account\n")
    return path


def test_ci_learns_of_it(tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, path = tmp_path / "page.html", file_of(tmp_path, HOLDS)
    for command in (["report", str(log), "--out", str(out)], ["replay", str(log)]):
        command = [*command, "--properties", str(path)]
        file_of(tmp_path, HOLDS)
        assert main(command) == 0 and capsys.readouterr().out.endswith(f"{path}: ok: 1 property\n")
        file_of(tmp_path, HOLLOW)
        assert main(command) == 0
        assert capsys.readouterr().out.endswith(f"{path}:3:5: warning: {HOLLOW}: these callers may call nothing at all, so it says little\n{path}: ok: 1 property\n")
        file_of(tmp_path, HOLDS, REFUTED, ABOUT_NOTHING)
        assert main(command) == 1
        assert capsys.readouterr().out.endswith(
            f"FAIL {path}:4:5: {REFUTED}\n  organisation with `read:account` may call {ACCOUNT}: `{ACCOUNT}` for `read:account`, 0 orbs\n"
            f"FAIL {path}:5:5: {ABOUT_NOTHING}\n  the policy has no scope `nope`\n{path}: 2 of 3 properties failed\n"
        )
        # A row that cannot be read is worse: nothing was decided of it.
        with log.open("a") as more:
            more.write("GET\n")
        assert main(command) == 2
        assert main([*command, "--tolerate", "9"]) == 1
        log.write_text("".join(log.read_text().splitlines(True)[:2]))
        path.write_text("orbgate_test: 1\n")
        capsys.readouterr()
        assert main(command) == 2 and f"{path.name}:" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["report", str(log), "--out", str(path), "--properties", str(path)])


def test_the_json_of_a_replay_has_it(tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = file_of(tmp_path, HOLDS, REFUTED)
    assert main(["replay", str(log), "--json", "--properties", str(path)]) == 1
    result = json.loads(capsys.readouterr().out)["properties"]
    assert (result["file"], result["sha256"], result["failed"]) == (str(path), sha256(path.read_bytes()).hexdigest(), 1)
    held, refuted = result["properties"]
    assert held == {"property": HOLDS, "location": {"line": 3, "column": 5}, "holds": True, "rules": held["rules"], "error": None, "warning": None, "witnesses": []}
    assert not refuted["holds"] and refuted["witnesses"][0].startswith("organisation with `read:account` may call")
    assert main(["replay", str(log), "--json"]) == 0 and "properties" not in json.loads(capsys.readouterr().out)


def test_evidence_has_the_file_and_verify_proves_it_again(tmp_path: Path, log: Path) -> None:
    path, zipped = file_of(tmp_path, HOLDS, REFUTED), tmp_path / "evidence.zip"
    command = ["report", str(log), "--out", str(tmp_path / "page.html"), "--bundle", str(zipped), "--properties", str(path)]
    assert main(command) == 1
    files = bundle.unpack(zipped.read_bytes())
    manifest = json.loads(files["manifest.json"])
    digest = sha256(path.read_bytes()).hexdigest()
    assert manifest["properties"] == {"file": path.name, "sha256": digest, "properties": 2, "failed": 1}
    assert files["properties.test.yaml"] == path.read_bytes() and manifest["sha256"]["properties.test.yaml"] == digest
    table = pq.read_table(io.BytesIO(files["tables/properties_rows.parquet"])).to_pylist()
    assert [(row["text"], row["holds"], len(row["witnesses"])) for row in table] == [(HOLDS, True, 0), (REFUTED, False, 1)]

    def failed(change: Any = None, logs: list[Path] = []) -> set[str]:
        inside = bundle.unpack(zipped.read_bytes())
        if change:
            change(inside, manifest := json.loads(inside["manifest.json"]))
            # One who changes a file can change its digest, too.
            manifest["sha256"] = {name: sha256(data).hexdigest() for name, data in inside.items() if name != "manifest.json"}
            inside["manifest.json"] = json.dumps(manifest).encode()
        changed = tmp_path / "changed.zip"
        changed.write_bytes(bundle.pack(inside))
        return {row.what for row in audit.verify(changed, logs) if row.is_same is False}

    assert not failed() and not failed(logs=[log])

    def other_file(inside: dict[str, bytes], _: Any) -> None:
        inside["properties.test.yaml"] = file_of(tmp_path, HOLDS, HOLDS).read_bytes()

    def other_answer(inside: dict[str, bytes], manifest: Any) -> None:
        manifest["properties"]["failed"] = 0
        inside["tables/properties_rows.parquet"] = bytes(inside["tables/decisions_reasons.parquet"])

    def left_out(inside: dict[str, bytes], manifest: Any) -> None:
        del inside["properties.test.yaml"]

    def unsaid(inside: dict[str, bytes], manifest: Any) -> None:
        manifest["properties"] = None

    # For this the policy is enough: no log is needed.
    for change in (other_file, other_answer, left_out, unsaid):
        assert failed(change) == {"properties, proved again"}, change
    assert "report.html, made again" in failed(other_file, [log])
