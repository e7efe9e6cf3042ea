r"""The Kautz-Singleton design, which finds any set of up to ``d`` positives for certain.

Each person is a polynomial of degree below :math:`k` over a field of :math:`q` elements; at
each of ``length`` points its value says in which of :math:`q` pools the sample is. Two
polynomials agree at no more than :math:`k - 1` points, so ``d`` others cannot cover all
pools of a person as long as :math:`d(k - 1) <` ``length``: COMP is then right on every set of
up to ``d`` positives.

Source: Kautz and Singleton 1964.
"""

from __future__ import annotations

from itertools import count
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from dpselect import _validate
from dpselect._optional import needed
from dpselect.errors import ParameterError
from dpselect.pooling.designs import Design


def kautz_singleton(people: int, *, d: int, q: int | None = None) -> Design:
    """Return the smallest design of this kind that finds any ``d`` positives.

    Args:
        people: At least 1.
        d: Positives that COMP is to find for certain, at least 1.
        q: Elements of the field, a prime or, with ``dpselect[galois]``, a prime power; the
            prime with the fewest pools if not given.

    Returns:
        Shape ``(pools, people)`` with ``(d (k - 1) + 1) * q`` pools, each sample in
        ``d (k - 1) + 1`` of them.

    Raises:
        ParameterError: ``q`` is not the order of a field, or has too few points.
        MissingDependencyError: ``q`` is a prime power and ``galois`` is not installed.
    """
    people = _validate.at_least("people", people, 1)
    d = _validate.at_least("d", d, 1)
    if q is None:
        q = _best_prime(people, d)
    q = _validate.at_least("q", q, 2)
    if not _is_prime_power(q):
        raise ParameterError(f"q = {q} is neither a prime nor a power of one")
    degree = _coefficients(people, q)
    length = d * (degree - 1) + 1
    if length > q:
        raise ParameterError(
            f"q = {q} is too small for {people} people and d = {d}: the smallest prime that "
            f"will do gives {_best_prime(people, d)}"
        )
    symbols = _evaluate(people, q, degree, length)
    design = np.zeros((length * q, people), dtype=np.bool_)
    design[np.arange(length)[:, None] * q + symbols, np.arange(people)] = True
    return design


def _evaluate(people: int, q: int, degree: int, length: int) -> NDArray[np.int64]:
    """Return the value of each person's polynomial at each point: (length, people)."""
    digits = np.arange(people) // q ** np.arange(degree)[:, None] % q
    if _is_prime(q):
        values = np.zeros((length, people), dtype=np.int64)
        for row in digits[::-1]:
            values = (values * np.arange(length)[:, None] + row) % q
        return values
    galois = needed("galois", extra="galois")  # for prime powers alone
    field = galois.GF(q)
    total = field.Zeros((length, people))
    for row in digits[::-1]:
        total = total * field(np.arange(length))[:, None] + field(row)
    return np.asarray(total, dtype=np.int64)


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


def _is_prime_power(q: int) -> bool:
    prime = next((factor for factor in range(2, isqrt(q) + 1) if q % factor == 0), q)
    while q % prime == 0:
        q //= prime
    return q == 1


def _is_prime(q: int) -> bool:
    return q > 1 and all(q % factor for factor in range(2, isqrt(q) + 1))
