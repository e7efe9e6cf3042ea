"""Draws of trees by a NumPy generator, for experiments and never for publication."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

from dpselect import Objective
from dpselect.mechanisms import Mechanism
from dpselect.trees.base import Sampler
from dpselect.typing import Indices


@dataclass(frozen=True)
class Simulated(Sampler):
    """The two kinds of draws that trees are made of."""

    rng: np.random.Generator

    def choose(self, mechanism: Mechanism, objective: Objective, k: int) -> list[int]:
        drawn = mechanism.simulate(objective, k, size=1, rng=self.rng)
        return [int(position) for position in drawn.ravel()]

    def count(self, counts: Sequence[int], epsilon: float) -> Indices:
        # The difference of two geometric variables is discrete Laplace noise.
        up, down = self.rng.geometric(1 - exp(-epsilon), size=(2, len(counts)))
        return np.asarray(counts, dtype=np.int64) + up - down
