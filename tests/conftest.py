"""No test has a clock, and real data are taken from beside the checkout if they are there.

Kernels compile at first use, and machines are busy. The data are never fetched.
"""

import os
from pathlib import Path

from hypothesis import settings

from engines import crossing  # noqa: F401 -- a fixture

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

BESIDE = Path(__file__).parents[2] / "shared" / "data"
os.environ.setdefault("DPSELECT_DATA", str(BESIDE))
