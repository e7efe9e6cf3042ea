"""Checks of public arguments, made before any budget is spent.

Each returns the value in the form that the library uses, or raises a ``ParameterError`` that
names the argument in backquotes.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Integral, Rational, Real
from typing import TypeGuard, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from dpselect._optional import replaced
from dpselect._twofold import Twofold, exact_sum
from dpselect.errors import NeighboursError, ParameterError, ScoresError, nearest
from dpselect.neighbours import Neighbours, relation
from dpselect.typing import Direction, OnInvalid, Values

T = TypeVar("T", bound=object)
Name = TypeVar("Name", bound=str)

EXACT = 2**53
"""Integers up to here are floats."""

NO_NUMBERS = "scores must be finite numbers, one for each candidate"

SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)


def positive(name: str, value: object) -> float:
    """Return ``value`` as a float that is finite, > 0 and not subnormal."""
    number = _number(name, value, "a positive number")
    if not isfinite(number) or number < SMALLEST_NORMAL:
        raise ParameterError(f"`{name}` must be finite and > 0, got {number!r}")
    return number


def is_integer(value: object) -> TypeGuard[Integral]:
    """Return whether a value is an integer: no truth value, and no duration of NumPy's."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64)


def at_least(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return ``value`` as an int that is at least ``least``, and at most ``most`` if given."""
    if not is_integer(value):
        raise ParameterError(f"`{name}` must be an integer, not a {type(value).__name__}")
    if value < least:
        raise ParameterError(f"`{name}` must be at least {least}, got {int(value)}")
    if most is not None and int(value) > most:
        raise ParameterError(f"`{name}` must be at most {most}, got {int(value)}")
    return int(value)


def within(name: str, value: object, low: float, high: float) -> float:
    """Return ``value`` as a float in the closed interval from ``low`` to ``high``."""
    number = _number(name, value, "a number")
    if not low <= number <= high:
        raise ParameterError(f"`{name}` must be between {low:g} and {high:g}, got {number!r}")
    return number


def one_of(name: str, value: object, known: Iterable[Name]) -> Name:
    """Return ``value`` as the one of the known texts that it is."""
    options = tuple(known)
    for option in options:
        if isinstance(value, str) and value == option:
            return option
    # Anything but a text may be data that were given by mistake.
    given = repr(value) if isinstance(value, str) else f"a {type(value).__name__}"
    which = (
        " or ".join(map(repr, options)) if len(options) < 3 else f"one of {', '.join(options)}"
    )
    meant = nearest(value, options) if isinstance(value, str) else ""
    raise ParameterError(f"`{name}` must be {which}, not {given}{meant}")


def listed(name: str, value: Iterable[T] | None) -> tuple[T, ...] | None:
    """Return several values, None for none given."""
    if (
        isinstance(value, Iterable)
        and not isinstance(value, str | bytes)
        and getattr(value, "ndim", 1) > 0
    ):
        return tuple(value)
    if value is None:
        return None
    raise ParameterError(f"`{name}` must be several values, not a {type(value).__name__}")


def on_invalid(value: object) -> OnInvalid:
    """Return what happens to records that do not fit what was declared."""
    return one_of("on_invalid", value, get_args(OnInvalid))


def direction(value: object) -> Direction:
    """Return whether the sensitivity grows or falls with the score."""
    return one_of("direction", value, get_args(Direction))


def finite(name: str, value: object) -> float:
    """Return ``value`` as a finite float."""
    number = _number(name, value, "a finite number")
    if not isfinite(number):
        raise ParameterError(f"`{name}` must be a finite number, got {number!r}")
    return number


def _one(kind: type) -> str:
    name = kind.__name__
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def instance(name: str, value: object, kind: type[T]) -> T:
    """Return ``value`` if it is a ``kind``."""
    if not isinstance(value, kind):
        raise ParameterError(f"`{name}` must be {_one(kind)}, not {_one(type(value))}")
    return value


def neighbours(value: object) -> Neighbours:
    """Return a neighbour relation, given as itself or by its name."""
    return relation(value)


def table_neighbours(value: object) -> Neighbours:
    """Return ``ADD_REMOVE`` or ``SUBSTITUTE``, the relations between tables of records."""
    relation = neighbours(value)
    if relation not in {Neighbours.ADD_REMOVE, Neighbours.SUBSTITUTE}:
        raise NeighboursError(
            f"`neighbours` of tables must be 'add-remove' or 'substitute', not '{relation}'"
        )
    return relation


def scores(values: ArrayLike | Twofold) -> Twofold:
    """Return scores as a read-only float64 vector, with what it rounds away.

    Integers, fractions and decimals are exact, whatever the size of the others: nothing of one
    score depends on another. Texts and dates are no scores.

    Raises:
        ScoresError: Empty, not one-dimensional, not numeric or not finite, or an integer of
            more than 106 bits.
    """
    if isinstance(values, Twofold):
        vector, rest = (np.array(part, dtype=np.float64) for part in values)
    else:
        vector = replaced(
            lambda: np.array(values, dtype=np.float64),
            lambda: ScoresError(NO_NUMBERS),
        )
        if isinstance(values, np.ndarray) and values.dtype.kind in "USmM":
            raise ScoresError(NO_NUMBERS)
        rest = None
    if vector.ndim != 1 or vector.size == 0:
        raise ScoresError(
            "scores must be one number for each of at least one candidate, in one dimension, "
            f"not {vector.ndim}"
        )
    if not np.isfinite(vector).all():
        raise ScoresError("scores must be finite; at least one is NaN or infinite")
    if rest is None:
        rest = np.array(_rounded_away(values, vector), dtype=np.float64)
    for part in (vector, rest):
        part.setflags(write=False)
    return Twofold(vector, rest)


def _rounded_away(values: ArrayLike, vector: Values) -> Values:
    """Return what float64 left of each number."""
    array = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        # 32 bits each: both halves are floats.
        top, bottom = ((array >> 32) << 32).astype(np.float64), array & 0xFFFFFFFF
        return exact_sum(top, bottom.astype(np.float64)).low
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        return np.asarray(array - vector, dtype=np.float64)
    if array.dtype.kind == "O":
        pairs = zip(array, vector.tolist(), strict=True)
        return np.array([_left(one, rounded) for one, rounded in pairs])
    return np.zeros(vector.shape)


def _left(number: object, rounded: float) -> float:
    """Return what float64 left of a number."""
    if isinstance(number, float):
        return 0.0
    if isinstance(number, Integral):
        left = int(number) - int(rounded)
        if abs(left) > EXACT:
            raise ScoresError("scores that are integers must be of at most 106 bits")
        return left
    if isinstance(number, Rational | Decimal):
        return float(Fraction(number) - Fraction(rounded))
    if isinstance(number, np.floating):
        return float(number - type(number)(rounded))
    raise ScoresError(NO_NUMBERS)


def truth(name: str, value: object) -> bool:
    """Return ``value`` as a bool."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"`{name}` must be True or False, not a {type(value).__name__}")
    return bool(value)


def _number(name: str, value: object, kind: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(f"`{name}` must be {kind}, not a {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        raise ParameterError(f"`{name}` must be {kind}; it is too large for a float") from None
