"""The notebook runs, and shows what its text says."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

pytestmark = pytest.mark.once

NOTEBOOK = Path(__file__).resolve().parents[1] / "example" / "questions.ipynb"


def executed() -> Any:
    """The notebook with what its cells give now; a cell that fails raises."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    location = {"metadata": {"path": str(NOTEBOOK.parent)}}
    nbclient.NotebookClient(notebook, resources=location, record_timing=False, timeout=300, coalesce_streams=True).execute()
    return notebook


def shown(notebook: Any) -> list[str]:
    """What a reader sees below each cell, without its layout, which is not ours.

    What a cell prints comes in as many pieces as the kernel likes.
    """
    return [" ".join(" ".join(map(words, cell["outputs"])).split()) for cell in code(notebook)]


def code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def words(output: Any) -> str:
    data = output.get("data", {})
    text = output.get("text") or data.get("text/html") or data.get("text/plain")
    bare = re.sub(r"<style.*?</style>|<[^>]*>", " ", text, flags=re.DOTALL)
    return " ".join(html.unescape(bare).split())


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_the_notebook_runs() -> None:
    now = executed()
    texts = shown(now)
    for sentence in ("159 of 200 applications hold a scope", "held and not needed:", "calls of"):
        assert any(sentence in text for text in texts), sentence
    # Each of the others shows a value.
    silent = [cell["source"] for cell, text in zip(code(now), texts, strict=True) if not text]
    assert [source for source in silent if not source.startswith("import json")] == []
    assert not [output for cell in code(now) for output in cell["outputs"] if output.get("name") == "stderr"]


def test_the_notebook_is_committed_without_outputs() -> None:
    assert [cell["source"] for cell in code(nbformat.read(NOTEBOOK, as_version=4)) if cell["outputs"]] == []


def test_the_notebook_needs_no_checkout() -> None:
    cells = nbformat.read(NOTEBOOK, as_version=4)["cells"]
    assert not [cell for cell in cells if cell["cell_type"] == "code" and re.search(r"\.\./|open\(|read_text", cell["source"])]


def test_the_notebook_names_no_machine() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert not re.search(r"/(home|root|tmp|Users)/", text)
