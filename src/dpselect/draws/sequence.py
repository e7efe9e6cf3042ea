r"""Laws of the largest of several integers with independent noise.

Every candidate has an integer :math:`c_r` and gets noise :math:`Z_r` of its own
(:mod:`dpselect.draws.sequence_noise`). Candidates are ordered by :math:`X_r = c_r + Z_r`, and
of equal ones the earlier is first. The laws are sums over the values of one candidate, exact up
to what is beyond the ``reach`` of the noise, at most :math:`e^{-45}`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpselect.draws.noisy_max import LaplaceNoisyMax
from dpselect.draws.sequence_noise import LARGEST_SCALE, DiscreteLaplace, Noise
from dpselect.typing import Indices, Probabilities, Values

CELLS = 2**21
"""Numbers held at a time."""

MOST_CELLS = 2**24
"""Candidates times values times k up to which the law of the top k is computed."""


def largest(noisy: Indices, k: int) -> list[int]:
    """Return the positions of the ``k`` largest in order, of equal ones the earlier first."""
    near = np.arange(noisy.size)
    if k < noisy.size:
        near = np.flatnonzero(noisy >= np.partition(noisy, noisy.size - k)[noisy.size - k])
    order = np.argsort(-noisy[near], kind="stable")[:k]
    return [int(position) for position in near[order]]


def first(counts: Indices, noise: Noise) -> Probabilities:
    """Return the probability of each candidate to be the largest.

    Args:
        counts: Shape ``(n,)``.
        noise: The noise, in counts. Laplace noise of a scale above ``LARGEST_SCALE`` is taken
            as continuous; the law differs by at most the probability of a tie.

    Returns:
        Shape ``(n,)``; sums to 1. As private as the counts.
    """
    if isinstance(noise, DiscreteLaplace) and noise.scale > LARGEST_SCALE:
        return LaplaceNoisyMax().law(counts.astype(np.float64), 2 / noise.scale)
    law = np.zeros(counts.size)
    near = counts >= counts.max() - 2 * noise.reach
    held = counts[near]
    law[near] = sum(
        (noise.mass(d) * np.exp(_log_others_below(d, noise))).sum(axis=0)
        for x in _chunks(held.max(), held.max(), noise, held.size)
        for d in [x[:, None] - held]
    )
    return law / law.sum()


def _log_others_below(d: Values, noise: Noise) -> Values:
    """Return the log probability that all others are behind a candidate of value ``x``.

    Earlier candidates must be below ``x``, later ones at most ``x``; ``d`` is ``x`` less the
    counts, shape ``(x, n)``.
    """
    at_most = noise.log_at_most(d)
    below = noise.log_below(d) - at_most
    earlier = np.cumsum(below, axis=1) - below
    return at_most.sum(axis=1, keepdims=True) - at_most + earlier


def all_before(counts: Indices, noise: Noise, chosen: NDArray[np.bool_]) -> float:
    """Return the probability that all chosen candidates are before all others.

    Args:
        counts: Shape ``(n,)``.
        noise: The noise, in counts.
        chosen: Shape ``(n,)``, boolean.
    """
    if chosen.all() or not chosen.any():
        return 1.0
    rest, high = counts[~chosen], counts[chosen]
    places, high_places = np.flatnonzero(~chosen), np.flatnonzero(chosen)
    near = rest >= rest.max() - 2 * noise.reach
    rest, places = rest[near], places[near]
    # Sum over the best of the rest and its value; a chosen one that is earlier may equal it.
    earlier = np.searchsorted(high_places, places)
    total = 0.0
    for x in _chunks(rest.max(), rest.max(), noise, max(rest.size, high.size)):
        d = x[:, None] - rest
        best = np.log(noise.mass(d)) + _log_others_below(d, noise)
        reach = noise.log_at_most(high - x[:, None])
        beyond = noise.log_below(high - x[:, None])
        sums = np.zeros((x.size, high.size + 1))
        np.cumsum(reach - beyond, axis=1, out=sums[:, 1:])
        above = beyond.sum(axis=1, keepdims=True) + sums[:, earlier]
        total += float(np.exp(best + above).sum())
    return min(total, 1.0)


def included(counts: Indices, noise: Noise, k: int) -> Probabilities | None:
    """Return the probability of each candidate to be among the ``k`` largest.

    Dynamic programming over the candidates before and after each: how many of them are ahead
    of a value. In O(n k) for each value; None where that is above ``MOST_CELLS``.

    Args:
        counts: Shape ``(n,)``.
        noise: The noise, in counts.
        k: 1 to ``n``.

    Returns:
        Shape ``(n,)``; sums to ``k``. As private as the counts.
    """
    last = np.partition(counts, counts.size - k)[counts.size - k]
    near = np.flatnonzero(counts >= last - 2 * noise.reach)
    values = (counts.max() - last + 2 * noise.reach) / noise.spacing
    if near.size * values * k > MOST_CELLS:
        return None
    [x] = _chunks(counts.max(), last, noise, 1)
    d = x[:, None] - counts[near]
    ahead_if_earlier = np.exp(noise.log_at_most(-d))
    ahead_if_later = np.exp(noise.log_below(-d))
    after = np.zeros((near.size, x.size, k))
    state = none_ahead(x.size, k)
    for r in range(near.size - 1, -1, -1):
        after[r] = np.cumsum(state, axis=1)
        state = one_more(state, ahead_if_later[:, r])
    law = np.zeros(counts.size)
    state = none_ahead(x.size, k)
    mass = noise.mass(d)
    for r, place in enumerate(near):
        law[place] = mass[:, r] @ (state * after[r, :, ::-1]).sum(axis=1)
        state = one_more(state, ahead_if_earlier[:, r])
    return law


def none_ahead(values: int, k: int) -> Values:
    """Return the law of the number ahead before any candidate, shape ``(values, k)``."""
    state = np.zeros((values, k))
    state[:, 0] = 1
    return state


def one_more(state: Values, ahead: Values) -> Values:
    """Return the law of the number ahead with one more candidate; ``k`` and more are lost."""
    moved = state * (1 - ahead)[:, None]
    moved[:, 1:] += state[:, :-1] * ahead[:, None]
    return moved


def _chunks(high: int, low: int, noise: Noise, width: int) -> Iterator[Values]:
    """Yield all values that matter, in stretches for tables of so many columns."""
    start, end = int(low - noise.reach), int(high + noise.reach) + 2
    values = np.arange(start, end, noise.spacing)
    rows = values.size if width == 1 else max(1, CELLS // width)
    for first_row in range(0, values.size, rows):
        yield values[first_row : first_row + rows]
