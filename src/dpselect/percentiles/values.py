r"""Private values made to fit their public range, record by record.

A value that does not fit must not stop the program: whether it stops would be an output
that no epsilon pays for. Each record is repaired by itself, so the repair moves neighbours
to neighbours and the guarantee holds for the data as they came.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpselect import tables
from dpselect.errors import DataError, ParameterError
from dpselect.typing import Values

OnInvalid: TypeAlias = Literal["repair", "raise"]
"""What to do with values out of range or missing: ``"raise"`` only for a curator who
declares public that there are none."""


def clamped(values: ArrayLike, upper: float, on_invalid: OnInvalid) -> Values:
    """Return values in ``[0, upper]``, a missing one as 0.

    Dropping a missing one would make the number of records private and leave its label
    without a score; under substitution every record keeps its place.
    """
    numbers = checked(values, on_invalid)
    if on_invalid == "raise" and not ((numbers >= 0) & (numbers <= upper)).all():
        raise DataError(
            "a value is missing or outside [0, upper], which on_invalid='raise' declares "
            "impossible; on_invalid='repair' takes it as the nearest end, a missing one as 0"
        )
    return np.clip(np.nan_to_num(numbers, nan=0.0, posinf=upper, neginf=0.0), 0.0, upper)


def checked(values: ArrayLike, on_invalid: OnInvalid) -> Values:
    """Return values as float64, a missing one as NaN if that is to be repaired."""
    checked_rule(on_invalid)
    numbers = tables.numeric_column(values)
    if on_invalid == "raise" and np.isnan(numbers).any():
        raise missing_value()
    return numbers


def checked_rule(on_invalid: str) -> None:
    """Raise unless ``on_invalid`` says what to do with a value that does not fit."""
    if on_invalid not in {"repair", "raise"}:
        raise ParameterError(f"on_invalid must be 'repair' or 'raise', not {on_invalid!r}")


def missing_value() -> DataError:
    """Return the error for a value that was declared impossible."""
    return DataError(
        "a value is missing, which on_invalid='raise' declares impossible; "
        "on_invalid='repair' goes on without it"
    )
