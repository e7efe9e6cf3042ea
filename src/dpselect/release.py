"""Releases, which may be published, and simulations, which may not."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dpselect._version import version
from dpselect.neighbours import Neighbours
from dpselect.plan import Plan, Receipt
from dpselect.typing import Indices


@dataclass(frozen=True, slots=True)
class Release:
    """The answer of a mechanism, with everything needed to judge the guarantee.

    It holds no probability and no rank, and no score but noisy ones that were paid for.

    Attributes:
        answer: The chosen candidates, in the order drawn; or the members of a subset.
        plan: The public arguments, the neighbour relation and the price.
        exact: Whether it was drawn by the exact samplers of :mod:`dpselect.draws`.
        version: The version of dpselect that drew it.
        noisy_scores: The noisy score of each candidate of the answer, in its order, if the
            mechanism releases them at the same price; else None. Score units.
        entry: The number of its entry in the budget; None if nothing was recorded.
    """

    answer: tuple[Hashable, ...]
    plan: Plan
    exact: bool
    version: str = version()
    noisy_scores: tuple[float, ...] | None = None
    entry: int | None = None

    def recorded(self, receipt: Receipt, *, refund: float = 0.0) -> Self:
        """Keep the answer beside its spend, and return the release with the entry's number.

        Args:
            receipt: Of the plan's charge.
            refund: Epsilon that this outcome did not cost.
        """
        receipt.keep(self.released(), refund=refund)
        return replace(self, entry=receipt.number)

    def released(self) -> dict[str, Any]:
        """Return all that was released, as plain Python values by name."""
        paid = {} if self.noisy_scores is None else {"noisy_scores": list(self.noisy_scores)}
        return {"answer": [_plain(candidate) for candidate in self.answer], **paid}

    @property
    def candidate(self) -> Hashable:
        """The candidate drawn first."""
        return self.answer[0]

    @property
    def asked(self) -> Mapping[str, object]:
        """The public arguments of the release, among them the columns that were read."""
        return self.plan.arguments

    @property
    def mechanism(self) -> str:
        """The mechanism with its public parameters."""
        return self.plan.mechanism

    @property
    def epsilon(self) -> float:
        """Epsilon of the whole release, in nats, for all candidates together."""
        return self.plan.epsilon

    @property
    def delta(self) -> float:
        """Delta of the whole release."""
        return self.plan.delta

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation that epsilon is stated for."""
        return self.plan.neighbours

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain Python values."""
        return {
            **self.released(),
            **self.plan.to_dict(),
            "exact": self.exact,
            "version": self.version,
            "entry": self.entry,
        }

    def to_json(self) -> str:
        """Return the release as one JSON object; candidates it cannot hold as text."""
        return json.dumps(self.to_dict(), default=str)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Simulation:
    """Draws made with a NumPy generator: for experiments, never for publication.

    They give no privacy guarantee. ``numpy.asarray`` of a simulation is its ``indices``.

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
