"""Exact draw of permute-and-flip over places of which each has several shares, in many rows.

A row has places in order, with weights. A place is drawn together with a share ``j/k``, ``j``
from 0 to ``k``, that stands for all ranks from ``j - 1/2`` to ``j + 1/2`` parts of its weight,
if it has so many: with the weight ``L`` before the place and ``w`` at it, its score is minus
the distance of the wanted rank of the row from the interval

    [L + max(j - 1/2, 0) w/k, L + min(j + 1/2, k) w/k],

in parts of what one step changes.

Permute-and-flip is the largest score after exponential noise. Of a place that is so far from
the wanted rank that noise below ``ln 256`` cannot make it the largest, the first byte of the
noise is drawn, and the score and further bits only where it is 0. What is drawn is the largest
whatever the bits are that were not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpselect._twofold import Twofold, add, exact_product, exact_sum
from dpselect.draws.exact import bits as source
from dpselect.draws.exact.lazy_noise import (
    FIRST_BYTE,
    Bounds,
    Noise,
    Refined,
    bounds_of,
    larger,
    small_words,
)
from dpselect.draws.exact.samplers import sampler
from dpselect.draws.exact.selection import scale_for
from dpselect.draws.grid import LIMIT, to_grid
from dpselect.typing import Indices, Scores, Values

AT_ONCE = 2**22
"""Places with a share that are drawn from at once."""

Places = tuple[Indices, Indices]
"""Rows and places, of equal shapes ``(m,)``."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlaceRows:
    """Places with weights in several rows, and the rank that each row wants; private.

    Attributes:
        weights: Shape ``(rows, places)``; 0 before ``first`` and after ``last``. Integers, but
            for those at ``first`` and at ``last``; sums of others would be rounded.
        first: The first place of each row; public.
        last: The last one; public.
        fraction: The part of a row's weight that is wanted below; public.
        beyond: What of the weight is below the fraction 0, and above the fraction 1; public.
            The wanted rank is the first of them and the fraction of what both leave.
        bound: What one step changes of a score; public.
        shares: ``k``, how many parts a weight has; public.
    """

    weights: Values
    first: Indices
    last: Indices
    fraction: Values
    beyond: tuple[float, float]
    bound: Values
    shares: int

    def some(self, rows: slice) -> PlaceRows:
        """Return some of the rows."""
        names = ("weights", "first", "last", "fraction", "bound")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Which places a row has."""
        places = np.arange(self.weights.shape[1])
        return (places >= self.first[:, None]) & (places <= self.last[:, None])

    def ahead(self) -> Twofold:
        """Return how far the weight before each place exceeds the wanted rank."""
        # Integers and what is left of them apart: their sums are exact.
        whole = np.floor(self.weights)
        rest = self.weights - whole
        parts = np.cumsum(whole, axis=1)
        low, high = self.beyond
        total = exact_sum(parts[:, -1], rest.sum(axis=1) - (low + high))
        wanted = add(
            exact_product(self.fraction, total.high), exact_product(self.fraction, total.low)
        )
        floors = np.floor(wanted.high)
        left = exact_sum(wanted.high - floors, wanted.low).high + low
        before = np.zeros_like(rest)
        np.cumsum(rest[:, :-1], axis=1, out=before[:, 1:])
        return exact_sum(parts - whole - floors[:, None], before - left[:, None])

    def distances(self, ahead: Twofold, at: Places, numerators: Indices) -> Twofold:
        """Return how far places with shares are from the wanted rank."""
        start = Twofold(ahead.high[at], ahead.low[at])
        weights, twice = self.weights[at], 2 * self.shares
        low, high = (
            add(start, exact_product(weights, ends / twice))
            for ends in (
                np.maximum(2 * numerators - 1, 0),
                np.minimum(2 * numerators + 1, twice),
            )
        )
        over, under = low.high > 0, high.high < 0
        return Twofold(
            *(
                np.where(over, one, np.where(under, -other, 0.0))
                for one, other in zip(low, high, strict=True)
            )
        )

    def all_distances(self) -> Iterator[Twofold]:
        """Yield how far all places of each row are from the wanted rank, shares innermost."""
        ahead, numerators = self.ahead(), np.arange(self.shares + 1)
        for row, valid in enumerate(self.valid):
            places = np.repeat(np.flatnonzero(valid), numerators.size)
            at = np.full(places.size, row), places
            yield self.distances(ahead, at, np.tile(numerators, int(valid.sum())))

    def scores(self) -> list[Scores]:
        """Return the unit scores of each row's places, shares innermost."""
        found = []
        for row, off in enumerate(self.all_distances()):
            rows = np.full(off.high.size, row)
            found.append(self._unit(off, rows, _least(off, rows, row + 1)))
        return found

    def _unit(self, off: Twofold, rows: Indices, least: Twofold) -> Scores:
        return add(Twofold(-off.high, -off.low), least.at(rows)).high / self.bound[rows]


@sampler
def draw_places(rows: PlaceRows, epsilon: float) -> tuple[Indices, Indices]:
    """Draw a place and a share of each row.

    Args:
        rows: What is drawn from.
        epsilon: Epsilon of each row. Public.

    Returns:
        The places, and the numerators ``j`` of the shares, of shape ``(rows,)``; a release.
    """
    number, places = rows.weights.shape
    drawn = np.empty((2, number), dtype=np.int64)
    size = max(1, AT_ONCE // (places * (rows.shares + 1)))
    for start in range(0, number, size):
        some = slice(start, start + size)
        drawn[:, some] = _drawn(rows.some(some), epsilon)
    return drawn[0], drawn[1]


def _drawn(rows: PlaceRows, epsilon: float) -> tuple[Indices, Indices]:
    scale, each = scale_for(epsilon, 1), rows.shares + 1
    ahead, valid = rows.ahead(), rows.valid
    far = _far(rows, ahead.high, valid, epsilon)
    near, beyond = np.nonzero(valid & ~far), np.nonzero(far)
    small, words = small_words(beyond[0].size * each)
    at = tuple(
        np.concatenate([np.repeat(one, each), other[small // each]])
        for one, other in zip(near, beyond, strict=True)
    )
    numerators = np.concatenate([np.tile(np.arange(each), near[0].size), small % each])
    drawn = np.concatenate([source.words(near[0].size * each), words])[None]
    off = rows.distances(ahead, (at[0], at[1]), numerators)
    # The least distance of each row is that of a near place.
    least = _least(off, at[0], len(valid))
    grid = to_grid(rows._unit(off, at[0], least))  # noqa: SLF001 -- its own module
    best = _largest(bounds_of(Noise.EXPONENTIAL, grid, scale, drawn), grid, scale, at[0])
    return at[1][best], numerators[best]


def _far(
    rows: PlaceRows, ahead: Values, valid: NDArray[np.bool_], epsilon: float
) -> NDArray[np.bool_]:
    """Return the places whose noise must begin with a byte of 0 to make them the largest."""
    off = np.maximum(np.maximum(ahead, -(ahead + rows.weights)), 0)
    # What the noise of the best one can lack, and more than all that is rounded.
    lead = FIRST_BYTE * 2 / epsilon + 2.0**-10
    nearest = np.where(valid, off, np.inf).min(axis=1)
    reach = (nearest * (1 + 2.0**-40) + lead * rows.bound)[:, None]
    reach = reach + np.abs(ahead) * 2.0**-50
    return valid & (off > reach) & (lead < LIMIT)


def _least(off: Twofold, rows: Indices, number: int) -> Twofold:
    """Return the least number of each row."""
    high = np.full(number, np.inf)
    np.minimum.at(high, rows, off.high)
    low = np.full(number, np.inf)
    ties = off.high == high[rows]
    np.minimum.at(low, rows[ties], off.low[ties])
    return Twofold(high, low)


def _largest(noisy: Bounds, grid: Indices, scale: float, rows: Indices) -> Indices:
    """Return the position of the largest noisy score of each row."""
    most = np.full(rows.max() + 1, -np.inf)
    np.maximum.at(most, rows, noisy.low)
    [can_win] = np.nonzero(noisy.high >= most[rows])
    can_win = can_win[np.argsort(rows[can_win], kind="stable")]
    starts = np.flatnonzero(np.diff(rows[can_win], prepend=-1))
    best = can_win[starts]
    for row in np.flatnonzero(np.diff(starts, append=can_win.size) > 1).tolist():
        several = can_win[starts[row] :][: np.diff(starts, append=can_win.size)[row]]
        best[row] = _compared(noisy, grid, scale, several.tolist())
    return best


def _compared(noisy: Bounds, grid: Indices, scale: float, several: list[int]) -> int:
    """Return the position of the largest, by as many more bits as that takes."""
    known = [
        Refined(
            Noise.EXPONENTIAL,
            int(grid[one]),
            scale,
            noisy.words[:, one].tolist(),
            float(noisy.low[one]),
            float(noisy.high[one]),
        )
        for one in several
    ]
    best = 0
    for one in range(1, len(known)):
        if larger(known[one], known[best]) > 0:
            best = one
    return several[best]
