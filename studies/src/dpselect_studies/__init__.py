"""Measurements of numbered items of the four papers, with their data sets.

One module for each table, figure or theorem, in the folder of its paper, holds the settings,
the measurement, the paper's numbers and a text on the differences. Everything here is a
simulation on public data: exact scores are read, noise comes from NumPy, and nothing can be
released. Formulas and baselines that are not private are here and not in ``dpselect``; their
names end in ``not_private``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpselect_studies import datasets
    from dpselect_studies.catalogue import STUDIES, load
    from dpselect_studies.comparison import compare
    from dpselect_studies.report import Provenance, listed, page, store
    from dpselect_studies.running import Run, run
    from dpselect_studies.study import Null, Printed, Reason, Study

_HOME = {
    "STUDIES": "catalogue",
    "load": "catalogue",
    "Provenance": "report",
    "listed": "report",
    "page": "report",
    "store": "report",
    "Run": "running",
    "run": "running",
    "compare": "comparison",
    "Null": "study",
    "Printed": "study",
    "Reason": "study",
    "Study": "study",
}

__all__ = [
    "STUDIES",
    "Null",
    "Printed",
    "Provenance",
    "Reason",
    "Run",
    "Study",
    "compare",
    "datasets",
    "listed",
    "load",
    "page",
    "run",
    "store",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- the modules' own names have types
    # Lazy, because `dpselect --help` imports the commands of this package.
    if name in _HOME:
        return getattr(import_module(f"dpselect_studies.{_HOME[name]}"), name)
    if name == "datasets":
        return import_module("dpselect_studies.datasets")
    raise AttributeError(f"module 'dpselect_studies' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
