"""Fixtures of the tests of commands."""

from support.program import run  # noqa: F401 -- a fixture
