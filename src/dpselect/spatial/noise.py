r"""Noise for counts: OpenDP's exact discrete Laplace, and its moments."""

from __future__ import annotations

from math import exp, expm1, inf, nextafter, sqrt

import numpy as np

from dpselect.neighbours import Neighbours
from dpselect.typing import Indices, Values

LARGEST_SCALE = 2.0**50
"""Above it noise could meet the ends of 64-bit integers."""


def scale_for(epsilon: float, neighbours: Neighbours, points_per_user: int = 1) -> float:
    """Return the scale for counts of cells that do not overlap, rounded up.

    One individual who comes or goes changes the counts by at most ``points_per_user`` in
    all; one who is replaced by another by twice that.
    """
    steps = points_per_user * (2 if neighbours is Neighbours.SUBSTITUTE else 1)
    return nextafter(steps / epsilon, inf)


def noisy(counts: Values | Indices, scale: float) -> Values:
    """Return counts with discrete Laplace noise; a release, whole numbers in float64.

    Args:
        counts: Whole numbers, shape ``(cells,)``. Private.
        scale: From :func:`scale_for`, or of a decision of a tree.
    """
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    space = (
        opendp.vector_domain(opendp.atom_domain(T="i64")),
        opendp.l1_distance(T="i64"),
    )
    draw = opendp.m.make_laplace(*space, scale=scale)
    return np.asarray(draw(counts.astype(np.int64)), dtype=np.float64)


def standard_deviation(scale: float) -> float:
    r"""Return :math:`\sqrt{2 e^{-1/b}} / (1 - e^{-1/b})`, that of the discrete Laplace law."""
    return sqrt(2 * exp(-1 / scale)) / -expm1(-1 / scale)
