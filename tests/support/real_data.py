"""Tests on real data, which not every machine has."""

import os
from pathlib import Path

import pytest

from dpselect.errors import DataError


def or_skip(load, *arguments, **options):
    """Return what ``load`` returns; skip the test by name if there is no folder of data."""
    try:
        return load(*arguments, **options)
    except DataError as error:
        if Path(os.environ["DPSELECT_DATA"]).is_dir():
            raise
        pytest.skip(f"no data: {error}")
