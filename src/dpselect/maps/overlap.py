"""Overlap of cells with queries: answers, and what one point can change of them.

``α_ti`` is the share of cell ``i`` that query ``t`` covers. A partition with counts ``c``
answers ``∑_i α_ti c_i``. A point in cell ``i`` adds ``α_ti`` to this answer, and 1 to the exact
one if it lies in the query. So it moves their difference ``g_t`` by

    a_t = α_ti - [in the query],

which is 0 unless the query cuts the cell.

Source: ours. Lemma 7.4 of Fanaeepour and Rubinstein has ``|1 - α_i|`` alone, which a point
outside the query, but in its cell, exceeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpselect._optional import needed
from dpselect.errors import ParameterError
from dpselect.maps.box import Box
from dpselect.maps.partition import Partition
from dpselect.typing import Indices, Values


class CountedCells:
    """A partition with a count in each cell, and its answers ``∑_i α_i c_i``.

    Prefix sums are made once; a query then costs a few look-ups for each region, whatever
    its size.

    Args:
        partition: The cells.
        counts: Shape ``(cells,)``; exact or noisy.
    """

    def __init__(self, partition: Partition, counts: Values) -> None:
        self.partition = partition
        self.counts = counts

    @cached_property
    def _prefix(self) -> tuple[Values, Indices]:
        from dpselect.maps import kernels

        return kernels.prefix_sums(self.counts, self.partition.regions)

    def answers(self, queries: Indices) -> Values:
        """Return the answers to lattice rectangles, ``(m,)``; as private as the counts."""
        return self.sums(queries, 1)

    def of_cut_cells(self, queries: Indices) -> Values:
        """Return ``∑_i α_i (1 - α_i) c_i`` for counts >= 0, ``(m,)``."""
        return np.maximum(self.sums(queries, 1) - self.sums(queries, 2), 0.0)

    def of_sides(self, queries: Indices) -> Values:
        """Return the variance that the cells along a side of a query have in common, ``(m,)``.

        ``spread_of_parts`` takes cells as independent. Here the cells that a side cuts are one
        strip, and its share is as uncertain as the strip differs from those beside it: points
        that are as uneven within a strip of count ``m`` as across two strips, ``m`` and ``m'``,
        have the variance ``s (1 - s) (m - m')^2 / 4``. It is the mean of both strips beside it,
        summed over the four sides.
        """
        from dpselect.maps import kernels

        part = self.partition
        found = kernels.strip_differences(queries, part.base, part.regions, *self._prefix)
        return (found**2).sum(axis=1) / 8

    def sums(self, queries: Indices, power: int) -> Values:
        """Return ``∑_i α_i^k c_i`` for a power ``k`` of 1 or 2, ``(m,)``."""
        from dpselect.maps import kernels

        part = self.partition
        return kernels.answers(queries, part.base, part.regions, *self._prefix, power)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Overlap:
    """Norms of the overlaps of ``m`` queries, and bounds on the change by one point; public.

    Attributes:
        partition: The cells.
        queries: Lattice edges, shape ``(m, 4)``.
        largest: ``κ_t = max |a_t|``, shape ``(m,)``, 0 to 1; 0 for a query that cuts no cell.
        spread: ``S_t = max a_t - min a_t``, shape ``(m,)``, 0 to 2: the largest change by a
            point that moves.
        l2: ``‖α_t‖_2``, shape ``(m,)``.
    """

    partition: Partition
    queries: Indices
    largest: Values
    spread: Values
    l2: Values

    @classmethod
    def of(cls, partition: Partition, queries: Indices) -> Overlap:
        """Compute it; O(m) for a uniform grid, and a sum over its cells."""
        from dpselect.maps import kernels

        least, most = kernels.partial_range(queries, partition.base, partition.regions)
        cut = most > 0
        ones = CountedCells(partition, np.ones(partition.cells))
        return cls(
            partition,
            queries,
            largest=np.where(cut, np.maximum(most, 1 - least), 0.0),
            spread=np.where(cut, most + 1 - least, 0.0),
            l2=np.sqrt(ones.sums(queries, 2)),
        )

    @property
    def l1(self) -> Values:
        """``‖α_t‖_1``, shape ``(m,)``."""
        return CountedCells(self.partition, np.ones(self.partition.cells)).answers(self.queries)

    def added(self, weights: Values) -> float:
        """Return a bound on ``∑_t w_t |a_t|`` for one point more or less.

        The largest load of a cell, which is the sum over the queries that cut it of
        ``w_t max(α_ti, 1 - α_ti)``: exact where every cell is cut by at most one query, and far
        below ``∑_t w_t`` when queries are many and local.
        """
        return self._loads(weights)[0]

    def moved(self, weights: Values) -> float:
        """Return a bound on ``∑_t w_t |a_t - a'_t|`` for one point that moves.

        Inside a cell each ``a_t`` of a query that cuts it moves by at most 1; from one cell to
        another the sum moves by at most both loads. Neither is more than ``∑_t w_t S_t``, nor
        than twice ``added``. Exact where every query cuts one cell and every cell is cut by at
        most one query.
        """
        first, second, inside = self._loads(weights)
        return min(max(first + second, inside), float(weights @ self.spread))

    def _loads(self, weights: Values) -> tuple[float, float, float]:
        from dpselect.maps import kernels

        part = self.partition
        return kernels.largest_loads(self.queries, weights, part.base, part.regions, part.cells)


def are_polygons(areas: object) -> bool:
    """Return whether these are geometries of shapely or geopandas, or a list of some."""
    if hasattr(areas, "geometry") or hasattr(areas, "geom_type"):
        return True
    first = areas[0] if isinstance(areas, list | tuple | np.ndarray) and len(areas) else None
    return hasattr(first, "geom_type")


def polygon_answers(
    box: Box,
    partition: Partition,
    counts: Values,
    spread: Values,
    polygons: Any,  # noqa: ANN401 -- an array of geometries
) -> tuple[Values, Values]:
    """Return three sums over the cells of every polygon, and how much of it is in the box.

    Args:
        box: The box.
        partition: The cells ``i``.
        counts: Shape ``(cells,)``, ``c_i``.
        spread: Shape ``(cells,)``, ``v_i``.
        polygons: Polygons of ``polygons_of``; they cover a share ``α_i`` of each cell.

    Returns:
        ``∑_i α_i c_i``, ``‖α‖_2`` and the variance of uneven cells, ``∑_i α_i (1 - α_i) v_i``
        and that of the sides as for rectangles, shape ``(3, m)``; and the shares of the areas
        that are in the box, shape ``(m,)``.
    """
    shapely = needed("shapely", extra="geo")
    shapes = shapely.intersection(polygons, shapely.box(*box.bounds))
    inside = np.minimum(shapely.area(shapes) / shapely.area(polygons), 1.0)
    low_x, low_y, high_x, high_y = partition.in_box(box).T
    values, squares, variance = sums = np.zeros((3, shapes.size))
    for position in np.flatnonzero(inside):
        shape = shapes[position]
        left, bottom, right, top = shape.bounds
        near = np.flatnonzero(
            (low_x < right) & (high_x > left) & (low_y < top) & (high_y > bottom)
        )
        cells = shapely.box(low_x[near], low_y[near], high_x[near], high_y[near])
        alpha, centre = _covered(shape, cells)
        values[position], squares[position] = alpha @ counts[near], alpha @ alpha
        # The shares along x and y of a rectangle with that centre, at two sides of its cell.
        along = np.clip(1 - 2 * np.abs(centre), alpha, 1)
        weights = np.sign(centre) * np.sqrt(along * (1 - along)) * alpha / along
        sides = np.stack([np.maximum(weights, 0), np.minimum(weights, 0)])
        differences = counts[_beside(near, partition.regions)] - counts[near]
        of_sides = np.einsum("san,adn->sad", sides, differences)
        variance[position] = (alpha * (1 - alpha)) @ spread[near] + (of_sides**2).sum() / 8
    squares[:], variance[:] = np.sqrt(squares), np.maximum(variance, 0)
    return sums, inside


def _beside(cells: Indices, regions: Indices) -> Indices:
    """Return the cells before and after each of ``n`` along x and y, shape ``(2, 2, n)``.

    They are of its region: on its border the same one twice, and itself if there is no other.
    """
    nx, ny, first = regions[np.searchsorted(regions[:, 5], cells, side="right") - 1, 3:].T
    found = []
    for place, many, step in zip(np.divmod(cells - first, ny), (nx, ny), (ny, 1), strict=True):
        one = np.where(many > 1, step, 0)
        before, after = np.where(place > 0, -one, one), np.where(place < many - 1, one, -one)
        found.append([cells + before, cells + after])
    return np.array(found)


def polygons_of(box: Box, areas: Any) -> Any:  # noqa: ANN401 -- any geometries
    """Return polygons in the reference system of a box, shape ``(m,)``.

    Raises:
        ParameterError: There is none, or one is empty, of no area or invalid.
        MissingDependencyError: shapely is not installed.
    """
    shapely = needed("shapely", extra="geo")
    geometry = getattr(areas, "geometry", areas)
    if box.crs is not None and getattr(geometry, "crs", None) is not None:
        geometry = geometry.to_crs(box.crs)
    geometry = getattr(geometry, "array", geometry)
    shapes = np.atleast_1d(np.asarray(geometry, dtype=object))
    wrong = ~shapely.is_valid(shapes) | ~(shapely.area(shapes) > 0)
    if wrong.size == 0 or wrong.any():
        which = f"; the first that is not is number {wrong.argmax()}" if wrong.size else ""
        raise ParameterError(f"polygons must be at least one, valid and of some area{which}")
    return shapes


def _covered(shape: Any, cells: Any) -> tuple[Values, Values]:  # noqa: ANN401 -- shapely has no types
    """Return the share of each cell that a polygon covers, and the centre of what it covers.

    The centre is relative to that of the cell, in cells along x and y, shape ``(2, cells)``.
    """
    shapely = needed("shapely", extra="geo")
    shapely.prepare(shape)
    alpha, centre = shapely.covers(shape, cells).astype(np.float64), np.zeros((2, cells.size))
    cut = np.flatnonzero((alpha == 0) & shapely.intersects(shape, cells))
    pieces = shapely.intersection(cells[cut], shape)
    alpha[cut] = shapely.area(pieces) / shapely.area(cells[cut])
    low_x, low_y, high_x, high_y = shapely.bounds(cells[cut]).T
    middle = shapely.centroid(pieces)
    centre[0, cut] = (shapely.get_x(middle) - low_x) / (high_x - low_x) - 0.5
    centre[1, cut] = (shapely.get_y(middle) - low_y) / (high_y - low_y) - 0.5
    return alpha, np.where(alpha > 0, centre, 0)
