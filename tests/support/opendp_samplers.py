"""OpenDP's samplers in place of the library's own, with the same distributions.

OpenDP's ``make_noisy_top_k`` names its distributions by the privacy measure: under
``max_divergence`` it adds exponential noise (the distribution of permute-and-flip), under
``zero_concentrated_divergence`` Gumbel noise (the exponential mechanism). Its privacy maps are
not used: Gumbel noise is bounded-range and hence epsilon-DP by our own scaling.
"""

from contextlib import contextmanager
from functools import lru_cache, partial

import numpy as np
import opendp.prelude as opendp

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

opendp.enable_features("contrib")


@contextmanager
def opendp_samplers():
    """Draw every selection, and all noise on counts, of this process by OpenDP in this block.

    The distributions are the same. ``benchmarks/draws.py`` compares the times: OpenDP's noise
    of a large table takes 3 to 30 times as long, and its choice among a million scores that
    are far apart up to 90 times; among equal ones it takes less. An audit inside of the block
    draws by the library's own samplers.
    """

    def handle(name, draw, args, kwargs):
        return INSTEAD[name](*args, **kwargs) if name in INSTEAD else draw()

    with intercepted(handle):
        yield


@lru_cache(maxsize=64)
def _top_k(measure, scale, k):
    """Return OpenDP's own measurement of the ``k`` largest."""
    domain = opendp.vector_domain(opendp.atom_domain(T="i64"))
    made = getattr(opendp, measure)()
    return opendp.m.make_noisy_top_k(
        domain, opendp.linf_distance(T="i64"), made, k=k, scale=scale
    )


@lru_cache(maxsize=64)
def _noise(make, metric, kind, scale):
    domain = opendp.vector_domain(opendp.atom_domain(T="i64"))
    return getattr(opendp.m, make)(domain, getattr(opendp, metric)(T=kind), scale=scale)


def _noisy(make, metric, kind, counts, scale, **_):
    noisy = _noise(make, metric, kind, scale)(np.asarray(counts, dtype=np.int64))
    return np.asarray(noisy, dtype=np.int64)


def _largest(measure, numbers, scale, k):
    return [int(position) for position in _top_k(measure, scale, k)(numbers)]


def _largest_by_laplace(numbers, scale, k):
    return [int(at) for at in np.argsort(-LAPLACE(numbers, scale), kind="stable")[:k]]


def _gumbel(scores, epsilon, k):
    return _largest("zero_concentrated_divergence", to_grid(scores), scale_for(epsilon, k), k)


LAPLACE = partial(_noisy, "make_laplace", "l1_distance", "i64")
INSTEAD = {
    name_of(top_k_exponential_noise): partial(in_rounds, partial(_largest, "max_divergence")),
    name_of(top_k_laplace_noise): partial(in_rounds, _largest_by_laplace),
    name_of(top_k_gumbel_noise): _gumbel,
    name_of(discrete_laplace): LAPLACE,
    name_of(discrete_gaussian): partial(_noisy, "make_gaussian", "l2_distance", "f64"),
}
