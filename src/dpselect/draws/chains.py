r"""Exact law and exact draw of ascending positions that are wanted at counts of records.

A path :math:`r_1 \le \dots \le r_m` has probability :math:`\propto e^{-\eta C}` with the cost

.. math:: C = \sum_{j=1}^{m+1} |F(r_j) - F(r_{j-1}) - w_j|,

where :math:`F(r)` records are at or below position ``r``, none at the start and all at the end.
Positions depend on the one before only, so sums over all paths are made by a forward and a
backward pass over the positions.

The draw needs no floats. Costs are integers over a public denominator. The least cost of all
paths that go on from a position is found first and taken off, so that the sums of the rest are
at least 1 and at most :math:`k^m`; powers of :math:`e` are enclosed by integers
(:func:`~dpselect.draws.exp_bounds.exp_minus`), and a uniform number decides each position bit
by bit, as in :mod:`dpselect.draws.pieces`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from math import lcm
from secrets import randbits
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.draws.door import sampler
from dpselect.draws.exp_bounds import exp_minus
from dpselect.typing import Indices, Probabilities, Values

FIRST_BITS = 128

LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chain:
    """Counts of records, and those that are wanted between positions; private.

    Attributes:
        counts: Records at or below each position, shape ``(k,)``, not decreasing.
        total: All records.
        shares: Of all records that are wanted before the first drawn position, between each
            and the next, and after the last; ``m + 1`` that sum to 1. Public.
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
        """How many positions are drawn."""
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
    r"""Return the logarithms of sums over all paths up to, and on from, each position.

    Args:
        chain: The counts.
        decay: :math:`\eta`, in nats a record.

    Returns:
        ``m`` vectors of shape ``(k,)`` each; their sums are the logarithms of the marginal
        laws, up to one constant.
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
    """Return the law of every drawn position, shape ``(m, k)``; each row sums to 1."""
    forward, backward = log_messages(chain, decay)
    logs = np.array(forward) + np.array(backward)
    laws = np.exp(logs - logs.max(axis=1, keepdims=True))
    return laws / laws.sum(axis=1, keepdims=True)


def joint_law(chain: Chain, decay: float, first: int) -> Probabilities:
    """Return the law of a drawn position and the next one, shape ``(k, k)``; sums to 1."""
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
def draw_chain(chain: Chain, decay: Fraction) -> list[int]:
    r"""Draw ascending positions, exactly.

    Args:
        chain: The counts. Private; their number and the shares are public.
        decay: :math:`\eta` > 0, in nats a record. Public.

    Returns:
        ``m`` positions, not decreasing; a release.
    """
    bits = FIRST_BITS
    uniforms = [randbits(bits) for _ in range(chain.steps)]
    while True:
        path = decided(chain, decay, uniforms, bits)
        if path is not None:
            return path
        uniforms = [(uniform << bits) | randbits(bits) for uniform in uniforms]
        bits *= 2


def decided(chain: Chain, decay: Fraction, uniforms: list[int], bits: int) -> list[int] | None:
    """Return the path that all real numbers beginning with these bits are drawn to.

    Args:
        chain: The counts.
        decay: In nats a record.
        uniforms: The first ``bits`` bits of a number in [0, 1) for each position.
        bits: How many.

    Returns:
        ``None`` if more bits are needed.
    """
    size, m = chain.counts.size, chain.steps
    powers = _Powers(decay / chain.parts, 2 * bits + (m + 2) * size.bit_length())
    # The least cost of going on from each position, and the sums of all ways beside it.
    least = [chain.costs(m)]
    low = [np.full(size, powers.one, dtype=object)]
    high = [np.full(size, powers.one, dtype=object)]
    for j in range(m - 1, 0, -1):
        costs = chain.costs(j)
        onward = np.where(costs < 0, LARGEST, costs + least[0])
        least.insert(0, onward.min(axis=1))
        beside = np.where(costs < 0, -1, onward - least[0][:, None])
        weights = powers.of(beside)
        low.insert(0, (weights[0] * low[0]).sum(axis=1) >> powers.digits)
        high.insert(0, -((-(weights[1] * high[0]).sum(axis=1)) >> powers.digits))
    path: list[int] = []
    for j in range(m):
        costs = chain.costs(j) if j == 0 else chain.costs(j)[path[-1]]
        onward = np.where(costs < 0, LARGEST, costs + least[j])
        weights = powers.of(np.where(costs < 0, -1, onward - onward.min()))
        found = _place(weights[0] * low[j], weights[1] * high[j], uniforms[j], bits)
        if found is None:
            return None
        path.append(found)
    return path


class _Powers:
    """Integer bounds of powers of e, to so many digits."""

    def __init__(self, decay: Fraction, digits: int) -> None:
        self.digits, self.one = digits, 1 << digits
        self._decay = decay
        self._known: dict[int, tuple[int, int]] = {-1: (0, 0)}
        # Beyond it a power is less than one unit; costs are int64.
        self._last = min(int(digits / decay) + 1, LARGEST)

    def of(self, exponents: Indices) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return bounds of ``e^-(decay * exponent)``; 0 for the exponent -1."""
        cut = np.minimum(exponents, self._last)
        values, which = np.unique(cut, return_inverse=True)
        bounds = [self._one(int(value)) for value in values]
        table = np.array(bounds, dtype=object).reshape(-1, 2)
        shape = exponents.shape
        return table[:, 0][which].reshape(shape), table[:, 1][which].reshape(shape)

    def _one(self, exponent: int) -> tuple[int, int]:
        if exponent not in self._known:
            low, high = exp_minus(self._decay * exponent, self.digits)
            self._known[exponent] = (0 if exponent == self._last else low, high)
        return self._known[exponent]


def _place(low: NDArray[Any], high: NDArray[Any], uniform: int, bits: int) -> int | None:
    """Return the position whose part of all weights a uniform number lies in, if it is sure."""
    least = list(accumulate(low.tolist(), initial=0))
    most = list(accumulate(high.tolist(), initial=0))
    at = min(bisect_right(least, (uniform * least[-1]) >> bits), low.size) - 1
    # The part begins at S / (S + W), at most so with S high and W low; and ends likewise.
    begins = uniform * (most[at] + least[-1] - least[at]) >= most[at] << bits
    end = least[at + 1]
    ends = (uniform + 1) * (end + most[-1] - most[at + 1]) <= end << bits
    return at if begins and ends else None
