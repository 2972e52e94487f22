"""What the commands write: never over what they read or another output."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from orbgate import Policy
from orbgate.__main__ import main

pytest.importorskip("pyarrow")

pytestmark = pytest.mark.once

CALL = {"method": "GET", "target": "/api/v1/external/orbs", "kind": "user", "scopes": "read:orbs", "caller": "ann"}
# The inputs of each command, and its outputs that can be given together.
INPUTS = {
    "replay": ("--policy", "--base", "--properties"),
    "report": ("--policy", "--base", "--properties", "--sign"),
    "privileges": ("--policy",),
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

        def refuses(said: str, **changed: str) -> None:
            nonlocal tried
            tried += 1
            named = paths | {f"--{name}": path for name, path in changed.items()} | {name: str(file) for name, file in kept.items() if name in INPUTS[command]}
            with pytest.raises(SystemExit) as exit:
                main([command, str(kept["log.jsonl"]), *(word for option in named.items() for word in option)])
            assert exit.value.code == 2 and said in capsys.readouterr().err
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


def test_several_outputs_can_go_where_nothing_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for module in ("vl_convert", "jinja2"):
        pytest.importorskip(module)
    log = tmp_path / "log.json"
    log.write_text(json.dumps(CALL), "utf-8")
    assert main(["report", str(log), "--format", "json", "--out", os.devnull, "--ocsf", os.devnull]) == 0
    assert "1 call, 1 allowed" in capsys.readouterr().out
