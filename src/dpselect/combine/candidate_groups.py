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
    """What the scores as floats lack, shape ``(m, n)``."""

    table: Values
    """All rows of sums, one after the other."""

    rows: Indices
    """Where the row of each objective and group begins, and the last distance in it.

    Shape ``(2, m, n)``.
    """

    rates: Values
    """What each distance beyond the last adds; the part of a sum that is charged.

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
    digits = zip(*(part.exact for part in objectives), strict=True)
    scores, rests = (np.stack(parts) for parts in digits)
    return alike(np.concatenate([rests, scores, keys]))


def last_distances(objectives: Sequence[Objective], horizon: int) -> Indices:
    """Return for each objective the least distance at which all ranges of scores overlap.

    At most ``horizon``: overlaps beyond it do not matter.
    """
    return np.array([_least_overlap(part, horizon) for part in objectives])


def tabulate(
    objectives: Sequence[Objective], keys: Indices, members: Indices, horizon: int
) -> GroupTable:
    """Tabulate the sums up to ``horizon``, or to where all ranges of scores overlap.

    Args:
        objectives: Scores and sensitivities.
        keys: As from :func:`sum_keys`, for the same horizon.
        members: One candidate of each group.
        horizon: The largest number of steps that will be looked up.
    """
    tables, starts, lasts = [], [], []
    size = 0
    for part, of_part in zip(objectives, keys, strict=True):
        rows, first = alike(of_part[None, members])
        sums = _sums(part, members[first], horizon)
        last = _last_before_slope(sums, part.sensitivity.bound)
        tables.append(sums[np.arange(sums.shape[1]) <= last[:, None]])
        starts.append(size + (np.cumsum(last + 1) - last - 1)[rows])
        lasts.append(last[rows])
        size += tables[-1].size
    return GroupTable(
        scores=np.stack([part.scores[members] for part in objectives]),
        rests=np.stack([part.rest[members] for part in objectives]),
        table=np.concatenate(tables),
        rows=np.array([starts, lasts]),
        rates=np.array([(p.sensitivity.bound, score_range.share(p)) for p in objectives]).T,
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


def _least_overlap(objective: Objective, horizon: int) -> int:
    if not objective.sensitivity.closed_form:
        walk = islice(score_range.running_sums(objective.sensitivity), horizon + 1)
        overlap = (k for k, s in enumerate(walk) if score_range.all_overlap(objective, s))
        return next(overlap, horizon)
    low, high = 0, horizon
    while low < high:
        middle = (low + high) // 2
        if score_range.all_overlap(objective, objective.sensitivity.cumulative(middle)):
            high = middle
        else:
            low = middle + 1
    return low


def _sums(objective: Objective, members: Indices, horizon: int) -> Values:
    """Return ``cumulative(0)``, ``cumulative(1)``, ... of ``members``, one row for each."""
    sensitivity: Sensitivity = objective.sensitivity.take(members)
    if isinstance(sensitivity, GlobalSensitivity) and sensitivity.flat:
        return np.zeros((members.size, 1))
    columns = []
    upto = min(horizon, sensitivity.horizon)
    for column in islice(score_range.running_sums(sensitivity), upto + 1):
        columns.append(np.broadcast_to(column, members.shape))
        if score_range.all_overlap(objective, column):
            break
    return np.stack(columns, axis=1)


def _last_before_slope(sums: Values, slope: float) -> Indices:
    """Return for each row the distance from which on it is a line, to the last bit.

    The length of a row is that of its varying part, which for most candidates is short.
    """
    steps = np.arange(sums.shape[1])
    bent = np.abs(np.diff(sums, axis=1) - slope) > slope * 2.0**-30
    last = np.where(bent, steps[1:], 0).max(axis=1, initial=0)
    ends = np.take_along_axis(sums, last[:, None], axis=1)
    beyond = steps > last[:, None]
    line = ends + (steps - last[:, None]) * slope
    return np.where((~beyond | (sums == line)).all(axis=1), last, steps[-1])
