from .above_threshold import (
    AboveThreshold as AboveThreshold,
)
from .base import (
    Mechanism as Mechanism,
    MechanismFactory as MechanismFactory,
    MechanismLike as MechanismLike,
    Selection as Selection,
    by_name as by_name,
)
from .catalogue import (
    MECHANISMS as MECHANISMS,
    AnchoredLocalDampening as AnchoredLocalDampening,
    ExponentialMechanism as ExponentialMechanism,
    GeneralizedExponential as GeneralizedExponential,
    LocalDampening as LocalDampening,
    PairwiseLocalDampening as PairwiseLocalDampening,
    PermuteAndFlip as PermuteAndFlip,
    ReportNoisyMax as ReportNoisyMax,
    ShiftedLocalDampening as ShiftedLocalDampening,
)
from .sequence import (
    NoisySequence as NoisySequence,
)
from .top_k import (
    TopK as TopK,
)
