"""What the architecture promises: layers, lazy imports, public names."""

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import dpselect as dp

SOURCE = Path(dp.__file__).parent
HEAVY = {"matplotlib", "narwhals", "numba", "opendp", "polars", "scipy", "sklearn", "networkx"}


def test_imports_go_downwards_only():
    checked = subprocess.run(
        [Path(sys.executable).with_name("lint-imports")],
        cwd=SOURCE.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )

    assert checked.returncode == 0, checked.stdout


def test_importing_the_package_imports_nothing_heavy():
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, dpselect; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()

    assert not HEAVY & set(loaded)


@pytest.mark.parametrize("name", dp.__all__)
def test_every_public_name_is_there(name):
    assert getattr(dp, name).__doc__


def test_dir_lists_the_public_names():
    assert set(dp.__all__) <= set(dir(dp))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'select'"):
        _ = dp.select


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE))
)
def test_every_module_says_its_idea_and_stays_short(path):
    text = path.read_text(encoding="utf-8")

    assert ast.get_docstring(ast.parse(text))
    assert len(text.splitlines()) <= 500


def public_objects():
    """Return every public class and function with the module that offers it."""
    rooms = [dp, import_module("dpselect.tables"), import_module("dpselect.papers")]
    rooms += filter(inspect.ismodule, (getattr(dp, name) for name in dp.__all__))
    for room in rooms:
        for name in getattr(room, "__all__", []):
            if callable(getattr(room, name)):
                yield room.__name__, name, getattr(room, name)


def test_the_reference_has_every_public_class_and_function():
    page = (SOURCE.parents[1] / "docs" / "reference.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^::: (\S+)", page, re.MULTILINE))

    for room, name, found in public_objects():
        assert {room, getattr(found, "__module__", room)} & listed, (
            f"docs/reference.md has no entry for {room}.{name}"
        )
