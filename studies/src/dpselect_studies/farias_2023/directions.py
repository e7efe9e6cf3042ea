"""Directions of sensitivities, and which sensitivity is never worse for shifted dampening.

Definitions 8 to 11 and 17, Lemma 6 and Corollary 2 in the order that holds. All functions here
read scores and sensitivities without noise: only for public data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpselect import Objective
from dpselect.typing import Direction, Values

SHIFTS: tuple[tuple[Direction, int], ...] = (("non-decreasing", -1), ("non-increasing", 1))
"""Each direction with the sign that its shift gives to the sums."""

SLACK = 1e-12
"""Relative rounding error of sums over distances that is no change of order."""


@dataclass(frozen=True, slots=True)
class DirectionReport:
    """How the sensitivities of a database vary with its scores; as private as they are.

    A sensitivity is *non-decreasing* in a database if a candidate with a larger score has one
    at least as large at every distance, *non-increasing* if it has one at most as large; with
    admissibility and a bound such a sensitivity is *stable*. For shifted dampening only the
    sums ``H_r = ∑_(t<T^*) (Δ - δ(t, r))`` matter, since its score is ``(u_r ∓ H_r)/Δ``. So an
    instance is never worse than another one, neither in ``P(error ≥ θ)`` for any θ nor in the
    mean error, if ``H_r - H̄_r`` does not rise with ``u_r`` where both shift up to larger
    scores (``"non-decreasing"``), or does not fall with it (``"non-increasing"``).

    Attributes:
        rank_correlation: Spearman's, of scores and sensitivities at distance 0; 0 if either
            is the same for all candidates.
        directions: Those that hold at every distance that was looked at; both if the
            sensitivity is flat.
        never_worse: Those by which shifted dampening is never worse here than the
            exponential mechanism (Corollary 2 in the order that holds), if the objective is
            not declared monotone, which is worth a factor of 2 to the latter.

    Source: Farias et al., VLDB J. 2023, Definitions 8 to 11 and 17, Lemma 6 and Corollary 2. As
        printed, Definition 17 orders the gaps the wrong way round for ``"non-decreasing"``:
        with ``Δ = 4`` and ``δ = (4, 3, 2, 1)`` for falling scores the gaps to the exponential
        mechanism are ``(0, 1, 2, 3)`` where it asks for falling ones.
    """

    rank_correlation: float
    directions: tuple[Direction, ...]
    never_worse: tuple[Direction, ...]

    @property
    def stable(self) -> bool:
        """Whether the sensitivity is monotonic here in either direction (Definition 11).

        That it is admissible is for ``dpselect.audit.check_admissible`` to say; every
        sensitivity of the library is bounded.
        """
        return bool(self.directions)


def check_direction(objective: Objective, *, distances: int = 64) -> DirectionReport:
    """Return which direction of a sensitivity fits, on public data of the same kind.

    A direction is a public argument of shifted dampening. The mechanism is private with either
    direction; the wrong one only makes errors larger.

    Args:
        objective: Scores and sensitivity.
        distances: Number of distances to compare, from 0 on; >= 1.
    """
    upto = min(distances, objective.sensitivity.horizon)
    scores = objective.scores
    tables = [_each(objective, objective.sensitivity.at(t)) for t in range(max(upto, 1))]
    missing = _each(objective, objective.sensitivity.shortfall())
    return DirectionReport(
        rank_correlation=_rank_correlation(scores, tables[0]),
        directions=_directions(scores, tables),
        never_worse=tuple(
            direction for direction, sign in SHIFTS if _rises(scores, sign * missing)
        ),
    )


def dominates(
    objective: Objective, other: Objective, *, direction: Direction | None = None
) -> bool:
    """Return whether shifted dampening by one sensitivity is never worse than by another.

    Definition 17 in the order that holds, summed over the distances, which is all that the
    shifted distribution depends on. With an ``other`` of global sensitivity it compares with
    the exponential mechanism.

    Args:
        objective: Scores with the one sensitivity.
        other: The same scores with the other sensitivity, of the same bound.
        direction: Direction of the shift; that of the first objective, if not given.

    Raises:
        ValueError: Scores or bounds differ, or no direction is given or stated.

    Examples:
        >>> import dpselect as dp
        >>> scores, edge = [9.0, 4.0, 1.0], dp.Neighbours.EDGE
        >>> local = dp.ElementSensitivity(lambda t: [3 + t, 2 + t, 1 + t], 5, 9, edge)
        >>> one = dp.Objective(scores, local)
        >>> whole = dp.Objective(scores, dp.GlobalSensitivity(5, edge))
        >>> [dominates(one, whole, direction=d) for d in ("non-decreasing", "non-increasing")]
        [True, False]
    """
    if not np.array_equal(objective.scores, other.scores):
        raise ValueError("both objectives must have the same scores")
    if objective.sensitivity.bound != other.sensitivity.bound:
        raise ValueError("both sensitivities must have the same bound")
    stated = objective.direction if direction is None else direction
    if stated is None:
        raise ValueError("give `direction`, or state it in the first objective")
    sign = dict(SHIFTS)[stated]
    ours, theirs = (_each(one, one.sensitivity.shortfall()) for one in (objective, other))
    return _rises(objective.scores, sign * (ours - theirs), np.maximum(abs(ours), abs(theirs)))


def _directions(scores: Values, tables: list[Values]) -> tuple[Direction, ...]:
    # Definitions 8 and 9 compare candidates of the same score both ways: no ties differ.
    return tuple(
        direction
        for direction, sign in SHIFTS
        if all(_rises(scores, -sign * delta, ties=True) for delta in tables)
    )


def _rises(
    scores: Values, values: Values, size: Values | None = None, *, ties: bool = False
) -> bool:
    """Return whether no candidate of a larger score has a smaller value, up to rounding.

    Args:
        scores: Shape ``(n,)``.
        values: Shape ``(n,)``.
        size: What the values are differences of, for their rounding.
        ties: Whether candidates of the same score must have the same value.
    """
    room = SLACK * float(np.max(np.abs(values) if size is None else size, initial=0.0))
    groups = np.unique(scores, return_inverse=True)[1]
    low, high = np.full(groups.max() + 1, np.inf), np.full(groups.max() + 1, -np.inf)
    np.minimum.at(low, groups, values)
    np.maximum.at(high, groups, values)
    ordered = bool((low[1:] >= np.maximum.accumulate(high)[:-1] - room).all())
    return ordered and not (ties and bool((high - low > room).any()))


def _rank_correlation(scores: Values, values: Values) -> float:
    from scipy.stats import spearmanr

    if np.ptp(scores) == 0 or np.ptp(values) == 0:
        return 0.0
    return float(spearmanr(scores, values).statistic)


def _each(objective: Objective, values: Values) -> Values:
    return np.broadcast_to(values, objective.scores.shape).astype(np.float64)
