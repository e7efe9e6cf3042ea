"""How epsilon is split between the coarse grid, the choice and the counts."""

from __future__ import annotations

from dataclasses import dataclass
from math import nextafter, tanh

from dpselect import _validate
from dpselect.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Shares:
    """Three epsilons whose sum is at most the whole; public.

    Attributes:
        coarse: For the coarse noisy grid, in nats; 0 if nothing is tuned.
        choice: For the choice among candidates; 0 if nothing is tuned.
        counts: For the counts that are released.
    """

    coarse: float
    choice: float
    counts: float

    @classmethod
    def of(cls, epsilon: float, tuning_share: float, *, candidates: int) -> Shares:
        """Split ``epsilon``; with one candidate there is nothing to pay but the counts.

        Raises:
            ParameterError: ``epsilon`` or a share of it is not > 0.
        """
        _validate.positive("epsilon", epsilon)
        _validate.within("tuning_share", tuning_share, 0, 1)
        if candidates == 1:
            return cls(0.0, 0.0, epsilon)
        if tuning_share in {0, 1}:
            raise ParameterError(
                "tuning_share must leave something for the choice and for the counts: "
                "between 0 and 1, both excluded"
            )
        tuning = tuning_share * epsilon
        _validate.positive("tuning_share * epsilon", tuning)
        # Halving is exact, and the next float below the difference never exceeds the rest.
        counts = nextafter(epsilon - tuning, 0)
        _validate.positive("(1 - tuning_share) * epsilon", counts)
        return cls(tuning / 2, tuning / 2, counts)

    @property
    def rho(self) -> float:
        """The zCDP parameter of all three together, as of any pure releases."""
        return sum(e * tanh(e / 2) for e in (self.coarse, self.choice, self.counts))
