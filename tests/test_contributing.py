"""The application of CONTRIBUTING.md is what it says: installed, listed, asked and tested."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

from dpselect.budget import Budget

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```(?:python|toml)\n# (\S+)\n(.*?)```", PAGE, flags=re.DOTALL))
READINGS = [120, 140, 130, 150, 125, 120, 110, 110, -90, 97]
REQUEST = """
ledger = "a.budget"
data.path = "pressure.csv"
unit.neighbours = "add-remove"
queries = [{query = "digit_preference.LastDigits", column = "systolic", k = 1, epsilon = 60}]
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the package, as an installer leaves it."""
    folder = tmp_path_factory.mktemp("site")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    project = tomllib.loads(FILES["pyproject.toml"])["project"]
    stated = folder / "digit_preference-0.1.0.dist-info"
    stated.mkdir()
    (stated / "METADATA").write_text(f"Name: {project['name']}\nVersion: 0.1.0\n", "utf-8")
    lines = [
        line
        for group, entries in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {home}" for name, home in entries.items()))
    ]
    (stated / "entry_points.txt").write_text("\n".join(lines), "utf-8")
    return folder


@pytest.fixture
def run(site, tmp_path):
    """Run a program where the package is installed, in a folder with readings."""
    pl.DataFrame({"systolic": READINGS}).write_csv(tmp_path / "pressure.csv")
    Budget(100.0, neighbours="add-remove", path=tmp_path / "a.budget")

    def call(*command):
        where = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(site)}}
        ran = subprocess.run(command, **where, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr + ran.stdout
        return ran.stdout

    return call


def test_it_takes_at_most_six_files():
    assert 1 < len(FILES) <= 6


IN_TURN = """
from contextlib import suppress
from dpselect.cli import main
for line in ("--help",
    "digits pressure.csv --column systolic --k 1 --epsilon 60 --neighbours add-remove --json",
    "run request.toml --no-policy", "budget a.budget"):
    with suppress(SystemExit):
        main(line.split())
    print("-----")
"""


def test_it_is_listed_and_asked_by_its_command_and_in_a_file(run, tmp_path):
    (tmp_path / "request.toml").write_text(REQUEST, "utf-8")

    listed, asked, told, of_ledger, _ = run(sys.executable, "-c", IN_TURN).split("-----\n")
    assert " digits " in listed
    assert '"answer": [0]' in asked
    assert "LastDigits" in told
    [entry] = Budget.open(tmp_path / "a.budget").entries
    assert entry.answer == {"answer": [0]}
    assert entry.question["query"] == "LastDigits"
    assert "last digits of systolic" in of_ledger


@pytest.mark.slow
def test_it_keeps_the_contract(run):
    contract = ("--pyargs", "dpselect_conformance", "--cases", "digit_preference.cases")

    assert " passed" in run(sys.executable, "-m", "pytest", *contract)


def changed(folder, page=PAGE):
    """Make the changes of the page in a copy of the source; return the files of each."""
    for name in ("src", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc"))
    touched = []
    for diff in re.findall(r"```diff\n(.*?)```", page, flags=re.DOTALL):
        files = re.split(r"^--- (\S+)\n", diff, flags=re.MULTILINE)[1:]
        touched.append(files[::2])
        for path, hunks in zip(files[::2], files[1::2], strict=True):
            text = (folder / path).read_text("utf-8")
            for hunk in hunks.split("@@\n")[1:]:
                lines = hunk.splitlines(keepends=True)
                old, new = (
                    "".join(one[1:] for one in lines if one[0] in kept) for kept in (" -", " +")
                )
                assert text.count(old) == 1, f"{path}: {old}"
                text = text.replace(old, new)
            (folder / path).write_text(text, "utf-8")
    return touched


RECIPES = """
from datetime import time
import dpselect as dp, polars as pl

shifts = pl.DataFrame({"at": [time(8), time(16), time(8)] * 50})
top = {"k": 1, "epsilon": 100.0, "neighbours": "add-remove"}
early = dp.TopKeys(column="at", candidates=[time(8), time(16)], **top).release(shifts)
assert early.answer == (time(8),)
found = dp.Keys(column="at", epsilon=100.0, delta=1e-6, neighbours="add-remove").release(shifts)
assert {*found.answer} == {time(8), time(16)}
pl.DataFrame({"ward": ["heart", "lung", "lung"]}).write_avro("wards.avro")
top |= {"column": "ward", "mechanism": "pairwise-noisy-max"}
wards = dp.TopKeys(candidates=["heart", "lung"], **top)
assert wards.release("wards.avro").answer == ("lung",)
assert "PairwiseNoisyMax" in str(wards.plan)
assert dp.Map.__dataclass_fields__["tuning_share"].default == 0.25
"""


def test_small_changes_touch_as_few_files_as_the_page_says(tmp_path):
    touched = changed(tmp_path)
    own = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    ran = subprocess.run(
        [sys.executable, "-c", RECIPES],
        cwd=tmp_path, env=own, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert [len(files) for files in touched] == [4, 1, 1, 1]
    assert ran.returncode == 0, ran.stderr
