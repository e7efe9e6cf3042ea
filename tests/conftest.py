"""No test has a clock, a build that fails fails again, and real data lie beside the checkout.

Kernels compile at first use, and machines are busy. Properties are tried on the same examples
in every run; ``HYPOTHESIS_PROFILE=exploring`` tries new ones. The data are never fetched.
"""

import os
from pathlib import Path

from hypothesis import settings

from support.engines import crossing  # noqa: F401 -- a fixture

settings.register_profile("repeating", deadline=None, derandomize=True)
settings.register_profile("exploring", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeating"))

BESIDE = Path(__file__).parents[2] / "shared" / "data"
os.environ.setdefault("DPSELECT_DATA", str(BESIDE))
