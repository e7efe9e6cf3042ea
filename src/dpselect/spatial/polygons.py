"""Answers to polygons: the share of every cell that a polygon covers, by shapely."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpselect.errors import ParameterError
from dpselect.spatial.box import Box
from dpselect.spatial.export import needed
from dpselect.spatial.partition import Partition
from dpselect.typing import Values


def are_polygons(areas: object) -> bool:
    """Return whether these are geometries, or something that holds some."""
    if hasattr(areas, "geometry") or hasattr(areas, "geom_type"):
        return True
    first = areas[0] if isinstance(areas, list | tuple | np.ndarray) and len(areas) else None
    return hasattr(first, "geom_type")


def answers(
    box: Box,
    partition: Partition,
    counts: Values,
    areas: Any,  # noqa: ANN401 -- any geometries
) -> tuple[Values, Values]:
    r"""Return :math:`\sum_i \alpha_i c_i` and :math:`\|\alpha\|_2^2` of every polygon.

    Raises:
        ParameterError: One is empty, of no area, invalid or leaves the box.
    """
    shapely = needed("shapely")
    shapes = _in_the_system_of(box, areas)
    west, south, east, north = box.bounds
    wrong = (
        ~shapely.is_valid(shapes)
        | ~(shapely.area(shapes) > 0)
        | ~shapely.covers(shapely.box(west, south, east, north), shapes)
    )
    if wrong.size == 0 or wrong.any():
        which = f"; the first that is not is number {wrong.argmax()}" if wrong.size else ""
        raise ParameterError(
            "polygons must be at least one, valid, of some area and inside the bounds "
            f"{box.bounds}{which}"
        )
    shares = partition.rectangles()
    low_x, high_x = (box.coordinates(shares[:, column], 0) for column in (0, 2))
    low_y, high_y = (box.coordinates(shares[:, column], 1) for column in (1, 3))
    values, squares = np.empty(shapes.size), np.empty(shapes.size)
    for position, shape in enumerate(shapes):
        left, bottom, right, top = shape.bounds
        near = np.flatnonzero(
            (low_x < right) & (high_x > left) & (low_y < top) & (high_y > bottom)
        )
        cells = shapely.box(low_x[near], low_y[near], high_x[near], high_y[near])
        alpha = covered(shape, cells)
        values[position], squares[position] = alpha @ counts[near], alpha @ alpha
    return values, squares


def covered(shape: Any, cells: Any) -> Values:  # noqa: ANN401 -- shapely has no types
    """Return the share of each cell that a polygon covers."""
    shapely = needed("shapely")
    shapely.prepare(shape)
    alpha = shapely.covers(shape, cells).astype(np.float64)
    cut = (alpha == 0) & shapely.intersects(shape, cells)
    alpha[cut] = shapely.area(shapely.intersection(cells[cut], shape)) / shapely.area(
        cells[cut]
    )
    return alpha


def _in_the_system_of(box: Box, areas: Any) -> Any:  # noqa: ANN401 -- any geometries
    geometry = getattr(areas, "geometry", areas)
    if box.crs is not None and getattr(geometry, "crs", None) is not None:
        geometry = geometry.to_crs(box.crs)
    return np.atleast_1d(np.asarray(getattr(geometry, "array", geometry), dtype=object))
