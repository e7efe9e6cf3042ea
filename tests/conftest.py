"""Fixtures of all tests of dpselect."""

from support.chromium import browser  # noqa: F401 -- a fixture
from support.engines import crossing  # noqa: F401 -- a fixture
from support.hospital import clinic  # noqa: F401 -- a fixture
