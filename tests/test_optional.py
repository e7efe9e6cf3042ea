"""Optional packages: a missing one is one line that names the extra."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

import dpselect
from dpselect import _optional
from dpselect.errors import MissingDependencyError


@pytest.mark.parametrize("module", ["polars", "polars.selectors"])
def test_a_missing_package_is_named_with_its_extra(module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "polars", None)

    with pytest.raises(MissingDependencyError):
        _optional.needed(module, extra="standard")


def test_an_installed_package_without_its_own_dependency_says_so(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import not_there_at_all\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(ModuleNotFoundError, match="not_there_at_all") as raised:
        _optional.needed("broken_package", extra="standard")

    assert not isinstance(raised.value, MissingDependencyError)


SOURCE = Path(dpselect.__file__).parent
PROJECT = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
PACKAGES = {
    re.match(r"[\w-]+", one).group().replace("scikit-learn", "sklearn"): extra
    for extra, requirements in PROJECT["optional-dependencies"].items()
    for one in requirements
    if not one.startswith("dpselect-") and extra != "connect"
}
"""Import names of the optional packages, with the extra that installs each."""
NEEDED = {"needed", "_optional.needed"}


def visit(node, known, checked, unchecked):
    """Find the packages and extras that are checked, and what is imported before it is.

    A check holds in its function, and in those within.
    """
    names = []
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.FunctionDef):
        known = {*known}
    elif isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [node.module]
    elif isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in NEEDED:
        (extra,) = (key.value.value for key in node.keywords if key.arg == "extra")
        package = node.args[0].value.partition(".")[0]
        known.add(package)
        checked.add((package, extra))
    unchecked |= {one.partition(".")[0] for one in names} & PACKAGES.keys() - known
    for child in ast.iter_child_nodes(node):
        visit(child, known, checked, unchecked)


def test_optional_packages_are_imported_through_the_one_helper():
    """The command line checks for typer and rich before it imports any of its modules."""
    of_connect = {("pyspark", "connect"), ("grpc", "connect")}  # the extra is pyspark[connect]
    of_others = of_connect | {("pyogrio", "geo")}  # geopandas brings it
    for path in {*SOURCE.rglob("*.py")} - {SOURCE / "_optional.py"}:
        checked, unchecked = set(), set()
        visit(ast.parse(path.read_text(encoding="utf-8")), set(), checked, unchecked)

        assert checked <= {*PACKAGES.items(), *of_others}, path
        assert unchecked <= ({"typer", "rich"} if path.parent.name == "cli" else set()), path
