"""Private selection mechanisms.

Each is a scaling, which turns scores into unit scores, and a draw from those.
"""

from dpselect.mechanisms.above_threshold import (
    AboveThreshold,
    StoppingLaw,
    plan_above_threshold,
    release_above_threshold,
    stopping_law,
)
from dpselect.mechanisms.base import Mechanism, MechanismFactory
from dpselect.mechanisms.catalogue import (
    AnchoredLocalDampening,
    ExponentialMechanism,
    GeneralizedExponential,
    LocalDampening,
    PairwiseLocalDampening,
    PermuteAndFlip,
    ReportNoisyMax,
    ShiftedLocalDampening,
)
from dpselect.mechanisms.registry import MECHANISMS, by_name
from dpselect.mechanisms.sequence import NoisySequence
from dpselect.mechanisms.sequence_confidence import set_confidence

__all__ = [
    "MECHANISMS",
    "AboveThreshold",
    "AnchoredLocalDampening",
    "ExponentialMechanism",
    "GeneralizedExponential",
    "LocalDampening",
    "Mechanism",
    "MechanismFactory",
    "NoisySequence",
    "PairwiseLocalDampening",
    "PermuteAndFlip",
    "ReportNoisyMax",
    "ShiftedLocalDampening",
    "StoppingLaw",
    "by_name",
    "plan_above_threshold",
    "release_above_threshold",
    "set_confidence",
    "stopping_law",
]


def __dir__() -> list[str]:
    return sorted(__all__)
