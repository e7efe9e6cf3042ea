"""Settings of all tests: repeatable properties and draws, and the folder of real data.

No test has a clock: kernels compile at first use, and machines are busy. Properties are tried
on the same 25 examples in every run, and the name of a test decides the bits that it draws, so
a build that fails fails again; ``HYPOTHESIS_PROFILE=exploring`` tries 100 new examples and
draws the operating system's bits. Data sets are never fetched.
"""

import gc
import os
import sys
import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, settings

from dpselect.draws.exact import samplers

NO_CLOCK = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeating", NO_CLOCK, derandomize=True, max_examples=25)
settings.register_profile("exploring", NO_CLOCK)
gc.disable()
settings.load_profile(PROFILE := os.environ.get("HYPOTHESIS_PROFILE", "repeating"))

PAGES = Path(__file__).parent / "docs"
WHOLE = {PAGES / "requests.md", PAGES / "subsets.md"}
"""Pages whose examples read what commands wrote: tests/test_pages.py runs both in order."""

BESIDE = Path(__file__).parents[1] / "shared" / "data"
os.environ.setdefault("DPSELECT_DATA", str(BESIDE))


STREAM = Random()  # noqa: S311 -- the same bits again are what is wanted
"""The bits of the test that runs, in place of the operating system's."""

if PROFILE == "repeating":
    samplers.system = STREAM
    samplers.urandom = STREAM.randbytes
    samplers.randbits = STREAM.getrandbits
    samplers.randbelow = STREAM.randrange


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin the bits of a test, before its fixtures draw."""
    STREAM.seed(item.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Close the figures of a test: those of a whole process become too many for Matplotlib."""
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


def pytest_collection_finish() -> None:
    """Look for garbage from now on: what is collected stays, and is not looked through."""
    gc.freeze()
    gc.enable()


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the examples of pages that cannot be run without their commands."""
    return True if collection_path in WHOLE else None


@pytest.fixture(scope="session", autouse=True)
def _keep_no_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Make all folders of tests where pytest removes them after three runs."""
    tempfile.tempdir = str(tmp_path_factory.getbasetemp())


@pytest.fixture(autouse=True)
def _write_beside_no_page(request: pytest.FixtureRequest) -> None:
    """Run the examples of a page in a folder of their own, where they may write files."""
    if request.path.suffix == ".md":
        folder = request.getfixturevalue("tmp_path")
        request.getfixturevalue("monkeypatch").chdir(folder)
        if request.path.name == "README.md":  # which is read in a clone
            (folder / "examples").symlink_to(request.path.parent / "examples")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the examples of pages with what builds them, by ``make test-slow``."""
    for item in items:
        if item.path.suffix == ".md" and "docs" in item.path.parts:
            item.add_marker(pytest.mark.slow)
