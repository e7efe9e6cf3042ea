"""Scalings from an objective to unit scores, which one neighbour step moves by at most 1.

"At most 1" is up to a translation common to all candidates: every draw depends only on the
differences between unit scores, so it is enough that no difference moves by more than 2.
"""

from dpselect.scaling.by_global import by_global
from dpselect.scaling.dampened import anchored, dampened, shifted
from dpselect.scaling.pairwise import generalized, pairwise

__all__ = ["anchored", "by_global", "dampened", "generalized", "pairwise", "shifted"]


def __dir__() -> list[str]:
    return sorted(__all__)
