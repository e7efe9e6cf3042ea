"""Types of the arrays that modules exchange."""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Scores: TypeAlias = NDArray[np.float64]
"""Shape ``(n,)``: one number per candidate, larger is better; private."""

Values: TypeAlias = NDArray[np.float64]
"""Floats of any shape."""

Probabilities: TypeAlias = NDArray[np.float64]
"""Shape ``(n,)``: the exact distribution of a draw; as private as the scores."""

Direction: TypeAlias = Literal["non-decreasing", "non-increasing"]
"""Whether candidates with larger scores have larger sensitivities, or smaller ones."""

OnInvalid: TypeAlias = Literal["repair", "raise"]
"""What happens to a record that does not fit what was declared: it is repaired by itself, as
documented; or, for a curator who declares that none is there, an error is raised."""

Indices: TypeAlias = NDArray[np.int64]
"""Integers: counts, positions of candidates, or distances between databases."""
