r"""What the lab learns: the privacy of a syndrome.

Who is trusted decides where the noise goes.

- *The lab is trusted.* No noise; the report is made private by
  :class:`~dpselect.pooling.SubsetRetrieval`. Nothing is lost in testing.
- *The collector is trusted, the lab is not.* The collector replaces the vials of ``beta``
  people, drawn without looking at anybody, by known positives: Algorithm A2 before pooling.
  What the lab sees comes from a subset that is :math:`(\varepsilon, 1 - \beta/n)`-DP for
  every epsilon, and so is everything computed from it. That delta is close to 1 unless most
  vials are replaced: it protects against certainty and little else.
- *Nobody who sees outcomes is trusted.* The machine flips every outcome with probability
  :math:`\rho`: pure epsilon, :math:`w \ln((1-\rho)/\rho)` for ``w`` pools each, paid with
  tests whose answers are worth :math:`1 - h(\rho)` bits.
"""

from __future__ import annotations

from itertools import combinations
from math import comb, exp, log, log1p

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect import _validate
from dpselect.errors import NeighboursError, ParameterError
from dpselect.neighbours import Neighbours
from dpselect.pooling import designs
from dpselect.pooling.designs import Design
from dpselect.typing import Values

MOST_SUBSETS = 5000


def flip_epsilon(design: ArrayLike, *, flip: float, neighbours: Neighbours) -> float:
    r"""Return epsilon of outcomes that are flipped independently.

    One person's status changes at most their own pools' outcomes, the largest column weight;
    a swap those that hold exactly one of the two. Each costs
    :math:`\ln((1-\rho)/\rho)`. Exact over databases of all sizes for ``SUBSTITUTE`` and for
    ``SWAP`` (the worst are those in which nobody else is positive).

    Args:
        design: Shape ``(pools, people)``.
        flip: The probability :math:`\rho`, in (0, 1/2].
        neighbours: ``SUBSTITUTE`` (one status changes) or ``SWAP``.

    Raises:
        ParameterError: ``flip`` is out of range.
        NeighboursError: Another relation.
    """
    return pools_touched(design, neighbours) * _per_pool(flip)


def flip_delta(
    design: ArrayLike, *, flip: float, epsilon: float, neighbours: Neighbours
) -> float:
    r"""Return the least delta of flipped outcomes at a smaller epsilon, exactly.

    With ``w`` outcomes that differ, of which ``k`` are flipped, the privacy loss is
    :math:`(w - 2k)\ln((1-\rho)/\rho)`, so :math:`\delta = \sum_k \binom{w}{k}
    [\rho^k(1-\rho)^{w-k} - e^\varepsilon\rho^{w-k}(1-\rho)^k]_+`.
    """
    _per_pool(flip)
    at = _validate.within("epsilon", epsilon, 0, np.inf)
    return _delta(pools_touched(design, neighbours), flip, at)


def flip_for(
    design: ArrayLike, *, epsilon: float, delta: float = 0.0, neighbours: Neighbours
) -> float:
    """Return the smallest chance of a flip that is ``(epsilon, delta)``-DP with a design."""
    at, allowed = _validate.positive("epsilon", epsilon), _validate.within("delta", delta, 0, 1)
    touched = pools_touched(design, neighbours)
    low, high = 0.0, 1 / (1 + exp(min(at / max(touched, 1), 700.0)))
    if allowed == 0 or touched == 0:
        return high
    for _ in range(60):
        middle = (low + high) / 2
        if middle > 0 and _delta(touched, middle, at) <= allowed:
            high = middle
        else:
            low = middle
    return high


def pools_touched(design: ArrayLike, neighbours: Neighbours) -> int:
    """Return how many outcomes one neighbour step can change."""
    matrix = designs.checked(design)
    if neighbours is Neighbours.SUBSTITUTE:
        return int(matrix.sum(axis=0).max())
    if neighbours is Neighbours.SWAP:
        return _largest_difference(matrix)
    raise NeighboursError(
        "outcomes are private under Neighbours.SUBSTITUTE, one status changed, or .SWAP"
    )


def syndrome_law(
    design: ArrayLike, law: dict[frozenset[int], float], *, flip: float = 0.0
) -> Values:
    """Return the law of what the lab sees, over all ``2 ** pools`` syndromes, by enumeration.

    Args:
        design: Shape ``(pools, people)`` with at most 16 pools.
        law: Chances of the subsets that are pooled, after any noise before pooling.
        flip: Chance of a flip of each outcome afterwards, 0 to 1/2.

    Returns:
        Shape ``(2 ** pools,)``: bit ``t`` of the position is the outcome of pool ``t``.
    """
    matrix = designs.checked(design)
    if len(matrix) > 16:
        raise ParameterError("enumeration is for designs of at most 16 pools")
    _validate.within("flip", flip, 0, 0.5)
    chances = np.zeros(1 << len(matrix))
    bits = 1 << np.arange(len(matrix))
    for subset, chance in law.items():
        chances[int(bits @ matrix[:, sorted(subset)].any(axis=1))] += chance
    for bit in bits:
        other = np.arange(chances.size) ^ bit
        chances = (1 - flip) * chances + flip * chances[other]
    return chances


def union_subset_law(n: int, members: frozenset[int], beta: int) -> dict[frozenset[int], float]:
    """Return the law of Algorithm A2's output: the members and ``beta`` of all people."""
    if comb(n, beta) > MOST_SUBSETS:
        raise ParameterError("enumeration is for few people; the exact delta is 1 - beta / n")
    law: dict[frozenset[int], float] = {}
    for extra in combinations(range(n), beta):
        output = members | frozenset(extra)
        law[output] = law.get(output, 0.0) + 1 / comb(n, beta)
    return law


def union_delta(design: ArrayLike, *, d: int, beta: int, epsilon: float) -> float:
    """Return the exact delta of a syndrome after Algorithm A2, by enumeration: small designs.

    At most ``1 - beta / n``, and less where a design cannot tell people apart.
    """
    matrix = designs.checked(design)
    n = matrix.shape[1]
    if comb(n, d) > MOST_SUBSETS:
        raise ParameterError("enumeration is for few people; the bound is 1 - beta / n")
    laws = {
        members: syndrome_law(matrix, union_subset_law(n, members, beta))
        for members in map(frozenset, combinations(range(n), d))
    }
    return max(
        (
            float(np.maximum(laws[e] - exp(epsilon) * laws[f], 0).sum())
            for e in laws
            for f in laws
            if len(e - f) == 1
        ),
        default=0.0,
    )


def _delta(w: int, flip: float, epsilon: float) -> float:
    step = _per_pool(flip)
    terms = (
        comb(w, k)
        * exp(k * log(flip) + (w - k) * log1p(-flip))
        * -np.expm1(min(0.0, epsilon - (w - 2 * k) * step))
        for k in range(w + 1)
    )
    return float(sum(terms))


def _per_pool(flip: float) -> float:
    share = _validate.within("flip", flip, 0, 0.5)
    if share == 0:
        raise ParameterError("flip must be above 0: without flips nothing is private")
    return log1p(-share) - log(share)


def _largest_difference(matrix: Design) -> int:
    """Return the largest number of pools that hold exactly one of two people."""
    columns = _distinct(matrix).astype(np.float32)
    weights = columns.sum(axis=1)
    worst = 0.0
    for block in range(0, len(columns), 1024):
        both = columns[block : block + 1024] @ columns.T
        differ = weights[block : block + 1024, None] + weights - 2 * both
        worst = max(worst, float(differ.max()))
    return int(worst)


def _distinct(matrix: Design) -> NDArray[np.bool_]:
    return np.unique(matrix.T, axis=0)
