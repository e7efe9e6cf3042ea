r"""The sums of sensitivities as one table, for work on all pairs of candidates.

Real candidates repeat: thousands of nodes of a graph share degree and triangle count. Pairs
are therefore pairs of *classes*, candidates with equal scores and equal sensitivities at
every distance, and each distinct sensitivity is tabulated once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from dpselect.combine import reach
from dpselect.combine.dominance import alike
from dpselect.objective import Objective
from dpselect.sensitivity import GlobalSensitivity, Sensitivity
from dpselect.sensitivity.summation import RunningSum
from dpselect.typing import Indices, Values


class Profiles(NamedTuple):
    """Sums of the sensitivities of m objectives for n classes of candidates."""

    scores: Values
    """Shape ``(m, n)``."""

    table: Values
    """All rows of sums, one after the other."""

    starts: Indices
    """Where the row of each objective and class begins, shape ``(m, n)``."""

    lasts: Indices
    """The last distance in the rows of each objective, shape ``(m,)``."""

    slopes: Values
    """What each distance beyond the last adds, shape ``(m,)``."""

    shares: Values
    """The part of a sum that each of two candidates is charged with, shape ``(m,)``."""


def keys(objectives: Sequence[Objective], horizon: int) -> Indices:
    """Return whole numbers that only candidates of the same sums up to ``horizon`` share.

    Returns:
        Shape ``(m, n)``.
    """
    return np.stack([_keys(part, horizon) for part in objectives])


def classes(objectives: Sequence[Objective], keys: Indices) -> tuple[Indices, Indices]:
    """Number the candidates by their scores and keys.

    Returns:
        The class of each candidate, shape ``(n,)``, and one candidate of each class.
    """
    return alike(np.concatenate([[part.scores for part in objectives], keys]))


def last_distances(objectives: Sequence[Objective], horizon: int) -> Indices:
    """Return for each objective steps, at most ``horizon``, in which all pairs have met.

    Within the horizon; a pair that has not met there is not asked for.
    """
    return np.array([_steps_to_exhaust(part, horizon) for part in objectives])


def profiles(
    objectives: Sequence[Objective], keys: Indices, members: Indices, horizon: int
) -> Profiles:
    """Tabulate the sums up to ``horizon``, or to where all pairs have met.

    Args:
        objectives: Scores and sensitivities.
        keys: As from :func:`keys`, for the same horizon.
        members: One candidate of each class.
        horizon: The largest number of steps that will be asked for.
    """
    tables, starts, lasts = [], [], []
    size = 0
    for part, of_part in zip(objectives, keys, strict=True):
        rows, first = alike(of_part[None, members])
        table = _table(part, members[first], horizon)
        starts.append(size + rows * table.shape[1])
        lasts.append(table.shape[1] - 1)
        tables.append(table.ravel())
        size += table.size
    return Profiles(
        scores=np.stack([part.scores[members] for part in objectives]),
        table=np.concatenate(tables),
        starts=np.stack(starts),
        lasts=np.array(lasts),
        slopes=np.array([part.sensitivity.bound for part in objectives]),
        shares=np.array([reach.share(part) for part in objectives]),
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
        if reach.exhausted(objective, running.total):
            break
    return keys


def _steps_to_exhaust(objective: Objective, horizon: int) -> int:
    if not objective.sensitivity.closed_form:
        walk = islice(reach.running_sums(objective.sensitivity), horizon + 1)
        return next((k for k, s in enumerate(walk) if reach.exhausted(objective, s)), horizon)
    low, high = 0, horizon
    while low < high:
        middle = (low + high) // 2
        if reach.exhausted(objective, objective.sensitivity.cumulative(middle)):
            high = middle
        else:
            low = middle + 1
    return low


def _table(objective: Objective, members: Indices, horizon: int) -> Values:
    """Return ``cumulative(0)``, ``cumulative(1)``, ... of ``members``, one row for each."""
    sensitivity: Sensitivity = objective.sensitivity.take(members)
    if isinstance(sensitivity, GlobalSensitivity) and sensitivity.flat:
        return np.zeros((1, 1))
    columns = []
    upto = min(horizon, sensitivity.horizon)
    for column in islice(reach.running_sums(sensitivity), upto + 1):
        columns.append(np.broadcast_to(column, members.shape))
        if reach.exhausted(objective, column):
            break
    return np.stack(columns, axis=1)
