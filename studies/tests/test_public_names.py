"""Names of dpselect that the studies import: those that the package and its rooms offer."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import dpselect_studies

SOURCE = Path(dpselect_studies.__file__).parent
REFERENCE = SOURCE.parents[2] / "docs" / "reference"

VOCABULARY = {"dpselect.errors", "dpselect.typing"}
"""Public modules of names alone: what can go wrong, and what arrays hold."""

BUILDING_BLOCKS = {
    f"dpselect.trees.{name}"
    for name in ("base", "candidates", "counts", "domains", "front", "id3", "records")
}
"""Modules of which the studies put trees together anew; their room does not offer them."""


def imported():
    """Yield every module of dpselect that a study imports from, with the name."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "dpselect":
                yield from ((node.module, alias.name) for alias in node.names)
            elif isinstance(node, ast.Import):
                parts = (alias.name.rpartition(".") for alias in node.names)
                yield from ((a, b) for a, _, b in parts if a.partition(".")[0] == "dpselect")


@pytest.mark.parametrize(("module", "name"), sorted(set(imported())))
def test_studies_import_public_names(module, name):
    found = import_module(module)

    assert not name.startswith("_")
    if module in VOCABULARY | BUILDING_BLOCKS:
        assert hasattr(found, name)
    else:
        assert module.count(".") <= 1
        assert name in found.__all__


@pytest.mark.parametrize("name", dpselect_studies.__all__)
def test_public_names_of_the_studies_are_there_and_in_the_reference(name):
    page = (REFERENCE / "studies-of-the-papers.md").read_text(encoding="utf-8")
    found = getattr(dpselect_studies, name)

    assert name in dir(dpselect_studies)
    if callable(found):
        assert found.__doc__
        assert f"::: {found.__module__}\n" in page
