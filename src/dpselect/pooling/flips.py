"""The door to OpenDP's exact coins and counts."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, nextafter

import opendp.prelude as opendp

opendp.enable_features("contrib")


def flipper(epsilon: float) -> Callable[[bool], bool]:
    """Return a function that flips one bit, ``epsilon``-DP in that bit."""
    # Rounded down: the flip may only be a little more likely than asked for.
    return flipper_by_chance(min(1 / (1 + exp(-epsilon)), nextafter(1.0, 0.0)))


def flipper_by_chance(kept: float) -> Callable[[bool], bool]:
    """Return a function that keeps a bit with probability ``kept``, in [1/2, 1]."""
    draw = opendp.m.make_randomized_response_bool(prob=kept)
    return lambda bit: bool(draw(bit))


def noisy_count(count: int, epsilon: float) -> int:
    """Add discrete Laplace noise to a count that one person moves by at most 1."""
    space = opendp.atom_domain(T="i64"), opendp.absolute_distance(T="i64")
    noisy = opendp.m.make_laplace(*space, scale=nextafter(1 / epsilon, inf))
    return int(noisy(count))
