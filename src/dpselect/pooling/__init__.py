"""Private group testing: designs, noise before and after pooling, decoders and worksheets.

:func:`compare_designs` simulates designs, a :class:`Worksheet` says which sample goes into
which pool, and :func:`decode` says who is positive. :func:`release_outcomes` flips outcomes
(noise after pooling), :func:`draw_replaced` draws samples to replace by known positives (noise
before pooling).
"""

from dpselect.pooling.assay import Assay, outcomes, simulate_outcomes
from dpselect.pooling.belief_propagation import Marginals, bp
from dpselect.pooling.decoders import comp, dd, scomp
from dpselect.pooling.decoding_bounds import decoding_error, positives_found
from dpselect.pooling.design_comparison import (
    DesignComparison,
    SimulatedDesign,
    compare_designs,
)
from dpselect.pooling.designs import (
    array_2d,
    bernoulli,
    constant_column_weight,
    dorfman,
    doubly_balanced,
    near_constant_column_weight,
)
from dpselect.pooling.kautz_singleton import kautz_singleton
from dpselect.pooling.linear_programs import ErrorModel, ilp, lp
from dpselect.pooling.outcome_privacy import (
    OutcomePrivacy,
    flip_delta,
    flip_epsilon,
    flip_for,
    union_delta,
)
from dpselect.pooling.pool_noise import IndependentNoise, JointNoise, noise_of_replaced
from dpselect.pooling.private_outcomes import (
    ReplacedSamples,
    SwappedPools,
    draw_replaced,
    draw_swapped,
    plan_outcomes,
    plan_replaced,
    plan_swapped,
    release_outcomes,
)
from dpselect.pooling.results import Report, Results, decode, read_results
from dpselect.pooling.worksheet import Worksheet

__all__ = [
    "Assay",
    "DesignComparison",
    "ErrorModel",
    "IndependentNoise",
    "JointNoise",
    "Marginals",
    "OutcomePrivacy",
    "ReplacedSamples",
    "Report",
    "Results",
    "SimulatedDesign",
    "SwappedPools",
    "Worksheet",
    "array_2d",
    "bernoulli",
    "bp",
    "comp",
    "compare_designs",
    "constant_column_weight",
    "dd",
    "decode",
    "decoding_error",
    "dorfman",
    "doubly_balanced",
    "draw_replaced",
    "draw_swapped",
    "flip_delta",
    "flip_epsilon",
    "flip_for",
    "ilp",
    "kautz_singleton",
    "lp",
    "near_constant_column_weight",
    "noise_of_replaced",
    "outcomes",
    "plan_outcomes",
    "plan_replaced",
    "plan_swapped",
    "positives_found",
    "read_results",
    "release_outcomes",
    "scomp",
    "simulate_outcomes",
    "union_delta",
]


def __dir__() -> list[str]:
    return sorted(__all__)
