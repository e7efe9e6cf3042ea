"""Estimated numbers of points in areas of a released map, as a table and in files.

An area that covers a share ``α_i`` of cell ``i`` holds about ``∑_i α_i c_i`` points. Of the
points in a part of a cell the variances are those of ``spread_of_parts``, as if cells were
independent. What cells along a side have in common comes beside it: the cells that a side cuts
are one strip, whose share ``s`` is as uncertain as the strip differs from those beside it.
Points that are as uneven within a cell of count ``m`` as across two cells, ``m`` and ``m'``,
have by ``non_uniformity`` the variance ``s (1 - s) m^2 ((m - m')/(m + m'))^2``: for points that
grow evenly from 0 on, the largest squared error that there is, and never more than for points
that are all on one side. It is the mean of both strips beside it, summed over the four sides.

Areas are asked about where points are, and where they are in a small part of a cell, so are
others: seen from one of its points, a number of points of mean ``μ`` and third central moment
``κ`` is by ``κ/μ`` further from its mean, squared. With ``spread``, ``v``, of a cell of ``c``
points, ``κ`` is at most ``2 α (1 - α) v^2/c``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import isnan, log, sqrt
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpselect import validation
from dpselect._optional import needed, pl
from dpselect.errors import ParameterError, no_column
from dpselect.maps import geo
from dpselect.maps.box import POSITIONS, Box, blocks_of, checked_rectangles
from dpselect.maps.overlap import Blocks, CountedCells, products
from dpselect.maps.partition import Partition
from dpselect.release import for_csv
from dpselect.typing import Indices, Values
from dpselect.writing import lines

if TYPE_CHECKING:
    import geopandas

LEVEL = 0.95
"""The level of the intervals in tables and files."""

HEADS = {
    "points": "count",
    "from": "low",
    "to": "high",
    "error of noise": "noise_error",
    "of cut cells": "non_uniformity_error",
}
"""Columns of estimates by their printed heads."""

TINY = np.finfo(float).tiny

ROUNDING = 2.0**-14
"""Points by which rounding may move a sum of counts."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimates:
    """Estimated numbers of points in areas; post-processing of a release.

    They are estimates of the counted points: with ``max_per_user``, further points of a person
    are not included. ``docs/files.md`` explains what shares of counted points estimate.

    Attributes:
        values: Estimated numbers of points in the parts of the areas that are on the map, shape
            ``(m,)``; NaN, as all errors, for an area that is off it.
        unbiased: The same of counts that are not fitted to none below 0, shape ``(m,)``:
            intervals are around these. What a fit takes from the cells of a large area it adds
            to empty ones outside.
        noise_errors: Standard deviation of the noise in each, shape ``(m,)``; it is known, and
            the coarse grid makes it smaller.
        non_uniformity_errors: Standard error of the assumption that points lie evenly in cells,
            shape ``(m,)``; estimated from the released counts, by how uneven cells are one by
            one (``non_uniformity``) and along the sides of an area. 0 for areas that cut no
            cell. It is not a bound.
        inside: The share of each area that is on the map, 0 to 1, shape ``(m,)``.
        names: Names of the areas.
        shapes: The areas as they were given, in the map's reference system: rectangles, shape
            ``(m, 4)``, or polygons, shape ``(m,)``.
        box: The box of the map.
    """

    values: Values
    unbiased: Values
    noise_errors: Values
    non_uniformity_errors: Values
    inside: Values
    names: tuple[str, ...]
    shapes: Any
    box: Box

    @property
    def standard_errors(self) -> Values:
        """Standard errors of noise and non-uniformity together, shape ``(m,)``."""
        return np.hypot(self.noise_errors, self.non_uniformity_errors)

    def intervals(self, level: float = LEVEL) -> tuple[Values, Values]:
        """Return the ends of intervals for the numbers of points, each of shape ``(m,)``.

        With a limit per person they are of the points that are counted. They are whole numbers,
        around the unbiased estimates and as far as the values. For areas that cut no cell of a
        public grid they hold with a probability of at least ``level``, on any data: the error
        is normal or, of few cells, that of discrete Laplace noise, whichever is larger. Cells
        that follow the noise of a coarse grid, and the estimated error of cells that are cut,
        have measured coverages (``docs/report/measurements.md``).

        Args:
            level: Above 0 and below 1.

        Raises:
            ParameterError: ``level`` is out of its range.
        """
        quantile = NormalDist().inv_cdf((1 + validation.share("level", level)) / 2)
        reach = max(quantile, -log(1 - level) / sqrt(2)) * self.standard_errors
        low = np.floor(np.minimum(self.unbiased - reach, self.values) + ROUNDING)
        high = np.ceil(np.maximum(self.unbiased + reach, self.values) - ROUNDING)
        return np.maximum(low, 0), np.maximum(high, 0)

    def table(self) -> dict[str, list[Any]]:
        """Return the estimates as columns, with intervals of level 0.95; None off the map."""
        low, high = self.intervals()
        numbers = {
            "count": self.values,
            "low": low,
            "high": high,
            "standard_error": self.standard_errors,
            "noise_error": self.noise_errors,
            "non_uniformity_error": self.non_uniformity_errors,
            "inside": self.inside,
        }
        return {"area": list(self.names)} | {
            name: [None if isnan(one) else one for one in column.tolist()]
            for name, column in numbers.items()
        }

    def __len__(self) -> int:
        return self.values.size

    def __repr__(self) -> str:
        return f"Estimates({len(self)} areas)"

    def __str__(self) -> str:
        known = self.table()
        columns = {"area": known["area"]}
        for head, name in HEADS.items():  # an area off the map has no numbers
            columns[head] = ["" if one is None else round(one) for one in known[name]]
        if (self.inside < 1).any():
            columns["% on the map"] = [round(100 * one) for one in known["inside"]]
        meaning = f"Points on the map, with intervals of level {LEVEL:g} and standard errors"
        return "\n".join([*lines(columns), f"{meaning}, in points."])

    def _repr_html_(self) -> str:
        return self.to_frame()._repr_html_()

    def to_frame(self) -> pl.DataFrame:
        """Return ``table`` as a polars frame, one row for each area."""
        return pl.DataFrame(self.table())

    def to_geopandas(self) -> geopandas.GeoDataFrame:
        """Return ``table`` with the areas as geometries; needs ``dpselect[geo]``."""
        geopandas = needed("geopandas", extra="geo")
        shapes = self.shapes
        if shapes.ndim == 2:
            shapes = needed("shapely", extra="geo").box(*shapes.T)
        return geopandas.GeoDataFrame(self.table(), geometry=shapes, crs=self.box.crs)

    def to_file(self, path: str | Path) -> None:
        """Write the estimates in the format that the suffix of the path names.

        ``.csv``; or with the areas ``.parquet`` (GeoParquet), ``.gpkg`` and ``.geojson``, which
        is in EPSG:4326; these need ``dpselect[geo]``.

        Raises:
            ParameterError: The suffix is not one of these, or the file needs a reference
                system.
            MissingDependencyError: The package that writes the format is not installed.
        """
        if geo.check_suffix(path, self.box.crs, ".csv") == ".csv":
            for_csv(self.to_frame()).write_csv(path)
        else:
            geo.write(self.to_geopandas(), path)


def names_of(areas: Any, count: int, names: str | Sequence[object] | None) -> Sequence[object]:  # noqa: ANN401
    """Return what areas are called; they are public, and so are their columns.

    Args:
        areas: Polygons of any kind; a GeoDataFrame has columns and an index.
        count: How many there are.
        names: As for ``MapRelease.estimate``.

    Raises:
        ColumnError: ``names`` is a column that they do not have.
    """
    columns = [] if getattr(areas, "columns", None) is None else list(areas.columns)
    if isinstance(names, str):
        if names not in columns:
            raise no_column(names, map(str, columns))
        return list(areas[names])
    if names is not None:
        return names
    if not hasattr(areas, "index") or isinstance(areas, list | tuple):
        return range(count)
    index = list(areas.index)
    texts = [one for one in (list(areas[name]) for name in columns) if _are_texts(one)]
    return texts[0] if len(texts) == 1 and not _are_texts(index) else index


def _are_texts(values: list[object]) -> bool:
    """Return whether these are texts, each another one."""
    return all(isinstance(one, str) for one in values) and len({*values}) == len(values)


def shapes_of(box: Box, areas: Any) -> NDArray[Any]:  # noqa: ANN401 -- rectangles or geometries
    """Return rectangles, shape ``(m, 4)``, or polygons in the system of a box, shape ``(m,)``.

    Raises:
        ParameterError: There is none, or one is no area.
        MissingDependencyError: shapely is not installed.
    """
    several = isinstance(areas, list | tuple | np.ndarray) and len(areas)
    first = areas[0] if several else areas
    if not (hasattr(areas, "geometry") or hasattr(first, "geom_type")):
        # A frame holds rectangles row by row.
        return checked_rectangles(getattr(areas, "to_numpy", lambda: areas)())
    shapely = needed("shapely", extra="geo")
    geometry = getattr(areas, "geometry", areas)
    if box.crs is not None and getattr(geometry, "crs", None) is not None:
        geometry = geometry.to_crs(box.crs)
    geometry = getattr(geometry, "array", geometry)
    shapes = np.atleast_1d(np.asarray(geometry, dtype=object))
    wrong = ~shapely.is_valid(shapes) | ~(shapely.area(shapes) > 0)
    if wrong.size == 0 or wrong.any():
        which = f"; number {wrong.argmax()} is not: frame.make_valid()" if wrong.size else ""
        raise ParameterError(f"polygons must be at least one, valid and of some area{which}")
    return shapes


def sums_over(
    shapes: NDArray[Any],
    box: Box,
    partition: Partition,
    counts: Values,
    spread: Values,
    *,
    unbiased: Values,
    deviation: float,
) -> Values:
    """Return sums over the cells of every area, shape ``(5, m)``; NaN for one off the box.

    Args:
        shapes: Areas of ``shapes_of``.
        box: The box.
        partition: The cells.
        counts: Shape ``(cells,)``, ``c_i``.
        spread: Shape ``(cells,)``, the variance of the points in a part, over ``α_i(1-α_i)``.
        unbiased: Other counts, of which nothing but sums are wanted.
        deviation: That of the noise in a count.

    Returns:
        The share of the area that is in the box; and of this part ``∑_i α_i c_i``, the same of
        the other counts, the norm ``‖α‖_2`` of the noise, and the standard deviation of uneven
        cells.
    """
    over = _over_rectangles if shapes.ndim == 2 else _over_polygons
    skew = 2 * spread**2 / np.maximum(counts, 1)
    differences = _differences(partition, np.maximum(counts, 0), deviation)
    cells = np.stack([counts, unbiased, spread, skew])
    *found, skewed = over(shapes, box, partition, cells, differences)
    inside, values, *_, variance = found
    variance += skewed / np.maximum(values, 1)
    sums = np.stack(found)
    sums[1:, inside == 0] = np.nan
    sums[3:] = np.sqrt(np.maximum(sums[3:], 0))
    return sums


def _over_rectangles(
    shapes: Values, box: Box, partition: Partition, cells: Values, differences: Values
) -> Values:
    """Return the share on the map, and sums over cells by their blocks.

    Both counts; squares of what is covered; variances, and third moments.
    """
    parts = box.cut(shapes)
    inside, whole = (np.prod(one[:, 2:] - one[:, :2], axis=1) for one in (parts, shapes))
    held = [CountedCells(partition, one) for one in (*cells, *differences.reshape(4, -1))]
    found = []
    for some in blocks_of(box.edges(parts)):
        blocks = Blocks(partition, some)
        *of_counts, of_spread, of_skew = (one.held(blocks) for one in held[: len(cells)])
        of_differences = [one.held(blocks) for one in held[len(cells) :]]
        shares = blocks.shares
        cut = shares * (1 - shares)
        variance = blocks.sums(cut * of_spread)
        for axis, of_axis in enumerate((of_differences[:2], of_differences[2:])):
            along, share = list(blocks.along), blocks.along[axis]
            lower = blocks.lower[axis][:, None] & [True, False, False]
            for side, difference in product((lower, ~lower), of_axis):
                along[axis] = side * np.sqrt(share * (1 - share))
                variance += blocks.sums(products(along) * difference) ** 2 / 8
        values, unbiased = (blocks.sums(shares * one) for one in of_counts)
        norms, skewed = blocks.sums(blocks.cells * shares**2), blocks.sums(cut * of_skew)
        found.append([values, unbiased, norms, variance, skewed])
    return np.vstack([inside / whole, np.concatenate(found, axis=1)])


def _over_polygons(
    shapes: NDArray[Any], box: Box, partition: Partition, cells: Values, differences: Values
) -> Values:
    """Return the same of polygons, cell by cell."""
    shapely = needed("shapely", extra="geo")
    parts = shapely.intersection(shapes, shapely.box(*box.bounds))
    found = np.zeros((6, len(shapes)))
    found[0] = np.minimum(shapely.area(parts) / shapely.area(shapes), 1.0)
    for position in np.flatnonzero(found[0]):
        near = _near(partition, box, shapely.bounds(parts[position]))
        alpha, along, side = _covered(parts[position], partition.in_box(box, near).T)
        weights = side * np.sqrt(along * (1 - along)) * alpha / np.maximum(along, TINY)
        of_sides = [
            (differences[..., near] * np.where(which, weights, 0)[:, None]).sum(axis=-1)
            for which in (side > 0, side < 0)
        ]
        counts, unbiased, spread, skew = cells[:, near]
        cut = alpha * (1 - alpha)
        variance = cut @ spread + np.square(of_sides).sum() / 8
        sums = alpha @ counts, alpha @ unbiased, alpha @ alpha
        found[1:, position] = *sums, variance, cut @ skew
    return found


def _near(partition: Partition, box: Box, bounds: Values) -> Indices:
    """Return the cells that a rectangle meets, and some beside them."""
    edges = box.edges(bounds[None])
    edges[:, 2:] = np.minimum(edges[:, 2:] + 1, POSITIONS)
    blocks = Blocks(partition, edges)
    found = []
    for region, x, y in zip(blocks.region, *blocks.ends, strict=True):
        *_, ny, first = partition.regions[region]
        columns, rows = np.arange(x[0], x[3]), np.arange(y[0], y[3])
        found.append((first + columns[:, None] * ny + rows).ravel())
    return np.concatenate(found)


def _covered(part: Any, cells: Values) -> tuple[Values, Values, Values]:  # noqa: ANN401 -- shapely
    """Return what an area covers of each of ``n`` cells.

    What is covered of a cell is taken for a rectangle of its centre, at two sides of the cell.

    Returns:
        The share of the cell, shape ``(n,)``; the share along x and along y, shape ``(2, n)``;
        and 1 where the lower side of the area cuts the cell, -1 where the upper one does.
    """
    shapely = needed("shapely", extra="geo")
    shapely.prepare(part)
    boxes, centre = shapely.box(*cells), np.zeros((2, cells.shape[1]))
    alpha = shapely.covers(part, boxes).astype(np.float64)
    cut = np.flatnonzero((alpha == 0) & shapely.intersects(part, boxes))
    pieces = shapely.intersection(boxes[cut], part)
    alpha[cut] = shapely.area(pieces) / shapely.area(boxes[cut])
    middle, (lower, upper) = shapely.centroid(pieces), cells[:, cut].reshape(2, 2, -1)
    place = ([shapely.get_x(middle), shapely.get_y(middle)] - lower) / (upper - lower)
    centre[:, cut] = np.where(alpha[cut] > 0, place - 0.5, 0)
    return alpha, np.clip(1 - 2 * np.abs(centre), alpha, 1), np.sign(centre)


def _differences(partition: Partition, counts: Values, deviation: float) -> Values:
    """Return how much the cells before and after each, along x and y, hold more than it.

    Twice what it holds, for a cell beside it that holds all of both. Beside a region they are
    rectangles of the size of its cells. At the edge of the box it is the cell of the region on
    the other side, and the cell itself if there is none. Shape ``(2, 2, cells)``.
    """
    tables = []
    for table in partition.tables(counts):
        held = np.pad(table, 1, mode="reflect")
        beside = held[:-2, 1:-1], held[2:, 1:-1], held[1:-1, :-2], held[1:-1, 2:]
        tables.append(np.stack(beside).reshape(2, 2, -1))
    found = np.concatenate(tables, axis=2)
    if partition.shape is None:
        answers, cells = CountedCells(partition, counts).answers, np.arange(partition.cells)
        sides = np.column_stack(
            [places * POSITIONS // parts for places, parts in partition.corners(cells)]
        )
        first, span = np.split(partition.regions[partition.regions_of(cells), :3], [2], axis=1)
        ends = np.hstack([first, first + span]) * (POSITIONS // partition.base)
        for axis, after in product((0, 1), repeat=2):
            side = axis + 2 * after
            moved = sides.copy()
            moved[:, axis::2] += (2 * after - 1) * (sides[:, axis + 2] - sides[:, axis])[
                :, None
            ]
            on_map = (moved[:, axis] >= 0) & (moved[:, axis + 2] <= POSITIONS)
            other = np.flatnonzero((sides[:, side] == ends[:, side]) & on_map)
            found[axis, after, other] = np.maximum(answers(moved[other]), 0)
    return 2 * counts * (found - counts) / (found + counts + max(deviation, TINY))
