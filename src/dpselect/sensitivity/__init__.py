"""Sensitivities: bounds on the change of a score by one neighbour step.

Source: Farias et al., Local Dampening, VLDB J. 2023, Definitions 5 to 8.
"""

from dpselect.sensitivity.base import Interval, Sensitivity
from dpselect.sensitivity.combinators import (
    floored,
    grouped,
    jump_to_bound,
    maximum,
    minimum,
    weighted_sum,
)
from dpselect.sensitivity.given import (
    ElementSensitivity,
    GlobalSensitivity,
    LocalSensitivity,
    TabulatedSensitivity,
    at_bound,
)

__all__ = [
    "ElementSensitivity",
    "GlobalSensitivity",
    "Interval",
    "LocalSensitivity",
    "Sensitivity",
    "TabulatedSensitivity",
    "at_bound",
    "floored",
    "grouped",
    "jump_to_bound",
    "maximum",
    "minimum",
    "weighted_sum",
]


def __dir__() -> list[str]:
    return sorted(__all__)
