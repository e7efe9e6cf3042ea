"""Fixtures of all tests of dpselect."""

from support.engines import crossing  # noqa: F401 -- a fixture
