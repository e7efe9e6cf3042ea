"""Joint exponential mechanism over ascending positions that are wanted at counts of records.

A path ``r_1 ≤ ... ≤ r_m`` has probability ``∝ e^(-η C)`` with the cost

    C = ∑_(j=1)^(m+1) |F(r_j) - F(r_(j-1)) - w_j|,

where ``F(r)`` records are at or below position ``r``, none at the start and all at the end.
Positions depend on the one before only, so sums over all paths are made by a forward and a
backward pass over the positions.

The draw needs no floats. Costs are integers over a public denominator. The least cost of all
paths that go on from a position is found first and taken off, so that the sums of the rest are
at least 1 and at most ``k^m``; powers of ``e`` are enclosed by integers (``Powers``), and each
position is drawn by inversion (``dpselect.draws.exact.inversion``), given the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.draws.exact import inversion
from dpselect.draws.exact.exp_bounds import Powers
from dpselect.draws.exact.inversion import Weights
from dpselect.draws.exact.samplers import sampler
from dpselect.typing import Indices, Probabilities, Values

FIRST_BITS = 128

LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chain:
    """Counts of records, and those that are wanted between positions; private.

    Attributes:
        counts: Records at or below each position, shape ``(k,)``, not decreasing.
        total: All records.
        shares: Shares of all records that are wanted before the first drawn position,
            between each and the next, and after the last; ``m + 1`` that sum to 1. Public.
    """

    counts: Indices
    total: int
    shares: tuple[Fraction, ...]

    @property
    def parts(self) -> int:
        """The denominator of the costs; public."""
        return lcm(*(share.denominator for share in self.shares))

    @property
    def steps(self) -> int:
        """Number of positions that are drawn."""
        return len(self.shares) - 1

    def costs(self, j: int) -> Indices:
        """Return the cost of going to a position, or from one to another, in parts.

        Shape ``(k,)`` for the first and the last of ``m + 1`` steps, else ``(k, k)``, from rows
        to columns, -1 where the column is before the row.
        """
        wanted = int(self.shares[j] * self.parts) * self.total
        if j == 0:
            return np.abs(self.counts * self.parts - wanted)
        if j == self.steps:
            return np.abs((self.total - self.counts) * self.parts - wanted)
        moved = (self.counts - self.counts[:, None]) * self.parts
        ahead = np.triu(np.ones(moved.shape, dtype=np.bool_))
        return np.where(ahead, np.abs(moved - wanted), -1)


def log_messages(chain: Chain, decay: float) -> tuple[list[Values], list[Values]]:
    """Return the logarithms of sums over all paths up to, and on from, each position.

    Args:
        chain: The counts.
        decay: η, in nats a record.

    Returns:
        ``m`` vectors of shape ``(k,)`` each; their sums are the logarithms of the marginal
        distributions, up to one constant.
    """
    each = decay / chain.parts
    steps = [
        np.asarray(-each * chain.costs(j), dtype=np.float64) for j in range(chain.steps + 1)
    ]
    between = [np.where(chain.costs(j) < 0, -np.inf, steps[j]) for j in range(1, chain.steps)]
    forward: list[Values] = [steps[0]]
    backward: list[Values] = [steps[-1]]
    for step in between:
        forward.append(np.asarray(np.logaddexp.reduce(forward[-1][:, None] + step, axis=0)))
    for step in reversed(between):
        backward.append(np.asarray(np.logaddexp.reduce(step + backward[-1], axis=1)))
    return forward, backward[::-1]


def marginals(chain: Chain, decay: float) -> Probabilities:
    """Return the distribution of every drawn position, shape ``(m, k)``; each row sums to 1."""
    forward, backward = log_messages(chain, decay)
    logs = np.array(forward) + np.array(backward)
    laws = np.exp(logs - logs.max(axis=1, keepdims=True))
    return laws / laws.sum(axis=1, keepdims=True)


def joint_probabilities(chain: Chain, decay: float, first: int) -> Probabilities:
    """Return the joint probabilities of a position and the next one, shape ``(k, k)``."""
    forward, backward = log_messages(chain, decay)
    costs = chain.costs(first + 1)
    step = np.where(costs < 0, -np.inf, -decay / chain.parts * costs)
    logs = forward[first][:, None] + step + backward[first + 1]
    law = np.exp(logs - logs.max())
    return law / law.sum()


def log_probability(chain: Chain, decay: float, path: Sequence[int]) -> float:
    """Return the natural logarithm of the probability of a path."""
    steps = [
        chain.costs(0)[path[0]],
        *(chain.costs(j + 1)[here, there] for j, (here, there) in enumerate(pairwise(path))),
        chain.costs(chain.steps)[path[-1]],
    ]
    forward, backward = log_messages(chain, decay)
    total = np.logaddexp.reduce(forward[0] + backward[0])
    return float(-decay / chain.parts * sum(steps) - total)


@sampler
def draw_path(chain: Chain, decay: Fraction) -> list[int]:
    """Draw ascending positions, exactly.

    Args:
        chain: The counts. Private; their number and the shares are public.
        decay: η > 0, in nats a record. Public.

    Returns:
        ``m`` positions, not decreasing; a release.
    """
    onward = cache(lambda bits: Onward(chain, decay, bits))

    def step(j: int, before: int | None) -> int:
        return inversion.draw(lambda bits: onward(bits).weights(j, before), FIRST_BITS)

    path: list[int] = []
    for j in range(chain.steps):
        path.append(step(j, path[-1] if path else None))
    return path


class Onward:
    """Sums over all ways to go on from each position, enclosed by integers."""

    def __init__(self, chain: Chain, decay: Fraction, bits: int) -> None:
        """Sum up the ways backwards, close enough for so many bits."""
        size, m = chain.counts.size, chain.steps
        self._chain = chain
        digits = bits + 64 + (m + 2) * size.bit_length()
        self._powers = Powers(decay / chain.parts, digits)
        one = np.full(size, 1 << self._powers.bits, dtype=object)
        # The least cost of going on from each position, and the sums of all ways beside it.
        self._least, self._sums = [chain.costs(m)], [(one, one)]
        for j in range(m - 1, 0, -1):
            costs, (low, high) = self._beside(chain.costs(j), 0)
            self._least.insert(0, costs)
            shift = self._powers.bits
            self._sums.insert(0, (low.sum(axis=1) >> shift, -(-high.sum(axis=1) >> shift)))

    def weights(self, j: int, before: int | None) -> Weights:
        """Return bounds of the weights of all positions at a step, given the one before."""
        costs = self._chain.costs(j)
        _, bounds = self._beside(costs if before is None else costs[before], j)
        return Weights.of(zip(*bounds, strict=True))

    def _beside(
        self, costs: Indices, j: int
    ) -> tuple[Indices, tuple[NDArray[Any], NDArray[Any]]]:
        """Return the least cost of a step and all after it, and the weights of its ways."""
        onward = np.where(costs < 0, LARGEST, costs + self._least[j])
        least = onward.min(axis=-1)
        beside = np.where(costs < 0, -1, onward - least[..., None])
        low, high = self._powers.of(beside)
        return least, (low * self._sums[j][0], high * self._sums[j][1])
