"""Differentially private selection.

One idea runs through everything: *objective → unit-sensitivity scores → draw*. An objective
is a score for every candidate together with what one individual can change of it. A scaling
turns it into scores that one individual moves by at most 1. A draw picks a candidate from
such scores. Several objectives combine into one. Applications build objectives from real
data and interpret what was drawn.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpselect import (
        audit,
        combine,
        datasets,
        draws,
        networks,
        percentiles,
        pooling,
        scaling,
        sensitivity,
        spatial,
        trees,
    )
    from dpselect.accuracy import Comparison, compare
    from dpselect.budget import Budget
    from dpselect.combine.margin import margin
    from dpselect.combine.pareto import pareto
    from dpselect.combine.weighted_sum import disjoint_sum, weighted_sum
    from dpselect.mechanisms import (
        AnchoredLocalDampening,
        ExponentialMechanism,
        GeneralizedExponential,
        LocalDampening,
        Mechanism,
        PairwiseLocalDampening,
        PermuteAndFlip,
        ReportNoisyMax,
        ShiftedLocalDampening,
    )
    from dpselect.neighbours import Neighbours
    from dpselect.objective import Objective
    from dpselect.release import Release, Simulation
    from dpselect.sensitivity import (
        ElementSensitivity,
        GlobalSensitivity,
        LocalSensitivity,
        Sensitivity,
        TabulatedSensitivity,
    )

__version__ = version("dpselect")

_HOME = {
    "Neighbours": "neighbours",
    "Objective": "objective",
    "Sensitivity": "sensitivity",
    "GlobalSensitivity": "sensitivity",
    "LocalSensitivity": "sensitivity",
    "ElementSensitivity": "sensitivity",
    "TabulatedSensitivity": "sensitivity",
    "Mechanism": "mechanisms",
    "ExponentialMechanism": "mechanisms",
    "PermuteAndFlip": "mechanisms",
    "ReportNoisyMax": "mechanisms",
    "LocalDampening": "mechanisms",
    "ShiftedLocalDampening": "mechanisms",
    "AnchoredLocalDampening": "mechanisms",
    "PairwiseLocalDampening": "mechanisms",
    "GeneralizedExponential": "mechanisms",
    "Release": "release",
    "Simulation": "release",
    "Budget": "budget",
    "compare": "accuracy",
    "Comparison": "accuracy",
    "pareto": "combine",
    "weighted_sum": "combine",
    "disjoint_sum": "combine",
    "margin": "combine",
}
_ROOMS = (
    "audit",
    "combine",
    "datasets",
    "draws",
    "networks",
    "percentiles",
    "pooling",
    "scaling",
    "sensitivity",
    "spatial",
    "trees",
)

__all__ = [
    "AnchoredLocalDampening",
    "Budget",
    "Comparison",
    "ElementSensitivity",
    "ExponentialMechanism",
    "GeneralizedExponential",
    "GlobalSensitivity",
    "LocalDampening",
    "LocalSensitivity",
    "Mechanism",
    "Neighbours",
    "Objective",
    "PairwiseLocalDampening",
    "PermuteAndFlip",
    "Release",
    "ReportNoisyMax",
    "Sensitivity",
    "ShiftedLocalDampening",
    "Simulation",
    "TabulatedSensitivity",
    "audit",
    "combine",
    "compare",
    "datasets",
    "disjoint_sum",
    "draws",
    "margin",
    "networks",
    "pareto",
    "percentiles",
    "pooling",
    "scaling",
    "sensitivity",
    "spatial",
    "trees",
    "weighted_sum",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- the modules' own names have types
    # Imports are lazy so that `import dpselect` and `dpselect --help` return at once.
    if name in _ROOMS:
        return import_module(f"dpselect.{name}")
    if name in _HOME:
        # Bind it here: `dpselect.compare` is the function, not the module of that name.
        value = globals()[name] = getattr(import_module(f"dpselect.{_HOME[name]}"), name)
        return value
    raise AttributeError(f"module 'dpselect' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
