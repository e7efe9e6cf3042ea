"""The best of several private releases, and choices among candidates that lead clearly."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpselect.tuning.best import best_probabilities, plan_best, release_best
from dpselect.tuning.costs import renyi_of_best
from dpselect.tuning.marginals import marginal_error
from dpselect.tuning.repetitions import (
    Geometric,
    Logarithmic,
    Poisson,
    Repetitions,
    TruncatedNegativeBinomial,
)
from dpselect.tuning.stable import StableArgmax

if TYPE_CHECKING:
    from dpselect.tuning.search import PrivateSearchCV

__all__ = [
    "Geometric",
    "Logarithmic",
    "Poisson",
    "PrivateSearchCV",
    "Repetitions",
    "StableArgmax",
    "TruncatedNegativeBinomial",
    "best_probabilities",
    "marginal_error",
    "plan_best",
    "release_best",
    "renyi_of_best",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- the modules' own names have types
    # scikit-learn takes seconds to import, and the rest does without it.
    if name == "PrivateSearchCV":
        return import_module("dpselect.tuning.search").PrivateSearchCV
    raise AttributeError(f"module 'dpselect.tuning' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
