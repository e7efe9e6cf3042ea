r"""Order of sensitivities along the scores: directions, dominance, and what follows for errors.

A sensitivity is *non-decreasing* in a database if a candidate with a larger score has one at
least as large at every distance, *non-increasing* if it has one at most as large; with
admissibility and a bound such a sensitivity is *stable*. For shifted dampening only the sums
:math:`H_r = \sum_{t<T^*} (\Delta - \delta(t, r))` matter, since its score is
:math:`(u_r \mp H_r)/\Delta`. So an instance is never worse than another one, neither in
:math:`P(\text{error} \ge \theta)` for any :math:`\theta` nor in the mean error, if
:math:`H_r - \bar H_r` does not rise with :math:`u_r` where both shift up to larger scores
(``"non-decreasing"``), or does not fall with it (``"non-increasing"``).

Everything here reads scores and sensitivities without noise: use it on public data.

Source: Farias et al., VLDB J. 2023, Definitions 8 to 11 and 17, Lemma 6 and Corollary 2. As
printed, Definition 17 orders the gaps the wrong way round for ``"non-decreasing"``: with
:math:`\Delta = 4` and :math:`\delta = (4, 3, 2, 1)` for falling scores the gaps to the
exponential mechanism are :math:`(0, 1, 2, 3)` where it asks for falling ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.objective import Objective
from dpselect.typing import Direction, Values

SHIFTS: tuple[tuple[Direction, int], ...] = (("non-decreasing", -1), ("non-increasing", 1))
"""Each direction with the sign that its shift gives to the sums."""

SLACK = 1e-12
"""Relative rounding error of sums over distances that is no change of order."""


@dataclass(frozen=True, slots=True)
class DirectionReport:
    """How the sensitivities of one database go with its scores; as private as they are.

    Attributes:
        rank_correlation: Spearman's, of scores and sensitivities at distance 0; 0 if either
            is the same for all candidates.
        directions: Those that hold at every distance that was looked at; both if the
            sensitivity is flat.
        never_worse: Those by which shifted dampening is never worse here than the
            exponential mechanism (Corollary 2 in the order that holds), if the objective is
            not declared monotone, which is worth a factor of 2 to the latter.
    """

    rank_correlation: float
    directions: tuple[Direction, ...]
    never_worse: tuple[Direction, ...]

    @property
    def stable(self) -> bool:
        """Whether the sensitivity is monotonic here in either direction (Definition 11).

        That it is admissible is for :func:`dpselect.audit.check_admissible` to say; bounded
        is every sensitivity of the library.
        """
        return bool(self.directions)


def check_direction(objective: Objective, *, distances: int = 64) -> DirectionReport:
    """Return which direction of a sensitivity fits, on public data of the same kind.

    A direction is a public fact that shifted dampening uses; it stays private whichever is
    declared, and only errors grow where the wrong one is.

    Args:
        objective: Scores and sensitivity.
        distances: How many distances to look at, from 0 on; >= 1.

    Raises:
        ParameterError: ``distances`` is below 1.
    """
    upto = min(_validate.at_least("distances", distances, 1), objective.sensitivity.horizon)
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
    shifted law depends on. With an ``other`` of global sensitivity it compares with the
    exponential mechanism.

    Args:
        objective: Scores with the one sensitivity.
        other: The same scores with the other sensitivity, of the same bound.
        direction: Of the shift; what the first objective states, if not given.

    Raises:
        ParameterError: Scores or bounds differ, or no direction is given or stated.

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
        raise ParameterError("both objectives must have the same scores")
    if objective.sensitivity.bound != other.sensitivity.bound:
        raise ParameterError("both sensitivities must have the same bound")
    stated = objective.direction if direction is None else direction
    if stated is None:
        raise ParameterError("give direction=, or state it in the first objective")
    sign = dict(SHIFTS)[_validate.direction(stated)]
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
    if np.ptp(scores) == 0 or np.ptp(values) == 0:
        return 0.0
    table: Values = np.corrcoef(_ranks(scores), _ranks(values))
    return float(table[0, 1])


def _ranks(values: Values) -> Values:
    """Return ranks, the mean of them where values are equal."""
    _, groups, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[groups], dtype=np.float64)


def _each(objective: Objective, values: Values) -> Values:
    return np.broadcast_to(values, objective.scores.shape).astype(np.float64)
