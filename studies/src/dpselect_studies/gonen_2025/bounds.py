"""Deltas of subset retrieval beside those of the theorems, under ``SWAP``.

All are for outputs that miss and add at most β people each, except with probability
``failure``. They depend on public numbers alone.

Source: Gonen, Langberg and Sprintson 2025, arXiv:2501.13278.
"""

from __future__ import annotations

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


def sphere_delta(n: int, d: int, beta: int) -> float:
    """Return δ of Algorithm A1 as the paper states it: exactly ``beta`` swaps.

    ``((d-β)(n-d-β) + β^2)/(d(n-d))`` at any epsilon, above Theorem 1's.
    """
    return min(1.0, theorem_1_upper(n, d, beta) + beta**2 / (d * (n - d)))
