r"""Unit scores of the generalized exponential mechanism, from one bound per candidate."""

from __future__ import annotations

import numpy as np

from dpselect import validation
from dpselect.objective import Objective
from dpselect.scaling.by_global import finite
from dpselect.scaling.envelope import floored, largest_ratio, relevant_gaps
from dpselect.typing import Scores

LARGEST_PENALTY = 2.0**40


@finite
def generalized(objective: Objective, t: float) -> Scores:
    """Return the least penalised lead over any candidate, in units of both sensitivities.

        s_r = min_j ((u_r - tΔ_r) - (u_j - tΔ_j))/(Δ_r + Δ_j)

    Each ratio moves by at most 1, so their minimum does. Two candidates are compared on the
    scale of *their* sensitivities, not of the largest of all; the public penalty ``tΔ_r`` keeps
    a candidate of large sensitivity from winning by noise.

    Args:
        objective: Scores with one global bound per candidate (``GlobalSensitivity`` of an
            array); with one for all this is ``(u - u_*)/2Δ``, half the precision of
            ``by_global``.
        t: Penalty, in units of the sensitivity; from 0 to 2^40. Public.

    Returns:
        Shape ``(n,)``, <= 0. As private as the scores. In O(n log n). Bounds below ``2^-40`` of
        the largest are raised to that.

    Raises:
        ParameterError: ``t`` is out of range.

    Source: Raskhodnikova and Smith, arXiv:1504.07912, section 4.
    """
    t = validation.within("t", t, 0, LARGEST_PENALTY)
    bound = objective.sensitivity.bound
    bounds = floored(
        np.broadcast_to(objective.sensitivity.bounds, objective.scores.shape), bound
    )
    gaps = relevant_gaps(objective)
    return -largest_ratio(gaps, bounds, gaps, bounds, bound=bound, penalty=t)
