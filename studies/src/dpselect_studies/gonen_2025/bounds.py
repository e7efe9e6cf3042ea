"""Deltas of subset retrieval beside those of the theorems, under ``SWAP``.

All are for outputs that miss and add at most β people each, except with probability
``failure``. They depend on public numbers alone.

Source: Gonen, Langberg and Sprintson 2025, arXiv:2501.13278.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product
from math import comb, exp

from dpselect.errors import ParameterError
from dpselect.subsets import Subset, theorem_1_upper


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


def sphere_delta(n: int, d: int, beta: int) -> float:
    """Return δ of Algorithm A1 as the paper states it: exactly ``beta`` swaps.

    ``((d-β)(n-d-β) + β^2)/(d(n-d))`` at any epsilon, above Theorem 1's.
    """
    return min(1.0, theorem_1_upper(n, d, beta) + beta**2 / (d * (n - d)))
