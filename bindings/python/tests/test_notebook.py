"""The notebook runs, and what it shows is still what running it gives: `python tests/test_notebook.py` brings it up to date."""

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
    # Which Python it was is of no interest.
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def shown(notebook: Any) -> list[str]:
    """What a reader sees below each cell, without its layout, which is not ours.

    What a cell prints comes in as many pieces as the kernel likes.
    """
    cells = (cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code")
    return [" ".join(" ".join(map(words, outputs)).split()) for outputs in cells]


def words(output: Any) -> str:
    data = output.get("data", {})
    text = output.get("text") or data.get("text/html") or data.get("text/plain")
    bare = re.sub(r"<style.*?</style>|<[^>]*>", " ", text, flags=re.DOTALL)
    return " ".join(html.unescape(bare).split())


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_the_notebook_shows_what_running_it_gives() -> None:
    committed = nbformat.read(NOTEBOOK, as_version=4)
    now = executed()
    assert shown(now) == shown(committed)
    assert any("159 of 200 applications" in text for text in shown(now))
    assert not [output for cell in now["cells"] for output in cell.get("outputs", []) if output.get("name") == "stderr"]


def test_the_notebook_needs_no_checkout() -> None:
    cells = nbformat.read(NOTEBOOK, as_version=4)["cells"]
    assert not [cell for cell in cells if cell["cell_type"] == "code" and re.search(r"\.\./|open\(|read_text", cell["source"])]


def test_the_notebook_names_no_machine() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert len(text) < 100_000
    assert not re.search(r"/(home|root|tmp|Users)/", text)


if __name__ == "__main__":
    nbformat.write(executed(), NOTEBOOK)
