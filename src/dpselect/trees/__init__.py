"""Decision trees whose splits are chosen privately.

A split is a choice among columns (:func:`information_gain`, :func:`gini`, :func:`majority`), a
tree grown by evolution a choice among trees (:func:`true_positive_rate`,
:func:`true_negative_rate`). Released are the columns and trees that were drawn, and noisy
counts.

What the estimators are made of is public too, to put trees together anew and to simulate them:
a :class:`Schema` and :class:`MemoryCounts` of records, :class:`Growth` and :class:`Evolution`
with its :class:`Breeder`, and :class:`Simulated` draws.
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
    from dpselect.trees.candidates import Breeder
    from dpselect.trees.checks import expected_failed_checks
    from dpselect.trees.counts import MemoryCounts
    from dpselect.trees.declaration import (
        Declaration,
        domains_of_public_data,
        domains_template,
    )
    from dpselect.trees.evolution import Evolution
    from dpselect.trees.evolved_trees import FrontTree, MultiObjectiveTreeClassifier
    from dpselect.trees.growth import Growth
    from dpselect.trees.id3 import ID3Classifier
    from dpselect.trees.randomness import Simulated
    from dpselect.trees.records import Schema
    from dpselect.trees.select_k_best import PrivateSelectKBest

_MODULES = {
    "Breeder": "candidates",
    "Declaration": "declaration",
    "Evolution": "evolution",
    "FrontTree": "evolved_trees",
    "Growth": "growth",
    "ID3Classifier": "id3",
    "MemoryCounts": "counts",
    "MultiObjectiveTreeClassifier": "evolved_trees",
    "PrivateSelectKBest": "select_k_best",
    "Schema": "records",
    "Simulated": "randomness",
    "domains_of_public_data": "declaration",
    "domains_template": "declaration",
    "expected_failed_checks": "checks",
}

__all__ = [
    "Bins",
    "Breeder",
    "Categories",
    "Declaration",
    "Evolution",
    "FrontTree",
    "Growth",
    "ID3Classifier",
    "InformationGainSensitivity",
    "Leaf",
    "MemoryCounts",
    "MultiObjectiveTreeClassifier",
    "PrivateSelectKBest",
    "RateSensitivity",
    "Schema",
    "Simulated",
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
    # scikit-learn takes seconds to import, and the objectives do without it and without the
    # rest of an estimator.
    if name in _MODULES:
        return getattr(import_module(f"dpselect.trees.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'dpselect.trees' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
