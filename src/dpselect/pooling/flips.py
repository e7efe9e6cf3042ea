"""The door to OpenDP's exact coins and counts."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, nextafter

import opendp.prelude as opendp

opendp.enable_features("contrib")


def flipper(epsilon: float) -> Callable[[bool], bool]:
    """Return a function that flips one bit, ``epsilon``-DP in that bit."""
    kept = min(1 / (1 + exp(-epsilon)), nextafter(1.0, 0.0))
    # OpenDP's map bounds what the rounded chance costs, from above.
    while opendp.m.make_randomized_response_bool(prob=kept).map(1) > epsilon:
        kept = nextafter(kept, 0.5)
    return flipper_by_chance(kept)


def flipper_by_chance(kept: float) -> Callable[[bool], bool]:
    """Return a function that keeps a bit with probability ``kept``, in [1/2, 1]."""
    draw = opendp.m.make_randomized_response_bool(prob=kept)
    return lambda bit: bool(draw(bit))


def noisy_count(count: int, epsilon: float) -> int:
    """Add discrete Laplace noise to a count that one person moves by at most 1."""
    space = opendp.atom_domain(T="i64"), opendp.absolute_distance(T="i64")
    noisy = opendp.m.make_laplace(*space, scale=nextafter(1 / epsilon, inf))
    return int(noisy(count))
