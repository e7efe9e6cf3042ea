"""Decision trees whose splits are chosen privately.

A split is a choice among columns (:func:`information_gain`, :func:`gini`, :func:`majority`), a
tree grown by evolution a choice among trees (:func:`true_positive_rate`,
:func:`true_negative_rate`). Released are the columns and trees that were drawn, and noisy
counts.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpselect.trees.criteria import (
    InformationGainSensitivity,
    gini,
    information_gain,
    majority,
)
from dpselect.trees.domains import Bins, Categories
from dpselect.trees.rates import (
    RateSensitivity,
    WeightedRatesSensitivity,
    rate_over,
    true_negative_rate,
    true_positive_rate,
    weighted_rates,
)
from dpselect.trees.tree import Leaf, Split, Tree

if TYPE_CHECKING:
    from dpselect.trees.checks import expected_failed_checks
    from dpselect.trees.declaration import (
        Declaration,
        domains_of_public_data,
        domains_template,
    )
    from dpselect.trees.evolved_trees import FrontTree, MultiObjectiveTreeClassifier
    from dpselect.trees.id3 import ID3Classifier
    from dpselect.trees.select_k_best import PrivateSelectKBest

_MODULES = {
    "Declaration": "declaration",
    "FrontTree": "evolved_trees",
    "ID3Classifier": "id3",
    "MultiObjectiveTreeClassifier": "evolved_trees",
    "PrivateSelectKBest": "select_k_best",
    "domains_of_public_data": "declaration",
    "domains_template": "declaration",
    "expected_failed_checks": "checks",
}

__all__ = [
    "Bins",
    "Categories",
    "Declaration",
    "FrontTree",
    "ID3Classifier",
    "InformationGainSensitivity",
    "Leaf",
    "MultiObjectiveTreeClassifier",
    "PrivateSelectKBest",
    "RateSensitivity",
    "Split",
    "Tree",
    "WeightedRatesSensitivity",
    "domains_of_public_data",
    "domains_template",
    "expected_failed_checks",
    "gini",
    "information_gain",
    "majority",
    "rate_over",
    "true_negative_rate",
    "true_positive_rate",
    "weighted_rates",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- the modules' own names have types
    # scikit-learn takes seconds to import, and the objectives do without it.
    if name in _MODULES:
        return getattr(import_module(f"dpselect.trees.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'dpselect.trees' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
