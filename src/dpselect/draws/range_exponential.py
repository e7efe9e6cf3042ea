"""Exact draw of the exponential mechanism over a range, by pieces of equal scores.

Position ``r`` has probability proportional to ``e^(-η d_r)`` with the signed distance
``d = max(l - w, w - h)`` of a wanted rank from the ranks of the position, which is the same on
whole pieces. So a piece of ``m`` positions has ``m e^(-η d)``, and its positions are uniform.
Pieces are drawn by inversion (``dpselect.draws.exact.inversion``), whatever the number of
positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil, floor

import numpy as np

from dpselect.draws.exact import bits as source, inversion
from dpselect.draws.exact.exp_bounds import Powers, of_distances
from dpselect.draws.exact.inversion import Weights
from dpselect.draws.exact.samplers import sampler
from dpselect.typing import Indices, Probabilities

FIRST_BITS = 160


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pieces:
    """Runs of positions that have the same ranks, in order; private.

    Attributes:
        ends: Positions up to the end of each piece, shape ``(k,)``, int64, increasing; the
            last one is the number of positions, which is public.
        low: The lowest rank of a piece, shape ``(k,)``, not decreasing.
        high: The highest, at least ``low``.
        wanted: The wanted rank ``w``; its distance ``d`` is below 0 inside of a piece's ranks.
    """

    ends: Indices
    low: Indices
    high: Indices
    wanted: Fraction

    @property
    def sizes(self) -> Indices:
        """Positions of each piece, >= 1."""
        return np.diff(self.ends, prepend=0)

    def between(self, first: int, last: int) -> Pieces:
        """Return those of the positions from a first to a last one, counted from the first."""
        start, stop = np.searchsorted(self.ends, (first, last), side="right")
        some = slice(int(start), int(stop) + 1)
        ends = np.minimum(self.ends[some], last + 1) - first
        return Pieces(ends, self.low[some], self.high[some], self.wanted)

    def probabilities(self, decay: Fraction) -> Probabilities:
        """Return the probability of each piece, shape ``(k,)``; rounded, and private."""
        wanted = float(self.wanted)
        distances = np.maximum(self.low - wanted, wanted - self.high)
        logs = np.log(self.sizes) - float(decay) * distances
        law = np.exp(logs - logs.max())
        return law / law.sum()


@sampler
def draw_position(pieces: Pieces, decay: Fraction) -> int:
    """Draw a position with probability proportional to ``e^(-η d)``, exactly.

    Args:
        pieces: The pieces. Private.
        decay: η > 0, in nats a rank. Public.

    Returns:
        From 0 to the number of positions less 1; a release.
    """
    piece = inversion.draw(partial(weights, pieces, decay), FIRST_BITS)
    return int(pieces.ends[piece]) - 1 - source.randbelow(int(pieces.sizes[piece]))


def weights(pieces: Pieces, decay: Fraction, bits: int) -> Weights:
    """Return bounds of the weights of the pieces that are not negligible beside the largest."""
    below, above = floor(pieces.wanted), ceil(pieces.wanted)
    reach = ceil((bits + 64) / decay) + 1
    # Whole steps from the wanted rank, upwards where that is the larger distance.
    upwards = pieces.low + pieces.high <= floor(2 * pieces.wanted)
    far = np.where(upwards, below - pieces.high, pieces.low - above)
    inside = np.flatnonzero(far - far.min() <= reach)
    first, last = int(inside[0]), int(inside[-1])
    near = slice(first, last + 1)
    powers = Powers(decay, bits + 128)
    parts = (above - pieces.wanted, pieces.wanted - below)
    low, high = (
        pieces.sizes[near].astype(object) * power
        for power in of_distances(powers, far[near], upwards[near].astype(int), parts)
    )
    # Of each position outside, e^-(bits + 64) and less.
    before, upto = (int(pieces.ends[at]) if at >= 0 else 0 for at in (first - 1, last))
    shift = powers.bits - bits - 64
    return Weights.of(
        zip(low >> powers.bits, -(-high >> powers.bits), strict=True),
        first=first,
        before=before << shift,
        beyond=int(pieces.ends[-1]) - upto << shift,
    )
