r"""Unit scores as whole numbers, with everything that floating point did to them paid for.

OpenDP draws exactly for the numbers that it is given; the guarantee is about those numbers.
Let :math:`s` be unit scores and :math:`\hat s` the computed ones. Scalings round a few times,
each relative to :math:`|s_r| + 1`, so :math:`|\hat s_r - s_r| \le 2^{-49} (|s_r| + 1)`. Unit
scores are first cut at :math:`\pm 2^{30}`, a public constant, which keeps them unit scores
and makes the error at most :math:`2^{-19}`, that is 2 steps of a grid of :math:`2^{-20}`.
Rounding to the grid adds at most 1 step to the distance of any two numbers, and
the errors of both databases 4. On the grid a neighbour step thus moves a score by at most
:math:`2^{20} + 5` steps, and that is the sensitivity that the noise is made for: it costs five
millionths of epsilon.
"""

from __future__ import annotations

import numpy as np

from dpselect.typing import Indices, Scores

STEPS_PER_UNIT = 2**20
LIMIT = 2.0**30

SENSITIVITY = STEPS_PER_UNIT + 5
"""What one neighbour step changes of a score on the grid, in grid steps."""


def to_grid(scores: Scores) -> Indices:
    """Return unit scores in grid steps, as int64."""
    cut = np.clip(scores, -LIMIT, LIMIT)
    return np.rint(cut * STEPS_PER_UNIT).astype(np.int64)
