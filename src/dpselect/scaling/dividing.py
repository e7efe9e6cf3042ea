"""Scores divided by the global sensitivity: ``s_r = (u_r - u_*)/Δ``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import numpy as np

from dpselect.objective import Objective
from dpselect.typing import Scores

P = ParamSpec("P")

LARGEST = 1e300
"""Largest unit score; no draw tells it from infinity."""

FEW = 16
"""Scores up to which numbers of Python are faster than arrays."""


def finite(scale: Callable[P, Scores]) -> Callable[P, Scores]:
    """Cut what a scaling returns at ``LARGEST``, without a warning that scores decide."""

    @wraps(scale)
    @np.errstate(over="ignore", under="ignore")
    def cut(*args: P.args, **kwargs: P.kwargs) -> Scores:
        return np.minimum(np.maximum(scale(*args, **kwargs), -LARGEST), LARGEST)

    return cut


def by_global(objective: Objective) -> Scores:
    """Return ``s_r = (u_r - u_*)/Δ``, doubled if the objective is monotone.

    If all scores move in the same direction, each by at most Δ, then no difference moves by
    more than Δ, and the doubled scores are still unit scores. The best score ``u_*`` is
    subtracted because differences of large scores are exact where their quotients are not; a
    common translation changes no draw.

    Returns:
        Shape ``(n,)``, <= 0. As private as the scores.

    Source: McSherry and Talwar 2007; the monotone case: Dwork and Roth 2014, section 3.4.
    """
    bound = objective.sensitivity.bound
    unit = bound / 2 if objective.monotone else bound
    # Of scores that are floats a difference is rounded once as it is.
    are_floats = not np.count_nonzero(objective.low_order)
    if len(objective) > FEW or not are_floats:
        return _of_many(objective, unit, are_floats=are_floats)
    scores = objective.scores.tolist()
    best = max(scores)
    return np.array([max((score - best) / unit, -LARGEST) for score in scores])


@finite
def _of_many(objective: Objective, unit: float, *, are_floats: bool) -> Scores:
    scores = objective.scores
    return (scores - scores.max() if are_floats else objective.gaps().high) / unit
