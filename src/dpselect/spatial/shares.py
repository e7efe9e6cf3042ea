"""How epsilon is split between the coarse grid, a tree, the choice and the counts."""

from __future__ import annotations

from dataclasses import dataclass
from math import nextafter, tanh

from dpselect import _validate
from dpselect.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Shares:
    """Epsilons whose sum is at most the whole; public.

    Attributes:
        coarse: For the coarse noisy grid, in nats; 0 if nothing is tuned.
        choice: For the choice among candidates; 0 if nothing is tuned.
        counts: For the counts that are released.
        structure: For the squares of a PrivTree; 0 if none is grown.
    """

    coarse: float
    choice: float
    counts: float
    structure: float = 0.0

    @classmethod
    def of(
        cls, epsilon: float, tuning_share: float, *, candidates: int, trees: int = 0
    ) -> Shares:
        """Split ``epsilon``; with one candidate there is nothing to choose, or to weigh.

        A tree takes half of what is there for tuning, or all if it is the only candidate.

        Args:
            epsilon: The whole, in nats.
            tuning_share: Share of all but the counts.
            candidates: How many partitions there are to choose from.
            trees: How many of them are grown on the points themselves, 0 or 1.

        Raises:
            ParameterError: ``epsilon`` or a share of it is not > 0.
        """
        _validate.positive("epsilon", epsilon)
        _validate.within("tuning_share", tuning_share, 0, 1)
        if candidates == 1 and trees == 0:
            return cls(0.0, 0.0, epsilon)
        if tuning_share in {0, 1}:
            raise ParameterError(
                "tuning_share must leave something for the tuning and for the counts: "
                "between 0 and 1, both excluded"
            )
        tuning = tuning_share * epsilon
        _validate.positive("tuning_share * epsilon", tuning)
        # Halving is exact, and the next float below the difference never exceeds the rest.
        counts = nextafter(epsilon - tuning, 0)
        _validate.positive("(1 - tuning_share) * epsilon", counts)
        if candidates == 1:
            return cls(0.0, 0.0, counts, structure=tuning)
        structure = tuning / 2 if trees else 0.0
        part = (tuning - structure) / 2
        return cls(part, part, counts, structure)

    @property
    def rho(self) -> float:
        """The zCDP parameter of all together, as of any pure releases."""
        parts = (self.coarse, self.choice, self.counts, self.structure)
        return sum(e * tanh(e / 2) for e in parts)
