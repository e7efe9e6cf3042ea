"""Types of the arrays that modules exchange."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy import typing as npt
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]
    ArrayLike: TypeAlias = npt.ArrayLike
    Bools: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]
    Words: TypeAlias = NDArray[np.uint64]
else:
    # NumPy takes long to import, and a plan may not need it.
    Array = ArrayLike = Sequence[Any]
    Bools, Floats, Integers = Sequence[bool], Sequence[float], Sequence[int]
    Words = Integers

Scores: TypeAlias = Floats
"""Shape ``(n,)``: one number per candidate, larger is better; private."""

Values: TypeAlias = Floats
"""Floats of any shape."""

Probabilities: TypeAlias = Floats
"""Shape ``(n,)``: the exact distribution of a draw; as private as the scores."""

Direction: TypeAlias = Literal["non-decreasing", "non-increasing"]
"""Whether candidates with larger scores have larger sensitivities, or smaller ones."""

OnInvalid: TypeAlias = Literal["repair", "raise"]
"""What happens to a record that does not fit what was declared: it is repaired by itself, as
documented; or, for a curator who declares that none is there, an error is raised."""

Indices: TypeAlias = Integers
"""Integers: counts, positions of candidates, or distances between databases."""
