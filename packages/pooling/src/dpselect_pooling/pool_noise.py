"""Noise after pooling: pools that the collector exchanges for clean or contaminated ones.

Before pools go to the lab, the collector draws a state ``U_i`` of each, independently of all
statuses and by a public joint distribution, and keeps it secret:

=  ================  =============================================
0  ``CLEAN``         the pool is exchanged for a neutral substance
1  ``CONTAMINATED``  it is exchanged for a mixture of all vials
2  ``KEPT``          it goes to the lab as it is
=  ================  =============================================

The lab's outcome of a pool is then 0, 1 or that of the pool: equation (22). Whoever does not
learn the states learns no more than the guarantee says, the lab included. It holds as long as
*collector and lab do not collude*: to who knows the states there is no noise at all.

``IndependentNoise`` exchanges each pool by itself; with equal chances ρ its outcomes have the
distribution of outcomes flipped with probability ρ, without trust in the lab. ``JointNoise``
has any distribution. Noise before pooling, equation (21), is its special case
``noise_of_replaced``.

Source: Gonen, Langberg and Sprintson 2025, arXiv:2501.13278, section V.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import comb, exp, inf, log
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpselect import Neighbours
from dpselect.errors import ParameterError
from dpselect.extend import SLACK, Indices, NeighboursLike, validation
from dpselect_pooling import designs
from dpselect_pooling.designs import Design
from dpselect_pooling.outcome_privacy import outcome_neighbours

CLEAN, CONTAMINATED, KEPT = range(3)

States: TypeAlias = tuple[int, ...]
"""The state of each pool: 0, 1 or 2."""

MOST_POOLS = 10
"""Pools that a joint distribution may have: all outcomes are enumerated."""

MOST_SUBSETS = 5000
"""Sets of replaced people that are enumerated."""

LARGEST_WEIGHT = 2**50


class PoolNoise(ABC):
    """A distribution of the states of pools, drawn independently of all statuses; public."""

    @abstractmethod
    def draw(self, pools: int) -> States:
        """Draw the states of so many pools exactly; secret."""

    @abstractmethod
    def delta(self, design: ArrayLike, *, epsilon: float, neighbours: NeighboursLike) -> float:
        """Return the least delta of the outcomes at an epsilon, rounded up.

        Args:
            design: Shape ``(pools, people)``.
            epsilon: In nats; finite, >= 0.
            neighbours: ``SUBSTITUTE`` (one status changes) or ``SWAP``.

        Raises:
            ParameterError: The distribution is for another number of pools, or a number is out
                of range.
            NeighboursError: Another relation.
        """

    @abstractmethod
    def epsilon(self, design: ArrayLike, *, neighbours: NeighboursLike) -> float:
        """Return the least epsilon with a delta of 0, rounded up; infinite where none is."""


@dataclass(frozen=True)
class IndependentNoise(PoolNoise):
    """Pools are exchanged independently.

    An outcome is 1 with probability ``1 - a`` where the pool has a positive, and with
    probability ``b`` where it has none.

    Attributes:
        clean: ``a``, the chance of a clean pool; a float is the binary fraction that it is.
        contaminated: ``b``, the chance of a contaminated one; ``a + b < 1``.

    Raises:
        ParameterError: A chance is out of range, or they add up to 1 or more.
    """

    clean: Fraction
    contaminated: Fraction

    def __init__(self, clean: float | Fraction, contaminated: float | Fraction) -> None:
        chances = {"clean": clean, "contaminated": contaminated}
        for name, chance in chances.items():
            given = chance if isinstance(chance, Fraction) else validation.finite(name, chance)
            if not 0 <= given <= 1:
                raise ParameterError(f"`{name}` must be between 0 and 1, got {chance!r}")
            object.__setattr__(self, name, Fraction(given))
        if self.clean + self.contaminated >= 1:
            raise ParameterError("`clean` and `contaminated` must add up to less than 1")

    def __repr__(self) -> str:
        return (
            f"each pool clean with probability {float(self.clean):.6g}, contaminated with "
            f"{float(self.contaminated):.6g}"
        )

    def draw(self, pools: int) -> States:
        from dpselect.extend import uniform

        under = self.clean.denominator * self.contaminated.denominator
        weights = [int(self.clean * under), int(self.contaminated * under)]
        return tuple(uniform.positions([*weights, under - sum(weights)], pools))

    def delta(self, design: ArrayLike, *, epsilon: float, neighbours: NeighboursLike) -> float:
        growth = _growth(epsilon)
        return max(
            (self._delta(up, down, growth) for up, down in _changes(design, neighbours)),
            default=0.0,
        )

    def epsilon(self, design: ArrayLike, *, neighbours: NeighboursLike) -> float:
        up = _log_odds(1 - self.contaminated, self.clean)
        down = _log_odds(1 - self.clean, self.contaminated)
        return max(
            (_times(i, up) + _times(j, down) for i, j in _changes(design, neighbours)),
            default=0.0,
        ) * (1 + SLACK)

    def _delta(self, up: int, down: int, growth: Fraction) -> float:
        """Return delta where ``up`` pools have a positive there alone, ``down`` here alone."""
        total = Fraction(0)
        for i in range(up + 1):
            for j in range(down + 1):
                here = _binomial(up, i, self.contaminated) * _binomial(down, j, 1 - self.clean)
                there = _binomial(up, i, 1 - self.clean) * _binomial(down, j, self.contaminated)
                total += max(here - growth * there, Fraction(0))
        return _rounded_up(total)


@dataclass(frozen=True)
class JointNoise(PoolNoise):
    """Any joint distribution of the states of at most ten pools.

    Attributes:
        weights: A positive integer for each combination of states that can occur, such as
            ``"2212"``, which is drawn in proportion to it; their sum is at most 2^50.

    Raises:
        ParameterError: There is no combination, one is not a state for each pool, or a
            weight is not a positive integer.
    """

    weights: Mapping[str, int]

    def __post_init__(self) -> None:
        combinations_ = [validation.instance("weights", one, str) for one in self.weights]
        lengths = set(map(len, combinations_))
        if len(lengths) != 1 or 0 in lengths:
            raise ParameterError("`weights` must name one state for each pool")
        if max(lengths) > MOST_POOLS:
            raise ParameterError(
                f"`weights` must be of at most {MOST_POOLS} pools, whose outcomes are all "
                "enumerated: of more, use ReplacedSamples (equation 21) or IndependentNoise"
            )
        if not set("".join(combinations_)) <= set("012"):
            raise ParameterError("a state must be 0 (clean), 1 (contaminated) or 2 (kept)")
        for weight in self.weights.values():
            validation.at_least("weights", weight, 1)
        if sum(self.weights.values()) > LARGEST_WEIGHT:
            raise ParameterError("`weights` must add up to at most 2^50")

    def __repr__(self) -> str:
        return f"pools exchanged by a joint distribution of {len(self.weights)} combinations"

    @property
    def pools(self) -> int:
        """Number of pools."""
        return len(next(iter(self.weights)))

    def draw(self, pools: int) -> States:
        from dpselect.extend import uniform

        self._check(pools)
        [position] = uniform.positions(list(self.weights.values()), 1)
        return tuple(map(int, list(self.weights)[position]))

    def delta(self, design: ArrayLike, *, epsilon: float, neighbours: NeighboursLike) -> float:
        growth = float(_growth(epsilon))
        total = sum(self.weights.values())
        # Integers below 2^50 are exact as floats; what their products lack is less than what
        # the factor was rounded down by.
        return max(
            (
                min(1.0, float(np.maximum(p - growth * q, 0).sum()) / total * (1 + SLACK))
                for p, q in self._laws(design, neighbours)
            ),
            default=0.0,
        )

    def epsilon(self, design: ArrayLike, *, neighbours: NeighboursLike) -> float:
        worst = 0.0
        for p, q in self._laws(design, neighbours):
            if ((p > 0) & (q == 0)).any():
                return inf
            both = p > 0
            worst = max(worst, float(np.log(p[both] / q[both]).max(initial=0.0)))
        return worst * (1 + SLACK)

    def _check(self, pools: int) -> None:
        if pools != self.pools:
            raise ParameterError(f"this distribution is for {self.pools} pools, not {pools}")

    def outcome_weights(self, syndrome: int) -> Indices:
        """Return the weight of every outcome, given the outcomes without noise.

        Args:
            syndrome: Bit ``i`` is the outcome of pool ``i``.

        Returns:
            Shape ``(2 ** pools,)``, by outcomes in the same form.
        """
        table = np.array([list(map(int, states)) for states in self.weights])
        bits = 1 << np.arange(self.pools)
        found = (table == CONTAMINATED) @ bits | syndrome & ((table == KEPT) @ bits)
        law = np.zeros(1 << self.pools, dtype=np.int64)
        np.add.at(law, found, np.array(list(self.weights.values())))
        return law

    def _laws(
        self, design: ArrayLike, neighbours: NeighboursLike
    ) -> Iterator[tuple[Indices, Indices]]:
        """Yield the distributions of all ordered pairs of neighbouring lists of statuses."""
        matrix = designs.checked(design)
        self._check(len(matrix))
        pairs = set(_syndromes(matrix, outcome_neighbours(neighbours)))
        laws = {
            one: self.outcome_weights(one) for one in {each for pair in pairs for each in pair}
        }
        for one, other in pairs:
            yield laws[one], laws[other]
            yield laws[other], laws[one]


def noise_of_replaced(design: ArrayLike, *, beta: int) -> JointNoise:
    """Return the noise that is equivalent to replaced samples: equation (21) as a case of (22).

    A pool is contaminated if one of ``beta`` people drawn from all is in it, else kept.
    ``ReplacedSamples`` draws the same for any number of pools.

    Args:
        design: Shape ``(pools, people)``, at most ten pools.
        beta: Number of samples that are replaced; ``binom(n, β)`` at most 5000.

    Raises:
        ParameterError: The design is too large, or ``beta`` out of range.
    """
    matrix = designs.checked(design)
    people = matrix.shape[1]
    if validation.at_least("beta", beta, 0) > people or comb(people, beta) > MOST_SUBSETS:
        raise ParameterError(f"`beta` must be at most {people}, of which 5000 subsets exist")
    weights: dict[str, int] = {}
    for replaced in combinations(range(people), beta):
        hit = matrix[:, list(replaced)].any(axis=1)
        states = "".join(map(str, np.where(hit, CONTAMINATED, KEPT).tolist()))
        weights[states] = weights.get(states, 0) + 1
    return JointNoise(weights)


def _changes(design: ArrayLike, neighbours: NeighboursLike) -> set[tuple[int, int]]:
    """Return how many pools can gain their only positive and how many lose it, at most."""
    matrix = designs.checked(design)
    columns = np.unique(matrix.T, axis=0).astype(np.int64)
    weights = columns.sum(axis=1)
    if outcome_neighbours(neighbours) is Neighbours.SUBSTITUTE:
        most = int(weights.max())
        return {(most, 0), (0, most)}
    both = columns @ columns.T
    up, down = weights[:, None] - both, weights[None, :] - both
    return set(zip(up.ravel().tolist(), down.ravel().tolist(), strict=True))


def _syndromes(matrix: Design, relation: Neighbours) -> Iterator[tuple[int, int]]:
    """Yield the outcomes without noise of every two neighbouring lists of statuses."""
    codes = [int(column @ (1 << np.arange(len(matrix)))) for column in matrix.T]
    seen: set[tuple[int, ...]] = set()
    pairs = combinations(range(len(codes)), 2 if relation is Neighbours.SWAP else 1)
    for changed in pairs:
        of_changed = tuple(codes[i] for i in changed)
        if of_changed in seen:
            continue
        seen.add(of_changed)
        others = [code for i, code in enumerate(codes) if i not in changed]
        unions = reduce(lambda found, code: found | {one | code for one in found}, others, {0})
        for union in unions:
            both = [union | code for code in of_changed]
            yield (union, both[0]) if len(both) == 1 else (both[0], both[1])


def _growth(epsilon: float) -> Fraction:
    """Return e^epsilon, rounded down."""
    at = validation.within("epsilon", epsilon, 0, 700)
    return Fraction(exp(at) * (1 - SLACK))


def _binomial(n: int, k: int, chance: Fraction) -> Fraction:
    return comb(n, k) * chance**k * (1 - chance) ** (n - k)


def _rounded_up(exact: Fraction) -> float:
    return min(1.0, float(exact) * (1 + SLACK))


def _log_odds(over: Fraction, under: Fraction) -> float:
    if under == 0:
        return inf
    odds = over / under
    return log(odds.numerator) - log(odds.denominator)


def _times(count: int, loss: float) -> float:
    return count * loss if count else 0.0
