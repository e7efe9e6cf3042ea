"""Whether the sums of a sensitivity are the sums of its values.

Scalings never look at a sensitivity but through its sums, so a closed form that does not
match :meth:`~dpselect.Sensitivity.at` makes an admissible function private in name only.
"""

from __future__ import annotations

from math import inf

import numpy as np

from dpselect.audit.report import Finding
from dpselect.audit.tables import TOLERANCE, Tables
from dpselect.objective import Objective
from dpselect.sensitivity import Sensitivity
from dpselect.typing import Values

LONGEST = 4096
"""Horizons up to here are added up term by term."""


def sums(tables: Tables) -> Finding:
    """Compare ``cumulative``, ``shortfall`` and ``locate`` with sums of ``at``."""
    worst, where = -inf, (0, 0)
    for x, one in enumerate(tables.objectives):
        for error in (
            _error_of_cumulative(one, tables.max_distance),
            _error_of_shortfall(one),
            _error_of_locate(one),
        ):
            if error.max() > worst:
                worst, where = float(error.max()), (x, int(error.argmax()))
    return Finding(
        "sums",
        "cumulative, shortfall and locate are the sums of at (in units of the bound)",
        ok=worst <= TOLERANCE,
        excess=worst,
        worst=tables.witness(where[0], candidate=where[1]),
    )


def overrides(sensitivity: Sensitivity, method: str) -> bool:
    """Return whether a sensitivity has a form of its own for one of the sums."""
    return getattr(type(sensitivity), method) is not getattr(Sensitivity, method)


def _error_of_cumulative(one: Objective, max_distance: int) -> Values:
    """Compare one distance for all candidates, and a different one for each."""
    sensitivity, shape = one.sensitivity, one.scores.shape
    error = np.zeros(shape)
    if not overrides(sensitivity, "cumulative"):
        return error
    last = max_distance + 1
    if sensitivity.horizon <= LONGEST:
        last = max(last, sensitivity.horizon + 1)
    values = [np.broadcast_to(sensitivity.at(t), shape) for t in range(last)]
    expected = np.concatenate([np.zeros((1, *shape)), np.cumsum(values, axis=0)])
    everyone = np.arange(shape[0])
    for t in range(last + 1):
        each = (t + everyone) % (last + 1)
        # A sum over many distances is as exact as the sums that it is compared with.
        unit = sensitivity.bound * max(1, t)
        error = np.maximum(error, np.abs(sensitivity.cumulative(t) - expected[t]) / unit)
        apart = np.abs(sensitivity.cumulative(each) - expected[each, everyone])
        error = np.maximum(error, apart / (sensitivity.bound * (last + 1)))
    return error


def _error_of_shortfall(one: Objective) -> Values:
    sensitivity = one.sensitivity
    error = np.zeros(one.scores.shape)
    if not overrides(sensitivity, "shortfall") or sensitivity.horizon > LONGEST:
        return error
    expected = Sensitivity.shortfall(sensitivity)
    unit = sensitivity.bound * max(1, sensitivity.horizon)
    return np.maximum(error, np.abs(sensitivity.shortfall() - expected) / unit)


def _error_of_locate(one: Objective) -> Values:
    """Compare the intervals that the scores themselves fall into."""
    sensitivity = one.sensitivity
    heights = np.abs(one.scores)
    at = sensitivity.locate(heights)
    steps = at.steps.astype(np.int64)
    start, end = sensitivity.cumulative(steps), sensitivity.cumulative(steps + 1)
    error = np.maximum(np.abs(at.start - start), np.abs(at.start + at.width - end))
    error = np.maximum(error, start - heights)
    inside = steps < sensitivity.horizon
    error = np.maximum(error, np.where(inside, heights - end, 0.0))
    return error / np.maximum(sensitivity.bound, heights)
