"""Where the randomness of a tree comes from: OpenDP to release, NumPy to experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, nextafter
from typing import Any, Protocol

import numpy as np

from dpselect.mechanisms import Mechanism
from dpselect.objective import Objective
from dpselect.typing import Indices


class Sampler(Protocol):
    """What growing a tree asks for."""

    def choose(self, mechanism: Mechanism, objective: Objective, k: int) -> list[int]:
        """Draw ``k`` positions."""

    def count(self, counts: Sequence[int], epsilon: float) -> Indices:
        """Return counts that one record moves by 1 in all, with noise for ``epsilon``."""


class Exact:
    """OpenDP's exact samplers: what may be published."""

    def choose(self, mechanism: Mechanism, objective: Objective, k: int) -> list[int]:
        drawn = mechanism.release(objective, k).candidates
        position = {candidate: i for i, candidate in enumerate(objective.candidates)}
        return [position[candidate] for candidate in drawn]

    def count(self, counts: Sequence[int], epsilon: float) -> Indices:
        noisy = _laplace(nextafter(1 / epsilon, inf))(np.asarray(counts, dtype=np.int64))
        return np.array(noisy, dtype=np.int64)


@dataclass(frozen=True)
class Simulated:
    """A NumPy generator: for experiments, never to publish."""

    rng: np.random.Generator

    def choose(self, mechanism: Mechanism, objective: Objective, k: int) -> list[int]:
        drawn = mechanism.simulate(objective, k, size=1, rng=self.rng).indices
        return [int(position) for position in drawn.ravel()]

    def count(self, counts: Sequence[int], epsilon: float) -> Indices:
        # The difference of two geometric variables is discrete Laplace noise.
        up, down = self.rng.geometric(1 - exp(-epsilon), size=(2, len(counts)))
        return np.asarray(counts, dtype=np.int64) + up - down


@lru_cache(maxsize=64)
def _laplace(scale: float) -> Any:  # noqa: ANN401 -- OpenDP's measurement
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    space = (
        opendp.vector_domain(opendp.atom_domain(T="i64")),
        opendp.l1_distance(T="i64"),
    )
    return opendp.m.make_laplace(*space, scale=scale)
