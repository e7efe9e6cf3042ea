r"""Estimates of metrics of hubs from noisy degrees and noisy edges in ego networks.

They are post-processing: all they see is released. With :math:`d` neighbours and :math:`T`
edges between them, the density is :math:`p = T / \binom d2`. In a random ego network of this
density two neighbours have a number of common neighbours with the law
:math:`\mathrm{Bin}(d - 2, p^2)`, and the mean of :math:`1/(k + 1)` is
:math:`(1 - (1 - p^2)^{d-1}) / ((d - 1) p^2)`. So the ego betweenness is estimated as

.. math:: \binom d2 (1 - p) \, \frac{1 - (1 - p^2)^{d - 1}}{(d - 1) p^2}.

Noisy densities are drawn to their mean by the share of their variance that is noise (empirical
Bayes), so that with much noise the order is that of the degrees.
"""

from __future__ import annotations

import numpy as np

from dpselect.typing import Values

ROUNDS = 20
"""Of the fixed point of the mean and the variance of densities."""


def pairs_of(degrees: Values) -> Values:
    """Return the number of pairs of neighbours."""
    return degrees * (degrees - 1) / 2


def densities(edges: Values, deviations: Values, degrees: Values) -> Values:
    """Return densities of ego networks, drawn to their mean where they are mostly noise.

    Args:
        edges: Noisy numbers of edges between neighbours, shape ``(m,)``.
        deviations: Standard deviations of their noise.
        degrees: Noisy degrees, >= 2.

    Returns:
        Shape ``(m,)``, in [0, 1].
    """
    noisy, variances = edges / pairs_of(degrees), (deviations / pairs_of(degrees)) ** 2
    spread = 0.0
    for _ in range(ROUNDS):
        weights = 1 / (variances + spread)
        mean = (weights @ noisy) / weights.sum()
        excess = (noisy - mean) ** 2 - variances
        spread = max(0.0, float(weights**2 @ excess / (weights**2).sum()))
    drawn = mean + spread / (spread + variances) * (noisy - mean)
    return np.clip(drawn, 0.0, 1.0)


def ego_betweenness(densities: Values, degrees: Values) -> Values:
    """Return the mean ego betweenness of random ego networks of these densities."""
    square = densities**2
    others = degrees - 1
    with np.errstate(divide="ignore"):
        met = -np.expm1(others * np.log1p(-np.minimum(square, 1.0)))
    shares = np.where(square > 0, met / np.maximum(others * square, 1e-300), 1.0)
    return pairs_of(degrees) * (1 - densities) * np.minimum(shares, 1.0)
