"""Scores divided by the global sensitivity: ``s_r = (u_r - u_*)/Δ``."""

from dpselect._optional import np
from dpselect.objective import Objective
from dpselect.typing import Scores

LARGEST = 1e300
"""Largest unit score; no draw tells it from infinity."""

FEW = 16
"""Scores up to which numbers of Python are faster than arrays."""


def cut(scores: Scores) -> Scores:
    """Return unit scores cut at ``LARGEST``."""
    return np.minimum(np.maximum(scores, -LARGEST), LARGEST)


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
    if are_floats and len(objective) <= FEW:
        few = objective.scores.tolist()
        best = max(few)
        return np.array([max((score - best) / unit, -LARGEST) for score in few])
    scores = objective.scores
    with np.errstate(over="ignore", under="ignore"):
        return cut((scores - scores.max() if are_floats else objective.gaps().high) / unit)
