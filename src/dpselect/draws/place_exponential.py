"""Exact draw of the exponential mechanism over places of which each has several shares.

Places are positions in order; at some of them there are weights. A place is drawn together with
a share ``j/k``, ``j`` from 0 to ``k``: with the weights ``L`` before the place and ``w`` at it,
the outcome has the probability proportional to

    e^(-η |k L + j w - r|)

for a wanted rank ``r``, in parts of a weight. Where no weight is, all shares of all places up
to the next weight are alike, so these are drawn at once, whatever their number. Only places
near the wanted rank are listed; the others enter the bounds of
``dpselect.draws.exact.inversion`` by their number.
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

FIRST_BITS = 64

FAR = 2**63 - 1
"""Of no rank."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Places:
    """Positions with weights, and the rank that is wanted; private.

    Attributes:
        held: The positions that have weights, increasing, shape ``(m,)``.
        weights: Theirs, integers >= 0 whose sum times ``shares`` is below 2**62.
        first: The first position; public.
        last: The last one; public.
        shares: ``k``, how many parts a weight has; public.
        wanted: ``r``.
    """

    held: Indices
    weights: Indices
    first: int
    last: int
    shares: int
    wanted: Fraction

    @property
    def starts(self) -> Indices:
        """The first position of each run: empty and held ones in turn, shape ``(2 m + 1,)``."""
        starts = np.empty(2 * self.held.size + 1, dtype=np.int64)
        starts[0], starts[1::2], starts[2::2] = self.first, self.held, self.held + 1
        return starts

    @property
    def sizes(self) -> Indices:
        """The positions of each run; an empty run can have none."""
        return np.diff(self.starts, append=self.last + 1)

    @property
    def ranks(self) -> tuple[Indices, Indices]:
        """The rank of the first share of each run, and what each share adds to it."""
        before = np.concatenate([[0], np.cumsum(self.weights)])
        low = np.empty(2 * self.held.size + 1, dtype=np.int64)
        low[0::2], low[1::2] = before * self.shares, before[:-1] * self.shares
        step = np.zeros_like(low)
        step[1::2] = self.weights
        return low, step

    def probabilities(self, decay: Fraction) -> Probabilities:
        """Return the probability of each share of each run, rounded; private.

        Returns:
            Shape ``(2 m + 1, k + 1)``: of all positions of a run together.
        """
        low, step = self.ranks
        ranks = low[:, None] + step[:, None] * np.arange(self.shares + 1)
        far = np.abs(ranks - float(self.wanted)) * float(decay)
        law = self.sizes[:, None] * np.exp(far.min() - far)
        return law / law.sum()

    def log_probability(self, decay: Fraction, position: int, share: int) -> float:
        """Return the natural logarithm of the probability of an outcome; private."""
        low, step = self.ranks
        ranks = low[:, None] + step[:, None] * np.arange(self.shares + 1)
        far = np.abs(ranks - float(self.wanted))
        logs = -float(decay) * (far - far[self.sizes > 0].min())
        run = int(np.searchsorted(self.starts, position, side="right")) - 1
        with np.errstate(divide="ignore"):
            total = np.logaddexp.reduce((np.log(self.sizes)[:, None] + logs).ravel())
        return float(logs[run, share] - total)


@sampler
def draw_place(places: Places, decay: Fraction) -> tuple[int, int]:
    """Draw a position and a share, exactly.

    Args:
        places: Private.
        decay: η > 0, in nats a part. Public.

    Returns:
        The position, and ``j``; a release.
    """
    outcome = inversion.draw(partial(weights, places, decay), FIRST_BITS)
    run, share = divmod(outcome, places.shares + 1)
    size = int(places.sizes[run])
    return int(places.starts[run]) + source.randbelow(size), share


def weights(places: Places, decay: Fraction, bits: int) -> Weights:
    """Return bounds of the weights of the outcomes that are not negligible beside the largest.

    Outcome ``i (k + 1) + j`` is share ``j`` of all positions of run ``i``.
    """
    low, step = places.ranks
    sizes, each = places.sizes, places.shares + 1
    below, above = floor(places.wanted), ceil(places.wanted)
    # Of the share of each run that is nearest, up to 1.
    share = np.clip((below - low) // np.maximum(step, 1), 0, places.shares - 1)
    nearest = np.minimum(abs(low + step * share - below), abs(low + step * (share + 1) - below))
    nearest[sizes == 0] = FAR
    reach = int(nearest.min()) + ceil((bits + 64) / decay) + 4
    inside = np.flatnonzero(nearest <= min(reach, FAR - 1))
    near = slice(int(inside[0]), int(inside[-1]) + 1)
    ranks = (low[near, None] + step[near, None] * np.arange(each)).ravel()
    upwards = ranks < places.wanted
    far = np.where(upwards, below - ranks, ranks - above)
    powers = Powers(decay, bits + 128)
    parts = (above - places.wanted, places.wanted - below)
    held = np.repeat(sizes[near], each).astype(object)
    least, most = np.zeros_like(held), np.zeros_like(held)
    there = held > 0
    least[there], most[there] = of_distances(powers, far[there], upwards[there] * 1, parts)
    least, most = held * least, held * most
    before, beyond = (
        int(sizes[part].sum()) * each for part in (slice(near.start), slice(near.stop, None))
    )
    scale = powers.bits - bits - 64
    return Weights.of(
        zip(least >> powers.bits, -(-most >> powers.bits), strict=True),
        first=near.start * each,
        before=before << scale,
        beyond=beyond << scale,
    )
