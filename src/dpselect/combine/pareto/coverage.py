"""Metric C, the coverage of one set of candidates by another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpselect.combine.candidate_groups import alike
from dpselect.combine.pareto.dominance import Dominance, count_above, count_at_least
from dpselect.errors import ParameterError
from dpselect.typing import Indices, Values


def coverage(a: ArrayLike, b: ArrayLike, *, dominance: Dominance = "weak") -> float:
    r"""Return the share of the points of ``b`` that some point of ``a`` dominates.

    .. math:: C(A, B) = |\{b \in B : \exists a \in A, a \succeq b\}| / |B|

    With ``a`` the true best candidates and ``b`` those drawn, 0 is best: no drawn candidate
    is dominated by a true one. A point that is in both sets covers itself only in the weak
    sense. ``C(A, B) + C(B, A)`` need not be 1.

    Args:
        a: Shape ``(p, m)``: one row per candidate, one score per objective, finite, larger
            is better.
        b: Shape ``(q, m)``.
        dominance: ``"weak"``: at least as good in every objective, as metric C is
            defined; ``"pareto"``: and better in one; ``"strict"``: better in every one, as
            in the experiments of PrivPareto on graphs.

    Returns:
        From 0 to 1; as private as the scores.

    Raises:
        ParameterError: A set is empty, not two-dimensional or not finite, the objectives
            differ in number, or ``dominance`` is none of the three.

    Source: Zitzler and Thiele, IEEE TEVC 3 (1999); Farias et al., PrivPareto,
        Definition 6.3.

    Examples:
        >>> from dpselect.combine import coverage
        >>> coverage([[2, 2]], [[1, 2], [2, 2], [3, 0]])
        0.666...
        >>> coverage([[2, 2]], [[1, 2], [2, 2], [3, 0]], dominance="pareto")
        0.333...
    """
    ours, theirs = _points("a", a), _points("b", b)
    if len(ours) != len(theirs):
        raise ParameterError(
            f"a has {len(ours)} objectives and b has {len(theirs)}: give both the same"
        )
    if dominance == "weak":
        covering = count_at_least(ours, theirs)
    elif dominance == "strict":
        covering = count_above(ours, theirs)
    elif dominance == "pareto":
        covering = count_at_least(ours, theirs) - _copies(ours, theirs)
    else:
        raise ParameterError(
            f"dominance must be 'weak', 'pareto' or 'strict', not {dominance!r}"
        )
    return float(np.mean(covering > 0))


def _copies(ours: Values, theirs: Values) -> Indices:
    """Count for each of their points ours that are equal to it."""
    groups, first = alike(np.concatenate([ours, theirs], axis=1))
    mine, yours = groups[: ours.shape[1]], groups[ours.shape[1] :]
    return np.bincount(mine, minlength=first.size)[yours]


def _points(name: str, points: ArrayLike) -> Values:
    """Return points as one row per objective."""
    try:
        values = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be a table of numbers") from None
    if values.ndim != 2 or values.size == 0 or not np.isfinite(values).all():
        raise ParameterError(
            f"{name} must hold a finite score for each candidate (row) and objective "
            f"(column); the shape is {values.shape}"
        )
    return values.T
