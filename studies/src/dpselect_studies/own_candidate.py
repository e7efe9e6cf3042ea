"""Exponential draw of ``k`` candidates where an individual owns one of them.

Scores are integers from 0 to a cap ``D``. A neighbour step moves the score of one candidate,
the own one, by any amount, and each other one by at most 1. ``k`` candidates are drawn one
after the other without replacement, with weights ``e^(η s)``.

**Theorem.** For ``n`` candidates the loss of the draw, with its order, is at most

    max { η (D + 2k - 1),
          η k + ∑_(i=1)^k ln((e^η (n - i) + e^(η D))/(n - i + 1)) }.

*Proof.* Let ``s`` and ``t`` be the scores of both databases, ``v`` the own candidate, and
``S_i`` and ``T_i`` the sums of the weights of what is left before draw ``i``. The log of the
quotient of the probabilities of ``a_1, ..., a_k`` under ``t`` and under ``s`` is

    η ∑_i (t_(a_i) - s_(a_i)) + ∑_i ln(S_i/T_i).

Every candidate but ``v`` adds at most ``η`` to the first sum. While ``v`` is left,
``T_i = R + e^(η t_v)`` and ``S_i ≤ e^η R + e^(η s_v)``, where ``R`` is the weight of the
others under ``t``, at least their number ``n - i``; without ``v`` the quotient is at most
``e^η``. If ``v`` is drawn and ``t_v ≥ s_v``, it adds at most ``η D`` to the first sum, and all
quotients are at most ``e^η``: the first bound. If ``t_v < s_v``, or ``v`` is not drawn, the
first sum is at most ``η k``, and the quotients while ``v`` is left are at most

    (e^η R + e^(η D))/(R + 1) ≤ (e^η (n - i) + e^(η D))/(n - i + 1),

as the left side falls with ``R`` where ``D ≥ 1``. The right side is at least ``e^η``, and so
bounds the other quotients, too: the second bound. ∎

So degrees up to a cap, where a node is protected with all its edges. For experiments, not for
releases: it is computed in floats.
"""

from __future__ import annotations

import numpy as np

from dpselect.typing import Indices


def log_probability(scores: Indices, decay: float, chosen: list[int]) -> float:
    """Return the natural logarithm of the probability of an answer; private."""
    exponents = decay * np.asarray(scores, dtype=np.float64)
    total = 0.0
    for position in chosen:
        total += exponents[position] - np.logaddexp.reduce(exponents)
        exponents[position] = -np.inf
    return float(total)


def loss(decay: float, *, n: int, cap: int, k: int) -> float:
    """Return the bound of the theorem.

    Args:
        decay: η > 0.
        n: How many candidates.
        cap: ``D`` >= 1.
        k: 1 to ``n``.
    """
    others = n - np.arange(1, k + 1, dtype=np.float64)
    excess = (others * np.expm1(decay) + np.expm1(decay * cap)) / (others + 1)
    not_drawn = k * decay + float(np.log1p(excess).sum())
    return max(decay * (cap + 2 * k - 1), not_drawn)
