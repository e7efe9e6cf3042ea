"""Private subset retrieval: release who is a member, up to a few errors.

:class:`SubsetRetrieval` is for a public number of members, under ``SWAP``;
:func:`release_subset` and :func:`release_statuses` are for a private one, under
``SUBSTITUTE`` over the people's statuses.
"""

from dpselect.retrieval.bounds import (
    optimal_delta,
    sphere_delta,
    theorem_1_lower,
    theorem_1_upper,
    theorem_2_lower,
    theorem_2_upper,
)
from dpselect.retrieval.delta_curves import delta_curves, plot_delta
from dpselect.retrieval.private_size import (
    plan_statuses,
    plan_subset,
    release_statuses,
    release_subset,
)
from dpselect.retrieval.subset import SubsetRetrieval

__all__ = [
    "SubsetRetrieval",
    "delta_curves",
    "optimal_delta",
    "plan_statuses",
    "plan_subset",
    "plot_delta",
    "release_statuses",
    "release_subset",
    "sphere_delta",
    "theorem_1_lower",
    "theorem_1_upper",
    "theorem_2_lower",
    "theorem_2_upper",
]


def __dir__() -> list[str]:
    return sorted(__all__)
