"""The examples of the README and the pages run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
PAGES = [PACKAGE / "README.md", *sorted((PACKAGE / "docs").glob("*.md"))]
ALL = [block for page in PAGES for block in re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)]
# Where there is a cluster, `test_spark` runs those with Spark; `test_gate` runs the services.
BLOCKS = [block for block in ALL if "pyspark" not in block and "Gate.from_files" not in block]


def test_there_are_examples() -> None:
    assert len(PAGES) >= 7
    assert len(BLOCKS) >= 15


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_an_example_runs(block: str) -> None:
    for needed in re.findall(r"^import (pyarrow|polars|pandas|duckdb|ibis)", block, re.MULTILINE):
        pytest.importorskip(needed)
    if "logs" in block:
        pytest.importorskip("pyarrow")
    exec(compile(block, "page", "exec"), {})


@pytest.mark.once
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_examples_have_types(tmp_path: Path, checker: str) -> None:
    """Those with Spark, too. Each is a file of its own."""
    pytest.importorskip(checker)
    for at, block in enumerate(ALL):
        (tmp_path / f"block{at}.py").write_text(block, encoding="utf-8")
    # pyarrow has no types.
    options = ["--strict", "--cache-dir=/dev/null", "--disable-error-code=import-untyped"] if checker == "mypy" else []
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    command = [sys.executable, "-m", checker, *options, *map(str, sorted(tmp_path.iterdir()))]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PATH": path})
    assert ran.returncode == 0, ran.stdout + ran.stderr
