"""Options of pytest that name the cases of the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--cases`` and ``--pairs``."""
    parser.addoption(
        "--cases",
        action="append",
        default=[],
        metavar="MODULE",
        help="a module whose CASES, each a dpselect_conformance.ReleaseCase, keep the contract",
    )
    parser.addoption(
        "--pairs", type=int, default=1, help="pairs of neighbours to replay each case on"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Name the mark of the tests that take longest."""
    config.addinivalue_line("markers", "slow: a release that is watched as it runs")
