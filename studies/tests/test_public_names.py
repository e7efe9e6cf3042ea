"""Names of dpselect that the studies import: public ones, and listed building blocks."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import dpselect_studies

SOURCE = Path(dpselect_studies.__file__).parent

BUILDING_BLOCKS = {
    "dpselect.trees.candidates",
    "dpselect.trees.counts",
    "dpselect.trees.evolution",
    "dpselect.trees.growth",
    "dpselect.trees.randomness",
    "dpselect.trees.records",
}
"""Modules inside rooms: simulations put releases together anew, with NumPy's noise."""


def imported():
    """Yield every module of dpselect that a study imports from, with the name."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "dpselect":
                yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize(("module", "name"), sorted(set(imported())))
def test_studies_import_public_names(module, name):
    room = import_module(module)
    public = getattr(room, "__all__", None)

    assert not any(part.startswith("_") for part in (*module.split(".")[1:], name))
    assert "kernels" not in module
    if module.count(".") > 1:
        assert module in BUILDING_BLOCKS
        assert hasattr(room, name)
    elif f"{module}.{name}" not in BUILDING_BLOCKS:
        assert name in public if public is not None else hasattr(room, name)


def test_every_building_block_is_used():
    used = {module for module, _ in imported()} | {f"{m}.{name}" for m, name in imported()}

    assert used >= BUILDING_BLOCKS


@pytest.mark.parametrize("name", dpselect_studies.__all__)
def test_public_names_of_the_studies_are_there_and_in_the_reference(name):
    page = (SOURCE.parents[2] / "docs" / "reference.md").read_text(encoding="utf-8")
    found = getattr(dpselect_studies, name)

    assert name in dir(dpselect_studies)
    if callable(found):
        assert found.__doc__
        assert f"::: {found.__module__}\n" in page


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'figure'"):
        _ = dpselect_studies.figure


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.stem)
def test_every_module_has_a_title_and_stays_short(path):
    text = path.read_text(encoding="utf-8")

    assert ast.get_docstring(ast.parse(text))
    assert len(text.splitlines()) <= 400
