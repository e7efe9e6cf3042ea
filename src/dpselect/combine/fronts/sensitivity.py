"""Local sensitivity of the Pareto score.

For a candidate ``r`` and a number of steps ``k`` let

* ``P_k`` be the number of rivals that dominate ``r`` in *some* database within ``k`` steps, and
* ``S_k`` the number of rivals that dominate ``r`` in *every* database within ``k`` steps,

both bounded by interval arithmetic on the scores (``dpselect.combine.score_range``): above by
the rivals whose upper ends are at least the lower ends of ``r`` in every objective, below by
those whose lower ends are above the upper ends of ``r`` in every objective. ``P_0 = S_0`` are
counted exactly, with the dominance of the score: at least as good in every objective and better
in one, unless it is weak or strict. Then

    δ(x, t, r) = max(P_(t+1) - S_t, P_t - S_(t+1)).

Proof. Let ``y ~ z`` with ``d(x, y) ≤ t``, so ``d(x, z) ≤ t + 1``. A rival that dominates ``r``
in ``z`` but not in ``y`` is counted in ``P_(t+1)`` and not in ``S_t``; there are at most
``P_(t+1) - S_t`` of them, for the second set is a part of the first. A rival that dominates in
``y`` but not in ``z`` is counted in ``P_t`` and not in ``S_(t+1)``. The score changes by the
difference of the two numbers, hence by at most the larger one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpselect import validation
from dpselect.combine.fronts.dominance import Dominance, count_above, count_at_least, dominators
from dpselect.combine.score_range import aligned, radius, running_sums
from dpselect.objective import Objective
from dpselect.sensitivity import Interval, Sensitivity
from dpselect.typing import Indices, Values


class _Rivals(NamedTuple):
    """Numbers of rivals that possibly and surely dominate each of some candidates."""

    possible: Indices
    sure: Indices

    def of(self, places: Indices) -> _Rivals:
        return _Rivals(self.possible[places], self.sure[places])


class ParetoSensitivity(Sensitivity):
    """The sensitivity of the Pareto score of several objectives.

    Guarantee:
        Admissible for the Pareto score under the objectives' neighbour relation, if each
        objective's sensitivity is for its scores. Bounded by ``n - 1``, for the score lies
        between ``-(n - 1)`` and 0.

    Args:
        objectives: At least one, for the same candidates and neighbours.
        horizon: Public distance from which on the bound is used; the largest of the
            objectives' if not given.
        dominance: As for ``pareto``.

    Attributes:
        dominators: Number of others that dominate each candidate, shape ``(n,)``; private.

    Raises:
        ParameterError: No objective, different candidates, a negative horizon, or another
            dominance.
        NeighboursError: Different neighbour relations.

    Source: Farias et al., PrivPareto, Definition 4.5 and Theorem 4.7, with the candidate
        itself left out, in a tighter directional form: the paper adds both kinds of rivals
        at ``t + 1``. For a monotone objective with a flat sensitivity the difference of two
        scores moves half as far, which is ours.
    """

    def __init__(
        self,
        objectives: Sequence[Objective],
        horizon: int | None = None,
        *,
        dominance: Dominance = "standard",
    ) -> None:
        parts = aligned(objectives)
        self._dominance = validation.one_of("dominance", dominance, Dominance)
        if horizon is None:
            horizon = max(part.sensitivity.horizon for part in parts)
        if len(parts[0]) == 1:
            horizon = 0  # nothing to be compared with, and yet a bound must be > 0
        super().__init__(max(len(parts[0]) - 1, 1), parts[0].neighbours, horizon)
        self._parts = parts
        self._scores = np.stack([part.scores for part in parts])
        self._everyone = np.arange(len(parts[0]))
        self.dominators = dominators(self._scores, dominance)
        self._next = self._rivals(self._radii(1), self._everyone)

    def _radii(self, steps: int) -> Values:
        return np.stack(
            [radius(part, part.sensitivity.cumulative(steps), steps) for part in self._parts]
        )

    def _each_radii(self) -> Iterator[Values]:
        """Yield the radii in 0, 1, 2, ... steps."""
        walks = [running_sums(part.sensitivity) for part in self._parts]
        for steps, sums in enumerate(zip(*walks, strict=True)):
            pairs = zip(self._parts, sums, strict=True)
            yield np.stack([radius(part, total, steps) for part, total in pairs])

    def _rivals(self, radii: Values, candidates: Indices) -> _Rivals:
        upper, lower = self._scores + radii, self._scores - radii
        # The first count has the candidate itself among the rivals, the second has not.
        return _Rivals(
            count_at_least(upper, lower[:, candidates]) - 1,
            count_above(lower, upper[:, candidates]),
        )

    def _rivals_at(self, steps: int) -> _Rivals:
        if steps == 0:
            return _Rivals(self.dominators, self.dominators)
        return self._next if steps == 1 else self._rivals(self._radii(steps), self._everyone)

    def _local(self, distance: int) -> Indices:
        return _change(self._rivals_at(distance), self._rivals_at(distance + 1))

    def locate(self, heights: Values) -> Interval:
        """Return the intervals of the sums, distance by distance, for those still inside.

        On real graphs nearly all candidates are done after two distances. A height of 0 is
        placed at distance 0.
        """
        steps, start = np.zeros(heights.shape), np.zeros(heights.shape)
        width = np.array(np.broadcast_to(self.at(0), heights.shape))
        radii = islice(self._each_radii(), 1, None)
        active = np.flatnonzero(heights > 0)
        below, before = np.zeros(active.size), self._rivals_at(0).of(active)
        for t in range(self.horizon):
            if active.size == 0:
                break
            now = self._rivals(next(radii), active)
            delta = _change(before, now)
            # A sensitivity that has reached its bound stays there.
            flat = delta == self.bound
            room = np.minimum((heights[active] - below) // self.bound, self.horizon - t)
            further = np.where(flat, room, 0.0)
            steps[active], start[active] = t + further, below + further * delta
            width[active] = delta
            below += delta
            inside = np.flatnonzero(~flat & (below <= heights[active]))
            active, below, before = active[inside], below[inside], now.of(inside)
        steps[active], start[active], width[active] = self.horizon, below, self.bound
        return Interval(steps, start, width)

    def leading_zeros(self, positions: Indices, most: int) -> Indices:
        """Return for how many steps the rivals of some candidates are those at hand.

        ``P_k`` does not fall with ``k`` and ``S_k`` does not rise, so ``δ(x, t, r)`` is 0 up to
        distance ``t`` if and only if ``P_(t+1) = S_(t+1)``: a search, in which each number of
        steps is taken for all candidates that it can still be the answer of.
        """
        found = np.zeros(positions.size, dtype=np.int64)
        most = min(most, self.horizon)
        # Of each span: steps after which all of some are settled, and after which none is.
        spans = [(0, most + 1, 1, np.arange(positions.size))]
        while spans:
            low, high, middle, places = spans.pop()
            if places.size == 0 or high - low == 1:
                found[places] = low
                continue
            rivals = self._next.of(positions[places]) if middle == 1 else None
            settled = _settled(rivals or self._rivals(self._radii(middle), positions[places]))
            after = min(2 * middle, most) if high > most else (middle + high) // 2
            spans.append((middle, high, after, places[settled]))
            spans.append((low, middle, (low + middle) // 2, places[~settled]))
        return found

    def shortfall(self) -> Values:
        """Return the sums over all distances, for candidates that are not at the bound yet."""
        totals = np.zeros(self._everyone.size)
        active, before = self._everyone, self._rivals_at(0)
        for radii in islice(self._each_radii(), 1, self.horizon + 1):
            now = self._rivals(radii, active)
            missing = self.bound - _change(before, now)
            totals[active] += missing
            left = np.flatnonzero(missing > 0)
            active, before = active[left], now.of(left)
            if active.size == 0:
                break
        return totals


def _settled(rivals: _Rivals) -> NDArray[np.bool_]:
    """Return where all rivals that possibly dominate surely do."""
    return rivals.possible == rivals.sure


def _change(before: _Rivals, now: _Rivals) -> Indices:
    return np.maximum(now.possible - before.sure, before.possible - now.sure)
