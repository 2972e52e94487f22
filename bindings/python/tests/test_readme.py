"""What the README shows runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
# Where there is a cluster, `test_spark` runs the others.
BLOCKS = [block for block in BLOCKS if "pyspark" not in block]


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 3


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_an_example_runs(block: str) -> None:
    for needed in re.findall(r"^import (pyarrow|polars)", block, re.MULTILINE):
        pytest.importorskip(needed)
    if "logs" in block:
        pytest.importorskip("pyarrow")
    exec(compile(block, str(README), "exec"), {})
