"""Samplers of the largest noisy scores, with noise that is drawn as far as it decides.

A whole release is a few passes over the scores whatever they are: the first 64 bits of the
noise leave one candidate almost always, and the few that are left are compared exactly
(``dpselect.draws.exact.lazy_noise``).
"""

from collections.abc import Callable
from functools import partial
from itertools import repeat
from math import inf, nextafter
from typing import Protocol, TypeAlias

from dpselect._optional import np
from dpselect.draws.exact import samplers as source
from dpselect.draws.exact.lazy_noise import CHUNK, Bounds, Noise, Refined, bounds, bounds_of
from dpselect.draws.exact.leading_zeros import FIRST_BIT, MOST, spans, struck
from dpselect.draws.exact.samplers import WORD, sampler
from dpselect.draws.grid import SENSITIVITY, STEPS_PER_UNIT, to_grid
from dpselect.errors import ParameterError
from dpselect.typing import Indices, Scores, Values, Words

MOST_SCALE = 1e250
"""Above it sums of noisy scores could overflow."""

EVERY, FARTHEST = 2, 20
"""Zeros by which scores are told apart that are further and further below the best, and those
that words begin with that reach from the farthest ones."""

SCALARS = 16
"""Numbers up to which those of Python are faster than arrays."""

FEW = 8.0
"""Words of a row that are drawn at first, about."""

Largest: TypeAlias = Callable[[Indices, float, int], list[int]]
"""Positions of the ``k`` largest numbers with noise of a scale."""


class Rows(Protocol):
    """Unit scores in rows, less the best of each, of which few are computed; private."""

    shape: tuple[int, int]

    def near(self, reach: Values) -> tuple[Indices, Indices]:
        """Return the first position of each row, and the end, of all near its best score.

        Others are less by more than ``reach``; the best is among those that are returned.

        Args:
            reach: Some distances, of which each has a row of answers; of an infinite one all
                positions that can be drawn.
        """

    def at(self, row: Indices, place: Indices) -> Scores:
        """Return the scores at positions of rows."""

    def __array__(self) -> Scores:
        """Return all scores."""


@sampler
def top_k_exponential_noise(scores: Scores, epsilon: float, k: int) -> list[int]:
    """Draw ``k`` positions, each round the maximum after fresh exponential noise."""
    return in_rounds(partial(_largest, Noise.EXPONENTIAL), scores, epsilon, k)


@sampler
def top_k_laplace_noise(scores: Scores, epsilon: float, k: int) -> list[int]:
    """Draw ``k`` positions, each round the maximum after fresh discrete Laplace noise.

    A tie goes to the earlier candidate. The proof of report-noisy-max holds for a fixed
    order: given the others' noise, a candidate wins if its own exceeds an integer that one
    neighbour step moves by at most two sensitivities.
    """
    return in_rounds(partial(_largest, Noise.LAPLACE), scores, epsilon, k)


@sampler
def top_k_gumbel_noise(scores: Scores, epsilon: float, k: int) -> list[int]:
    """Draw the ``k`` largest positions after Gumbel noise, once for all rounds."""
    return _largest(Noise.GUMBEL, to_grid(scores), scale_for(epsilon, k), k)


@sampler
def largest_of_each(scores: Rows, epsilon: float) -> Indices:
    """Draw a position of each row, the maximum after fresh exponential noise.

    The noisy score is at least the best, since no noise is below 0. Of scores that are far
    below it nearly all words do not begin with as many zeros as reach it, and these are neither
    drawn nor are their scores computed. Where there are many that reach it, those are drawn at
    first that reach so far beyond it that few do; as long as none does, some more are.

    Args:
        scores: At least one in each row. Private.
        epsilon: Epsilon of each row. Public.

    Returns:
        Shape ``(rows,)``; the distribution of each is that of ``top_k_exponential_noise``.
    """
    scale, (rows, size) = scale_for(epsilon, 1), scores.shape
    [start], [stop] = scores.near(np.array([inf]))
    if (stop - start).sum() <= CHUNK:
        row, place = spans(start, stop - start)
        return _of_rows(scores, row, place, source.words(row.size), scale)
    first, sizes, zeros = _shells(scores, scale)
    weight = (sizes * 2.0**-zeros).sum(axis=1)
    beyond = np.log2(weight / FEW).clip(0, MOST - FARTHEST).astype(np.int64)
    row, place, words = _reaching(first, sizes, zeros + beyond[:, None])
    highest, new = np.full(rows, -inf), np.arange(row.size)
    while True:
        numbers = to_grid(scores.at(row[new], place[new]))
        low, _ = bounds_of(Noise.EXPONENTIAL, numbers, scale, words[None, new])
        np.maximum.at(highest, row[new], low)
        # Those that were not drawn are below so much.
        left = np.flatnonzero((beyond > 0) & (highest < beyond * FIRST_BIT * scale))
        if left.size == 0:
            break
        fewer = np.minimum(beyond[left], 2 * EVERY)
        beyond[left] -= fewer
        of, at, more = _reaching(first[left], sizes[left], zeros + beyond[left, None], fewer)
        old = np.isin(row, left)
        new = np.flatnonzero(~np.isin(left[of] * size + at, row[old] * size + place[old]))
        row, place = np.append(row, left[of[new]]), np.append(place, at[new])
        words = np.append(words, more[new])
        new = np.arange(row.size - new.size, row.size)
    order = np.argsort(row, kind="stable")
    return _of_rows(scores, row[order], place[order], words[order], scale)


def _shells(scores: Rows, scale: float) -> tuple[Indices, Indices, Indices]:
    """Return positions in parts that are further and further below the best score.

    Returns:
        Where each part begins and how many positions it has, shape ``(rows, parts)``, and how
        many zeros words begin with that reach the best score from there, shape ``(parts,)``.
    """
    zeros = np.arange(EVERY, FARTHEST + 1, EVERY)
    # Up to two steps are what rounding to the grid changes of a distance.
    reach = (zeros * FIRST_BIT * scale + 2) / STEPS_PER_UNIT
    near = scores.near(np.append(reach, inf))
    first, end = np.minimum.accumulate(near[0]), np.maximum.accumulate(near[1])
    edges = np.concatenate([first[::-1], end])
    return edges[:-1].T, np.diff(edges, axis=0).T, np.concatenate([zeros[::-1], [0], zeros])


def _reaching(
    first: Indices, sizes: Indices, zeros: Indices, beyond: Indices | None = None
) -> tuple[Indices, Indices, Words]:
    """Draw the words of all positions that begin with as many zeros as those of their part.

    Args:
        first: Where each part begins, as from ``_shells``.
        sizes: How many positions it has.
        zeros: How many zeros are wanted, of this shape.
        beyond: So many more zeros of each row no word begins with, as was drawn before.

    Returns:
        Their rows, positions and words.
    """
    run, at = struck(sizes.ravel(), zeros.ravel())
    row, bits = run // sizes.shape[1], zeros.ravel()[run].astype(np.uint64)
    words = source.words(run.size) >> bits
    place = first.ravel()[run] + at
    if beyond is None:
        return row, place, words
    others = np.uint64(WORD) - bits - beyond[row].astype(np.uint64)
    again = np.flatnonzero(words >> others == 0)
    while again.size:
        words[again] = source.words(again.size)
        again = again[words[again] >> others[again] == 0]
    reach = np.flatnonzero(words >> (np.uint64(WORD - 1) - bits) >> np.uint64(1) == 0)
    return row[reach], place[reach], words[reach]


def _of_rows(scores: Rows, row: Indices, place: Indices, words: Words, scale: float) -> Indices:
    """Return the place of the largest noisy score of each row, of rows in their order."""
    numbers = to_grid(scores.at(row, place))
    noisy = Bounds(words[None], *bounds_of(Noise.EXPONENTIAL, numbers, scale, words[None]))
    least = np.maximum.reduceat(noisy.low, row.searchsorted(np.arange(row[-1] + 1)))
    [left] = (noisy.high >= least[row]).nonzero()
    drawn = np.empty(least.size, dtype=np.int64)
    drawn[row[left]] = place[left]
    for one in np.flatnonzero(np.bincount(row[left]) > 1).tolist():
        at = left[row[left] == one]
        order = _sorted(Noise.EXPONENTIAL, numbers[at].tolist(), scale, noisy.of(at).each())
        drawn[one] = place[at[order[0]]]
    return drawn


def in_rounds(largest: Largest, scores: Scores, epsilon: float, k: int) -> list[int]:
    """Draw ``k`` positions, each as the largest of those that are left with fresh noise."""
    grid, scale = to_grid(scores), scale_for(epsilon, k)
    if k == 1:
        return largest(grid, scale, 1)
    left = np.arange(grid.size)
    chosen: list[int] = []
    for _ in range(k):
        [best] = largest(grid[left], scale, 1)
        chosen.append(int(left[best]))
        left = left[left != left[best]]
    return chosen


def _largest(noise: Noise, grid: Indices, scale: float, k: int) -> list[int]:
    """Return the positions of the ``k`` largest noisy scores, the largest first."""
    if grid.size <= SCALARS:
        return _largest_of_few(noise, grid.tolist(), scale, k)
    below_best = grid - grid.max()
    parts = []
    for first in range(0, grid.size, CHUNK):
        drawn = bounds(noise, below_best[first : first + CHUNK], scale)
        left = _contenders(drawn, k)
        parts.append((first + left, *drawn.of(left)))
    position, *known = parts[0]
    if len(parts) > 1:
        position, *known = (np.concatenate(one, axis=-1) for one in zip(*parts, strict=True))
        left = _contenders(Bounds(*known), k)
        position, *known = position[left], *Bounds(*known).of(left)
    if position.size == 1:
        return position.tolist()
    order = _sorted(noise, below_best[position].tolist(), scale, Bounds(*known).each())
    return position[order[:k]].tolist()


def _largest_of_few(noise: Noise, numbers: list[int], scale: float, k: int) -> list[int]:
    """Return the positions of the ``k`` largest, of so few that arrays are slower.

    The words, their bounds and what decides between them are those of many.
    """
    words, best = source.words(noise.uniforms, len(numbers)).T.tolist(), max(numbers)
    below_best = [number - best for number in numbers]
    noisy = [*map(bounds_of, repeat(noise), below_best, repeat(scale), words)]
    least = sorted([low for low, _ in noisy])[-k]
    left = [at for at, (_, high) in enumerate(noisy) if high >= least]
    if len(left) == 1:
        return left
    known = [Bounds(words[at], *noisy[at]) for at in left]
    order = _sorted(noise, [below_best[at] for at in left], scale, known)
    return [left[at] for at in order[:k]]


def _sorted(noise: Noise, numbers: list[int], scale: float, known: list[Bounds]) -> list[int]:
    """Return positions by their noisy numbers, the largest first."""
    pairs = zip(numbers, known, strict=True)
    noisy = [Refined(noise, number, scale, *one) for number, one in pairs]
    # A tie goes to the earlier one: sorting keeps their order.
    return sorted(range(len(noisy)), key=noisy.__getitem__, reverse=True)


def _contenders(noisy: Bounds, k: int) -> Indices:
    """Return the positions of those that can be among the ``k`` largest."""
    # k of them are at least the k-th largest lower bound.
    least = np.partition(noisy.low, -k)[-k] if noisy.low.size > k else -inf
    return np.flatnonzero(noisy.high >= least)


def scale_for(epsilon: float, k: int) -> float:
    """Return the noise scale for epsilon / k a round, in grid steps, rounded up."""
    scale = nextafter(2 * SENSITIVITY * k / float(epsilon), inf)
    if not scale <= MOST_SCALE:
        raise ParameterError(f"epsilon / k must be at least 1e-240, got {epsilon / k!r}")
    return scale
