"""Fixtures of the tests of the command line."""

from support.program import run, stays  # noqa: F401 -- fixtures
