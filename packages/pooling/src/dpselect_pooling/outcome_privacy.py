"""Privacy of the outcomes of pooled tests, exactly.

Where the noise goes depends on who is trusted.

- *The lab is trusted.* No noise; what is published is a subset drawn by ``Subset``. Nothing is
  lost in testing.
- *The collector is trusted, the lab is not.* The collector replaces the samples of ``beta``
  people, drawn independently of all statuses, by known positives: Algorithm A2 before pooling.
  The outcomes are those of a subset that is ``(ε, 1 - β/n)``-DP for every epsilon, and so is
  everything computed from them. That delta is close to 1 unless most samples are replaced: it
  rules out certainty and little else.
- *Nobody who sees outcomes is trusted.* The machine flips every outcome with probability ρ:
  pure epsilon, ``w ln((1-ρ)/ρ)`` for ``w`` pools of each sample; an outcome is then worth
  ``1 - h(ρ)`` bits, with the binary entropy ``h``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import atanh, comb, exp, log, log1p, nextafter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect import Neighbours
from dpselect.errors import NeighboursError, ParameterError
from dpselect.extend import SLACK, NeighboursLike, validation
from dpselect_pooling import designs
from dpselect_pooling.designs import Design


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomePrivacy:
    """The guarantee that flipped outcomes are to have.

    Attributes:
        epsilon: In nats; finite, > 0.
        delta: In [0, 1).
        neighbours: ``SUBSTITUTE`` (one status changes) or ``SWAP``, also by name; kept as
            the relation.

    Raises:
        ParameterError: A number is out of range.
        NeighboursError: Another relation.
    """

    epsilon: float
    delta: float = 0.0
    neighbours: NeighboursLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", validation.positive("epsilon", self.epsilon))
        object.__setattr__(self, "delta", validation.within("delta", self.delta, 0, 1))
        if self.delta == 1:
            raise ParameterError("`delta` must be below 1")
        object.__setattr__(self, "neighbours", outcome_neighbours(self.neighbours))

    def flip(self, design: ArrayLike) -> float:
        """Return the flip probability that it needs with a design."""
        return flip_for(
            design, epsilon=self.epsilon, delta=self.delta, neighbours=self.neighbours
        )


def flip_epsilon(
    design: ArrayLike, *, flip: float | Fraction, neighbours: NeighboursLike
) -> float:
    """Return epsilon of outcomes that are flipped independently, rounded up.

    One person's status changes at most the outcomes of their own pools, the largest column
    weight; a swap those that hold exactly one of the two. Each costs ``ln((1-ρ)/ρ)``. Exact
    over databases of all sizes, up to a factor ``1 + 2^-40``, for ``SUBSTITUTE`` and for
    ``SWAP`` (the worst are those in which no other person is positive).

    Args:
        design: Shape ``(pools, people)``.
        flip: The probability ρ, in (0, 1/2]; a float is the binary fraction that it is.
        neighbours: ``SUBSTITUTE`` (one status changes) or ``SWAP``.

    Raises:
        ParameterError: ``flip`` is out of range.
        NeighboursError: Another relation.
    """
    return outcomes_changed(design, neighbours) * outcome_epsilon(checked_flip(flip))


def flip_delta(
    design: ArrayLike, *, flip: float | Fraction, epsilon: float, neighbours: NeighboursLike
) -> float:
    """Return the least delta of flipped outcomes at a smaller epsilon, exactly.

    With ``w`` outcomes that differ, of which ``k`` are flipped, the privacy loss is
    ``(w - 2k) ln((1-ρ)/ρ)``, so
    ``δ = ∑_k binom(w, k) [ρ^k(1-ρ)^(w-k) - e^ε ρ^(w-k)(1-ρ)^k]_+``.

    Args:
        design: Shape ``(pools, people)``.
        flip: The probability ρ, in (0, 1/2].
        epsilon: In nats, >= 0.
        neighbours: ``SUBSTITUTE`` (one status changes) or ``SWAP``.

    Raises:
        ParameterError: A number is out of range.
        NeighboursError: Another relation.
    """
    at = validation.within("epsilon", epsilon, 0, np.inf)
    return _delta(outcomes_changed(design, neighbours), checked_flip(flip), at)


def flip_for(
    design: ArrayLike, *, epsilon: float, delta: float = 0.0, neighbours: NeighboursLike
) -> float:
    """Return the smallest flip probability that is ``(epsilon, delta)``-DP with a design.

    Args:
        design: Shape ``(pools, people)``.
        epsilon: In nats; finite, > 0.
        delta: In [0, 1].
        neighbours: ``SUBSTITUTE`` (one status changes) or ``SWAP``.

    Returns:
        In (0, 1/2], rounded up: with a ``delta`` of 0 ``flip_epsilon`` of it is at most
        ``epsilon``.

    Raises:
        ParameterError: A number is out of range.
        NeighboursError: Another relation.
    """
    at, allowed = (
        validation.positive("epsilon", epsilon),
        validation.within("delta", delta, 0, 1),
    )
    touched = outcomes_changed(design, neighbours)
    low, high = 0.0, _smallest_flip(at / max(touched, 1))
    if allowed == 0 or touched == 0:
        return high
    for _ in range(60):
        middle = (low + high) / 2
        if middle > 0 and _delta(touched, Fraction(middle), at) <= allowed:
            high = middle
        else:
            low = middle
    return high


def _smallest_flip(epsilon: float) -> float:
    """Return a float whose price as a flip probability, rounded up, is at most epsilon."""
    flip = 1 / (1 + exp(min(epsilon, 700.0) * (1 - 2 * SLACK)))
    while outcome_epsilon(Fraction(flip)) > epsilon:
        flip = nextafter(flip, 0.5)
    return flip


def outcomes_changed(design: ArrayLike, neighbours: NeighboursLike) -> int:
    """Return how many outcomes one neighbour step can change."""
    matrix = designs.checked(design)
    if outcome_neighbours(neighbours) is Neighbours.SUBSTITUTE:
        return int(matrix.sum(axis=0).max())
    return _largest_difference(matrix)


def outcome_neighbours(value: NeighboursLike) -> Neighbours:
    """Return ``SUBSTITUTE`` or ``SWAP``, the relations between lists of statuses."""
    relation = validation.neighbours(value)
    if relation not in {Neighbours.SUBSTITUTE, Neighbours.SWAP}:
        raise NeighboursError(
            "`neighbours` of outcomes must be 'substitute', one status changed, or 'swap', "
            f"not '{relation}'"
        )
    return relation


def checked_flip(flip: float | Fraction) -> Fraction:
    """Return a flip probability in (0, 1/2] as the fraction that it is."""
    share = flip if isinstance(flip, Fraction) else validation.within("flip", flip, 0, 0.5)
    exact = Fraction(share)
    if exact == 0:
        raise ParameterError("`flip` must be above 0: without flips nothing is private")
    if not 0 < exact <= Fraction(1, 2):
        raise ParameterError("`flip` must be above 0 and at most 1/2")
    return exact


def outcome_epsilon(flip: Fraction) -> float:
    """Return ``ln((1-ρ)/ρ)``, rounded up by at most a factor 1 + 2^-40."""
    return _log_odds(flip) * (1 + SLACK)


def _log_odds(flip: Fraction) -> float:
    if flip >= Fraction(1, 4):
        # Near 1/2 the difference of two logarithms would lose its digits.
        return 2 * atanh(float(1 - 2 * flip))
    odds = (1 - flip) / flip
    return log(odds.numerator) - log(odds.denominator)


def _delta(w: int, flip: Fraction, epsilon: float) -> float:
    step, log_kept = _log_odds(flip), log1p(-float(flip))
    # The log probability of k flips is w ln(1 - rho) - k ln((1 - rho) / rho).
    terms = (
        exp(log(comb(w, k)) + w * log_kept - k * step)
        * -np.expm1(min(0.0, epsilon - (w - 2 * k) * step))
        for k in range(w + 1)
    )
    return float(sum(terms))


def _largest_difference(matrix: Design) -> int:
    """Return the largest number of pools that hold exactly one of two people."""
    columns = _distinct(matrix).astype(np.float32)
    weights = columns.sum(axis=1)
    worst = 0.0
    for block in range(0, len(columns), 1024):
        both = columns[block : block + 1024] @ columns.T
        differ = weights[block : block + 1024, None] + weights - 2 * both
        worst = max(worst, float(differ.max()))
    return int(worst)


def _distinct(matrix: Design) -> NDArray[np.bool_]:
    return np.unique(matrix.T, axis=0)
