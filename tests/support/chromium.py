"""A page of Chromium, for mouse and keyboard."""

import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser():
    """One page of the Chromium that is installed."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    sync = pytest.importorskip("playwright.sync_api")
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    with sync.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started.new_page()
        started.close()
