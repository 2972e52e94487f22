"""What the commands write: never over what they read or another output, whole or not at all, and by no planted link."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from orbgate import Policy, logs
from orbgate.__main__ import main
from orbgate._whole import whole

pytest.importorskip("pyarrow")

pytestmark = pytest.mark.once

CALL = {"method": "GET", "target": "/api/v1/external/orbs", "kind": "user", "scopes": "read:orbs", "caller": "ann"}
# The inputs of each command, and its outputs that can be given together.
INPUTS = {
    "replay": ("--policy", "--base", "--properties"),
    "report": ("--policy", "--base", "--properties", "--sign", "--accept", "--since"),
    "privileges": ("--policy", "--since"),
}
OUTPUTS = {
    "replay": (["--out"], ["--resume"]),
    "report": (["--out", "--bundle", "--ocsf"], ["--out", "--bundle", "--resume"]),
    "privileges": (["--proposal"],),
}
NAMES = "same", "symbolic", "hard", "dots"


def other_name(file: Path, kind: str) -> str:
    link = file.parent / f"other-{file.name}"
    link.unlink(missing_ok=True)
    if kind == "symbolic":
        link.symlink_to(file)
        return str(link)
    if kind == "hard" and file.exists():
        os.link(file, link)
        return str(link)
    return f"{file.parent}/./{file.name}" if kind == "dots" else str(file)


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("command", OUTPUTS)
def test_no_output_is_an_input_or_another_output(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, kind: str) -> None:
    kept = {name: tmp_path / name.lstrip("-") for name in ("log.jsonl", *INPUTS[command])}
    for file in kept.values():
        file.write_bytes(Policy.external().text)
    kept["log.jsonl"].write_text(json.dumps(CALL), "utf-8")
    before = {name: file.read_bytes() for name, file in kept.items()}
    tried = 0
    for outputs in OUTPUTS[command]:
        paths = {name: str(tmp_path / f"new{name}") for name in outputs} | ({"--bundle": str(tmp_path / "new-bundle")} if command == "report" else {})

        def refuses(message: str, **changed: str) -> None:
            nonlocal tried
            tried += 1
            named = paths | {f"--{name}": path for name, path in changed.items()} | {name: str(file) for name, file in kept.items() if name in INPUTS[command]}
            with pytest.raises(SystemExit) as exit:
                main([command, str(kept["log.jsonl"]), *(word for option in named.items() for word in option)])
            assert exit.value.code == 2 and message in capsys.readouterr().err
            assert {name: file.read_bytes() for name, file in kept.items()} == before and not [*tmp_path.glob("new*")]

        for output in outputs:
            for name, file in kept.items():
                refuses(f"{output} is the log itself" if name == "log.jsonl" else f"{output} and {name} are the same file", **{output[2:]: other_name(file, kind)})
            for other in outputs:
                if other != output:
                    refuses("are the same file", **{output[2:]: other_name(Path(paths[other]), kind)})
        if command == "report":
            refuses("--out and the signature are the same file", out=other_name(tmp_path / "new-bundle.minisig", kind))
    assert tried >= len(kept)


@pytest.mark.parametrize("kind", NAMES)
def test_a_replay_in_a_program_does_not_replace_its_log(tmp_path: Path, kind: str) -> None:
    (log := tmp_path / "log.jsonl").write_text(json.dumps(CALL), "utf-8")
    with pytest.raises(ValueError, match="`out` is the log itself"):
        logs.replay(logs.read(log), Policy.external(), out=other_name(log, kind))
    assert log.read_text("utf-8") == json.dumps(CALL)


def test_several_outputs_can_go_where_nothing_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for module in ("vl_convert", "jinja2"):
        pytest.importorskip(module)
    log = tmp_path / "log.json"
    log.write_text(json.dumps(CALL), "utf-8")
    assert main(["report", str(log), "--format", "json", "--out", os.devnull, "--ocsf", os.devnull]) == 0
    assert "1 call, 1 allowed" in capsys.readouterr().out


def test_two_writers_of_a_file_do_not_meet(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    with whole(target) as one, open(one, "w") as first:
        first.write("first, ")
        first.flush()
        with whole(target) as two, open(two, "w") as second:
            second.write("second")
        assert target.read_text() == "second"
        first.write("whole")
    assert target.read_text() == "first, whole" and [*tmp_path.iterdir()] == [target]


def test_a_missing_part_does_not_hide_the_error(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), whole(tmp_path / "page.html") as part:
        os.unlink(part)
        raise KeyboardInterrupt
    assert not [*tmp_path.iterdir()]


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links of Unix")
def test_a_planted_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (other := tmp_path / "other").write_text("mine")
    target = tmp_path / "page.html"
    (tmp_path / "page.html.part").symlink_to(other)
    monkeypatch.setattr("orbgate._whole.token_hex", lambda _: "guessed", raising=False)
    (planted := tmp_path / "page.html.guessed.part").symlink_to(other)
    with pytest.raises(FileExistsError), whole(target) as part, open(part, "w") as file:
        file.write("page")
    assert other.read_text() == "mine" and not target.exists() and planted.is_symlink()
    planted.unlink()
    with whole(target) as part, open(part, "w") as file:
        file.write("page")
    # As any other new file: not only for the user.
    (new := tmp_path / "new").touch()
    assert target.read_text() == "page" and other.read_text() == "mine" and target.stat().st_mode == new.stat().st_mode


def test_an_error_leaves_nothing_behind(tmp_path: Path) -> None:
    (target := tmp_path / "page.html").write_text("before")
    with pytest.raises(KeyboardInterrupt), whole(target) as part, open(part, "w") as file:
        file.write("half")
        raise KeyboardInterrupt
    assert [*tmp_path.iterdir()] == [target] and target.read_text() == "before"


def _run(arguments: list[str], output: str = "> /dev/null") -> tuple[int, str]:
    """The exit code and standard error of the command, whose output goes where a shell puts it."""
    line = " ".join(map(shlex.quote, [sys.executable, "-m", "orbgate", *arguments]))
    ran = subprocess.run(["sh", "-c", f"{line} {output}"], capture_output=True, text=True, timeout=120)
    return ran.returncode, ran.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    for module in ("vl_convert", "jinja2"):
        pytest.importorskip(module)
    (log := tmp_path / "log.json").write_text(json.dumps(CALL), "utf-8")
    full, page, read = "/dev/full", str(tmp_path / "page.html"), [str(log), "--format", "json"]
    for arguments in (
        ["report", *read, "--out", full],
        ["report", *read, "--out", page, "--ocsf", full],
        ["report", *read, "--out", page, "--bundle", full],
        ["replay", *read, "--out", full],
        ["privileges", *read, "--proposal", full],
    ):
        assert _run(arguments) == (2, "error: cannot write `/dev/full`: No space left on device\n"), arguments


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of Unix")
def test_output_that_nobody_can_read_is_no_success(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (log := tmp_path / "log.json").write_text(json.dumps(CALL), "utf-8")
    replay = ["replay", str(log), "--format", "json"]
    assert _run(replay) == (0, "")
    assert _run(replay, ">&-") == (2, "error: standard output is closed\n")
    if os.path.exists("/dev/full"):
        assert _run(replay, "> /dev/full") == (2, "error: cannot write to standard output: No space left on device\n")
