"""Private selection mechanisms.

Each consists of a scaling, which turns scores into unit scores, and a draw from these.
"""

from dpselect.mechanisms.above_threshold import AboveThreshold, Stream
from dpselect.mechanisms.base import (
    MECHANISMS,
    Mechanism,
    MechanismFactory,
    MechanismLike,
    Selection,
    by_name,
)
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
from dpselect.mechanisms.sequence import NoisySequence
from dpselect.mechanisms.top_k import TopK

__all__ = [
    "MECHANISMS",
    "AboveThreshold",
    "AnchoredLocalDampening",
    "ExponentialMechanism",
    "GeneralizedExponential",
    "LocalDampening",
    "Mechanism",
    "MechanismFactory",
    "MechanismLike",
    "NoisySequence",
    "PairwiseLocalDampening",
    "PermuteAndFlip",
    "ReportNoisyMax",
    "Selection",
    "ShiftedLocalDampening",
    "Stream",
    "TopK",
    "by_name",
]


def __dir__() -> list[str]:
    return sorted(__all__)
