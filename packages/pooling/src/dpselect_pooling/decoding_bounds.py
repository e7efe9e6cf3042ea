"""Bounds on the errors of decoded outcomes that hold for every list of statuses.

Two people share at most λ pools and everybody is in at least ``w``, so ``d`` positives cover at
most ``dλ`` pools of another person. If that is less than ``w``, that person is in a pool
without a positive, and COMP is right about everybody. With noise after pooling, COMP that
allows ``t`` negative pools misses a positive if more than ``t`` of their pools are clean, and
adds a stranger if at most ``t`` of their ``w - dλ`` pools without a positive are negative;
Markov's inequality bounds how many.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from dpselect import ErrorBound
from dpselect.errors import ParameterError
from dpselect.extend import validation
from dpselect_pooling import designs
from dpselect_pooling.designs import Design

PROBABILITY = 0.95
"""Of the bounds that plans state."""


def positives_found(design: ArrayLike) -> int:
    """Return a number of positives that COMP finds for certain, without noise.

    ``⌈w / λ⌉ - 1``, which is ``d`` for ``kautz_singleton`` and can be less than the largest
    such number for other designs; the number of people where no two share a pool.

    Args:
        design: Shape ``(pools, people)``.
    """
    matrix = designs.checked(design)
    least, shared, people = _overlaps(matrix)
    if least == 0:
        return 0
    return people if shared == 0 else min(people, (least - 1) // shared)


def check_found(design: ArrayLike, *, d: int, beta: int) -> None:
    """Refuse a design that does not find members and replaced people for certain.

    Args:
        design: Shape ``(pools, people)``.
        d: Number of positives.
        beta: Number of samples that are replaced by known positives.

    Raises:
        ParameterError: It finds fewer than ``d + beta`` positives.
    """
    found = positives_found(design)
    if validation.at_least("d", d, 0) + beta > found:
        raise ParameterError(
            f"the design finds {found} positives for certain, and with {beta} samples replaced "
            f"there are {d + beta}: take a design for that many, such as kautz_singleton, or "
            "leave `d` out for a plan without a bound on the error"
        )


def decoding_error(
    design: ArrayLike,
    *,
    d: int,
    clean: float | Fraction,
    contaminated: float | Fraction,
) -> ErrorBound:
    """Return a bound on the number of wrong answers of COMP under noise after pooling.

    Args:
        design: Shape ``(pools, people)``.
        d: Number of positives.
        clean: The chance that the outcome of a pool with a positive is negative.
        contaminated: The chance that one without a positive is positive.

    Returns:
        The smallest number that neither the missed positives nor the added strangers exceed
        with probability 0.95, for any statuses, with the best number of allowed negative pools,
        which its unit states. Definition 2 holds with it as beta.
    """
    matrix = designs.checked(design)
    least, shared, people = _overlaps(matrix)
    members = validation.at_least("d", d, 0)
    if members > people:
        raise ParameterError(f"`d` must be at most the number of people, {people}")
    most = int(matrix.sum(axis=0).max())
    free = max(0, least - members * shared)
    best = (people, 0)
    for allowed in range(most + 1):
        missed = members * (1 - _at_most(allowed, most, Fraction(clean)))
        added = (people - members) * _at_most(allowed, free, 1 - Fraction(contaminated))
        best = min(best, (_least_number(missed, added, members, people - members), allowed))
    number, allowed = best
    unit = f"people missed or added, by COMP that allows {allowed} negative pools"
    return ErrorBound(float(number), unit, PROBABILITY)


def _least_number(missed: Fraction, added: Fraction, members: int, strangers: int) -> int:
    """Return the least number beyond which the chance of more is at most 5 %."""
    for number in range(max(members, strangers)):
        chance = Fraction(0)
        chance += missed / (number + 1) if number < members else 0
        chance += added / (number + 1) if number < strangers else 0
        if chance <= 1 - Fraction(PROBABILITY):
            return number
    return max(members, strangers)


def _at_most(k: int, n: int, chance: Fraction) -> Fraction:
    """Return the probability of at most k successes of n."""
    each = (comb(n, i) * chance**i * (1 - chance) ** (n - i) for i in range(min(k, n) + 1))
    return sum(each, Fraction(0))


def _overlaps(matrix: Design) -> tuple[int, int, int]:
    """Return the least number of pools of anybody, the most that two share, and the people."""
    columns = matrix.T.astype(np.float32)
    weights = columns.sum(axis=1)
    shared = 0.0
    for first in range(0, len(columns), 1024):
        block = columns[first : first + 1024]
        both = block @ columns.T
        both[np.arange(len(block)), first + np.arange(len(block))] = 0
        shared = max(shared, float(both.max()))
    return int(weights.min()), int(shared), len(columns)
