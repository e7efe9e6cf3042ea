"""Names for the arrays that cross module borders."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Scores: TypeAlias = NDArray[np.float64]
"""Shape ``(n,)``: one number per candidate, larger is better; private."""

Values: TypeAlias = NDArray[np.float64]
"""Floats of any shape."""

Probabilities: TypeAlias = NDArray[np.float64]
"""Shape ``(n,)``: the exact law of a draw; as private as the scores."""

Indices: TypeAlias = NDArray[np.int64]
"""Positions of candidates, or distances between databases."""
