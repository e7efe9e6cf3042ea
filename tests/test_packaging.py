"""What is said twice about the package, by files of other tools."""

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path

import yaml

import dpselect as dp

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def yaml_of(path):
    return yaml.safe_load((ROOT / path).read_text("utf-8"))


def test_the_citation_is_of_this_version():
    citation = yaml_of("CITATION.cff")

    assert citation["version"] == PROJECT["version"] == dp.__version__
    assert citation["license"] == PROJECT["license"]
    page = (ROOT / "docs" / "reference" / "index.md").read_text("utf-8")
    assert f"version = {{{dp.__version__}}}" in page
    assert f"title   = {{{citation['title']}}}" in page
    foot = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["copyright"]
    assert f"dpselect {dp.__version__}" in foot


def test_the_conda_recipe_asks_for_what_the_project_does():
    recipe = yaml_of("conda/recipe.yaml")
    asked = {line.replace(" ", "") for line in recipe["requirements"]["run"]}
    standard = {
        line.replace(" ", "").replace("matplotlib-base", "matplotlib")
        for line in recipe["requirements"]["run_constraints"]
    }
    python = "python" + PROJECT["requires-python"].partition(",")[0]

    assert recipe["context"]["version"] == PROJECT["version"]
    assert asked == {*PROJECT["dependencies"], python}
    assert standard == {
        one.partition(";")[0]
        for one in PROJECT["optional-dependencies"]["standard"]
        if "dpselect-" not in one
    }


def test_the_extra_standard_stands_beside_opendp_with_polars():
    """OpenDP asks for one version of polars, which ours must not shut out."""
    asked = {one.partition(";")[0] for one in requires("opendp") or ()}
    [wanted] = [one for one in asked if one.startswith("polars==")]
    [ours] = [one for one in PROJECT["optional-dependencies"]["standard"] if "polars" in one]
    pinned, floor = (tuple(map(int, re.findall(r"\d+", one))) for one in (wanted, ours))

    assert floor <= pinned


def test_every_python_is_in_the_table_of_what_was_run():
    page = (ROOT / "docs" / "reference" / "index.md").read_text("utf-8")
    pythons = set(re.findall(r"^\| ([\d., ]+) \|", page, re.MULTILINE))
    listed = {python for row in pythons for python in row.split(", ")}
    kind = "Programming Language :: Python :: "
    claimed = {one.removeprefix(kind) for one in PROJECT["classifiers"] if kind in one}

    assert claimed <= listed
    assert f">={min(listed)}" == PROJECT["requires-python"]
