"""OpenDP's samplers: discrete Gaussian noise, and a reference for draws of our own.

OpenDP's ``make_noisy_top_k`` names its distributions by the privacy measure: under
``max_divergence`` it adds exponential noise (the law of permute-and-flip), under
``zero_concentrated_divergence`` Gumbel noise (the exponential mechanism). The tests hold
both against their laws. Its privacy maps are not used: Gumbel noise is bounded-range and
hence epsilon-DP by our own scaling.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import opendp.prelude as opendp

from dpselect.draws.lazy_noise import Noise
from dpselect.typing import Indices

opendp.enable_features("contrib")

_MEASURES = {
    Noise.EXPONENTIAL: opendp.max_divergence,
    Noise.GUMBEL: opendp.zero_concentrated_divergence,
}


def largest(noise: Noise, numbers: Indices, scale: float, k: int) -> list[int]:
    """Return the positions of the ``k`` largest numbers with noise, the largest first.

    Of Laplace noise that is drawn once for all ``k``; a tie goes to the earlier one.
    """
    if noise is Noise.LAPLACE:
        return [int(at) for at in np.argsort(-laplace(numbers, scale), kind="stable")[:k]]
    return [int(position) for position in noisy_top_k(noise, scale, k)(numbers)]


def laplace(counts: Indices, scale: float) -> Indices:
    """Return counts with discrete Laplace noise."""
    return np.asarray(_laplace(scale)(counts), dtype=np.int64)


def gaussian(counts: Indices, scale: float) -> Indices:
    """Return counts with discrete Gaussian noise."""
    return np.asarray(_gaussian(scale)(counts), dtype=np.int64)


@lru_cache(maxsize=64)
def noisy_top_k(noise: Noise, scale: float, k: int) -> opendp.Measurement:
    """Return OpenDP's own measurement of the ``k`` largest."""
    return opendp.m.make_noisy_top_k(
        opendp.vector_domain(opendp.atom_domain(T="i64")),
        opendp.linf_distance(T="i64"),
        _MEASURES[noise](),
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
