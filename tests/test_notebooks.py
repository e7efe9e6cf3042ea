"""Every notebook of the docs runs, and shows what is stored with it."""

import json
from pathlib import Path

import pytest
from site_build import notebooks

FILES = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_five():
    assert len(FILES) == 5


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_stored(path, monkeypatch):
    """Cells tagged "drawn" are random, and have to run only; pictures are not compared."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    cells = json.loads(path.read_text("utf-8"))["cells"]

    for cell, outputs in zip(cells, notebooks.run(cells), strict=True):
        stored = cell.get("outputs", [])
        if "drawn" in cell["metadata"].get("tags", []):
            assert len(outputs) == len(stored)
        else:
            assert [*map(notebooks.said, outputs)] == [*map(notebooks.said, stored)]
