"""Sensitivities: bounds on the change of a score by one neighbour step.

Source: Farias et al., Local Dampening, VLDB J. 2023, Definitions 5 to 8.
"""

from dpselect._optional import attach

__getattr__, __dir__, __all__ = attach(__name__)
