"""Dominance between candidates, computed as counts of points in orthants.

``r'`` *dominates* ``r`` if it is at least as good in every objective and better in one. No
count here compares all pairs of a large problem, or holds a number for each.
"""

from math import log2
from typing import Literal, TypeAlias

import numpy as np

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.typing import Indices, Values

Dominance: TypeAlias = Literal["weak", "standard", "strict"]
"""At least as good in every objective; also better in one; better in every objective."""


def checked_dominance(dominance: str, chosen: str | None, *, of: str) -> Dominance:
    """Return the kind of dominance, which only ``"pareto"`` has.

    Args:
        dominance: What was given.
        chosen: The value of the argument that chooses the Pareto score.
        of: The name of that argument.

    Raises:
        ParameterError: There is no such kind, or it does not go with what was chosen.
    """
    kind = validation.one_of("dominance", dominance, Dominance)
    if kind != "standard" and chosen != "pareto":
        raise ParameterError(f"`dominance` {kind!r} goes with `{of}`='pareto'")
    return kind


def count_at_least(points: Values, queries: Values) -> Indices:
    """Count for every query the points that are at least it in every coordinate.

    Small problems and those of four and more coordinates compare all; two coordinates are
    one sweep in O((n + q) log n), three divide and conquer in O((n + q) log^2 (n + q)).

    Args:
        points: Shape ``(m, n)``, finite; one row per coordinate.
        queries: Shape ``(m, q)``, no NaN.

    Returns:
        Shape ``(q,)``.
    """
    from dpselect.combine.fronts import dominance_kernels as kernels

    coordinates, n = points.shape
    if coordinates == 1:
        return n - np.searchsorted(np.sort(points[0]), queries[0])
    if coordinates > 3 or _comparing_is_cheaper(coordinates, n, queries.shape[1]):
        return kernels.compare_all(np.ascontiguousarray(points), np.ascontiguousarray(queries))
    return (_in_two if coordinates == 2 else _in_three)(points, queries)


def count_above(points: Values, queries: Values) -> Indices:
    """Count for every query the points that are above it in every coordinate."""
    return count_at_least(points, np.nextafter(queries, np.inf))


def dominators(scores: Values, dominance: Dominance = "standard") -> Indices:
    """Count for every candidate the others that dominate it.

    Args:
        scores: Shape ``(m, n)``, finite; one row per objective, larger is better.
        dominance: By default identical candidates do not dominate each other.

    Returns:
        Shape ``(n,)``; 0 on the Pareto front, but for identical candidates if weak.
    """
    groups, first = _alike(scores)
    if dominance == "strict":
        return count_above(scores, scores[:, first])[groups]
    identical = 1 if dominance == "weak" else np.bincount(groups)
    return (count_at_least(scores, scores[:, first]) - identical)[groups]


def _alike(columns: Values) -> tuple[Indices, Indices]:
    """Number candidates so that equal columns have equal numbers.

    Args:
        columns: Shape ``(k, n)``, ``k >= 1``.

    Returns:
        The number of each candidate, shape ``(n,)``, and one candidate of each number.
    """
    order = np.lexsort(columns)
    ordered = columns[:, order]
    starts = np.concatenate([[True], (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)])
    groups = np.empty(order.size, dtype=np.int64)
    groups[order] = np.cumsum(starts) - 1
    return groups, order[starts]


def _comparing_is_cheaper(coordinates: int, n: int, queries: int) -> bool:
    # Measured: 0.5 ns a pair and coordinate, against 12 ns a candidate and halving in two
    # coordinates and 25 in three. With n queries they change over at 180 and 270 points.
    sorting = (12 if coordinates == 2 else 25) * (n + queries) * log2(n + 1)
    return 0.5 * coordinates * n * queries < sorting


def _in_two(points: Values, queries: Values) -> Indices:
    from dpselect.combine.fronts.dominance_kernels import sweep

    order, _, below = _placed(points[0], queries[0])
    _, rank, least = _placed(points[1], queries[1])
    return sweep(np.ascontiguousarray(order[::-1]), rank, order.size - below, least)


def _in_three(points: Values, queries: Values) -> Indices:
    from dpselect.combine.fronts.dominance_kernels import divide_and_conquer

    placed = [_placed(*pair) for pair in zip(points, queries, strict=True)]
    first, second = (
        np.concatenate([2 * places + 1, 2 * below]) for _, places, below in placed[:2]
    )
    third = np.concatenate(placed[2][1:])
    return divide_and_conquer(np.argsort(-first), second, third, points.shape[1])


def _placed(points: Values, queries: Values) -> tuple[Indices, Indices, Indices]:
    """Return the ascending order of points, their places in it, and points below each query."""
    order = np.argsort(points, kind="stable")
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    return order, places, np.searchsorted(points[order], queries)
