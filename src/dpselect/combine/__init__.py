"""Combinations of several objectives into one: Pareto score, weighted sum and margin."""

from dpselect.combine.margin import margin
from dpselect.combine.pareto.dominance import coverage
from dpselect.combine.pareto.score import pareto, pareto_front, plot_front
from dpselect.combine.pareto.sensitivity import ParetoSensitivity
from dpselect.combine.registry import COMBINATIONS, by_name, facts_of, mechanism_for
from dpselect.combine.weighted_sum import disjoint_sum, weighted_sum

__all__ = [
    "COMBINATIONS",
    "ParetoSensitivity",
    "by_name",
    "coverage",
    "disjoint_sum",
    "facts_of",
    "margin",
    "mechanism_for",
    "pareto",
    "pareto_front",
    "plot_front",
    "weighted_sum",
]


def __dir__() -> list[str]:
    return sorted(__all__)
