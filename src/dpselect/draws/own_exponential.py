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

Rounds that each pay for a sensitivity of ``D`` cost ``2 η k D``. They count the own score in
every draw; but it is drawn once, and a draw of another says little of it as long as ``e^(η D)``
is below ``n``, since no score is negative and ``n`` is public.

The grid of the sampler holds integers exactly, and its decay is ``η`` or a little less.
"""

from __future__ import annotations

import numpy as np

from dpselect._numbers import boundary
from dpselect.draws.exact.samplers import sampler
from dpselect.typing import Indices

SLACK = 2.0**-40
"""Relative; above the rounding errors of the sum, whose terms are not negative."""


MOST = 700.0
"""Nats between the weights of the least and the largest score; more no float can tell."""


@sampler
def draw_with_own(scores: Indices, decay: float, k: int) -> list[int]:
    """Draw ``k`` positions without replacement, with weights ``e^(η s)``.

    Args:
        scores: Integers from 0 to 2^30, shape ``(n,)``. Private.
        decay: η > 0. Public.
        k: 1 to ``n``. Public.
    """
    from dpselect.draws.exact import selection

    return selection.top_k_gumbel_noise(scores.astype(np.float64), 2 * k * decay, k)


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
        decay: η > 0, at most ``MOST/D``.
        n: How many candidates.
        cap: ``D`` >= 1.
        k: 1 to ``n``.
    """
    others = n - np.arange(1, k + 1, dtype=np.float64)
    excess = (others * np.expm1(decay) + np.expm1(decay * cap)) / (others + 1)
    not_drawn = k * decay + float(np.log1p(excess).sum())
    return max(decay * (cap + 2 * k - 1), not_drawn) * (1 + SLACK)


def largest_decay(epsilon: float, *, n: int, cap: int, k: int) -> float:
    """Return the largest decay, up to ``MOST/D``, whose loss is at most epsilon.

    Other arguments are those of ``loss``.
    """
    most = min(epsilon / (cap + 2 * k - 1), MOST / cap)
    return boundary(lambda decay: loss(decay, n=n, cap=cap, k=k) > epsilon, 0.0, most)[0]
