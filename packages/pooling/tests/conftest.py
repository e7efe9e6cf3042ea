"""Fixtures of the tests of the command line."""

from support.program import run  # noqa: F401 -- a fixture
