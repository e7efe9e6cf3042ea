"""Proved upper and lower bounds on the delta of subset retrieval, under ``SWAP``.

All are for outputs that miss and add at most β people each, except with probability
``failure``. They depend on public numbers alone.

Source: Gonen, Langberg and Sprintson 2025, arXiv:2501.13278.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product
from math import comb, exp

from dpselect.errors import ParameterError
from dpselect.subsets import Subset


def theorem_1_upper(n: int, d: int, beta: int) -> float:
    """Return Theorem 1's ``δ = (d-β)(n-d-β)/(d(n-d))`` of Algorithm A1.

    It holds for the ball, though it is not tight, and not for the sphere that the paper states
    (see ``sphere_delta``).

    Args:
        n: Number of people.
        d: Number of members, 1 to ``n - 1``.
        beta: Swaps that are allowed for, 0 to ``min(d, n - d)``.

    Raises:
        ParameterError: An argument is out of range; so for all functions of this module.
    """
    _check(n, d, beta)
    return (d - beta) * (n - d - beta) / (d * (n - d))


def theorem_1_lower(
    n: int, d: int, beta: int, *, epsilon: float = 0.0, failure: float = 0.0
) -> float:
    """Return a δ that no scheme can be below; never above the optimum.

    Draw a member i and a stranger j of a random subset. The output holds i and not j with
    probability at least ``(1-f)(d-β)(n-d-β)/(d(n-d))``; had they been exchanged before, with at
    most ``(1-f)β^2/(d(n-d)) + f``. So

        δ ≥ (1-f) ((d-β)(n-d-β) - e^ε β^2)/(d(n-d)) - e^ε f.

    At ``ε = f = 0`` this is Theorem 1's bound; for others it is ours. It holds for outputs of
    any size; ``docs/theory.md`` has the proof.

    Args:
        n: Number of people.
        d: Number of members, 1 to ``n - 1``.
        beta: Errors that are allowed for, 0 to ``min(d, n - d)``.
        epsilon: In nats, >= 0.
        failure: Probability of more errors, in [0, 1).
    """
    upper = theorem_1_upper(n, d, beta)
    exchanged = beta**2 / (d * (n - d))
    bound = (1 - failure) * (upper - exp(epsilon) * exchanged) - exp(epsilon) * failure
    return max(0.0, bound)


def theorem_2_upper(n: int, d: int, beta: int) -> float:
    """Return Theorem 2's ``δ = 1 - (β - 1)/(n - d)`` of Algorithm A2.

    It is true of A2 if and only if ``n ≥ β d``, which the printed condition ``2 d β^2 < n``
    implies, and then not tight: see ``union_delta``.

    Args:
        n: Number of people.
        d: Number of members, 1 to ``n - 1``.
        beta: People drawn, 1 to ``n - d``.
    """
    _check_sizes(n, d)
    if not 1 <= beta <= n - d:
        raise ParameterError(f"`beta` must be between 1 and n - d = {n - d}, got {beta}")
    return 1 - (beta - 1) / (n - d)


def union_delta(n: int, d: int, beta: int) -> float:
    """Return ``1 - β/n``, the exact δ of Algorithm A2 at any epsilon.

    No scheme that adds at most ``beta`` people drawn independently of the subset is below it:
    some person is drawn with probability at most ``β/n``, and an output without them is
    impossible once they are a member. A scheme that knows the members draws from the strangers
    alone and has ``1 - β/(n-d)``, the least of all schemes that never miss a member, for the
    same reason.

    Args:
        n: Number of people.
        d: Number of members, 1 to ``n - 1``.
        beta: People drawn, 0 to ``n``.
    """
    _check_sizes(n, d)
    return Subset(n=n, d=d, beta=beta, epsilon=0, scheme="union").delta_at()


MOST_SUBSETS = 100_000
"""Subsets times sets that are drawn, which ``blind_delta`` goes through."""


def blind_delta(
    distribution: Mapping[frozenset[int], float], n: int, d: int, *, epsilon: float
) -> float:
    """Return the exact δ of DPSR-I with any distribution of what is added.

    The output is ``e ∪ B``, with ``B`` drawn independently of the subset ``e``; Algorithm A2
    has the uniform distribution on sets of ``beta`` people. By enumeration of all subsets and
    all swaps; ``union_delta`` is a closed form for the uniform distribution.

    Args:
        distribution: Probabilities of the sets that can be drawn, of positions of people; they
            sum to 1.
        n: Number of people.
        d: Number of members, 1 to ``n - 1``.
        epsilon: In nats, >= 0.

    Raises:
        ParameterError: The probabilities do not sum to 1, a set holds somebody who is not
            there, or there are more than ``MOST_SUBSETS`` subsets and sets.
    """
    _check_sizes(n, d)
    people = frozenset(range(n))
    if abs(sum(distribution.values()) - 1) > ROUNDING or min(distribution.values()) < 0:
        raise ParameterError("`distribution` must have probabilities that sum to 1")
    if not all(drawn <= people for drawn in distribution):
        raise ParameterError("`distribution` must have sets of positions from 0 to n - 1")
    if comb(n, d) * len(distribution) > MOST_SUBSETS:
        raise ParameterError(
            f"`distribution` and subsets must be at most {MOST_SUBSETS} together"
        )
    outputs = {
        subset: _outputs(frozenset(subset), distribution)
        for subset in combinations(range(n), d)
    }
    largest = 0.0
    for subset, here in outputs.items():
        for old, new in product(subset, people.difference(subset)):
            there = outputs[tuple(sorted({*subset, new} - {old}))]
            excess = (one - exp(epsilon) * there.get(out, 0.0) for out, one in here.items())
            largest = max(largest, sum(max(0.0, one) for one in excess))
    return largest


def _outputs(
    subset: frozenset[int], distribution: Mapping[frozenset[int], float]
) -> dict[frozenset[int], float]:
    found: dict[frozenset[int], float] = {}
    for drawn, probability in distribution.items():
        found[subset | drawn] = found.get(subset | drawn, 0.0) + probability
    return found


ROUNDING = 1e-9
"""Of the sum of probabilities."""


def theorem_2_lower(n: int, d: int, beta: int, *, epsilon: float) -> float:
    """Return Theorem 2's ``δ ≥ 1 - β/(n-d) - (e^ε - 1)``.

    It is for schemes that add at most ``beta`` people drawn independently of the subset, with
    ``d + β < n``. ``union_delta`` is never below it.

    Args:
        n: Number of people.
        d: Number of members, 1 to ``n - 1``.
        beta: People drawn, at most; 0 to ``n - d - 1``.
        epsilon: In nats, >= 0.
    """
    _check_sizes(n, d)
    if not 0 <= beta < n - d:
        raise ParameterError(
            f"`beta` must be between 0 and n - d - 1 = {n - d - 1}, got {beta}"
        )
    return max(0.0, 1 - beta / (n - d) - (exp(epsilon) - 1))


def sphere_delta(n: int, d: int, beta: int) -> float:
    """Return δ of Algorithm A1 as the paper states it: exactly ``beta`` swaps.

    ``((d-β)(n-d-β) + β^2)/(d(n-d))`` at any epsilon, above Theorem 1's.
    """
    _check(n, d, beta)
    return min(1.0, theorem_1_upper(n, d, beta) + beta**2 / (d * (n - d)))


def _check_sizes(n: int, d: int) -> None:
    if not 0 < d < n:
        raise ParameterError("`d` must be between 1 and n - 1: else there are no neighbours")


def _check(n: int, d: int, beta: int) -> None:
    _check_sizes(n, d)
    most = min(d, n - d)
    if not 0 <= beta <= most:
        raise ParameterError(f"`beta` must be between 0 and {most}, got {beta}")
