"""Several objectives become one: by dominance, by weights, or by the margin."""

from dpselect.combine.coverage import coverage
from dpselect.combine.front_plot import plot_front
from dpselect.combine.margin import local_margin, margin
from dpselect.combine.pareto import pareto, pareto_front
from dpselect.combine.pareto_sensitivity import ParetoSensitivity
from dpselect.combine.weighted_sum import disjoint_sum, weighted_sum

__all__ = [
    "ParetoSensitivity",
    "coverage",
    "disjoint_sum",
    "local_margin",
    "margin",
    "pareto",
    "pareto_front",
    "plot_front",
    "weighted_sum",
]
