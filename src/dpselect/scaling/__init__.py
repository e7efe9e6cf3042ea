"""Scalings from an objective to unit scores, which one neighbour step moves by at most 1.

"At most 1" is up to a translation common to all candidates: every draw depends only on the
differences between unit scores, so it is enough that no difference moves by more than 2.
"""

from dpselect._optional import attach

__getattr__, __dir__, __all__ = attach(__name__)
