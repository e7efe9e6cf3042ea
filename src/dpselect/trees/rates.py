"""Objectives of candidate classifiers: true positive and negative rates, and their sum.

One record more or less moves a rate little where there are many of its class, but how many
there are is private: globally a rate can move by 1. Two ways out:

- the local sensitivity (``true_positive_rate``): exact at every distance;
- a public denominator (``rate_over``): spend a little of epsilon once on noisy class totals and
  the rates become counts over public numbers, monotone, thousands of times less sensitive.

Source: Farias et al., PrivPareto, section 6. Lemma 6.1 as printed is not admissible.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpselect import validation
from dpselect._compiled import compiled
from dpselect._twofold import quotient
from dpselect.errors import ParameterError, ScoresError
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Objective
from dpselect.sensitivity import GlobalSensitivity, Interval, LocalSensitivity, Sensitivity
from dpselect.sensitivity.base import checked_distances
from dpselect.typing import Indices, Values

LARGEST = float(np.finfo(np.float64).max)
"""Largest weight."""

FAR = 2**20
"""Default horizon: no real class has a million records removed before scores are told apart."""


@compiled
def rate_change(hits: int, total: int, distance: int) -> float:
    """Return the largest change of ``hits / total`` within a distance, 0/0 := 0."""
    left = total - distance
    if left < 1:
        return 1.0
    if left == 1:
        return 1.0 if hits >= 1 else 0.5
    more = max(hits, total - hits)
    less = total - more
    if distance < less:
        return more / (left * (left - 1.0))
    return 1.0 / left if less > 0 else 1.0 / (left + 1)


@compiled
def record_change(hits: Indices, totals: Indices, weights: Values, distance: int) -> float:
    """Return the largest change of the weighted sum: one record is of one class."""
    return max(
        weights[0] * rate_change(hits[0], totals[0], distance),
        weights[1] * rate_change(hits[1], totals[1], distance),
    )


@compiled
def weighted_change(hits: Indices, totals: Indices, weights: Values, distance: int) -> Values:
    """Return the largest change of each weighted sum within a distance."""
    out = np.zeros(hits.shape[0])
    for r in range(hits.shape[0]):
        out[r] = record_change(hits[r], totals, weights, distance)
    return out


@compiled
def walk_weighted(
    hits: Indices, totals: Indices, weights: Values, heights: Values, upto: Indices
) -> Values:
    """Return steps, start and width of the interval of each height, shape ``(3, n)``.

    The sums of changes are compensated as in ``RunningSum``.

    Args:
        hits: Shape ``(n, 2)``.
        totals: Shape ``(2,)``.
        weights: Shape ``(2,)``, >= 0.
        heights: Shape ``(n,)``.
        upto: The most steps of each, shape ``(n,)``.
    """
    out = np.zeros((3, heights.size))
    for r in range(heights.size):
        total, lost, t = 0.0, 0.0, 0
        delta = record_change(hits[r], totals, weights, t)
        while t < upto[r] and total + lost + delta <= heights[r]:
            raised = total + delta
            lost += max(total, delta) - raised + min(total, delta)
            total = raised
            t += 1
            delta = record_change(hits[r], totals, weights, t)
        out[0, r], out[1, r], out[2, r] = t, total + lost, delta
    return out


class WeightedRatesSensitivity(Sensitivity):
    """Equal to the local sensitivity of a weighted sum of two rates under add/remove, 0/0 := 0.

    With ``P`` records of a class, ``M`` the larger and ``m`` the smaller of hits and misses,
    and at least two records left, ``P - t ≥ 2``, the rate ``hits / P`` moves within distance
    ``t`` by at most

    =============  ============================
    ``t < m``      ``M / ((P - t)(P - t - 1))``
    ``t ≥ m ≥ 1``  ``1/(P - t)``
    ``m = 0``      ``1/(P - t + 1)``
    =============  ============================

    In the worst case the smaller of hits and misses is removed down to one record, and that
    record last. With one record left the sensitivity is 1 if removing it can change the rate
    from 1 to 0/0 := 0, else 1/2; with none it is 1. One record is positive or negative, so the
    sum moves by at most ``max(w_1 δ_1(t), w_2 δ_2(t))``, which is attained.

    It is the sensitivity of ``dpselect.combine.disjoint_sum`` of two rates, but dampening by it
    is tens of times faster. One rate alone has the weights 1 and 0.

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
        self._of = hits, totals, weights

    def _local(self, distance: int) -> Values:
        return weighted_change(*self._of, distance)

    def cumulative(self, distance: int | Indices) -> Values:
        distances = np.broadcast_to(checked_distances(distance), len(self._of[0]))
        inside = np.minimum(distances, self.horizon)
        anywhere = np.full(inside.shape, np.inf)
        _, summed, _ = walk_weighted(*self._of, anywhere, inside)
        return summed + (distances - inside) * self.bound

    def shortfall(self) -> Values:
        return self.horizon * self.bound - self.cumulative(self.horizon)

    def locate(self, heights: Values) -> Interval:
        ends = np.full(heights.shape, self.horizon)
        steps, start, width = walk_weighted(*self._of, heights, ends)
        return Interval(steps, start, np.where(steps < self.horizon, width, self.bound))


def true_positive_rate(
    tp: ArrayLike, positives: int, *, horizon: int = FAR, neighbours: NeighboursLike
) -> Objective:
    """Return the true positive rates of candidates, 0/0 := 0; of the other class, the negative.

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
    sensitivity: Sensitivity
    if relation is Neighbours.ADD_REMOVE:
        pairs, totals = np.column_stack([hits, np.zeros_like(hits)]), np.array([total, 0])
        sensitivity = WeightedRatesSensitivity(pairs, totals, np.array([1.0, 0.0]), horizon)
    else:
        sensitivity = LocalSensitivity(
            lambda t: 1 / max(total - t, 1), 1.0, relation, horizon=horizon
        )
    return Objective(quotient(hits, np.asarray(max(total, 1))), sensitivity, highest=1.0)


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


def checked_weights(weights: Any) -> tuple[float, float]:  # noqa: ANN401 -- whatever it is
    """Return the weights of two rates.

    Raises:
        ParameterError: They are not two numbers >= 0, or both 0.
    """
    given = validation.listed("weights", weights) or ()
    numbers = [validation.within("weights", one, 0, LARGEST) for one in given]
    if len(numbers) != 2 or not any(numbers):
        raise ParameterError("`weights` must be two numbers >= 0, not both 0")
    return numbers[0], numbers[1]
