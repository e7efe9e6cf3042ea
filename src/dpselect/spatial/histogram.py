"""Released maps: noisy counts of cells, and the answers to queries they give."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dpselect._optional import needed
from dpselect._version import version
from dpselect.neighbours import Neighbours
from dpselect.plan import Plan
from dpselect.spatial import export, postprocess
from dpselect.spatial.box import Box
from dpselect.spatial.counting import standard_deviation
from dpselect.spatial.overlap import CountedCells, Overlap, are_polygons, polygon_answers
from dpselect.spatial.partition import Partition
from dpselect.spatial.plot import draw
from dpselect.spatial.queries import lattice_rectangles
from dpselect.spatial.rules import CoarseGrid
from dpselect.spatial.unevenness import spread_of_parts
from dpselect.typing import Values

if TYPE_CHECKING:
    import geopandas
    import polars as pl
    import xarray
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Answer:
    """Answers to queries; a release.

    Attributes:
        values: Estimated numbers of points, shape ``(m,)``.
        noise_errors: Standard deviation of the noise in each, shape ``(m,)``: known, and made
            smaller by post-processing.
        uniform_errors: Standard error of taking points to lie evenly in cells, shape ``(m,)``:
            estimated from the released counts (:mod:`~dpselect.spatial.unevenness`), and 0 for
            queries that cut no cell. No released number bounds it.
    """

    values: Values
    noise_errors: Values
    uniform_errors: Values

    @property
    def standard_errors(self) -> Values:
        """Of both errors together, shape ``(m,)``."""
        return np.hypot(self.noise_errors, self.uniform_errors)

    def __len__(self) -> int:
        return self.values.size

    def __repr__(self) -> str:
        return f"Answer({len(self)} queries)"

    def to_frame(self) -> pl.DataFrame:
        """Return the answers as a polars frame, one row for each query."""
        needed("polars", extra="standard")
        import polars as pl

        return pl.DataFrame(
            {
                "count": self.values,
                "standard_error": self.standard_errors,
                "noise_error": self.noise_errors,
            }
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SpatialHistogram:
    """Noisy counts of the points in every cell of a box; safe to publish.

    Guarantee:
        ``epsilon``-DP under ``neighbours``, for individuals of at most ``points_per_user``
        points each, including everything that tuned it. All methods are post-processing.

    Attributes:
        box: The public box.
        partition: The cells that were chosen.
        counts: Noisy counts, shape ``(partition.cells,)``; can be negative. With a coarse
            grid they are the least squares fit to both measurements.
        scale: Scale of their discrete Laplace noise.
        plan: The public arguments of the release, and the price of each noisy step.
        points_per_user: How many points of one individual were counted.
        candidates: The candidates that the cells were chosen from, by label.
        coarse: The noisy grid that weighs the queries; None if there was one candidate.
        processing: The post-processing of the counts, in order.
        unevenness: How unevenly points lie in cells, 0 to 1, estimated from the counts.
        version: The version of dpselect that drew it.
        entry: The number of its entry in the budget; None if nothing was recorded.
    """

    box: Box
    partition: Partition
    counts: Values
    scale: float
    plan: Plan
    points_per_user: int = 1
    candidates: tuple[str, ...] = ()
    coarse: CoarseGrid | None = None
    processing: tuple[str, ...] = ()
    unevenness: float = 1.0
    version: str = field(default_factory=version)
    entry: int | None = None

    @property
    def epsilon(self) -> float:
        """What the whole release cost, in nats."""
        return self.plan.epsilon

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation that epsilon is stated for."""
        return self.plan.neighbours

    @property
    def chosen(self) -> str:
        """The label of the partition that was chosen."""
        return self.partition.label

    @property
    def total(self) -> float:
        """The noisy number of points in the box."""
        return float(self.counts.sum())

    @property
    def standard_deviation(self) -> float:
        """Of the noise in one cell, before any post-processing."""
        return standard_deviation(self.scale)

    def __repr__(self) -> str:
        return (
            f"SpatialHistogram({self.chosen}, epsilon={self.epsilon:g}, "
            f"neighbours={self.neighbours})"
        )

    def released(self) -> dict[str, Any]:
        """Return cells and counts as plain Python values, by name."""
        return {"cells": self.chosen, "points": self.total, "counts": self.counts.tolist()}

    def query(self, areas: object) -> Answer:
        """Estimate how many points lie in each of many areas.

        Args:
            areas: Rectangles ``(west, south, east, north)``, shape ``(m, 4)`` or ``(4,)``,
                in the units of the box; or polygons of shapely or geopandas, which are
                brought into the box's reference system if both are known.

        Raises:
            ParameterError: There is none, or one is not an area inside the bounds.
        """
        part, spread = self.partition, spread_of_parts(self.counts, self.unevenness, self.scale)
        if are_polygons(areas):
            values, norms, cut = polygon_answers(self.box, part, self.counts, spread, areas)
        else:
            edges = lattice_rectangles(_numbers(areas), bounds=self.box)
            values = CountedCells(part, self.counts).answers(edges)
            norms = Overlap.of(part, edges).l2
            cut = CountedCells(part, spread).of_cut_cells(edges)
        return Answer(values, self.standard_deviation * norms, np.sqrt(cut))

    def nonnegative(self) -> SpatialHistogram:
        """Return the map without negative counts and with the same total.

        They are fitted from the whole box down to the cells, so that answers to large queries
        hardly change. A negative total becomes 0.
        """
        counts = postprocess.nonnegative(self.partition, self.counts)
        return replace(self, counts=counts, processing=(*self.processing, "nonnegative"))

    def raster(self, shape: tuple[int, int] | None = None) -> Values:
        """Return counts by position along x and y, from west to east and south to north.

        Args:
            shape: Cells along x and y; those of the map itself if it is a uniform grid.

        Raises:
            ParameterError: The cells are not a uniform grid, and no shape is given.
        """
        return export.raster(self, shape)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the map: points per unit of area, with a colour bar.

        Args:
            ax: Axes to draw into; those of a new pyplot figure if not given.
        """
        return draw(self, title=self._title(), ax=ax)

    def _title(self) -> str:
        return (
            f"{self.chosen}, ε = {self.epsilon:g} ({self.neighbours})\n"
            f"standard deviation of the noise in a cell: {self.standard_deviation:.3g} points"
        )

    def to_frame(self) -> pl.DataFrame:
        """Return one row for each cell: its bounds and its count."""
        return export.to_frame(self)

    def to_file(self, path: str | Path) -> None:
        """Write the cells in the format that the suffix of the path names.

        ``.parquet`` or ``.geoparquet`` (GeoParquet, with all that :meth:`from_parquet` needs
        to answer queries), ``.gpkg``, ``.geojson``; and ``.tif`` as :meth:`to_geotiff`, with a
        raster as fine as the smallest cells.

        Raises:
            ParameterError: The suffix is another, or the reference system does not fit.
            MissingDependencyError: What writes the format is not installed.
        """
        form = export.format_of(path, self.box)
        if form == "GeoParquet":
            self.to_parquet(path)
        elif form == "GeoJSON":
            self.to_geojson(path)
        elif form == "GeoPackage":
            export.to_geopackage(self, path, self._title())
        else:
            self.to_geotiff(path, export.finest_shape(self.partition))

    def to_parquet(self, path: str | Path) -> None:
        """Write the map with its plan as GeoParquet, for :meth:`from_parquet`."""
        facts: dict[str, object] = {
            "scale": self.scale,
            "points_per_user": self.points_per_user,
            "candidates": self.candidates,
            "processing": self.processing,
            "unevenness": self.unevenness,
            "version": self.version,
        }
        export.write_parquet(self, path, plan=self.plan, coarse=self.coarse, facts=facts)

    @classmethod
    def from_parquet(cls, path: str | Path) -> SpatialHistogram:
        """Read a map that :meth:`to_parquet` wrote.

        Raises:
            DataError: There is no such file, or it is not a map.
        """
        return cls(**export.read_parquet(path))

    def to_geojson(self, path: str | Path | None = None) -> dict[str, Any]:
        """Return the cells as a GeoJSON feature collection, and write it if a path is given.

        Raises:
            ParameterError: The reference system is not known to be GeoJSON's, EPSG:4326.
        """
        return export.to_geojson(self, path)

    def to_geopandas(self) -> geopandas.GeoDataFrame:
        """Return the cells as geometries; needs ``dpselect[geo]``."""
        return export.to_geopandas(self)

    def to_xarray(self, shape: tuple[int, int] | None = None) -> xarray.DataArray:
        """Return a raster with the coordinates of its centres; needs ``dpselect[geo]``."""
        facts = {"epsilon": self.epsilon, "neighbours": str(self.neighbours)}
        return export.to_xarray(self, shape, facts)

    def to_geotiff(self, path: str | Path, shape: tuple[int, int] | None = None) -> None:
        """Write a raster with its place and reference system; needs ``dpselect[geo]``."""
        export.to_geotiff(self, path, shape)


def _numbers(areas: object) -> ArrayLike:
    """Return rectangles given as a frame row by row, and anything else as it is."""
    to_numpy = getattr(areas, "to_numpy", None)
    return areas if to_numpy is None else to_numpy()  # type: ignore[return-value] # checked next
