"""Settings of all tests: repeatable properties, and the folder of real data.

No test has a clock: kernels compile at first use, and machines are busy. Properties are tried
on the same 25 examples in every run, so a build that fails fails again;
``HYPOTHESIS_PROFILE=exploring`` tries 100 new ones. Data sets are never fetched.
"""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeating", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("exploring", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeating"))

PAGES = Path(__file__).parent / "docs"
WHOLE = {PAGES / "requests.md", PAGES / "subsets.md"}
"""Pages whose examples read what commands wrote: tests/test_pages.py runs both in order."""

BESIDE = Path(__file__).parents[1] / "shared" / "data"
os.environ.setdefault("DPSELECT_DATA", str(BESIDE))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the examples of pages that cannot be run without their commands."""
    return True if collection_path in WHOLE else None


@pytest.fixture(autouse=True)
def _write_beside_no_page(request: pytest.FixtureRequest) -> None:
    """Run the examples of a page in a folder of their own, where they may write files."""
    if request.path.suffix == ".md":
        folder = request.getfixturevalue("tmp_path")
        request.getfixturevalue("monkeypatch").chdir(folder)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the examples of pages with what builds them, by ``make test-slow``."""
    for item in items:
        if PAGES in item.path.parents:
            item.add_marker(pytest.mark.slow)
