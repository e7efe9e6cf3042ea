"""Draws from unit scores: exact distributions, exact samplers and simulations.

Each draw is epsilon-DP for unit scores (see ``dpselect.scaling``) under whatever neighbour
relation these are unit scores for; the number of candidates is public.
"""

from dpselect._optional import attach

__getattr__, __dir__, __all__ = attach(__name__)
