"""The best of several private releases, and choices among candidates that lead clearly."""

from dpselect.tuning.best import best_probabilities, plan_best, release_best
from dpselect.tuning.costs import renyi_of_best
from dpselect.tuning.repetitions import (
    Geometric,
    Logarithmic,
    Poisson,
    Repetitions,
    TruncatedNegativeBinomial,
)

__all__ = [
    "Geometric",
    "Logarithmic",
    "Poisson",
    "Repetitions",
    "TruncatedNegativeBinomial",
    "best_probabilities",
    "plan_best",
    "release_best",
    "renyi_of_best",
]


def __dir__() -> list[str]:
    return sorted(__all__)
