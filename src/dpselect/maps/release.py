"""Released maps: noisy counts of cells, and the numbers of points in areas they estimate."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpselect._optional import needed, new_axes, pl
from dpselect.errors import DataError, ParameterError, no_file, possible
from dpselect.maps import geo, postprocess
from dpselect.maps.box import POSITIONS, Box
from dpselect.maps.estimates import Estimates, names_of, shapes_of, sums_over
from dpselect.maps.overlap import CountedCells
from dpselect.maps.partition import CoarseGrid, Partition, standard_deviation, uniform_grid
from dpselect.plan import ErrorBound, Plan, Spend
from dpselect.query import Query
from dpselect.release import Release
from dpselect.typing import Values

if TYPE_CHECKING:
    import geopandas
    from matplotlib.axes import Axes

KEY = "dpselect.maps"
"""Key in the metadata of a Parquet file: all of a map but its counts, as JSON."""

FORMAT = 6
"""The version of what is stored there."""

TABLE = ".parquet"
"""The suffix of a map that is read again."""

TEXT = ".csv"
"""The suffix of a text file of the cells."""

NONNEGATIVE = "nonnegative"
"""Post-processing to counts of which none is below 0."""

COLOURS = "cividis"
"""Perceptually uniform, also with colour-vision deficiency."""

SIDES = (256, 128, 64, 32, 16)
"""Cells along each side of the picture of a map whose own are of several sizes."""

EARTH_RADIUS_KM = 6371.0088
"""Mean radius of the Earth (IUGG)."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MapRelease(Release[str]):
    """Noisy counts of the points in every cell of a box; safe to publish.

    The answer is the label of the cells that were chosen. All methods are post-processing.

    Attributes:
        box: The public box.
        partition: The cells.
        unbiased: Noisy counts, shape ``(partition.cells,)``; can be negative. With a coarse
            grid they are the least squares fit to both measurements.
        scale: Scale of their discrete Laplace noise.
        candidates: The candidates that the cells were chosen from, by label.
        coarse: The noisy grid that weighs the queries; None if there was none.
        processing: The post-processing of ``counts``, in order.
        non_uniformity: Unevenness of the points within cells, 0 to 1, estimated from the
            counts.
    """

    box: Box
    partition: Partition
    unbiased: Values
    scale: float
    candidates: tuple[str, ...] = ()
    coarse: CoarseGrid | None = None
    processing: tuple[str, ...] = ()
    non_uniformity: float = 1.0

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @cached_property
    def counts(self) -> Values:
        """Noisy counts of the cells as ``processing`` says, shape ``(partition.cells,)``."""
        if NONNEGATIVE not in self.processing:
            return self.unbiased
        return postprocess.nonnegative(self.partition, self.unbiased)

    @property
    def total(self) -> float:
        """The noisy number of points in the box."""
        return float(self.counts.sum())

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of the noise in one cell, before any post-processing."""
        return standard_deviation(self.scale)

    def released(self) -> dict[str, Any]:
        return {**super().released(), "points": self.total, "counts": self.counts.tolist()}

    def _made_of(self) -> dict[str, Any]:
        """Return the fields that an equal map is made of with its plan, as JSON has them."""
        coarse, cells = self.coarse, self.partition
        return {
            "answer": list(self.answer),
            "exact": self.exact,
            "refunded": self.refunded,
            "box": [*self.box.bounds, self.box.crs],
            "partition": [cells.label, cells.base, cells.regions.tolist()],
            "unbiased": self.unbiased.tolist(),
            "scale": self.scale,
            "candidates": list(self.candidates),
            "coarse": None if coarse is None else [coarse.counts.tolist(), coarse.scale],
            "processing": list(self.processing),
            "non_uniformity": self.non_uniformity,
        }

    @classmethod
    def remade(cls, kept: Mapping[str, Any], **more: Any) -> Self:  # noqa: ANN401
        """Return a map of the fields that a ledger keeps."""
        label, base, regions = kept["partition"]
        coarse = kept["coarse"]
        given = {
            "box": Box(*kept["box"]),
            "partition": Partition(label, base, np.array(regions, dtype=np.int64)),
            "unbiased": np.array(kept["unbiased"], dtype=np.float64),
            "coarse": coarse and CoarseGrid(np.array(coarse[0], dtype=np.float64), coarse[1]),
            **{name: tuple(kept[name]) for name in ("answer", "candidates", "processing")},
        }
        return cls(**{**kept, **given}, **more)

    def table(self) -> dict[str, list[Any]]:
        """Return one row: the label of the cells, their number and the number of points."""
        return {
            "cells": [self.candidate],
            "number": [self.partition.cells],
            "noisy_count": [round(self.total)],
        }

    def shown(self) -> dict[str, list[Any]]:
        """Return the row with words for the number of points."""
        found = self.table()
        points = found.pop("noisy_count")
        return {**found, "points, noisy": points}

    def to_frame(self) -> pl.DataFrame:
        """Return one row for each cell: its bounds and its count."""
        edges = self.partition.in_box(self.box).T
        columns = zip(("west", "south", "east", "north"), edges, strict=True)
        return pl.DataFrame({**dict(columns), "count": self.counts})

    def estimate(
        self, areas: object, *, names: str | Sequence[object] | None = None
    ) -> Estimates:
        """Estimate the number of points in each of many areas.

        For an area that leaves the box, the estimate is for the part inside, whose share is
        stated; one that is off the map has none.

        Args:
            areas: Rectangles ``(west, south, east, north)``, shape ``(m, 4)`` or ``(4,)``,
                in the units of the box; or polygons of shapely or geopandas, which are
                brought into the box's reference system if both are known.
            names: Names of the areas, or the column of a GeoDataFrame that has them. By default
                its index, if that is of texts; or its only column of different texts; or else
                numbers from 0 on.

        Raises:
            ColumnError: The areas have no such column.
            ParameterError: There are no areas, one is not an area, or the number of names
                differs.
        """
        spread = postprocess.spread_of_parts(self.counts, self.non_uniformity, self.scale)
        shapes = shapes_of(self.box, areas)
        called = names_of(areas, len(shapes), names)
        if len(called) != len(shapes):
            raise ParameterError(f"`names` must be {len(shapes)}, one for each area")
        inside, values, unbiased, norms, uneven = sums_over(
            shapes,
            self.box,
            self.partition,
            self.counts,
            spread,
            unbiased=self.unbiased,
            deviation=self.standard_deviation,
        )
        noise, texts = self.standard_deviation * norms, tuple(map(str, called))
        return Estimates(values, unbiased, noise, uneven, inside, texts, shapes, self.box)

    def nonnegative(self) -> Self:
        """Return the map without negative counts and with the same total.

        They are fitted from the whole box down to the cells, so that answers to large queries
        hardly change. A negative total becomes 0.
        """
        if NONNEGATIVE in self.processing:
            return self
        return replace(self, processing=(*self.processing, NONNEGATIVE))

    def raster(self, shape: tuple[int, int] | None = None) -> Values:
        """Return counts by position along x and y, from west to east and south to north.

        Args:
            shape: Cells along x and y; those of the map itself if it is a uniform grid.

        Raises:
            ParameterError: The cells are not a uniform grid, and no shape is given.
        """
        own = self.partition.shape
        if shape is None or shape == own:
            if own is None:
                raise ParameterError(
                    f"{self.partition.label} has cells of several sizes: give the shape of the "
                    "raster, such as (256, 256)"
                )
            return self.counts.reshape(own)
        _, _, _, nx, ny, _ = uniform_grid(shape).regions[0]
        edges = [np.arange(many + 1) * POSITIONS // many for many in (nx, ny)]
        return CountedCells(self.partition, self.counts).raster(*edges)

    def to_file(self, path: str | Path) -> None:
        """Write the cells in the format that the suffix of the path names.

        ``.parquet``, a table with all that ``from_parquet`` needs; ``.csv``, the cells alone;
        and with ``dpselect[geo]`` ``.geoparquet``, ``.gpkg`` and ``.geojson``, which is in
        EPSG:4326. A query that has no written form, such as one with a function as its
        mechanism, is left out.

        Args:
            path: Where to.

        Raises:
            ParameterError: The suffix is not one of these, or the file needs a reference
                system.
            MissingDependencyError: The package that writes the format is not installed.
        """
        check_file(path, self.box)
        suffix = Path(path).suffix.lower()
        if suffix == TEXT:
            self.to_frame().write_csv(path)
            return
        if suffix != TABLE:
            geo.write(self.to_geopandas(), path)
            return
        try:
            query = None if self.query is None else self.query.to_dict()
        except ParameterError:
            query = None
        stored = {
            "format": FORMAT,
            "made_of": {**self._made_of(), "unbiased": None},
            "version": self.version,
            "plan": asdict(replace(self.plan, query=None)),
            "query": query,
        }
        cells = self.to_frame().with_columns(unbiased=self.unbiased)
        cells.write_parquet(path, metadata={KEY: json.dumps(stored, default=str)})

    @classmethod
    def from_parquet(cls, path: str | Path) -> Self:
        """Read a map that ``to_file`` wrote.

        Raises:
            DataError: There is no such file, or it is not a map.
        """
        if not possible(path).is_file():
            raise no_file(path)
        try:
            stored = json.loads(pl.read_parquet_metadata(path)[KEY])
            counts = pl.read_parquet(path, columns=["unbiased"])["unbiased"].to_numpy()
            more = {
                "plan": _plan(stored["plan"], stored["query"]),
                "version": stored["version"],
            }
            made = cls.remade({**stored["made_of"], "unbiased": counts}, **more)
            fits = stored["format"] == FORMAT and counts.shape == (made.partition.cells,)
        except (pl.exceptions.PolarsError, KeyError, TypeError, ValueError):
            fits = False
        if not fits:
            raise DataError(f"{path} is not a map that to_file wrote")
        return made

    def to_geopandas(self) -> geopandas.GeoDataFrame:
        """Return the cells as geometries; needs ``dpselect[geo]``."""
        geopandas, shapely = needed("geopandas", extra="geo"), needed("shapely", extra="geo")
        shapes = shapely.box(*self.partition.in_box(self.box).T)
        return geopandas.GeoDataFrame({"count": self.counts}, geometry=shapes, crs=self.box.crs)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw points per area: per km² where the length of the unit is known.

        Negative counts are drawn as zero. Colours are proportional to the square root, so
        that a few dense cells do not leave the rest dark, and end at the 99.9th percentile.
        Cells of several sizes are drawn as the finest raster in which noise is no more than
        a quarter of a count where the points are.

        Args:
            ax: Axes to draw into; those of a new pyplot figure if not given.
        """
        needed("matplotlib", extra="standard")
        from matplotlib.colors import PowerNorm

        if ax is None:
            ax = new_axes((8, 6))
        box, shape = self.box, self.partition.shape or self._clear()
        area, per_area = areas_of(box, uniform_grid(shape).in_box(box))
        density = np.maximum(self.raster(shape), 0) / area.reshape(shape)
        coloured = ax.imshow(
            density.T,
            origin="lower",
            extent=(box.west, box.east, box.south, box.north),
            aspect="auto",
            interpolation="nearest",
            cmap=COLOURS,
            norm=PowerNorm(0.5, vmin=0, vmax=float(np.quantile(density, 0.999)) or 1.0),
        )
        title = (
            f"{self.candidate}, ε = {self.epsilon:g} ({self.neighbours})\n"
            f"standard deviation of the noise in a cell: {self.standard_deviation:.3g} points"
        )
        _label(box, title, ax)
        # A colour bar as high as the map, whatever its proportions.
        beside, label = ax.inset_axes((1.03, 0.0, 0.035, 1.0)), f"points per {per_area}"
        beside.figure.colorbar(coloured, cax=beside, extend="max", extendfrac=0.03, label=label)
        return ax

    def _clear(self) -> tuple[int, int]:
        variances = np.full(self.partition.cells, self.standard_deviation**2)
        even = replace(self, unbiased=variances, processing=())
        for side in SIDES:
            shape = (side, side)
            counts = np.maximum(self.raster(shape), 0)
            noise = np.sqrt(even.raster(shape))
            if 4 * (noise * counts).sum() <= (counts**2).sum():
                break
        return shape


def check_file(path: str | Path, box: Box) -> None:
    """Raise if the cells of a box could not be written to a file.

    Raises:
        ParameterError: The suffix is none of these, or the file needs a reference
            system.
        MissingDependencyError: The package that writes the format is not installed.
    """
    if geo.check_suffix(path, box.crs, TEXT) not in {TABLE, TEXT}:
        needed("geopandas", extra="geo")


def _plan(stored: dict[str, Any], query: dict[str, Any] | None) -> Plan:
    error = stored["error"]
    return Plan(
        **{
            **stored,
            "spends": tuple(Spend(**spend) for spend in stored["spends"]),
            "public": tuple(stored["public"]),
            "error": error and ErrorBound(**error),
            "query": query and Query.from_dict(query),
        }
    )


def areas_of(box: Box, bounds: Values) -> tuple[Values, str]:
    """Return the area of every cell, and its unit."""
    west, south, east, north = bounds.T
    unit, metres = geo.unit(box.crs)
    if unit != "degrees":
        area = (east - west) * (north - south)
        if metres is None:
            return area, f"square with sides of 1 ({unit})"
        return area * (metres / 1000) ** 2, "km²"
    # Exact for a sphere: areas are proportional to differences of sines of latitudes.
    sines = np.sin(np.radians(north)) - np.sin(np.radians(south))
    return EARTH_RADIUS_KM**2 * np.radians(east - west) * sines, "km²"


def _label(box: Box, title: str, ax: Axes) -> None:
    unit, metres = geo.unit(box.crs)
    names = ("longitude", "latitude") if unit == "degrees" else ("x", "y")
    if unit == "degrees":
        middle = (box.south + box.north) / 2
        # The true proportions at the middle latitude; a map near a pole keeps some width.
        ax.set_aspect(1 / max(np.cos(np.radians(middle)), 0.2))
    elif metres is not None:
        ax.set_aspect("equal")
    ax.locator_params(axis="x", nbins=5)
    ax.set(
        xlim=(box.west, box.east),
        ylim=(box.south, box.north),
        xlabel=f"{names[0]} ({unit})",
        ylabel=f"{names[1]} ({unit})",
        title=title,
    )
