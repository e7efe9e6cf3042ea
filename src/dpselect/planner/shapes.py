"""Data of a public shape: what a plan is made for where there are no public data."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.typing import Scores, Values

Shape: TypeAlias = Literal["even", "bell", "tail"]
"""How numbers are spread over their range: evenly; around the middle, with a standard deviation
of a sixth of the range; or falling from the lowest, with a mean of a sixth of it."""


def led_by(k: int, *, options: int, people: float, gap: float) -> Scores:
    """Return counts of options of which ``k`` lead and all others tie ``gap`` people behind.

    Of all data with that gap these are the hardest to choose from.

    Args:
        k: How many options lead, 1 to ``options - 1``.
        options: How many there are, >= 2.
        people: The sum of all counts; below ``k * gap`` nobody is left for the others.
        gap: In people, >= 0.
    """
    options = _validate.at_least("options", options, 2)
    if not 1 <= k < options:
        raise ParameterError(f"k must be from 1 to {options - 1}, one below options, not {k}")
    gap = _validate.within("gap", gap, 0, np.inf)
    rest = max(0.0, (_validate.positive("people", people) - k * gap) / options)
    return np.where(np.arange(options) < k, rest + gap, rest)


def equally_spaced(options: int, gap: float) -> Scores:
    """Return scores that differ by ``gap`` each, the first the best, the last 0."""
    options = _validate.at_least("options", options, 1)
    return _validate.within("gap", gap, 0, np.inf) * np.arange(options - 1, -1, -1.0)


def spread(candidates: Values, shape: Shape, people: float) -> Values:
    """Return how many people have each of several equally spaced values."""
    if shape not in get_args(Shape):
        raise ParameterError(f"shape must be one of {', '.join(get_args(Shape))}")
    low, high = float(candidates.min()), float(candidates.max())
    sixth = (high - low) / 6 or 1.0
    weights = {
        "even": np.ones(candidates.size),
        "bell": np.exp(-(((candidates - (low + high) / 2) / sixth) ** 2) / 2),
        "tail": np.exp(-(candidates - low) / sixth),
    }[shape]
    return _validate.positive("people", people) * weights / weights.sum()
