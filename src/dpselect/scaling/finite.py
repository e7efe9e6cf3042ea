"""Finite unit scores, whatever the sizes of the scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import numpy as np

from dpselect.typing import Scores

P = ParamSpec("P")

LARGEST = 1e300
"""Far beyond what any draw tells from infinity."""


def finite(scale: Callable[P, Scores]) -> Callable[P, Scores]:
    """Cut what a scaling returns at ``LARGEST``, without a warning that scores decide."""

    @wraps(scale)
    def cut(*args: P.args, **kwargs: P.kwargs) -> Scores:
        with np.errstate(over="ignore", under="ignore"):
            return np.minimum(np.maximum(scale(*args, **kwargs), -LARGEST), LARGEST)

    return cut
