"""Draws from unit scores: exact distributions, exact samplers and simulations.

Each draw is epsilon-DP for unit scores (see ``dpselect.scaling``) under whatever neighbour
relation these are unit scores for; the number of candidates is public.
"""

from dpselect.draws.base import Draw
from dpselect.draws.noisy_max import Exponential, LaplaceNoisyMax, PermuteAndFlip

__all__ = ["Draw", "Exponential", "LaplaceNoisyMax", "PermuteAndFlip"]


def __dir__() -> list[str]:
    return sorted(__all__)
