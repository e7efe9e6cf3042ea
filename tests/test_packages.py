"""The packages beside dpselect: public names, one version, layers, and what they import."""

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dpselect as dp
import dpselect_applications
import dpselect_conformance
import dpselect_planner
import dpselect_pooling
import dpselect_studies
from dpselect.cli.commands import COMMANDS, ELSEWHERE, installed
from dpselect.query import Query
from dpselect.writing import documented
from support.house import pages
from support.releases import all_cases

ROOT = Path(__file__).parents[1]
PACKAGES = (
    dpselect_applications,
    dpselect_conformance,
    dpselect_planner,
    dpselect_pooling,
    dpselect_studies,
)
every_package = pytest.mark.parametrize("package", PACKAGES, ids=lambda one: one.__name__)
OF_POOLING = (getattr(dpselect_pooling, name) for name in dpselect_pooling.__all__)
QUERIES = [one for one in OF_POOLING if isinstance(one, type) and issubclass(one, Query)]


def folder(package):
    return Path(package.__file__).parent


@every_package
def test_it_has_the_version_of_dpselect(package):
    project = tomllib.loads((folder(package).parents[1] / "pyproject.toml").read_text("utf-8"))

    assert project["project"]["version"] == dp.__version__
    assert project["project"]["name"] == package.__name__.replace("_", "-")
    assert (folder(package) / "py.typed").exists()


@every_package
def test_public_names_are_documented_and_in_the_reference(package):
    text = "\n".join(page.read_text("utf-8") for page in pages().values())
    listed = re.findall(r"^::: (\S+)", text, re.MULTILINE)

    assert dir(package) == sorted(package.__all__)
    for name in package.__all__:
        found = getattr(package, name)
        assert inspect.getdoc(found), name
        home = getattr(found, "__module__", package.__name__)
        assert any(one.startswith(home) for one in listed), name


@pytest.mark.parametrize("package", [dp, *PACKAGES], ids=lambda one: one.__name__)
def test_modules_have_titles_and_import_public_names(package):
    for path in folder(package).rglob("*.py"):
        text = path.read_text("utf-8")
        tree = ast.parse(text)
        title = (ast.get_docstring(tree) or "").split("\n", maxsplit=1)[0]
        assert re.fullmatch(r"[A-Z`].*[.:]", title), f"{path} starts with {title!r}"
        for node in ast.walk(tree):
            ours = isinstance(node, ast.ImportFrom) and node.module.startswith("dpselect.")
            if ours and package is not dp:
                words = [*node.module.split("."), *(alias.name for alias in node.names)]
                assert not any(word.startswith("_") for word in words), f"{path}: {words}"


@every_package
def test_importing_it_imports_nothing_heavy(package):
    program = f"import sys, {package.__name__}; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()

    assert not {"numpy", "numba", "scipy", "matplotlib", "typer"} & set(loaded)


def test_their_commands_are_those_of_the_program():
    homes = {home.module.partition(".")[0] for home in installed().values()}

    assert homes >= {package.__name__ for package in PACKAGES}
    assert set(ELSEWHERE) == set(installed()) - set(COMMANDS)


@pytest.mark.parametrize("kind", QUERIES, ids=lambda kind: kind.__name__)
def test_queries_are_documented_and_have_a_case(kind):
    assert any(type(case.query) is kind for case in all_cases())
    assert "Guarantee:" in kind.__doc__
    assert list(documented(kind)) == list(kind.__dataclass_fields__)
