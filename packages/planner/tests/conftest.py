"""Fixtures of the tests of the planner."""

from support.chromium import browser  # noqa: F401 -- a fixture
from support.program import run  # noqa: F401 -- fixtures
