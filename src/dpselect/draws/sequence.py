r"""Laws of the largest of several integers with discrete Laplace noise.

Every candidate has an integer :math:`c_r` and gets noise :math:`Z_r` of its own,
:math:`P(Z = z) = \frac{1 - \alpha}{1 + \alpha} \alpha^{|z|}` with
:math:`\alpha = e^{-1/\text{scale}}`. Candidates are ordered by :math:`X_r = c_r + Z_r`, and of
equal ones the earlier is first. The laws are sums over the values of one candidate, exact up to
what is beyond ``TAIL`` scales of it (:math:`e^{-45}`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpselect.draws.noisy_max import LaplaceNoisyMax
from dpselect.typing import Indices, Probabilities, Values

TAIL = 45.0
LARGEST_SCALE = 512.0
"""Above it the first is computed for continuous noise; ties have less than 1 / scale then."""

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


def first(counts: Indices, scale: float) -> Probabilities:
    """Return the probability of each candidate to be the largest.

    Args:
        counts: Shape ``(n,)``.
        scale: Of the noise, in counts. Above ``LARGEST_SCALE`` the law is that of continuous
            noise, from which it differs by at most the probability of a tie.

    Returns:
        Shape ``(n,)``; sums to 1. As private as the counts.
    """
    if scale > LARGEST_SCALE:
        return LaplaceNoisyMax().law(counts.astype(np.float64), 2 / scale)
    law = np.zeros(counts.size)
    near = counts >= counts.max() - 2 * TAIL * scale
    law[near] = _leads(counts[near], scale).sum(axis=0)
    return law / law.sum()


def _leads(counts: Indices, scale: float) -> Values:
    """Return the probability of each to be the largest, in chunks of its values, summed."""
    return np.array(
        [
            (_mass(x, counts, scale) * np.exp(_log_others_below(x, counts, scale))).sum(axis=0)
            for x in _chunks(counts.max(), counts.max(), scale, counts.size)
        ]
    )


def _log_others_below(x: Indices, counts: Indices, scale: float) -> Values:
    """Return the log probability that all others are behind a candidate of value ``x``.

    Earlier candidates must be below ``x``, later ones at most ``x``.
    """
    at_most = _log_at_most(x, counts, scale)
    below = _log_at_most(x - 1, counts, scale) - at_most
    earlier = np.cumsum(below, axis=1) - below
    return at_most.sum(axis=1, keepdims=True) - at_most + earlier


def all_before(counts: Indices, scale: float, chosen: NDArray[np.bool_]) -> float:
    """Return the probability that all chosen candidates are before all others.

    Args:
        counts: Shape ``(n,)``.
        scale: Of the noise, in counts.
        chosen: Shape ``(n,)``, boolean.
    """
    if chosen.all() or not chosen.any():
        return 1.0
    rest, high = counts[~chosen], counts[chosen]
    places, high_places = np.flatnonzero(~chosen), np.flatnonzero(chosen)
    near = rest >= rest.max() - 2 * TAIL * scale
    rest, places = rest[near], places[near]
    # Sum over the best of the rest and its value; a chosen one that is earlier may equal it.
    earlier = np.searchsorted(high_places, places)
    total = 0.0
    for x in _chunks(rest.max(), rest.max(), scale, max(rest.size, high.size)):
        best = np.log(_mass(x, rest, scale)) + _log_others_below(x, rest, scale)
        reach = _log_at_most(-x, -high, scale)
        beyond = _log_at_most(-x - 1, -high, scale)
        sums = np.zeros((x.size, high.size + 1))
        np.cumsum(reach - beyond, axis=1, out=sums[:, 1:])
        above = beyond.sum(axis=1, keepdims=True) + sums[:, earlier]
        total += float(np.exp(best + above).sum())
    return min(total, 1.0)


def included(counts: Indices, scale: float, k: int) -> Probabilities | None:
    """Return the probability of each candidate to be among the ``k`` largest.

    Dynamic programming over the candidates before and after each: how many of them are ahead
    of a value. In O(n k) for each value; None where that is above ``MOST_CELLS``.

    Args:
        counts: Shape ``(n,)``.
        scale: Of the noise, in counts.
        k: 1 to ``n``.

    Returns:
        Shape ``(n,)``; sums to ``k``. As private as the counts.
    """
    last = np.partition(counts, counts.size - k)[counts.size - k]
    near = np.flatnonzero(counts >= last - 2 * TAIL * scale)
    values = counts.max() - last + 2 * TAIL * scale
    if near.size * values * k > MOST_CELLS:
        return None
    [x] = _chunks(counts.max(), last, scale, 1)
    close = counts[near]
    ahead_if_earlier = np.exp(_log_at_most(-x, -close, scale))
    ahead_if_later = np.exp(_log_at_most(-x - 1, -close, scale))
    after = np.zeros((near.size, x.size, k))
    state = _none_ahead(x.size, k)
    for r in range(near.size - 1, -1, -1):
        after[r] = np.cumsum(state, axis=1)
        state = _one_more(state, ahead_if_later[:, r])
    law = np.zeros(counts.size)
    state = _none_ahead(x.size, k)
    mass = _mass(x, close, scale)
    for r, place in enumerate(near):
        law[place] = mass[:, r] @ (state * after[r, :, ::-1]).sum(axis=1)
        state = _one_more(state, ahead_if_earlier[:, r])
    return law


def _none_ahead(values: int, k: int) -> Values:
    state = np.zeros((values, k))
    state[:, 0] = 1
    return state


def _one_more(state: Values, ahead: Values) -> Values:
    """Return the law of the number ahead with one more candidate; ``k`` and more are lost."""
    moved = state * (1 - ahead)[:, None]
    moved[:, 1:] += state[:, :-1] * ahead[:, None]
    return moved


def _chunks(high: int, low: int, scale: float, width: int) -> Iterator[Indices]:
    """Yield all values that matter, in stretches for tables of so many columns."""
    values = np.arange(int(low - TAIL * scale), int(high + TAIL * scale) + 2)
    rows = values.size if width == 1 else max(1, CELLS // width)
    for start in range(0, values.size, rows):
        yield values[start : start + rows]


def _mass(x: Indices, counts: Indices, scale: float) -> Values:
    """Return ``P(X_r = x)``, shape ``(x, n)``."""
    return np.tanh(0.5 / scale) * np.exp(-np.abs(x[:, None] - counts) / scale)


def _log_at_most(x: Indices, counts: Indices, scale: float) -> Values:
    r"""Return :math:`\ln P(X_r \le x)`, shape ``(x, n)``.

    With :math:`d = x - c_r` it is :math:`\alpha^{-d}/(1 + \alpha)` for :math:`d < 0`, else
    :math:`1 - \alpha^{d+1}/(1 + \alpha)`.
    """
    d = x[:, None] - counts
    side = np.log1p(np.exp(-1 / scale))
    tail = np.exp(-np.abs(d + 1) / scale - side)
    return np.where(d < 0, d / scale - side, np.log1p(-tail))
