"""Query rectangles: on the lattice, in blocks of one pass, and spread evenly over the box."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.maps.box import Box
from dpselect.typing import Indices, Values

SIDES = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4)
"""Sides of the rectangles, as shares of the sides of the box."""

RECTANGLES_AT_ONCE = 100
"""Rectangles of one grouping, which has at most 201 x 201 groups."""

Array = TypeVar("Array", Indices, Values)


def lattice_rectangles(queries: ArrayLike, *, bounds: ArrayLike) -> Indices:
    """Return rectangles as lattice edges ``(x0, y0, x1, y1)``, shape ``(m, 4)``.

    Args:
        queries: Shape ``(m, 4)`` or ``(4,)``: ``(west, south, east, north)`` of each,
            coordinate units, half-open like cells.
        bounds: The box that they must lie in: ``(west, south, east, north)``.

    Raises:
        ParameterError: There is none, or one is not finite, has its edges swapped, is thinner
            than the lattice, or leaves the box.
    """
    box = Box.of(bounds)
    rectangles = checked_rectangles(queries)
    west, south, east, north = box.bounds
    cut = np.clip(rectangles, [west, south, west, south], [east, north, east, north])
    leaves = np.any(cut != rectangles, axis=1)
    _refuse(leaves, f"must lie inside the `bounds` {box.bounds}; cut them to these")
    edges = np.column_stack([box.edges(one, i % 2) for i, one in enumerate(rectangles.T)])
    thin = (edges[:, 0] >= edges[:, 2]) | (edges[:, 1] >= edges[:, 3])
    _refuse(thin, "must be wider than 2**-32 of the box")
    return edges


def checked_rectangles(queries: ArrayLike) -> Values:
    """Return rectangles as numbers: west, south, east and north, shape ``(m, 4)``.

    Raises:
        ParameterError: There is none, or one is not finite or has its edges swapped.
    """
    try:
        table = np.atleast_2d(np.asarray(queries, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        table = np.empty(0)
    if table.ndim != 2 or table.shape[1] != 4 or len(table) == 0:
        raise ParameterError(
            "`queries` must be at least one rectangle, each west, south, east, north"
        )
    west, south, east, north = table.T
    _refuse(np.any(~np.isfinite(table), axis=1), "must be finite numbers")
    _refuse((west >= east) | (south >= north), "must go from a lower to a higher number")
    return table


def blocks_of(rows: Array, most: int = RECTANGLES_AT_ONCE) -> list[Array]:
    """Return rectangles, or what belongs to each, in parts of at most so many."""
    return np.split(rows, range(most, len(rows), most))


def even_queries(
    bounds: ArrayLike, *, sides: tuple[float, ...] = SIDES, each: int = 120
) -> Values:
    r"""Return rectangles of a few sizes, spread evenly over the box; deterministic.

    Their corners follow the plastic number's additive recurrence, so that edges do not
    coincide with the lines of any grid. Public: they depend on the bounds alone.

    Args:
        bounds: ``(west, south, east, north)``.
        sides: Sides of the rectangles over sides of the box, each between 0 and 1.
        each: Number of rectangles of each size.

    Returns:
        Shape ``(len(sides) * each, 4)``: ``(west, south, east, north)``.

    Raises:
        ParameterError: A side is not between 0 and 1, or ``each`` is not at least 1.

    Source: Roberts 2018, "The unreasonable effectiveness of quasirandom sequences".
    """
    box, each = Box.of(bounds), validation.at_least("each", each, 1)
    shares = np.asarray(sides, dtype=np.float64)
    if shares.ndim != 1 or shares.size == 0 or not ((shares > 0) & (shares < 1)).all():
        raise ParameterError("`sides` must be between 0 and 1, both excluded, and at least one")
    widths = np.repeat(shares, each)[:, None]
    plastic = 1.32471795724474602596
    steps = np.arange(1, widths.size + 1)[:, None] * [1 / plastic, 1 / plastic**2]
    low = steps % 1 * (1 - widths)
    columns = []
    for column, share in enumerate(np.hstack([low, low + widths]).T):
        least, most = box.side(column % 2)
        columns.append(np.clip(least + (most - least) * share, least, most))
    return np.column_stack(columns)


def _refuse(wrong: NDArray[np.bool], requirement: str) -> None:
    if wrong.any():
        raise ParameterError(
            f"`queries` {requirement}; the first that is not is number {wrong.argmax()}"
        )
