r"""Groups of identical candidates, with their sums of sensitivities as one table.

Real candidates repeat: thousands of nodes of a graph share degree and triangle count. Work on
all pairs of candidates is therefore done on pairs of *groups*, candidates with equal scores
and equal sensitivities at every distance, and each distinct sensitivity is tabulated once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from dpselect.combine import score_range
from dpselect.objective import Objective
from dpselect.sensitivity import GlobalSensitivity, Sensitivity
from dpselect.sensitivity.summation import RunningSum
from dpselect.typing import Indices, Values


class GroupTable(NamedTuple):
    """Scores and sums of sensitivities of m objectives for n groups of candidates."""

    scores: Values
    """Shape ``(m, n)``."""

    rests: Values
    """Rounding errors of the scores as floats, shape ``(m, n)``."""

    table: Values
    """All rows of sums, one after the other."""

    rows: Indices
    """Where the row of each objective and group begins, and the last distance in it.

    Shape ``(2, m, n)``.
    """

    rates: Values
    """Increment of each distance beyond the last; the part of a sum that is charged.

    Shape ``(2, m)``.
    """


def alike(columns: Values) -> tuple[Indices, Indices]:
    """Number candidates so that equal columns have equal numbers.

    Args:
        columns: Shape ``(k, n)``, ``k >= 1``.

    Returns:
        The number of each candidate, shape ``(n,)``, and one candidate of each number.
    """
    order = np.lexsort(columns)
    ordered = columns[:, order]
    starts = np.concatenate([[True], (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)])
    groups = np.empty(order.size, dtype=np.int64)
    groups[order] = np.cumsum(starts) - 1
    return groups, order[starts]


def sum_keys(objectives: Sequence[Objective], horizon: int) -> Indices:
    """Return integers that only candidates with the same sums up to ``horizon`` share.

    Returns:
        Shape ``(m, n)``.
    """
    return np.stack([_keys(part, horizon) for part in objectives])


def groups_of(objectives: Sequence[Objective], keys: Indices) -> tuple[Indices, Indices]:
    """Number the candidates by their scores and keys.

    Returns:
        The group of each candidate, shape ``(n,)``, and one candidate of each group.
    """
    # In the order of sensitivities and then scores: neighbours are like each other.
    digits = zip(*(part.scores_twofold for part in objectives), strict=True)
    scores, rests = (np.stack(parts) for parts in digits)
    return alike(np.concatenate([rests, scores, keys]))


def last_distances(objectives: Sequence[Objective], keys: Indices, horizon: int) -> Indices:
    """Return for each objective the least distance at which all ranges of scores overlap.

    Args:
        objectives: Scores and sensitivities.
        keys: As from ``sum_keys``, for the same horizon.
        horizon: The largest distance to return: overlaps beyond it do not matter.
    """
    each = zip(objectives, keys, strict=True)
    return np.array([_least_overlap(part, of_part, horizon) for part, of_part in each])


def tabulate(
    objectives: Sequence[Objective], keys: Indices, members: Indices, lasts: Indices
) -> GroupTable:
    """Tabulate the sums up to where all ranges of scores overlap.

    Args:
        objectives: Scores and sensitivities.
        keys: As from ``sum_keys``.
        members: One candidate of each group.
        lasts: As from ``last_distances``, for the same horizon.
    """
    from dpselect.combine.pair_kernels import last_before_slope

    tables, starts, ends = [], [], []
    size = 0
    for part, of_part, upto in zip(objectives, keys, lasts, strict=True):
        rows, first = alike(of_part[None, members])
        sums = _sums(part.sensitivity.take(members[first]), first.size, int(upto))
        end = last_before_slope(sums, part.sensitivity.bound)
        tables.append(sums[np.arange(sums.shape[1]) <= end[:, None]])
        starts.append(size + (np.cumsum(end + 1) - end - 1)[rows])
        ends.append(end[rows])
        size += tables[-1].size
    return GroupTable(
        scores=np.stack([part.scores[members] for part in objectives]),
        rests=np.stack([part.low_order[members] for part in objectives]),
        table=np.concatenate(tables),
        rows=np.array([starts, ends]),
        rates=np.array(
            [
                [part.sensitivity.bound for part in objectives],
                [score_range.share(part) for part in objectives],
            ]
        ),
    )


def _keys(objective: Objective, horizon: int) -> Indices:
    sensitivity = objective.sensitivity
    if sensitivity.keys is not None:
        return sensitivity.keys
    keys = np.zeros(len(objective), dtype=np.int64)
    if sensitivity.flat:
        return keys
    first = np.zeros(1, dtype=np.int64)
    running = RunningSum()
    for distance in range(min(horizon, sensitivity.horizon)):
        delta = np.broadcast_to(sensitivity.at(distance), keys.shape)
        if (delta != delta[first][keys]).any():
            keys, first = alike(np.stack([keys.astype(np.float64), delta]))
        running.add(delta)
        if score_range.all_overlap(objective, running.total):
            break
    return keys


def _least_overlap(objective: Objective, keys: Indices, horizon: int) -> int:
    sensitivity = objective.sensitivity.take(np.unique(keys, return_index=True)[1])
    if not sensitivity.closed_form:
        walk = islice(score_range.running_sums(sensitivity), horizon + 1)
        overlap = (k for k, s in enumerate(walk) if score_range.all_overlap(objective, s))
        return next(overlap, horizon)
    low, high = 0, horizon
    while low < high:
        middle = (low + high) // 2
        if score_range.all_overlap(objective, sensitivity.cumulative(middle)):
            high = middle
        else:
            low = middle + 1
    return low


def _sums(sensitivity: Sensitivity, size: int, upto: int) -> Values:
    """Return ``cumulative(0)`` to ``cumulative(upto)``, a row for each of ``size``."""
    if isinstance(sensitivity, GlobalSensitivity) and sensitivity.flat:
        return np.zeros((size, 1))
    upto = min(upto, sensitivity.horizon)
    if sensitivity.closed_form:
        sums = sensitivity.sums(np.arange(upto + 1))
    else:
        columns = islice(score_range.running_sums(sensitivity), upto + 1)
        sums = np.stack([np.broadcast_to(column, size) for column in columns])
    return np.ascontiguousarray(np.broadcast_to(sums, (upto + 1, size)).T)
