"""Registry of mechanisms by short name, for the command line, the docs and applications."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dpselect import _validate
from dpselect.errors import ParameterError
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
from dpselect.mechanisms.sequence import NoisySequence

MECHANISMS: Mapping[str, type[Mechanism]] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            ExponentialMechanism,
            PermuteAndFlip,
            ReportNoisyMax,
            LocalDampening,
            ShiftedLocalDampening,
            AnchoredLocalDampening,
            PairwiseLocalDampening,
            GeneralizedExponential,
            NoisySequence,
        )
    }
)
"""Every mechanism by its short name, with its defaults."""


def by_name(mechanism: str | MechanismFactory, epsilon: float) -> Mechanism:
    """Return a mechanism by its short name.

    Args:
        mechanism: A key of :data:`MECHANISMS`; or a callable that takes ``epsilon=`` and
            returns the mechanism.
        epsilon: Epsilon of one release, in nats, under the neighbour relation of the
            objective.

    Raises:
        ParameterError: There is no such mechanism, or ``epsilon`` is out of range.

    Examples:
        >>> by_name("permute-and-flip", 0.5)
        PermuteAndFlip(epsilon=0.5)
    """
    if not isinstance(mechanism, str):
        return _validate.instance("mechanism", mechanism(epsilon=epsilon), Mechanism)
    if mechanism not in MECHANISMS:
        raise ParameterError(
            f"mechanism must be one of {', '.join(MECHANISMS)}, not {mechanism!r}"
        )
    return MECHANISMS[mechanism](epsilon=epsilon)
