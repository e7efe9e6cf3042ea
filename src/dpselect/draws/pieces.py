r"""Exact draw of the exponential mechanism over pieces of equal scores.

Position ``r`` has probability proportional to :math:`e^{-\eta d_r}` with the signed distance
:math:`d = \max(l - w, w - h)` of a wanted rank from those held, which is the same on whole
pieces. So a piece of ``m`` positions has :math:`m e^{-\eta d}` and its positions are
uniform. A uniform real number is drawn bit by bit and compared with integer bounds of the
running sums, as in :mod:`dpselect.draws.swaps`: no number is rounded, and the law is the
stated one whatever the number of positions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor
from secrets import randbelow, randbits

import numpy as np

from dpselect.draws.door import sampler
from dpselect.draws.exp_bounds import exp_minus
from dpselect.typing import Indices, Probabilities

FIRST_BITS = 160


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pieces:
    """Runs of positions that hold the same ranks, in order; private.

    Attributes:
        ends: Positions up to the end of each piece, shape ``(k,)``, int64, increasing; the
            last one is the number of positions, which is public.
        low: The lowest rank that a piece holds, shape ``(k,)``, not decreasing.
        high: The highest, at least ``low``.
        wanted: The wanted rank ``w``; its distance ``d`` is below 0 inside of the held ones.
    """

    ends: Indices
    low: Indices
    high: Indices
    wanted: Fraction

    @property
    def sizes(self) -> Indices:
        """Positions of each piece, >= 1."""
        return np.diff(self.ends, prepend=0)

    def law(self, decay: Fraction) -> Probabilities:
        """Return the probability of each piece, shape ``(k,)``; rounded, and private."""
        wanted = float(self.wanted)
        distances = np.maximum(self.low - wanted, wanted - self.high)
        logs = np.log(self.sizes) - float(decay) * distances
        law = np.exp(logs - logs.max())
        return law / law.sum()


@sampler
def draw_position(pieces: Pieces, decay: Fraction) -> int:
    r"""Draw a position with probability proportional to :math:`e^{-\eta d}`, exactly.

    Args:
        pieces: The pieces. Private.
        decay: :math:`\eta` > 0, in nats a rank. Public.

    Returns:
        From 0 to the number of positions less 1; a release.
    """
    bits, uniform = FIRST_BITS, randbits(FIRST_BITS)
    while True:
        piece = decided(pieces, decay, uniform, bits)
        if piece is not None:
            return int(pieces.ends[piece]) - 1 - randbelow(int(pieces.sizes[piece]))
        uniform, bits = (uniform << bits) | randbits(bits), 2 * bits


def decided(pieces: Pieces, decay: Fraction, uniform: int, bits: int) -> int | None:
    """Return the piece that every real number beginning with these bits is drawn to.

    Args:
        pieces: The pieces.
        decay: In nats a rank.
        uniform: The first ``bits`` bits of a number in [0, 1).
        bits: How many.

    Returns:
        ``None`` if more bits are needed.
    """
    window = _Window.of(pieces, decay, bits)
    least = list(accumulate(window.least, initial=0))
    most = list(accumulate(window.most, initial=0))
    at = bisect_right(least, (uniform * least[-1]) >> bits) - 1
    at = min(at, len(window.least) - 1)
    # The piece starts at S / (S + W): at most so, with S high and W low; and ends likewise.
    start_high, rest_low = most[at], least[-1] - least[at]
    starts_before = uniform * (start_high + rest_low) >= start_high << bits
    end_low = least[at + 1]
    rest_high = most[-1] - most[at + 1] + window.outside
    ends_after = (uniform + 1) * (end_low + rest_high) <= end_low << bits
    return window.first + at if starts_before and ends_after else None


@dataclass(frozen=True, slots=True)
class _Window:
    """Bounds of the weights of the pieces near the wanted rank.

    Attributes:
        first: The first piece of the window.
        least: Lower bounds of the weights, in order.
        most: Upper bounds.
        outside: Upper bound of the sum of all other weights.
    """

    first: int
    least: list[int]
    most: list[int]
    outside: int

    @classmethod
    def of(cls, pieces: Pieces, decay: Fraction, bits: int) -> _Window:
        """Return the pieces whose weights are not negligible beside the largest one."""
        below, above = floor(pieces.wanted), ceil(pieces.wanted)
        reach = ceil((bits + 64) / decay) + 1
        # Whole steps from the wanted rank, upwards where that is the larger distance; the
        # smallest is a common factor of all weights.
        upwards = pieces.low + pieces.high <= floor(2 * pieces.wanted)
        far = np.where(upwards, below - pieces.high, pieces.low - above)
        nearest = int(far.min())
        inside = np.flatnonzero(far <= nearest + reach)
        first, last = int(inside[0]), int(inside[-1]) + 1
        digits = 2 * bits + 128
        ends = {
            True: exp_minus(decay * (pieces.wanted - below), digits),
            False: exp_minus(decay * (above - pieces.wanted), digits),
        }
        powers = _powers(decay, digits)
        table = [next(powers)]
        least, most = [], []
        sizes = pieces.sizes[first:last].tolist()
        steps = (far[first:last] - nearest).tolist()
        for size, step, up in zip(sizes, steps, upwards[first:last].tolist(), strict=True):
            while len(table) <= step:
                table.append(next(powers))
            weight, end = table[step], ends[up]
            least.append((size * weight[0] * end[0]) >> digits)
            most.append(-((-size * weight[1] * end[1]) >> digits))
        outside = int(pieces.ends[-1]) - sum(sizes)
        # Of each position outside, e^-(bits + 64) and less.
        return cls(first, least, most, outside << (digits - bits - 64))


def _powers(decay: Fraction, digits: int) -> Iterator[tuple[int, int]]:
    """Yield integer bounds of the powers of e^-decay from the 0th on, to so many digits."""
    factor = exp_minus(decay, digits)
    low = high = 1 << digits
    while True:
        yield low, high
        low, high = (low * factor[0]) >> digits, -((-high * factor[1]) >> digits)
