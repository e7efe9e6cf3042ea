"""Who tested positive? Private subset retrieval and private group testing."""

from dpselect.pooling.assay import Assay, flipped, outcomes, simulate_outcomes
from dpselect.pooling.belief import Belief, bp
from dpselect.pooling.bounds import (
    optimal_delta,
    sphere_delta,
    theorem_1_lower,
    theorem_1_upper,
    theorem_2_upper,
)
from dpselect.pooling.curves import delta_curves, plot_delta
from dpselect.pooling.decoders import comp, dd, scomp
from dpselect.pooling.designs import (
    array_2d,
    bernoulli,
    constant_column_weight,
    dorfman,
    doubly_balanced,
    near_constant_column_weight,
)
from dpselect.pooling.kautz_singleton import kautz_singleton
from dpselect.pooling.lab import flip_delta, flip_epsilon, flip_for, union_delta
from dpselect.pooling.planner import plan
from dpselect.pooling.plans import Option, PoolingPlan
from dpselect.pooling.programmes import Noise, ilp, lp
from dpselect.pooling.results import Report, Results, decode, read_results
from dpselect.pooling.subset import SubsetRelease, SubsetRetrieval
from dpselect.pooling.unknown_size import randomised_response, retrieve_of_unknown_size
from dpselect.pooling.worksheet import Worksheet, draw_replaced

__all__ = [
    "Assay",
    "Belief",
    "Noise",
    "Option",
    "PoolingPlan",
    "Report",
    "Results",
    "SubsetRelease",
    "SubsetRetrieval",
    "Worksheet",
    "array_2d",
    "bernoulli",
    "bp",
    "comp",
    "constant_column_weight",
    "dd",
    "decode",
    "delta_curves",
    "dorfman",
    "doubly_balanced",
    "draw_replaced",
    "flip_delta",
    "flip_epsilon",
    "flip_for",
    "flipped",
    "ilp",
    "kautz_singleton",
    "lp",
    "near_constant_column_weight",
    "optimal_delta",
    "outcomes",
    "plan",
    "plot_delta",
    "randomised_response",
    "read_results",
    "retrieve_of_unknown_size",
    "scomp",
    "simulate_outcomes",
    "sphere_delta",
    "theorem_1_lower",
    "theorem_1_upper",
    "theorem_2_upper",
    "union_delta",
]
