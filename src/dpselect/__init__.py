"""Differentially private selection.

One idea runs through everything: *objective → unit-sensitivity scores → draw*. An objective
is a score for every candidate together with what one individual can change of it. A scaling
turns it into scores that one individual moves by at most 1. A draw picks a candidate from
such scores. A plan states the price of a release beforehand, and every release carries its
plan. Several objectives combine into one. Applications build objectives from real data and
interpret what was drawn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpselect._version import version

if TYPE_CHECKING:
    from dpselect import (
        audit,
        budget,
        categories,
        combine,
        draws,
        errors,
        mechanisms,
        networks,
        percentiles,
        planner,
        pooling,
        retrieval,
        scaling,
        sensitivity,
        spatial,
        tables,
        trees,
        tuning,
    )
    from dpselect.accuracy import Comparison, compare
    from dpselect.budget import Budget
    from dpselect.combine.margin import margin
    from dpselect.combine.pareto.score import pareto
    from dpselect.combine.weighted_sum import disjoint_sum, weighted_sum
    from dpselect.composition import parallel_plan
    from dpselect.mechanisms import (
        AnchoredLocalDampening,
        ExponentialMechanism,
        GeneralizedExponential,
        LocalDampening,
        Mechanism,
        NoisySequence,
        PairwiseLocalDampening,
        PermuteAndFlip,
        ReportNoisyMax,
        ShiftedLocalDampening,
    )
    from dpselect.neighbours import Neighbours
    from dpselect.objective import Objective
    from dpselect.plan import ErrorBound, Plan, Spend
    from dpselect.release import Release, Simulation
    from dpselect.sensitivity import (
        ElementSensitivity,
        GlobalSensitivity,
        LocalSensitivity,
        Sensitivity,
        TabulatedSensitivity,
    )
    from dpselect.stability import DirectionReport, check_direction, dominates

__version__ = version()

_HOME = {
    "AnchoredLocalDampening": "mechanisms",
    "Budget": "budget",
    "Comparison": "accuracy",
    "DirectionReport": "stability",
    "ElementSensitivity": "sensitivity",
    "ErrorBound": "plan",
    "ExponentialMechanism": "mechanisms",
    "GeneralizedExponential": "mechanisms",
    "GlobalSensitivity": "sensitivity",
    "LocalDampening": "mechanisms",
    "LocalSensitivity": "sensitivity",
    "Mechanism": "mechanisms",
    "Neighbours": "neighbours",
    "NoisySequence": "mechanisms",
    "Objective": "objective",
    "PairwiseLocalDampening": "mechanisms",
    "PermuteAndFlip": "mechanisms",
    "Plan": "plan",
    "Release": "release",
    "ReportNoisyMax": "mechanisms",
    "Sensitivity": "sensitivity",
    "ShiftedLocalDampening": "mechanisms",
    "Simulation": "release",
    "Spend": "plan",
    "TabulatedSensitivity": "sensitivity",
    "check_direction": "stability",
    "compare": "accuracy",
    "disjoint_sum": "combine",
    "dominates": "stability",
    "margin": "combine",
    "parallel_plan": "composition",
    "pareto": "combine",
    "weighted_sum": "combine",
}
"""The module that each public class and function comes from."""

__all__ = [
    "AnchoredLocalDampening",
    "Budget",
    "Comparison",
    "DirectionReport",
    "ElementSensitivity",
    "ErrorBound",
    "ExponentialMechanism",
    "GeneralizedExponential",
    "GlobalSensitivity",
    "LocalDampening",
    "LocalSensitivity",
    "Mechanism",
    "Neighbours",
    "NoisySequence",
    "Objective",
    "PairwiseLocalDampening",
    "PermuteAndFlip",
    "Plan",
    "Release",
    "ReportNoisyMax",
    "Sensitivity",
    "ShiftedLocalDampening",
    "Simulation",
    "Spend",
    "TabulatedSensitivity",
    "audit",
    "budget",
    "categories",
    "check_direction",
    "combine",
    "compare",
    "disjoint_sum",
    "dominates",
    "draws",
    "errors",
    "margin",
    "mechanisms",
    "networks",
    "parallel_plan",
    "pareto",
    "percentiles",
    "planner",
    "pooling",
    "retrieval",
    "scaling",
    "sensitivity",
    "spatial",
    "tables",
    "trees",
    "tuning",
    "weighted_sum",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- the modules' own names have types
    # Imports are lazy so that `import dpselect` and `dpselect --help` return at once.
    if name in _HOME:
        # Binding it here keeps later accesses from coming back to this function.
        value = globals()[name] = getattr(import_module(f"dpselect.{_HOME[name]}"), name)
        return value
    if name in __all__:
        return import_module(f"dpselect.{name}")
    raise AttributeError(f"module 'dpselect' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
