"""OpenDP's samplers in place of the library's own, with the same distributions.

OpenDP's ``make_noisy_top_k`` names its distributions by the privacy measure: under
``max_divergence`` it adds exponential noise (the distribution of permute-and-flip), under
``zero_concentrated_divergence`` Gumbel noise (the exponential mechanism). Its privacy maps are
not used: Gumbel noise is bounded-range and hence epsilon-DP by our own scaling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from types import ModuleType
from typing import Any

import numpy as np
import opendp.prelude

from dpselect.draws.exact.lazy_noise import Noise
from dpselect.draws.exact.noisy_counts import discrete_gaussian, discrete_laplace
from dpselect.draws.exact.samplers import intercepted, name_of
from dpselect.draws.exact.selection import (
    in_rounds,
    scale_for,
    top_k_exponential_noise,
    top_k_gumbel_noise,
    top_k_laplace_noise,
)
from dpselect.draws.grid import to_grid
from dpselect.typing import Indices, Scores

_MEASURES = {Noise.EXPONENTIAL: "max_divergence", Noise.GUMBEL: "zero_concentrated_divergence"}


@contextmanager
def opendp_samplers() -> Iterator[None]:
    """Draw every selection, and all noise on counts, of this process by OpenDP in this block.

    The distributions are the same. ``benchmarks/draws.py`` compares the times: OpenDP's noise
    of a large table takes 3 to 30 times as long, and its choice among a million scores that
    are far apart up to 90 times; among equal ones it takes less. An audit inside of the block
    draws by the library's own samplers.

    """

    def handle(
        name: str, draw: Callable[[], Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        instead = _INSTEAD.get(name)
        return draw() if instead is None else instead(*args, **kwargs)

    with intercepted(handle):
        yield


def _opendp() -> ModuleType:
    opendp.prelude.enable_features("contrib")
    return opendp.prelude


def _largest(noise: Noise, numbers: Indices, scale: float, k: int) -> list[int]:
    return [int(position) for position in noisy_top_k(noise, scale, k)(numbers)]


def _largest_by_laplace(numbers: Indices, scale: float, k: int) -> list[int]:
    return [int(at) for at in np.argsort(-_laplace(numbers, scale), kind="stable")[:k]]


def _gumbel(scores: Scores, epsilon: float, k: int) -> list[int]:
    return _largest(Noise.GUMBEL, to_grid(scores), scale_for(epsilon, k), k)


def _laplace(counts: Indices, scale: float, **_: int | None) -> Indices:
    return _noisy("make_laplace", "l1_distance", "i64", scale, counts)


def _gaussian(counts: Indices, scale: float) -> Indices:
    return _noisy("make_gaussian", "l2_distance", "f64", scale, counts)


_INSTEAD: dict[str, Callable[..., Any]] = {
    name_of(top_k_exponential_noise): partial(in_rounds, partial(_largest, Noise.EXPONENTIAL)),
    name_of(top_k_laplace_noise): partial(in_rounds, _largest_by_laplace),
    name_of(top_k_gumbel_noise): _gumbel,
    name_of(discrete_laplace): _laplace,
    name_of(discrete_gaussian): _gaussian,
}


@lru_cache(maxsize=64)
def noisy_top_k(noise: Noise, scale: float, k: int) -> Any:
    """Return OpenDP's own measurement of the ``k`` largest."""
    opendp = _opendp()
    return opendp.m.make_noisy_top_k(
        opendp.vector_domain(opendp.atom_domain(T="i64")),
        opendp.linf_distance(T="i64"),
        getattr(opendp, _MEASURES[noise])(),
        k=k,
        scale=scale,
    )


def _noisy(make: str, metric: str, kind: str, scale: float, counts: Indices) -> Indices:
    noisy = _measurement(make, metric, kind, scale)(np.asarray(counts, dtype=np.int64))
    return np.asarray(noisy, dtype=np.int64)


@lru_cache(maxsize=64)
def _measurement(make: str, metric: str, kind: str, scale: float) -> Any:
    opendp = _opendp()
    return getattr(opendp.m, make)(
        opendp.vector_domain(opendp.atom_domain(T="i64")),
        getattr(opendp, metric)(T=kind),
        scale=scale,
    )
