"""Samplers of noise on counts, and of decisions by noisy counts."""

from __future__ import annotations

from math import inf, nextafter

import numpy as np
from numpy.typing import NDArray

from dpselect.draws import reference
from dpselect.draws.door import sampler
from dpselect.draws.geometric import ENDS, geometric
from dpselect.errors import ParameterError
from dpselect.typing import Indices

LARGEST_SCALE = 2.0**50
"""Above it the noise of a count could meet the ends of 64-bit integers."""


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
    exact = exact.astype(np.int64)
    if reference.selected():
        from dpselect.draws import opendp

        return opendp.laplace(exact, scale)
    noise = geometric(exact.size, scale) - geometric(exact.size, scale)
    return np.clip(exact + noise.reshape(exact.shape), -ENDS, ENDS)


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
    from dpselect.draws import opendp

    return opendp.gaussian(np.asarray(counts, dtype=np.int64), scale)


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
