"""From an objective to unit scores: what one neighbour step moves by at most 1.

"At most 1" is up to a translation common to all candidates: every draw sees only the
differences between unit scores, so what counts is that no difference moves by more than 2.
"""

from dpselect.scaling.anchored import anchored
from dpselect.scaling.by_global import by_global
from dpselect.scaling.dampened import dampened
from dpselect.scaling.generalized import generalized
from dpselect.scaling.pairwise import pairwise
from dpselect.scaling.shifted import shifted

__all__ = ["anchored", "by_global", "dampened", "generalized", "pairwise", "shifted"]
