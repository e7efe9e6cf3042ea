"""The version of dpselect that runs."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


@cache
def version() -> str:
    """Return the version installed; the files may have been sent without being installed."""
    try:
        return installed("dpselect")
    except PackageNotFoundError:
        return "unknown: dpselect is not installed"
