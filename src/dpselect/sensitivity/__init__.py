"""What one individual can change of a score, near the database at hand.

Source: Farias et al., Local Dampening, VLDB J. 2023, Definitions 5 to 8.
"""

from dpselect.sensitivity.base import Interval, Sensitivity
from dpselect.sensitivity.combinators import (
    floored,
    jump_to_bound,
    maximum,
    minimum,
    weighted_sum,
)
from dpselect.sensitivity.element import ElementSensitivity
from dpselect.sensitivity.global_ import GlobalSensitivity
from dpselect.sensitivity.local import LocalSensitivity
from dpselect.sensitivity.tabulated import TabulatedSensitivity

__all__ = [
    "ElementSensitivity",
    "GlobalSensitivity",
    "Interval",
    "LocalSensitivity",
    "Sensitivity",
    "TabulatedSensitivity",
    "floored",
    "jump_to_bound",
    "maximum",
    "minimum",
    "weighted_sum",
]
