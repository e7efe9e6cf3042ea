"""What packages beside dpselect bring to its contracts, where they are installed.

Their tests have a folder of modules that are named as the core's: ``releases``, ``refusals``,
``questions`` and others.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

FOLDERS = {"applications": "applications_cases"}
"""The folder of the tests of each package."""

for package in FOLDERS:
    sys.path.append(str(Path(__file__).parents[2] / "packages" / package / "tests"))


def brought(*names):
    """Return the modules of some names of all packages that are installed, by their names."""
    return {
        name: import_module(f"{folder}.{name}")
        for package, folder in FOLDERS.items()
        if find_spec(f"dpselect_{package}")
        for name in names
    }
