"""Exact draw of the exponential mechanism over places of which each has several shares.

Places are positions in order; at some of them there are weights. A place is drawn together with
a share ``j/k``, ``j`` from 0 to ``k``, that stands for all ranks of the place within half a
part of it: with the weights ``L`` before the place and ``w`` at it, the outcome has the
probability proportional to ``e^(-η d)``, where ``d`` is the distance of the wanted rank ``r``,
in parts of a weight, from the interval

    [k L + max(j - 1/2, 0) w, k L + min(j + 1/2, k) w].

The place is drawn first. Of one that does not hold the rank and is ``D`` from it, all shares
together have ``e^(-η D) (1 + ∑_j e^(-η (j - 1/2) w))``, ``j`` from 1 to ``k``, whose second
factor depends on ``w`` alone. Where no weight is, all places up to the next weight are alike,
so these are drawn at once, whatever their number. Only places near the wanted rank are listed;
the others enter the bounds of ``dpselect.draws.exact.inversion`` by their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.draws.exact import bits as source, inversion
from dpselect.draws.exact.exp_bounds import Powers, of_distances
from dpselect.draws.exact.inversion import Weights
from dpselect.draws.exact.samplers import sampler
from dpselect.typing import Indices, Probabilities, Values

FIRST_BITS = 64

FAR = 2**63 - 1
"""Size that no rank has."""


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
        """The first rank of each run, and the last one; in half parts."""
        upto = np.concatenate([[0], np.cumsum(2 * self.shares * self.weights)])
        return np.repeat(upto, 2)[:-1], np.repeat(upto, 2)[1:]

    @property
    def steps(self) -> Indices:
        """What half a part adds to the rank of each run; in half parts."""
        steps = np.zeros(2 * self.held.size + 1, dtype=np.int64)
        steps[1::2] = self.weights
        return steps

    def ends(self, run: int) -> tuple[Indices, Indices]:
        """Return the first and the last rank of each share of a run; in half parts."""
        low, step = self.ranks[0][run], self.steps[run]
        middles, last = 2 * np.arange(self.shares + 1), 2 * self.shares
        first, end = np.maximum(middles - 1, 0), np.minimum(middles + 1, last)
        return low + step * first, low + step * end

    def _logs(self, decay: Fraction) -> Values:
        """Return the logarithm of the weight of a position of each run, up to a constant."""
        (low, high), half = self.ranks, float(decay / 2)
        wanted = 2 * float(self.wanted)
        far = np.maximum(np.maximum(low - wanted, wanted - high), 0)
        steps, place = np.unique(self.steps, return_inverse=True)
        parts = np.arange(1, 2 * self.shares, 2)
        logs = np.log1p(np.exp(-half * steps[:, None] * parts).sum(axis=1))[place]
        logs -= half * (far - far[self.sizes > 0].min())
        [holds] = np.nonzero((low < wanted) & (wanted < high))
        for run in holds.tolist():
            logs[run] = np.logaddexp.reduce(self._logs_of_shares(decay, run))
        return logs

    def _logs_of_shares(self, decay: Fraction, run: int) -> Values:
        """Return the logarithms of the weights of the shares of a run, the largest 0."""
        low, high = self.ends(run)
        wanted = 2 * float(self.wanted)
        far = np.maximum(np.maximum(low - wanted, wanted - high), 0)
        return -float(decay / 2) * (far - far.min())

    def probabilities(self, decay: Fraction) -> Probabilities:
        """Return the probability of each run, of all its positions and shares; private."""
        logs = self._logs(decay)
        law = self.sizes * np.exp(logs - logs[self.sizes > 0].max())
        return law / law.sum()

    def probabilities_of_shares(self, decay: Fraction, run: int) -> Probabilities:
        """Return the probability of each share of a run that was drawn; private."""
        law = np.exp(self._logs_of_shares(decay, run))
        return law / law.sum()

    def log_probability(self, decay: Fraction, position: int, share: int) -> float:
        """Return the natural logarithm of the probability of an outcome; private."""
        logs = self._logs(decay)
        run = int(np.searchsorted(self.starts, position, side="right")) - 1
        of_run = self._logs_of_shares(decay, run)
        with np.errstate(divide="ignore"):
            total = np.logaddexp.reduce(np.log(self.sizes) + logs)
        in_run = of_run[share] - np.logaddexp.reduce(of_run)
        return float(logs[run] - total + in_run)


@sampler
def draw_place(places: Places, decay: Fraction) -> tuple[int, int]:
    """Draw a position and a share, exactly.

    Args:
        places: Private.
        decay: η > 0, in nats a part. Public.

    Returns:
        The position, and ``j``; a release.
    """
    run = inversion.draw(partial(weights, places, decay), FIRST_BITS)
    share = inversion.draw(partial(weights_of_shares, places, decay, run), FIRST_BITS)
    return int(places.starts[run]) + source.randbelow(int(places.sizes[run])), share


def weights(places: Places, decay: Fraction, bits: int) -> Weights:
    """Return bounds of the weights of the runs that are not negligible beside the largest."""
    sizes, (low, high), wanted = places.sizes, places.ranks, 2 * places.wanted
    powers = Powers(decay / 2, bits + 128)
    nearest = np.maximum(np.maximum(low - floor(wanted), floor(wanted) - high), 0)  # up to 1
    nearest[sizes == 0] = FAR
    reach = int(nearest.min()) + ceil((bits + 64) / powers.decay) + 4
    inside = np.flatnonzero(nearest <= min(reach, FAR - 1))
    near, there = slice(int(inside[0]), int(inside[-1]) + 1), inside[sizes[inside] > 0]
    # The shares of a run that holds the wanted rank have distances of their own.
    holds = np.flatnonzero((low[there] < ceil(wanted)) & (high[there] > floor(wanted)))
    ends = [(low[there], high[there]), *(places.ends(run) for run in there[holds].tolist())]
    firsts, lasts = (np.concatenate(every) for every in zip(*ends, strict=True))
    shares = _sums_of_shares(powers, places.steps[there], places.shares)
    bounds = []
    for power, all_shares in zip(_bounds(powers, wanted, firsts, lasts), shares, strict=True):
        of_runs = power[: there.size] * all_shares
        of_runs[holds] = power[there.size :].sum() << powers.bits
        whole = np.zeros(near.stop - near.start, dtype=object)
        whole[there - near.start] = sizes[there].astype(object) * of_runs
        bounds.append(whole)
    before, beyond = (
        int(sizes[part].sum()) * (places.shares + 1)
        for part in (slice(near.start), slice(near.stop, None))
    )
    scale = powers.bits - bits - 64
    return Weights.of(
        zip(bounds[0] >> 2 * powers.bits, -(-bounds[1] >> 2 * powers.bits), strict=True),
        first=near.start,
        before=before << scale,
        beyond=beyond << scale,
    )


def weights_of_shares(places: Places, decay: Fraction, run: int, bits: int) -> Weights:
    """Return bounds of the weights of the shares of a run."""
    powers = Powers(decay / 2, bits + 128)
    least, most = _bounds(powers, 2 * places.wanted, *places.ends(run))
    return Weights.of(zip(least >> powers.bits, -(-most >> powers.bits), strict=True))


def _bounds(
    powers: Powers, wanted: Fraction, firsts: Indices, lasts: Indices
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return bounds of the powers by the distances of intervals, beside the largest."""
    below, above = floor(wanted), ceil(wanted)
    over, under = firsts > below, lasts < above
    whole = np.where(over, firsts - above, np.where(under, below - lasts, 0))
    side = np.where(over, 0, np.where(under, 1, 2))
    return of_distances(powers, whole, side, (above - wanted, wanted - below, Fraction(0)))


def _sums_of_shares(
    powers: Powers, steps: Indices, shares: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return bounds of the weights of all shares of places, beside the nearest of each."""
    different, place = np.unique(steps, return_inverse=True)
    odd = np.arange(1, 2 * shares, 2)
    sums = (of_one.sum(axis=1) for of_one in powers.of(different[:, None] * odd))
    least, most = ((1 << powers.bits) + one for one in sums)
    return least[place], most[place]
