r"""Unit scores on an integer grid, with all floating-point error added to the sensitivity.

OpenDP draws exactly for the numbers that it is given; the guarantee is about those numbers.
Let :math:`s` be unit scores and :math:`\hat s` the computed ones. Unit scores are first clamped
to :math:`\pm 2^{30}`, a public constant, which keeps them unit scores. What remains is off by
at most :math:`2^{-49} (|s_r| + 1)`, or 2^-20 where a scaling adds up to that many distances:
at most :math:`2^{-19}` either way, 2 steps of a grid of :math:`2^{-20}`. Rounding to the grid
adds at most 1 step to the distance of any two numbers, and the errors of both databases 4. On
the grid a neighbour step thus moves a score by at most :math:`2^{20} + 5` steps, and that is
the sensitivity that the noise is made for: it costs five millionths of epsilon.

Scalings keep that error as follows; the tests compare the global, dampened, pairwise and
generalized ones with fractions.

- Scores are floats, or integers of up to 106 bits, and as they are. Differences of two come
  before any rounding (:meth:`~dpselect.Objective.gaps`), so that they are right relative to
  themselves, not to the scores.
- Bounds are from 1e-200 to 1e200, and quotients by them do not overflow within the clamp.
- Sums of sensitivities are compensated, and right relative to themselves. A dampened score
  divides by the last term, which is the largest.
- Horizons of the shifted scaling, and penalties of the generalized one, are limited.
- Pairwise comparisons are made in integers (:mod:`dpselect.scaling.envelope`).

What rounds *before* the scores, in an objective, is part of them, and of their sensitivity.
"""

from __future__ import annotations

import numpy as np

from dpselect.typing import Indices, Scores

STEPS_PER_UNIT = 2**20
LIMIT = 2.0**30

SENSITIVITY = STEPS_PER_UNIT + 5
"""Largest change of a score on the grid by one neighbour step, in grid steps."""


def to_grid(scores: Scores) -> Indices:
    """Return unit scores in grid steps, as int64.

    NaN, which no scaling of the library returns, is taken as the least score: an error that
    depends on one would tell of it.
    """
    cut = np.clip(np.nan_to_num(scores, nan=-LIMIT), -LIMIT, LIMIT)
    return np.rint(cut * STEPS_PER_UNIT).astype(np.int64)
