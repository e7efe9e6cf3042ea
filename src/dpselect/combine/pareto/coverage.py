"""Metric C, the coverage of one set of candidates by another."""

from __future__ import annotations

from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from dpselect import validation
from dpselect.combine.pareto.dominance import Dominance
from dpselect.errors import ParameterError
from dpselect.typing import Values


def coverage(a: ArrayLike, b: ArrayLike, *, dominance: Dominance = "weak") -> float:
    """Return the share of the points of ``b`` that some point of ``a`` dominates.

        C(A, B) = |{b ∈ B : ∃ a ∈ A, a ⪰ b}| / |B|

    With ``a`` the true best candidates and ``b`` those drawn, 0 is best: no drawn candidate is
    dominated by a true one. A point that is in both sets covers itself only in the weak sense.
    ``C(A, B) + C(B, A)`` need not be 1. It is as private as the scores.

    Args:
        a: Shape ``(p, m)``: one row per candidate, one score per objective, larger is better.
        b: Shape ``(q, m)``.
        dominance: ``"weak"``: at least as good in every objective, as metric C is defined;
            ``"standard"``: and better in one; ``"strict"``: better in every one, as in the
            published code of PrivPareto.

    Raises:
        ParameterError: A set has no point, or points of another number of objectives, or
            there is no such dominance.

    Source: Zitzler and Thiele, IEEE TEVC 3 (1999); Farias et al., PrivPareto, Definition 6.3.

    Examples:
        >>> from dpselect.combine import coverage
        >>> coverage([[2, 2]], [[1, 2], [2, 2], [3, 0]])
        0.666...
        >>> coverage([[2, 2]], [[1, 2], [2, 2], [3, 0]], dominance="standard")
        0.333...
    """
    kind = validation.one_of("dominance", dominance, get_args(Dominance))
    ours, theirs = _points("a", a)[:, None], _points("b", b)[None]
    if ours.shape[2] != theirs.shape[2]:
        raise ParameterError("`a` and `b` must be scores by the same objectives")
    at_least, better = (ours >= theirs).all(axis=2), ours > theirs
    covering = {
        "weak": at_least,
        "standard": at_least & better.any(axis=2),
        "strict": better.all(axis=2),
    }
    return float(covering[kind].any(axis=0).mean())


def _points(name: str, given: ArrayLike) -> Values:
    try:
        points = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"`{name}` must be numbers, a row for each candidate") from None
    if points.ndim != 2 or points.size == 0:
        raise ParameterError(
            f"`{name}` must be a row of scores for each of at least one candidate"
        )
    return points
