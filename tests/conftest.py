"""No test has a clock: kernels compile at first use, and machines are busy."""

from hypothesis import settings

from engines import crossing  # noqa: F401 -- a fixture

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
