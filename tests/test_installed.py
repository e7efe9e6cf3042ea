"""The wheels, installed into empty environments and used outside of the repository.

The packages come from uv's cache, or else from PyPI; without either the tests are skipped.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
UV = os.environ.get("UV") or shutil.which("uv") or shutil.which("uv", path=ROOT / ".tools/bin")
CAPTURED = {"capture_output": True, "text": True}
UNREACHABLE = ("error sending request", "Failed to fetch", "Network connectivity is disabled")

PACKAGES = ("applications", "conformance", "planner", "pooling")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(UV is None, reason="the program uv is not installed"),
    pytest.mark.xdist_group("installed"),
]


def uv(*arguments):
    return subprocess.run([UV, *map(str, arguments)], cwd=ROOT, **CAPTURED, check=False)


def uv_or_skip(*arguments):
    """Run uv by its cache alone, then with the network; skip where there is none."""
    ran = uv(*arguments, "--offline")
    if ran.returncode != 0:
        ran = uv(*arguments)
    if ran.returncode != 0 and any(sign in ran.stderr for sign in UNREACHABLE):
        pytest.skip("the packages are not in the cache of uv, and PyPI cannot be reached")
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """The wheels of all packages by name, and a file of the locked versions."""
    folder = tmp_path_factory.mktemp("wheels")
    uv_or_skip("build", "--all-packages", "--wheel", "--out-dir", folder)
    found = {path.name.partition("-")[0]: path for path in folder.glob("*.whl")}
    locked = ("--frozen", "--all-packages", "--all-extras", "--no-dev", "--no-emit-workspace")
    found["locked"] = folder / "locked.txt"
    found["locked"].write_text(uv_or_skip("export", "--no-hashes", *locked), "utf-8")
    return found


class Environment:
    """A virtual environment, and an empty folder to work in."""

    def __init__(self, folder, wheels, *requirements):
        self.bin, self.work = folder / "env" / "bin", folder / "work"
        self.work.mkdir()
        uv_or_skip("venv", "--python", sys.executable, folder / "env")
        target = ("--python", self.bin / "python", "--constraints", wheels["locked"])
        uv_or_skip("pip", "install", *target, *requirements)

    def run(self, program, *arguments):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL"))}
        command, where = [self.bin / program, *map(str, arguments)], {"cwd": self.work}
        return subprocess.run(command, **where, **CAPTURED, env=clean, check=False)

    def python(self, script):
        ran = self.run("python", "-c", script)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout


def environment(*names, extra=""):
    """Return the fixture of an environment with some wheels."""

    @pytest.fixture(scope="module")
    def made(tmp_path_factory, wheels):
        first, *rest = (wheels[name] for name in names)
        return Environment(tmp_path_factory.mktemp("env"), wheels, f"{first}{extra}", *rest)

    return made


BROUGHT = [f"dpselect_{name}" for name in PACKAGES]
"""The wheels that PyPI would have."""
required = environment("dpselect")
standard = environment("dpselect", *BROUGHT, extra="[standard]")
studies = environment("dpselect", "dpselect_studies", *BROUGHT)


def test_a_wheel_holds_its_package_and_nothing_else(wheels):
    for name in ("dpselect", "dpselect_studies", *BROUGHT):
        with zipfile.ZipFile(wheels[name]) as wheel:
            tops = {Path(member).parts[0] for member in wheel.namelist()}
            members = set(wheel.namelist())

        assert {top for top in tops if not top.endswith(".dist-info")} == {name}
        assert f"{name}/py.typed" in members
        assert not any("/papers/" in member or "/tests/" in member for member in members)


def test_a_second_build_has_the_same_bytes(wheels, tmp_path):
    """The wheel by way of the source distribution, too."""
    first, second = tmp_path / "first", tmp_path / "second"
    uv_or_skip("build", "--package", "dpselect", "--out-dir", first)
    uv_or_skip("build", "--package", "dpselect", "--sdist", "--out-dir", second)

    wheel, sdist = sorted(path.name for path in first.glob("dpselect*"))
    assert (first / wheel).read_bytes() == wheels["dpselect"].read_bytes()
    assert (first / sdist).read_bytes() == (second / sdist).read_bytes()


RELEASES = """
import json
import sys

import dpselect as dp

missing = []
for name in dp.__all__:
    try:
        getattr(dp, name)
    except (dp.errors.MissingDependencyError, AttributeError):
        missing.append(name)

budget = dp.Budget(3.0, neighbours="add-remove")
votes = dp.Objective(
    [310, 122, 298],
    dp.GlobalSensitivity(1, "add-remove"),
    candidates=["red", "green", "blue"],
    monotone=True,
)
colour = dp.PermuteAndFlip(epsilon=2.0).release(votes, budget=budget)
days = dp.percentiles.percentile_rank(
    [1.0, 5.0, 2.0, 8.0, 3.0], p=50, candidates=range(11), neighbours="add-remove"
)
day = dp.PermuteAndFlip(epsilon=1.0).release(days, budget=budget)
star = [(0, leaf) for leaf in range(1, 50)]
[node] = dp.TopNodes(nodes=50, k=1, metric="degree", epsilon=20.0).release(star).answer
optional = sorted({"matplotlib", "polars", "rich", "sklearn", "typer"} & set(sys.modules))
print(json.dumps([colour.candidate, day.candidate, node, budget.remaining, optional, missing]))
"""


OF_PACKAGES = ("BestColumns", "BestOf", "Comparison", "HeavyCells", "Hubs", "Levels",
               "Search", "Series", "StableArgmax", "TopVariants", "compare", "levels", "series",
               "tuning", "variants")  # fmt: skip


def test_python_releases_with_the_required_dependencies_alone(required):
    found = json.loads(required.python(RELEASES))
    colour, day, node, remaining, optional, missing = found

    assert colour in {"red", "green", "blue"}
    assert 0 <= day <= 10
    assert node == 0
    assert remaining == 0
    assert optional == []
    assert missing == sorted(OF_PACKAGES)


AWAY = """
import dpselect as dp

for use in ({uses}):
    try:
        use()
    except AttributeError as error:
        print(error)
"""


def test_what_is_in_another_package_says_so_in_one_line(required):
    """Names are missing attributes, and a query that was written down names its package."""
    uses = ["dp.Series", "dp.Levels", "dp.TopVariants", "dp.tuning", "dp.audit.replay"]
    uses.append("dp.Query.from_dict({'query': 'Levels'})")
    said = required.python(AWAY.format(uses=", ".join(f"lambda: {use}" for use in uses)))

    assert said.splitlines() == [
        f"dpselect.{name} needs the package dpselect-{package}: pip install "
        f"dpselect-{package}, or ./packages/{package} of a clone"
        for name, package in (
            *((name, "applications") for name in ("Series", "Levels", "TopVariants", "tuning")),
            ("audit.replay", "conformance"),
            ("Levels", "applications"),
        )
    ]


def test_the_program_says_what_to_install(required):
    ran = required.run("dpselect", "percentile")

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "dpselect: this needs typer, which is not installed: pip install 'dpselect[standard]', "
        "or '.[standard]' in a clone\n"
    )


def test_the_packages_of_commands_come_with_the_standard_dependencies(standard):
    page = standard.run("dpselect", "planner", "--save", "planner.html")
    planned = standard.run("dpselect", "plan", "response", "--json")
    compared = standard.run("dpselect", "pool", "plan", "--n", "40", "--d", "2", "--json")
    series = standard.run("dpselect", "series", "--help")

    assert [one.returncode for one in (page, planned, compared, series)] == [0] * 4, page.stderr
    assert "<script>" in (standard.work / "planner.html").read_text("utf-8")
    assert json.loads(compared.stdout)["n"] == 40


@pytest.mark.parametrize("line", ["papers", "papers list", "papers run all --full"])
def test_papers_say_what_to_install(standard, line):
    ran = standard.run("dpselect", *line.split())

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "dpselect: dpselect papers needs the package dpselect-studies: "
        "pip install dpselect-studies, or ./studies of a clone\n"
    )


def test_papers_run_where_the_studies_are_installed(studies):
    listed = studies.run("dpselect", "papers", "list")
    ran = studies.run("dpselect", "papers", "run", "gonen-2025/theorem-1")

    assert "farias-2023/figure-7" in listed.stdout
    assert ran.returncode == 0, ran.stderr
    assert (studies.work / "results" / "gonen-2025" / "theorem-1.parquet").is_file()
