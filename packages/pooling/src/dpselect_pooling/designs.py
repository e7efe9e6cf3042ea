"""Pooling designs: which sample goes into which pool. Public, and independent of all samples.

Each function returns a boolean matrix of shape ``(pools, people)``.
"""

from __future__ import annotations

from itertools import count
from math import ceil, isqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect.errors import ParameterError
from dpselect.extend import validation

Design: TypeAlias = NDArray[np.bool_]
"""Shape ``(pools, people)``: whether a person's sample is in a pool."""


def bernoulli(
    people: int, pools: int, *, probability: float, rng: np.random.Generator
) -> Design:
    """Return a design with every sample in every pool independently.

    Args:
        people: At least 1.
        pools: At least 1.
        probability: Probability of being in a pool, in (0, 1). Near ``ln 2 / positives`` half
            of the pools are positive; ``1 / positives`` is the other common choice.
        rng: The generator; a design need not be secret.
    """
    shape = _shape(people, pools, rng)
    share = validation.within("probability", probability, 0, 1)
    if share in {0, 1}:
        raise ParameterError("`probability` must be strictly between 0 and 1")
    return rng.random(shape) < share


def near_constant_column_weight(
    people: int, pools: int, *, weight: int, rng: np.random.Generator
) -> Design:
    """Return a design with ``weight`` pools drawn with replacement for every sample.

    Source: Johnson, Aldridge and Scarlett 2019, arXiv:1612.07122. With
    ``weight = round(ln 2 * pools / positives)`` it beats the Bernoulli design.
    """
    pools, people = _shape(people, pools, rng)
    weight = validation.at_least("weight", weight, 1)
    design = np.zeros((pools, people), dtype=np.bool_)
    design[rng.integers(pools, size=(weight, people)), np.arange(people)] = True
    return design


def doubly_balanced(
    people: int,
    pools: int,
    *,
    weight: int,
    max_pool_size: int | None = None,
    rng: np.random.Generator,
) -> Design:
    """Return a design with every sample in ``weight`` pools, and pools of equal size up to one.

    Every sample goes to the emptiest pools so far; ties are broken at random.

    Args:
        people: At least 1.
        pools: At least 1.
        weight: Pools for each sample, 1 to ``pools``.
        max_pool_size: Largest number of samples in a pool that the assay allows.
        rng: The generator.

    Raises:
        ParameterError: No such design keeps to the cap; the message states a sufficient number
            of pools.
    """
    pools, people = _shape(people, pools, rng)
    weight = validation.at_least("weight", weight, 1, pools)
    if max_pool_size is not None:
        cap = validation.at_least("max_pool_size", max_pool_size, 1)
        largest = ceil(people * weight / pools)
        if largest > cap:
            raise ParameterError(
                f"{people} samples in {weight} pools each need pools of {largest}, above "
                f"`max_pool_size`={cap}: take at least {ceil(people * weight / cap)} pools"
            )
    design = np.zeros((pools, people), dtype=np.bool_)
    filled = np.zeros(pools)
    for person in range(people):
        emptiest = np.argpartition(filled + rng.random(pools), weight - 1)[:weight]
        design[emptiest, person] = True
        filled[emptiest] += 1
    return design


def dorfman(people: int, *, pool_size: int) -> Design:
    """Return disjoint pools of neighbours; positive ones are to be retested one by one.

    Source: Dorfman 1943.
    """
    people = validation.at_least("people", people, 1)
    size = validation.at_least("pool_size", pool_size, 1)
    pool = np.arange(people) // size
    return pool[None, :] == np.arange(ceil(people / size))[:, None]


def array_2d(people: int, *, rows: int, columns: int) -> Design:
    """Return the pools of all rows and all columns of plates; the last may be part empty."""
    people = validation.at_least("people", people, 1)
    rows = validation.at_least("rows", rows, 1)
    columns = validation.at_least("columns", columns, 1)
    person = np.arange(people)
    plate, well = np.divmod(person, rows * columns)
    row, column = np.divmod(well, columns)
    design = np.zeros(((plate[-1] + 1) * (rows + columns), people), dtype=np.bool_)
    design[plate * (rows + columns) + row, person] = True
    design[plate * (rows + columns) + rows + column, person] = True
    return design[design.any(axis=1)]


def kautz_singleton(people: int, *, d: int) -> Design:
    """Return the smallest design of Kautz and Singleton that finds any ``d`` positives.

    Each person is a polynomial of degree below ``k`` over the integers modulo a prime ``q``; at
    each of ``length`` points its value says in which of ``q`` pools the sample is. Two
    polynomials agree at no more than ``k - 1`` points, so ``d`` others cannot cover all pools
    of a person as long as ``d(k - 1) <`` ``length``: COMP is then right on every set of up to
    ``d`` positives.

    Args:
        people: At least 1.
        d: Number of positives that COMP finds for certain, at least 1.

    Returns:
        Shape ``(pools, people)`` with ``(d (k - 1) + 1) * q`` pools, each sample in
        ``d (k - 1) + 1`` of them, for the prime with the fewest pools and ``k`` of 2 or more.

    Source: Kautz and Singleton 1964.
    """
    people = validation.at_least("people", people, 1)
    d = validation.at_least("d", d, 1)
    q = _best_prime(people, d)
    degree = _coefficients(people, q)
    length = d * (degree - 1) + 1
    digits = np.arange(people) // q ** np.arange(degree)[:, None] % q
    symbols = np.zeros((length, people), dtype=np.int64)
    for row in digits[::-1]:
        symbols = (symbols * np.arange(length)[:, None] + row) % q
    design = np.zeros((length * q, people), dtype=np.bool_)
    design[np.arange(length)[:, None] * q + symbols, np.arange(people)] = True
    return design


def checked(design: ArrayLike) -> Design:
    """Return a design as a boolean matrix.

    Raises:
        ParameterError: It is not a matrix of zeros and ones with at least one person.
    """
    try:
        matrix = np.asarray(design)
    except ValueError:
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ParameterError("`design` must be a matrix with one row per pool, one column each")
    if matrix.dtype != np.bool_:
        if not np.isin(matrix, (0, 1)).all():
            raise ParameterError("`design` must hold only True and False, or 1 and 0")
        matrix = matrix.astype(np.bool_)
    return matrix


def _shape(people: int, pools: int, rng: np.random.Generator) -> tuple[int, int]:
    validation.instance("rng", rng, np.random.Generator)
    return validation.at_least("pools", pools, 1), validation.at_least("people", people, 1)


def _best_prime(people: int, d: int) -> int:
    """Return the prime with the fewest pools; none above the first with k <= 2 is better."""
    best, fewest = 0, 0
    for q in count(2):
        if not _is_prime(q):
            continue
        degree = _coefficients(people, q)
        length = d * (degree - 1) + 1
        if length <= q and (not best or length * q < fewest):
            best, fewest = q, length * q
        if length <= q and degree <= 2:
            return best
    raise AssertionError  # pragma: no cover -- there are infinitely many primes


def _coefficients(people: int, q: int) -> int:
    degree = 1
    while q**degree < people:
        degree += 1
    return degree


def _is_prime(q: int) -> bool:
    return q > 1 and all(q % factor for factor in range(2, isqrt(q) + 1))
