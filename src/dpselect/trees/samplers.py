"""Random draws of a tree: exact ones to release, NumPy's to simulate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf
from typing import Protocol

import numpy as np

from dpselect.mechanisms import Mechanism
from dpselect.objective import Objective
from dpselect.typing import Indices


class Sampler(Protocol):
    """The two kinds of draws that trees are made of."""

    def choose(self, mechanism: Mechanism, objective: Objective, k: int) -> list[int]:
        """Draw ``k`` positions without replacement."""

    def count(self, counts: Sequence[int], epsilon: float) -> Indices:
        """Return counts that one record moves by 1 in all, with noise for ``epsilon``."""


class Exact:
    """Exact samplers, for releases."""

    def choose(self, mechanism: Mechanism, objective: Objective, k: int) -> list[int]:
        return mechanism.draw_positions(objective, k)

    def count(self, counts: Sequence[int], epsilon: float) -> Indices:
        from dpselect.draws.exact import noisy_counts

        return noisy_counts.discrete_laplace(
            np.asarray(counts, dtype=np.int64), noisy_counts.scale_for(epsilon)
        )


@dataclass(frozen=True)
class Simulated:
    """A NumPy generator, for experiments and never for publication."""

    rng: np.random.Generator

    def choose(self, mechanism: Mechanism, objective: Objective, k: int) -> list[int]:
        drawn = mechanism.simulate(objective, k, size=1, rng=self.rng).indices
        return [int(position) for position in drawn.ravel()]

    def count(self, counts: Sequence[int], epsilon: float) -> Indices:
        # The difference of two geometric variables is discrete Laplace noise.
        up, down = self.rng.geometric(1 - exp(-epsilon), size=(2, len(counts)))
        return np.asarray(counts, dtype=np.int64) + up - down


def check_noise(epsilon: float) -> None:
    """Refuse an epsilon whose noise could meet the ends of 64-bit integers.

    Raises:
        ParameterError: The epsilon of one noisy count is too small.
    """
    from dpselect.draws.exact import noisy_counts

    noisy_counts.check_scale(noisy_counts.scale_for(epsilon) if epsilon > 0 else inf)
