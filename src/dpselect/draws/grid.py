r"""Unit scores on an integer grid, with all floating-point error added to the sensitivity.

OpenDP draws exactly for the numbers that it is given; the guarantee is about those numbers.
Let :math:`s` be unit scores and :math:`\hat s` the computed ones. Scalings round a few times,
each relative to :math:`|s_r| + 1`, so :math:`|\hat s_r - s_r| \le 2^{-49} (|s_r| + 1)`. Unit
scores are first clamped to :math:`\pm 2^{30}`, a public constant, which keeps them unit
scores and makes the error at most :math:`2^{-19}`, 2 steps of a grid of :math:`2^{-20}`.
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
"""Largest change of a score on the grid by one neighbour step, in grid steps."""


def to_grid(scores: Scores) -> Indices:
    """Return unit scores in grid steps, as int64."""
    cut = np.clip(scores, -LIMIT, LIMIT)
    return np.rint(cut * STEPS_PER_UNIT).astype(np.int64)
