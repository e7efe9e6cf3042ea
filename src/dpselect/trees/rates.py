"""Objectives of candidate classifiers: true positive and negative rates, and their sum.

One record more or less moves a rate little where there are many of its class, but how many
there are is private: globally a rate can move by 1. Two ways out:

- the local sensitivity (``true_positive_rate``): exact at every distance;
- a public denominator (``rate_over``): spend a little of epsilon once on noisy class totals and
  the rates become counts over public numbers, monotone, thousands of times less sensitive.

Source: Farias et al., PrivPareto, section 6. Lemma 6.1 as printed is not admissible.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from dpselect import validation
from dpselect._twofold import of_fractions, quotient
from dpselect.errors import ParameterError, ScoresError
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Objective
from dpselect.sensitivity import GlobalSensitivity, Interval, LocalSensitivity, Sensitivity
from dpselect.sensitivity.base import checked_distances
from dpselect.trees import kernels
from dpselect.typing import Indices, Values

LONG = 1000
"""From so many terms on the harmonic series is an expansion, right to 2^-66."""

FAR = 2**20
"""Default horizon: no real class has a million records removed before scores are told apart."""


class RateSensitivity(Sensitivity):
    """The local sensitivity of ``hits / total`` under add/remove, exact at every distance.

    With ``P`` records of the class, ``M`` the larger and ``m`` the smaller of hits and misses,
    and at least two records left, ``P - t ≥ 2``:

    =============  ============================
    ``t < m``      ``M / ((P - t)(P - t - 1))``
    ``t ≥ m ≥ 1``  ``1/(P - t)``
    ``m = 0``      ``1/(P - t + 1)``
    =============  ============================

    In the worst case the smaller of hits and misses is removed down to one record, and that
    record last. With one record left the sensitivity is 1 if removing it can change the rate
    from 1 to 0/0 := 0, else 1/2; with none it is 1.

    Args:
        hits: Correctly classified records of the class, shape ``(n,)``. Private.
        total: Records of the class. Private.
        horizon: The distance from which on the bound 1 is used. Public.

    Guarantee:
        Admissible under add/remove, for rates with 0/0 := 0.
    """

    def __init__(self, hits: Indices, total: int, horizon: int) -> None:
        super().__init__(1.0, Neighbours.ADD_REMOVE, horizon)
        self._total = total
        self._hits, self._more = hits, np.maximum(hits, total - hits)
        self._less = total - self._more
        self._shift = np.where(self._less > 0, 0, 1)
        self._last = np.where(hits >= 1, 1.0, 0.5)

    @property
    def closed_form(self) -> bool:
        return True

    def _local(self, distance: int) -> Values:
        hits = np.column_stack([self._hits, np.zeros_like(self._hits)])
        totals = np.array([self._total, 0])
        return kernels.weighted_change(hits, totals, np.array([1.0, 0.0]), distance)

    def cumulative(self, distance: int | Indices) -> Values:
        return self._summed(checked_distances(distance))

    def sums(self, distances: Indices) -> Values:
        return self._summed(checked_distances(distances)[:, np.newaxis])

    def _summed(self, distances: Indices) -> Values:
        inside = np.minimum(distances, self.horizon)
        total = self._total
        body = np.minimum(inside, max(total - 1, 0))
        telescoped = np.minimum(body, self._less)
        left = total - telescoped
        # While the rarer kind is removed, M/((P-t)(P-t-1)) telescopes; after it, harmonic.
        sums = self._more / max(total, 1) * (telescoped / np.maximum(left, 1))
        harmonic = body > telescoped
        if harmonic.any():
            low, high = total - body + self._shift, left + self._shift
            sums[harmonic] += _harmonic(low[harmonic], high[harmonic])
        if distances.max() >= min(total, self.horizon):
            sums += np.where((total >= 1) & (inside >= total), self._last, 0.0)
            sums += np.maximum(inside - total, 0) + (distances - inside)
        return sums


class WeightedRatesSensitivity(Sensitivity):
    """Equal to the local sensitivity of a weighted sum of two rates, 0/0 := 0.

    One record is positive or negative, so within distance ``t`` the sum moves by at most
    ``max(w_1 δ_1(t), w_2 δ_2(t))``, which is attained. The same as the sensitivity of
    ``dpselect.combine.disjoint_sum`` of two exact rates, but dampening by it is hundreds of
    times faster.

    Args:
        hits: Correctly classified records of both classes, shape ``(n, 2)``. Private.
        totals: Records of both classes, shape ``(2,)``. Private.
        weights: Shape ``(2,)``, >= 0, not both 0. Public.
        horizon: The distance from which on the bound is used. Public.

    Guarantee:
        Admissible under add/remove.

    Source: Farias et al., PrivAgg, section 5, whose sum this maximum replaces.
    """

    def __init__(
        self, hits: Indices, totals: Indices, weights: Values, horizon: int = FAR
    ) -> None:
        super().__init__(weights.max(), Neighbours.ADD_REMOVE, horizon)
        self._hits, self._totals, self._weights = hits, totals, weights

    def _local(self, distance: int) -> Values:
        return kernels.weighted_change(self._hits, self._totals, self._weights, distance)

    def locate(self, heights: Values) -> Interval:
        return Interval(
            *kernels.locate_weighted(
                self._hits, self._totals, self._weights, heights, self.horizon
            )
        )


def true_positive_rate(
    tp: ArrayLike,
    positives: int,
    *,
    horizon: int = FAR,
    neighbours: NeighboursLike,
) -> Objective:
    """Return the true positive rates of candidates, 0/0 := 0.

    Guarantee:
        Admissible; it equals the local sensitivity at every distance.

    Args:
        tp: True positives of each candidate, shape ``(n,)``, integers. Private.
        positives: Records of the positive class, the same for all candidates. Private.
        horizon: The distance from which on the bound 1 is used. Public.
        neighbours: ``"add-remove"`` or ``"substitute"``, or the relation itself.

    Raises:
        ScoresError: The counts are not integers from 0 to their total.
        NeighboursError: Another neighbour relation.

    Examples:
        >>> from dpselect import trees
        >>> rates = trees.true_positive_rate([90, 60], 100, neighbours="add-remove")
        >>> rates.scores, rates.sensitivity.at(0).round(5)
        (array([0.9, 0.6]), array([0.00909, 0.00606]))
    """
    hits, total = checked_counts(tp, positives)
    relation = validation.table_neighbours(neighbours)
    sensitivity: Sensitivity = (
        RateSensitivity(hits, total, horizon)
        if relation is Neighbours.ADD_REMOVE
        else LocalSensitivity(lambda t: 1 / max(total - t, 1), 1.0, relation, horizon=horizon)
    )
    return Objective(quotient(hits, np.asarray(max(total, 1))), sensitivity, highest=1.0)


def true_negative_rate(
    tn: ArrayLike,
    negatives: int,
    *,
    horizon: int = FAR,
    neighbours: NeighboursLike,
) -> Objective:
    """Return the true negative rates of candidates; see ``true_positive_rate``."""
    return true_positive_rate(tn, negatives, neighbours=neighbours, horizon=horizon)


def rate_over(hits: ArrayLike, *, total: float, neighbours: NeighboursLike) -> Objective:
    """Return counts over a public number: a rate of global sensitivity ``1 / total``.

    The total can be a released noisy count; below 1 it is taken as 1. A record has one class,
    so rates of two classes combine by ``dpselect.combine.disjoint_sum``.

    Args:
        hits: Correctly classified records of a class, shape ``(n,)``. Private.
        total: Public.
        neighbours: ``"add-remove"`` or ``"substitute"``, or the relation itself.

    Examples:
        >>> from dpselect import trees
        >>> trees.rate_over([90, 60], total=98.0, neighbours="add-remove").sensitivity.bound
        0.01020408163265306
    """
    denominator = max(validation.finite("total", total), 1.0)
    relation = validation.table_neighbours(neighbours)
    counts = np.asarray(hits, dtype=np.float64)
    return Objective(
        counts / denominator,
        GlobalSensitivity(1 / denominator, relation),
        monotone=relation is Neighbours.ADD_REMOVE,
    )


def weighted_rates(
    hits: ArrayLike, totals: tuple[int, int], *, weights: ArrayLike, horizon: int = FAR
) -> Objective:
    """Return weighted sums of both rates of each candidate, under add/remove neighbours.

    Args:
        hits: Correctly classified records of both classes, shape ``(n, 2)``. Private.
        totals: Records of both classes. Private.
        weights: Two numbers >= 0, not both 0. Public.
        horizon: The distance from which on the bound is used. Public.

    Raises:
        ScoresError: The counts are not integers from 0 to their totals.
        ParameterError: The weights are not two numbers >= 0, or both 0.

    Examples:
        >>> from dpselect import trees
        >>> trees.weighted_rates([[90, 10], [60, 20]], (100, 20), weights=(3, 1)).scores
        array([3.2, 2.8])
    """
    pairs = np.asarray(hits)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ParameterError("`hits` must be of shape (candidates, 2)")
    columns = [checked_counts(pairs[:, k], totals[k]) for k in (0, 1)]
    factors = np.asarray(weights, dtype=np.float64)
    if factors.shape != (2,) or not (factors >= 0).all() or not factors.any():
        raise ParameterError("`weights` must be two numbers >= 0, not both 0")
    for factor in factors:
        validation.finite("weights", float(factor))
    counts = np.stack([column for column, _ in columns], axis=1)
    sizes = np.array([total for _, total in columns])
    sensitivity = WeightedRatesSensitivity(counts, sizes, factors, horizon)
    parts = [
        (Fraction(factor), max(total, 1))
        for factor, total in zip(factors.tolist(), sizes.tolist(), strict=True)
    ]
    scores = of_fractions(
        [
            sum(
                weight * Fraction(hit, total)
                for hit, (weight, total) in zip(row, parts, strict=True)
            )
            for row in counts.tolist()
        ]
    )
    # Upwards, because the scores are rounded sums.
    highest = float(factors.sum()) * (1 + 1e-12)
    return Objective(scores, sensitivity, highest=highest)


def checked_counts(hits: ArrayLike, total: int) -> tuple[Indices, int]:
    """Return counts and their total as integers.

    Raises:
        ScoresError: They are not integers from 0 to their total.
    """
    counts = np.asarray(hits)
    whole = counts.ndim == 1 and counts.dtype.kind in "iu" and counts.size > 0
    if not whole or not validation.is_integer(total):
        raise ScoresError("counts must be integers, one for each candidate, and a total")
    if not ((counts >= 0) & (counts <= total)).all():
        raise ScoresError("counts must be from 0 to their total")
    return counts.astype(np.int64), int(total)


def _harmonic(low: Indices, high: Indices) -> Values:
    """Return ``1/(l + 1) + ... + 1/h`` for ``0 <= low <= high``, without cancellation.

    Sums from 1 on are ``ψ(n + 1) + const``, and that is
    ``ln x + 1/(24 x^2) - 7/(960 x^4) + O(x^-6)`` with ``x = n + 1/2``.
    """
    from scipy.special import digamma

    x, y = (np.asarray(n, dtype=np.float64) + 0.5 for n in (low, high))
    later, sooner = (1 / (24 * z**2) - 7 / (960 * z**4) for z in (y, x))
    sums = np.log1p((y - x) / x) + (later - sooner)
    if (x > LONG).all():
        return np.asarray(sums)
    return np.where(x > LONG, sums, digamma(y + 0.5) - digamma(x + 0.5))
