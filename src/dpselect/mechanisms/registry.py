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
    if callable(mechanism):
        try:
            made = mechanism(epsilon=epsilon)
        except TypeError:
            raise ParameterError("mechanism must be a callable that takes epsilon=") from None
        return _validate.instance("mechanism", made, Mechanism)
    return MECHANISMS[_validate.one_of("mechanism", mechanism, MECHANISMS)](epsilon=epsilon)
