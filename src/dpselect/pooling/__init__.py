"""Who tested positive? Private subset retrieval and private group testing."""

from dpselect.pooling.bounds import (
    optimal_delta,
    sphere_delta,
    theorem_1_lower,
    theorem_1_upper,
    theorem_2_upper,
)
from dpselect.pooling.curves import delta_curves, plot_delta
from dpselect.pooling.subset import SubsetRelease, SubsetRetrieval
from dpselect.pooling.unknown_size import randomised_response, retrieve_of_unknown_size

__all__ = [
    "SubsetRelease",
    "SubsetRetrieval",
    "delta_curves",
    "optimal_delta",
    "plot_delta",
    "randomised_response",
    "retrieve_of_unknown_size",
    "sphere_delta",
    "theorem_1_lower",
    "theorem_1_upper",
    "theorem_2_upper",
]
