"""What comes out: a release that may be published, and a simulation that may not."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dpselect.neighbours import Neighbours
from dpselect.typing import Indices


@dataclass(frozen=True, slots=True)
class Release:
    """What a mechanism chose, with all that a reader needs to judge the guarantee.

    It holds nothing that was not paid for: no score, no probability, no rank.

    Attributes:
        candidates: The chosen candidates, in the order drawn.
        mechanism: The mechanism with its public parameters.
        epsilon: What the whole release cost, in nats, however many were chosen.
        neighbours: The neighbour relation that epsilon is stated for.
        exact: Whether it was drawn through OpenDP's exact samplers.
        version: The version of dpselect that drew it.
    """

    candidates: tuple[Hashable, ...]
    mechanism: str
    epsilon: float
    neighbours: Neighbours
    exact: bool
    version: str = version("dpselect")

    @property
    def candidate(self) -> Hashable:
        """The candidate drawn first."""
        return self.candidates[0]

    @property
    def epsilon_per_round(self) -> float:
        """What each of the chosen candidates cost."""
        return self.epsilon / len(self.candidates)

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain Python values."""
        return {
            "candidates": [_plain(candidate) for candidate in self.candidates],
            "mechanism": self.mechanism,
            "epsilon": self.epsilon,
            "epsilon_per_round": self.epsilon_per_round,
            "neighbours": str(self.neighbours),
            "exact": self.exact,
            "version": self.version,
        }

    def to_json(self) -> str:
        """Return the release as one JSON object; candidates it cannot hold as text."""
        return json.dumps(self.to_dict(), default=str)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Simulation:
    """Draws made with a NumPy generator: for experiments, never for publication.

    A floating-point generator with a known seed protects nobody. ``numpy.asarray`` of a
    simulation is its ``indices``.

    Attributes:
        indices: Positions of the drawn candidates: shape ``(size,)``, or ``(size, k)`` for
            draws of several, each row in the order drawn. As private as the scores.
        mechanism: The mechanism with its public parameters.
    """

    indices: Indices
    mechanism: str

    def __len__(self) -> int:
        return len(self.indices)

    def __array__(
        self, dtype: DTypeLike | None = None, *, copy: bool | None = None
    ) -> NDArray[Any]:
        return np.array(self.indices, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return f"Simulation({len(self)} draws of {self.mechanism}; not private)"


def _plain(candidate: Hashable) -> object:
    return candidate.item() if isinstance(candidate, np.generic) else candidate
