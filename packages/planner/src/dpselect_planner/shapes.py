"""Data of a public shape: what a plan is made for where there are no public data."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from dpselect.extend import Scores, Values, validation

__all__ = ["equally_spaced", "leading_counts", "spread"]


def leading_counts(k: int, *, options: int, people: float, gap: float) -> Scores:
    """Return counts of options of which ``k`` lead and all others tie, ``gap`` people behind.

    Of all data with that gap these are the hardest to choose from.

    Args:
        k: Number of leading options, 1 to ``options - 1``.
        options: Number of options, >= 2.
        people: The sum of all counts; below ``k * gap`` no people are left for the others.
        gap: Lead in people, >= 0.
    """
    options = validation.at_least("options", options, 2)
    k = validation.at_least("k", k, 1, options - 1)
    gap = validation.within("gap", gap, 0, np.inf)
    rest = max(0.0, (validation.positive("people", people) - k * gap) / options)
    return np.where(np.arange(options) < k, rest + gap, rest)


def equally_spaced(options: int, gap: float) -> Scores:
    """Return scores with equal differences ``gap``, the best first, the last 0."""
    options = validation.at_least("options", options, 1)
    return validation.within("gap", gap, 0, np.inf) * np.arange(options - 1, -1, -1.0)


Shape: TypeAlias = Literal["even", "bell", "tail"]
"""How numbers are spread over their range: evenly; around the middle, with a standard deviation
of a sixth of the range; or falling from the lowest, with a mean of a sixth of it."""


def spread(candidates: Values, shape: Shape, people: float) -> Values:
    """Return the number of people with each of several equally spaced values."""
    shape = validation.one_of("shape", shape, Shape)
    low, high = float(candidates.min()), float(candidates.max())
    sixth = (high - low) / 6 or 1.0
    weights = {
        "even": np.ones(candidates.size),
        "bell": np.exp(-(((candidates - (low + high) / 2) / sixth) ** 2) / 2),
        "tail": np.exp(-(candidates - low) / sixth),
    }[shape]
    return validation.positive("people", people) * weights / weights.sum()
