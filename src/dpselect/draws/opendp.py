"""OpenDP's samplers: noisy maxima of scores on the grid, and noisy counts.

OpenDP's ``make_noisy_top_k`` names its distributions by the privacy measure: under
``max_divergence`` it adds exponential noise (the law of permute-and-flip), under
``zero_concentrated_divergence`` Gumbel noise (the exponential mechanism). The tests hold
both against their laws. Its privacy maps are not used: Gumbel noise is bounded-range and
hence epsilon-DP by our own scaling.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, nextafter
from typing import Literal

import numpy as np
import opendp.prelude as opendp
from numpy.typing import NDArray

from dpselect.draws.door import sampler
from dpselect.draws.grid import SENSITIVITY, to_grid
from dpselect.errors import ParameterError
from dpselect.typing import Indices, Scores

opendp.enable_features("contrib")

LARGEST_SCALE = 2.0**50
"""Above it the noise of a count could meet the ends of 64-bit integers."""


@sampler
def top_k_exponential_noise(scores: Scores, epsilon: float, k: int) -> list[int]:
    """Draw ``k`` positions, each round the maximum after fresh exponential noise."""
    return _draw(_noisy_top_k("exponential", _scale(epsilon, k), k), scores)


@sampler
def top_k_gumbel_noise(scores: Scores, epsilon: float, k: int) -> list[int]:
    """Draw the ``k`` largest positions after Gumbel noise, once for all rounds."""
    return _draw(_noisy_top_k("gumbel", _scale(epsilon, k), k), scores)


@sampler
def top_k_laplace_noise(scores: Scores, epsilon: float, k: int) -> list[int]:
    """Draw ``k`` positions, each round the maximum after fresh discrete Laplace noise.

    A tie goes to the earlier candidate. The proof of report-noisy-max holds for a fixed
    order: given the others' noise, a candidate wins if its own exceeds an integer that one
    neighbour step moves by at most two sensitivities.
    """
    noisy = _laplace(_scale(epsilon, k))
    grid = to_grid(scores)
    left = np.arange(grid.size)
    chosen: list[int] = []
    for _ in range(k):
        best = int(np.argmax(noisy(grid[left])))
        chosen.append(int(left[best]))
        left = np.delete(left, best)
    return chosen


@sampler
def discrete_laplace(counts: Indices, scale: float) -> Indices:
    r"""Add independent discrete Laplace noise, :math:`P(z) \propto e^{-|z|/\text{scale}}`.

    Guarantee:
        :math:`(m/\text{scale})`-DP where one neighbour step moves the counts by at most
        ``m`` in all (:math:`\ell_1`).

    Args:
        counts: Integers, shape ``(n,)``. Private.
        scale: At least the quotient above, rounded up (:func:`scale_for`); finite, > 0, at
            most ``LARGEST_SCALE``. Public.

    Returns:
        Shape ``(n,)``, int64; a release.

    Raises:
        ParameterError: ``counts`` are not integers, or ``scale`` is out of its range.
    """
    exact = np.asarray(counts)
    if exact.size and exact.dtype.kind not in "iu":
        raise ParameterError(f"counts must be integers, not {exact.dtype}")
    if not 0 < scale <= LARGEST_SCALE:
        raise ParameterError(f"scale must be above 0 and at most 2**50, got {scale!r}")
    return np.asarray(_laplace(scale)(exact.astype(np.int64)), dtype=np.int64)


@sampler
def discrete_gaussian(counts: Indices, scale: float) -> Indices:
    r"""Add independent discrete Gaussian noise, :math:`P(z) \propto e^{-z^2/2\text{scale}^2}`.

    Guarantee:
        :math:`\ell_2^2/(2\,\text{scale}^2)`-zCDP where the squares of what one neighbour step
        moves of each count add up to at most :math:`\ell_2^2`.

    Args:
        counts: Integers, shape ``(n,)``. Private.
        scale: Finite, > 0, at most ``LARGEST_SCALE``. Public.

    Returns:
        Shape ``(n,)``, int64; a release.

    Source: Canonne, Kamath and Steinke 2020, arXiv:2004.00010.
    """
    noisy = _gaussian(scale)(np.asarray(counts, dtype=np.int64))
    return np.asarray(noisy, dtype=np.int64)


@sampler
def exceeds(counts: Indices, threshold: int, scale: float) -> NDArray[np.bool_]:
    """Return which counts with discrete Laplace noise exceed a threshold; the noise is secret.

    Args:
        counts: Integers, shape ``(n,)``. Private.
        threshold: Public.
        scale: Of the noise, as in :func:`discrete_laplace`. Public.
    """
    return discrete_laplace(counts, scale) > threshold


def scale_for(epsilon: float, steps: int = 1) -> float:
    """Return the scale for counts that one neighbour step moves by ``steps``, rounded up.

    Args:
        epsilon: What the noisy counts cost together, in nats; > 0.
        steps: The largest change of all counts together; >= 1. Public.
    """
    return nextafter(steps / float(epsilon), inf)


def _draw(measurement: opendp.Measurement, scores: Scores) -> list[int]:
    return [int(position) for position in measurement(to_grid(scores))]


@lru_cache(maxsize=64)
def _noisy_top_k(
    noise: Literal["exponential", "gumbel"], scale: float, k: int
) -> opendp.Measurement:
    measures = {
        "exponential": opendp.max_divergence,
        "gumbel": opendp.zero_concentrated_divergence,
    }
    return opendp.m.make_noisy_top_k(
        opendp.vector_domain(opendp.atom_domain(T="i64")),
        opendp.linf_distance(T="i64"),
        measures[noise](),
        k=k,
        scale=scale,
    )


@lru_cache(maxsize=64)
def _laplace(scale: float) -> opendp.Measurement:
    space = (
        opendp.vector_domain(opendp.atom_domain(T="i64")),
        opendp.l1_distance(T="i64"),
    )
    return opendp.m.make_laplace(*space, scale=scale)


@lru_cache(maxsize=64)
def _gaussian(scale: float) -> opendp.Measurement:
    space = (
        opendp.vector_domain(opendp.atom_domain(T="i64")),
        opendp.l2_distance(T="f64"),
    )
    return opendp.m.make_gaussian(*space, scale=scale)


def _scale(epsilon: float, k: int) -> float:
    """Return the noise scale for epsilon / k a round, in grid steps, rounded up."""
    return nextafter(2 * SENSITIVITY * k / float(epsilon), inf)
