"""Estimated numbers of points in areas of a released map, as a table and in files.

An area that covers a share ``α_i`` of cell ``i`` holds about ``∑_i α_i c_i`` points. Of the
points in a part of a cell the variances are those of ``spread_of_parts``, as if cells were
independent. What cells along a side have in common comes beside it: the cells that a side cuts
are one strip, whose share ``s`` is as uncertain as the strip differs from those beside it.
Points that are as uneven within a strip of count ``m`` as across two strips, ``m`` and ``m'``,
have the variance ``s (1 - s) (m - m')^2 / 4``. It is the mean of both strips beside it, summed
over the four sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpselect import validation
from dpselect._optional import needed
from dpselect.errors import ParameterError, no_column
from dpselect.maps.box import Box, checked_rectangles
from dpselect.maps.overlap import along_axis
from dpselect.maps.partition import Partition
from dpselect.release import for_csv
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    import geopandas
    import polars as pl

LEVEL = 0.95
"""The level of the intervals in tables and files."""

FORMATS = (".csv", ".parquet", ".geoparquet", ".gpkg", ".geojson")
"""Suffixes of the files that estimates are written to; all but CSV hold the areas too."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimates:
    """Estimated numbers of points in areas; post-processing of a release.

    They are estimates of the counted points: with ``max_per_user``, further points of a person
    are not included. ``docs/files.md`` explains what shares of counted points estimate.

    Attributes:
        values: Estimated numbers of points in the parts of the areas that are on the map, shape
            ``(m,)``; NaN, as all errors, for an area that is off it.
        noise_errors: Standard deviation of the noise in each, shape ``(m,)``; it is known, and
            post-processing makes it smaller.
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

        With a limit per person they are of the points that are counted. Both errors are
        assumed to be normal. The coverage is ``level`` if the error of non-uniformity is
        estimated well; ``docs/report/measurements.md`` has measured coverages.

        Args:
            level: Above 0 and below 1.

        Raises:
            ParameterError: ``level`` is out of its range.
        """
        quantile = NormalDist().inv_cdf((1 + validation.share("level", level)) / 2)
        reach = quantile * self.standard_errors
        return np.maximum(self.values - reach, 0), np.maximum(self.values + reach, 0)

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

    def to_frame(self) -> pl.DataFrame:
        """Return ``table`` as a polars frame, one row for each area."""
        needed("polars", extra="standard")
        import polars as pl

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
        need ``dpselect[geo]``.

        Raises:
            ParameterError: The suffix is not one of these.
            MissingDependencyError: The package that writes the format is not installed.
        """
        suffix = check_suffix(path)
        if suffix == ".csv":
            for_csv(self.to_frame()).write_csv(path)
        elif suffix in {".parquet", ".geoparquet"}:
            self.to_geopandas().to_parquet(path)
        else:
            self.to_geopandas().to_file(path)


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


def check_suffix(path: str | Path) -> str:
    """Return the suffix of a path; raise if estimates cannot be written so.

    Raises:
        ParameterError: It is none of ``FORMATS``.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ParameterError(
            f"cannot write {path}: the suffix must be one of {', '.join(FORMATS)}"
        )
    return suffix


class Covered(NamedTuple):
    """What an area covers of each of ``n`` cells."""

    alpha: Values
    """The share of the cell, shape ``(n,)``."""

    along: Values
    """The share along x and along y, shape ``(2, n)``."""

    side: Values
    """1 where the lower side of the area cuts the cell, -1 where the upper one does."""


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
        which = f"; the first that is not is number {wrong.argmax()}" if wrong.size else ""
        raise ParameterError(f"polygons must be at least one, valid and of some area{which}")
    return shapes


def sums_over(
    shapes: NDArray[Any], box: Box, partition: Partition, counts: Values, spread: Values
) -> Values:
    """Return sums over the cells of every area, shape ``(4, m)``; NaN for one off the box.

    Args:
        shapes: Areas of ``shapes_of``.
        box: The box.
        partition: The cells.
        counts: Shape ``(cells,)``, ``c_i``.
        spread: Shape ``(cells,)``, the variance of the points in a part, over ``α_i(1-α_i)``.

    Returns:
        The share of the area that is in the box; and of this part ``∑_i α_i c_i``,
        ``‖α‖_2`` and the standard deviation of uneven cells.
    """
    parts, inside, bounds, covered = _cut(shapes, box)
    found = np.full((4, len(shapes)), np.nan)
    found[0] = inside
    for position in np.flatnonzero(inside):
        cells = _near(partition, [box.edges(bounds[position, [i]], i % 2) for i in range(4)])
        alpha, along, side = covered(parts[position], partition.in_box(box, cells).T)
        found[1:3, position] = alpha @ counts[cells], alpha @ alpha
        # Of a cell that is covered nothing is uncertain.
        cut = alpha < 1
        cells, alpha, along, side = cells[cut], alpha[cut], along[:, cut], side[:, cut]
        met = np.maximum(along, np.finfo(float).tiny)
        weights = side * np.sqrt(along * (1 - along)) * alpha / met
        sides = np.stack([np.maximum(weights, 0), np.minimum(weights, 0)])
        differences = counts[_beside(cells, partition)] - counts[cells]
        of_sides = np.einsum("san,adn->sad", sides, differences)
        variance = (alpha * (1 - alpha)) @ spread[cells] + (of_sides**2).sum() / 8
        found[3, position] = max(variance, 0)
    found[2:] = np.sqrt(found[2:])
    return found


def _cut(
    shapes: NDArray[Any], box: Box
) -> tuple[NDArray[Any], Values, Values, Callable[[Any, Values], Covered]]:
    """Return the parts of areas in a box, their shares, their bounds, and what covers cells."""
    if shapes.ndim == 2:
        west, south, east, north = box.bounds
        parts = np.clip(shapes, [west, south, west, south], [east, north, east, north])
        inside, whole = (np.prod(one[:, 2:] - one[:, :2], axis=1) for one in (parts, shapes))
        return parts, inside / whole, parts, _by_rectangle
    shapely = needed("shapely", extra="geo")
    parts = shapely.intersection(shapes, shapely.box(*box.bounds))
    inside = np.minimum(shapely.area(parts) / shapely.area(shapes), 1.0)
    return parts, inside, shapely.bounds(parts), _by_polygon


def _near(partition: Partition, edges: list[Indices]) -> Indices:
    """Return the cells that a rectangle of edges of the lattice meets."""
    ends = [along_axis(partition, axis, *edges[axis::2])[0][0, [0, 3]] for axis in (0, 1)]
    met = np.flatnonzero((ends[0][0] < ends[0][1]) & (ends[1][0] < ends[1][1]))
    return np.concatenate(
        [
            (
                first + np.arange(*ends[0][:, r])[:, None] * ny + np.arange(*ends[1][:, r])
            ).ravel()
            for r, (ny, first) in zip(met, partition.regions[met, 4:], strict=True)
        ]
    )


def _by_rectangle(part: Values, cells: Values) -> Covered:
    (low, high), (lower, upper) = part.reshape(2, 2, 1), cells.reshape(2, 2, -1)
    along = (np.minimum(upper, high) - np.maximum(lower, low)) / (upper - lower)
    along = np.maximum(along, 0)
    return Covered(along.prod(axis=0), along, np.where(lower < low, 1.0, -1.0))


def _by_polygon(part: Any, cells: Values) -> Covered:  # noqa: ANN401 -- shapely has no types
    """Take what is covered of a cell for a rectangle of this centre, at two of its sides."""
    shapely = needed("shapely", extra="geo")
    shapely.prepare(part)
    boxes, centre = shapely.box(*cells), np.zeros((2, cells.shape[1]))
    alpha = shapely.covers(part, boxes).astype(np.float64)
    cut = np.flatnonzero((alpha == 0) & shapely.intersects(part, boxes))
    pieces = shapely.intersection(boxes[cut], part)
    alpha[cut] = shapely.area(pieces) / shapely.area(boxes[cut])
    middle, lower, size = (
        shapely.centroid(pieces),
        cells[:2, cut],
        cells[2:, cut] - cells[:2, cut],
    )
    centre[:, cut] = ([shapely.get_x(middle), shapely.get_y(middle)] - lower) / size - 0.5
    centre = np.where(alpha > 0, centre, 0)
    return Covered(alpha, np.clip(1 - 2 * np.abs(centre), alpha, 1), np.sign(centre))


def _beside(cells: Indices, partition: Partition) -> Indices:
    """Return the cells before and after each of ``n`` along x and y, shape ``(2, 2, n)``.

    They are of its region: on its border the same one twice, and itself if there is no other.
    """
    nx, ny, first = partition.regions[partition.regions_of(cells), 3:].T
    found = []
    for place, many, step in zip(np.divmod(cells - first, ny), (nx, ny), (ny, 1), strict=True):
        one = np.where(many > 1, step, 0)
        before, after = np.where(place > 0, -one, one), np.where(place < many - 1, one, -one)
        found.append([cells + before, cells + after])
    return np.array(found)
