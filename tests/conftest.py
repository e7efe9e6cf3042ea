"""No test has a clock: kernels compile at first use, and machines are busy."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
