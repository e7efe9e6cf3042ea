r"""The exact delta of laws of swaps, and the law of least delta.

A :class:`~dpselect.draws.swaps.DistanceLaw` gives each subset at distance :math:`a` the same
probability :math:`q_a`. Of two neighbours one swap apart, the subsets that hold exactly one of
the two swapped people are at distances :math:`a` and :math:`a + 1`, and

.. math:: \binom{d-1}{a}\binom{n-d-1}{a} = N_a \frac{(d-a)(n-d-a)}{d(n-d)}

of them are at :math:`a` from the one and at :math:`a + 1` from the other. All others are at
the same distance from both. So

.. math::

    \delta(\varepsilon) = \sum_a \binom{d-1}{a}\binom{n-d-1}{a}
        \left[(q_a - e^\varepsilon q_{a+1})_+ + (q_{a+1} - e^\varepsilon q_a)_+\right].
"""

from __future__ import annotations

from math import log
from sys import float_info

import numpy as np

from dpselect.draws.swaps import DistanceLaw, Part, log_sizes, log_sum
from dpselect.typing import Values

RELATIVE_ERROR = 1e-7
"""More than the rounding of log-binomials up to n = 10^6 adds to a probability."""


def delta_of(law: DistanceLaw, epsilon: float) -> float:
    r"""Return the least :math:`\delta` for a given :math:`\varepsilon \ge 0`; O(n)."""
    log_masses, excess = _excesses(law, epsilon, 0.0)
    return min(1.0, float(np.exp(log_masses) @ excess))


def delta_rounded_up(law: DistanceLaw, epsilon: float) -> float:
    """Return a delta that no rounding made too small, as it is spent from a budget.

    It is 0 only if the law is pure; where floats cannot hold it, it is the smallest normal
    one.
    """
    log_masses, excess = _excesses(law, epsilon, RELATIVE_ERROR)
    if not (excess > 0).any():
        return 0.0
    return max(rounded_up(float(np.exp(log_masses) @ excess)), float_info.min)


def rounded_up(delta: float) -> float:
    """Return delta with the relative rounding error added, at most 1."""
    return min(delta * (1 + RELATIVE_ERROR), 1.0)


def _excesses(law: DistanceLaw, epsilon: float, margin: float) -> tuple[Values, Values]:
    """Return log probabilities of sets of outputs, and the share of each that is in delta.

    The probabilities at the border of two parts are known up to a factor ``exp(margin)``.
    """
    weights = law.log_weights()
    a = np.arange(weights.size - 1)
    moved = log_sizes(law.n, law.d)[:-1] + np.log(
        (law.d - a) / law.d * ((law.n - law.d - a) / (law.n - law.d))
    )
    drop = _drops(law, weights, margin)
    rise = -_drops(law, weights, -margin)
    return (
        np.concatenate([moved + weights[:-1], moved + weights[1:]]),
        np.concatenate([_excess(epsilon - drop), _excess(epsilon - rise)]),
    )


def _drops(law: DistanceLaw, weights: Values, margin: float) -> Values:
    """Return log q_a - log q_{a+1}; inside a part it is the decay, without rounding."""
    with np.errstate(invalid="ignore"):
        drops = weights[:-1] - weights[1:] + margin
    for part in law.parts:
        drops[part.first : part.last] = part.decay
    # Two impossible distances add nothing to delta.
    return np.nan_to_num(drops, nan=0.0, posinf=np.inf, neginf=-np.inf)


def _excess(exponent: Values) -> Values:
    return -np.expm1(np.minimum(exponent, 0.0))


def optimal_law(n: int, d: int, beta: int, epsilon: float, failure: float) -> DistanceLaw:
    r"""Return the law of least :math:`\delta` for at most ``beta`` swaps but for ``failure``.

    Mass ``1 - failure`` lies within ``beta``, the rest beyond, both tilted by
    :math:`e^{-\varepsilon a}`. Where that would make a subset at distance ``beta + 1`` more
    likely than :math:`e^{-\varepsilon}` times one at ``beta``, the mass beyond is reduced to
    that ratio: the law of the ``distance`` scheme, with :math:`\delta = 0`.

    Source: the optimum is ours; ``docs/retrieval.md`` has the proof.
    """
    most = min(d, n - d)
    pure = DistanceLaw(n, d, (Part(0, most, 1.0, epsilon),))
    if beta == most:
        return pure
    ball = _log_tilted_sum(n, d, 0, beta, epsilon)
    tail = _log_tilted_sum(n, d, beta + 1, most, epsilon)
    # The pure law puts e^(tail - ball) times as much beyond beta as within.
    if failure > 0 and log(failure) - np.log1p(-failure) >= tail - ball:
        return pure
    parts = [Part(0, beta, 1 - failure, epsilon)]
    if failure > 0:
        parts.append(Part(beta + 1, most, failure, epsilon))
    return DistanceLaw(n, d, tuple(parts))


def _log_tilted_sum(n: int, d: int, first: int, last: int, decay: float) -> float:
    r"""Return :math:`\ln \sum_{a=\text{first}}^{\text{last}} N_a e^{-\text{decay}\, a}`."""
    at = np.arange(first, last + 1)
    return log_sum(log_sizes(n, d)[at] - decay * at)


def union_masses(n: int, d: int, beta: int) -> Values:
    """Return P[a strangers in the output], a = 0 to ``beta``, of the union scheme.

    ``beta`` of ``n`` people are drawn without replacement, and ``n - d`` are strangers.
    """
    from scipy.stats import hypergeom

    return hypergeom.pmf(np.arange(beta + 1), n, n - d, beta)
