"""Metric C, the coverage of one set of candidates by another."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

Dominance: TypeAlias = Literal["weak", "standard", "strict"]
DOMINANCES: tuple[Dominance, ...] = ("weak", "standard", "strict")


def coverage(a: ArrayLike, b: ArrayLike, *, dominance: Dominance = "weak") -> float:
    """Return the share of the points of ``b`` that some point of ``a`` dominates.

        C(A, B) = |{b ∈ B : ∃ a ∈ A, a ⪰ b}| / |B|

    With ``a`` the true best candidates and ``b`` those drawn, 0 is best: no drawn candidate
    is dominated by a true one. A point that is in both sets covers itself only in the weak
    sense. ``C(A, B) + C(B, A)`` need not be 1.

    Args:
        a: Shape ``(p, m)``: one row per candidate, one score per objective, larger is better.
        b: Shape ``(q, m)``.
        dominance: ``"weak"``: at least as good in every objective, as metric C is
            defined; ``"standard"``: and better in one; ``"strict"``: better in every one, as
            in the experiments of PrivPareto on graphs.

    Source: Zitzler and Thiele, IEEE TEVC 3 (1999); Farias et al., PrivPareto,
        Definition 6.3.

    Examples:
        >>> coverage([[2, 2]], [[1, 2], [2, 2], [3, 0]])
        0.666...
        >>> coverage([[2, 2]], [[1, 2], [2, 2], [3, 0]], dominance="standard")
        0.333...
    """
    ours, theirs = np.asarray(a)[:, None], np.asarray(b)[None]
    at_least, better = (ours >= theirs).all(axis=2), ours > theirs
    covering = {
        "weak": at_least,
        "standard": at_least & better.any(axis=2),
        "strict": better.all(axis=2),
    }
    return float(covering[dominance].any(axis=0).mean())
