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


class Imports(ast.NodeVisitor):
    """Optional packages that a module checks, and those that a function imports unchecked."""

    def __init__(self):
        self.checked = set()
        self.unchecked = set()
        self._checked_here = [set()]

    def visit_If(self, node):
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self.generic_visit(node)

    def visit_FunctionDef(self, node):
        self._checked_here.append(set())
        self.generic_visit(node)
        self._checked_here.pop()

    def visit_Import(self, node):
        for alias in node.names:
            self._imported(alias.name)

    def visit_ImportFrom(self, node):
        self._imported(node.module or "")

    def visit_Call(self, node):
        if ast.unparse(node.func) in {"needed", "_optional.needed"} and node.args:
            (extra,) = (key.value.value for key in node.keywords if key.arg == "extra")
            package = node.args[0].value.partition(".")[0]
            self.checked.add((package, extra))
            self._checked_here[-1].add(package)
        self.generic_visit(node)

    def _imported(self, module):
        package = module.partition(".")[0]
        if package in PACKAGES and package not in set().union(*self._checked_here):
            self.unchecked.add(package)


def test_optional_packages_are_imported_through_the_one_helper():
    """The command line checks for typer and rich before it imports any of its modules."""
    of_connect = {("pyspark", "connect"), ("grpc", "connect")}  # the extra is pyspark[connect]
    of_others = of_connect | {("pyogrio", "geo")}  # geopandas brings it
    for path in {*SOURCE.rglob("*.py")} - {SOURCE / "_optional.py"}:
        found = Imports()
        found.visit(ast.parse(path.read_text(encoding="utf-8")))
        if path.parent.name == "cli":
            found.unchecked -= {"typer", "rich"}

        assert found.checked <= {*PACKAGES.items(), *of_others}, path
        assert found.unchecked == set(), path
