"""Checks of public arguments, made before any budget is spent.

Each check returns the value in the one form that the rest of the library works with.
"""

from __future__ import annotations

from math import isfinite
from numbers import Integral, Real
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dpselect.errors import NeighboursError, ParameterError, ScoresError
from dpselect.neighbours import Neighbours
from dpselect.typing import Scores

T = TypeVar("T", bound=object)

SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)


def positive(name: str, value: object) -> float:
    """Return ``value`` as a float that is finite, > 0 and not subnormal."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(f"{name} must be a positive number, not a {type(value).__name__}")
    number = float(value)
    if not isfinite(number) or number < SMALLEST_NORMAL:
        raise ParameterError(f"{name} must be finite and > 0, got {number!r}")
    return number


def at_least(name: str, value: object, least: int) -> int:
    """Return ``value`` as an int that is at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ParameterError(f"{name} must be a whole number, not a {type(value).__name__}")
    if value < least:
        raise ParameterError(f"{name} must be at least {least}, got {int(value)}")
    return int(value)


def within(name: str, value: object, low: float, high: float) -> float:
    """Return ``value`` as a float in the closed interval from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(f"{name} must be a number, not a {type(value).__name__}")
    number = float(value)
    if not low <= number <= high:
        raise ParameterError(f"{name} must be between {low:g} and {high:g}, got {number!r}")
    return number


def finite(name: str, value: object) -> float:
    """Return ``value`` as a finite float."""
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value):
        raise ParameterError(f"{name} must be a finite number")
    return float(value)


def instance(name: str, value: object, kind: type[T]) -> T:
    """Return ``value`` if it is a ``kind``."""
    if not isinstance(value, kind):
        raise ParameterError(f"{name} must be a {kind.__name__}, not a {type(value).__name__}")
    return value


def neighbours(value: object) -> Neighbours:
    """Return ``value`` if it is a neighbour relation."""
    if not isinstance(value, Neighbours):
        raise NeighboursError(
            "neighbours must be one of Neighbours.ADD_REMOVE, .SUBSTITUTE, .EDGE, .SWAP"
        )
    return value


def scores(values: ArrayLike) -> Scores:
    """Return scores as a read-only float64 vector.

    Raises:
        ScoresError: Empty, not one-dimensional, not numeric or not finite.
    """
    try:
        vector = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ScoresError("scores must be numbers, one for each candidate") from None
    if vector.ndim != 1 or vector.size == 0:
        raise ScoresError(
            f"scores must be one number for each of at least one candidate; the shape is "
            f"{vector.shape}"
        )
    if not np.isfinite(vector).all():
        raise ScoresError("scores must be finite; at least one is NaN or infinite")
    vector.setflags(write=False)
    return vector
