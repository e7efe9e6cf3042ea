"""Decision trees whose splits are chosen privately.

A split is a choice among columns (:func:`information_gain` and its siblings), a tree grown by
evolution a choice among trees (:func:`true_positive_rate`, :func:`true_negative_rate`); what
is released is what was drawn, with counts by OpenDP's noise.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpselect.trees.aggregate import WeightedRatesSensitivity, weighted_rates
from dpselect.trees.criteria import gini, information_gain, majority
from dpselect.trees.declaration import Declaration, domains_of_public_data, domains_template
from dpselect.trees.domains import Bins, Categories
from dpselect.trees.information import InformationGainSensitivity
from dpselect.trees.rates import (
    RateSensitivity,
    rate_over,
    true_negative_rate,
    true_positive_rate,
)
from dpselect.trees.report import PrivacyReport
from dpselect.trees.structure import Leaf, Split, Tree

if TYPE_CHECKING:
    from dpselect.trees.id3 import ID3Classifier
    from dpselect.trees.moet import MultiObjectiveTreeClassifier

_ESTIMATORS = {"ID3Classifier": "id3", "MultiObjectiveTreeClassifier": "moet"}

__all__ = [
    "Bins",
    "Categories",
    "Declaration",
    "ID3Classifier",
    "InformationGainSensitivity",
    "Leaf",
    "MultiObjectiveTreeClassifier",
    "PrivacyReport",
    "RateSensitivity",
    "Split",
    "Tree",
    "WeightedRatesSensitivity",
    "domains_of_public_data",
    "domains_template",
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
    if name in _ESTIMATORS:
        return getattr(import_module(f"dpselect.trees.{_ESTIMATORS[name]}"), name)
    raise AttributeError(f"module 'dpselect.trees' has no attribute {name!r}")
