"""The map that is released: noisy counts of cells, and the answers that they give."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dpselect.neighbours import Neighbours
from dpselect.spatial import counting
from dpselect.spatial.box import Box
from dpselect.spatial.coarse import Coarse
from dpselect.spatial.noise import standard_deviation
from dpselect.spatial.partition import Partition
from dpselect.spatial.reach import Reach
from dpselect.spatial.shares import Shares
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
        standard_errors: Of the noise in each, shape ``(m,)``. What uniform cells get wrong
            comes on top, for queries that cut cells: no number that is private tells how
            much. Post-processing only makes the noise smaller.
    """

    values: Values
    standard_errors: Values

    def __len__(self) -> int:
        return self.values.size

    def __repr__(self) -> str:
        return f"Answer({len(self)} queries)"

    def to_frame(self) -> pl.DataFrame:
        """Return the answers as a polars frame, one row for each query."""
        import polars as pl

        return pl.DataFrame({"count": self.values, "standard_error": self.standard_errors})


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SpatialHistogram:
    """Noisy counts of the points in every cell of a box; safe to publish.

    Guarantee:
        ``epsilon``-DP under ``neighbours``, for individuals of at most ``points_per_user``
        points each, everything that tuned it included. All that is made from it is too.

    Attributes:
        box: The public box.
        partition: The cells that were chosen.
        counts: Noisy counts, shape ``(partition.cells,)``; can be negative.
        scale: Scale of their discrete Laplace noise.
        epsilon: What it cost in all, in nats.
        shares: How that was split.
        neighbours: The neighbour relation.
        points_per_user: How many points of one individual count.
        candidates: What the cells were chosen among, by label.
        coarse: The noisy grid that weighed the queries; None if there was one candidate.
        processing: What was done to the counts since, in order.
        version: The version of dpselect that drew it.
    """

    box: Box
    partition: Partition
    counts: Values
    scale: float
    epsilon: float
    shares: Shares
    neighbours: Neighbours
    points_per_user: int = 1
    candidates: tuple[str, ...] = ()
    coarse: Coarse | None = None
    processing: tuple[str, ...] = ()
    version: str = field(default_factory=lambda: version("dpselect"))

    @property
    def chosen(self) -> str:
        """The label of the cells that were chosen."""
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

    def query(self, areas: object) -> Answer:
        """Estimate how many points lie in each of many areas.

        Args:
            areas: Rectangles ``(west, south, east, north)``, shape ``(m, 4)`` or ``(4,)``,
                in the units of the box; or polygons of shapely or geopandas, which are
                brought into the box's reference system if both are known.

        Raises:
            ParameterError: There is none, or one is no area inside the bounds.
        """
        from dpselect.spatial import polygons

        if polygons.are_polygons(areas):
            values, squares = polygons.answers(self.box, self.partition, self.counts, areas)
            return Answer(values, self.standard_deviation * np.sqrt(squares))
        edges = counting.rectangles(self.box, _numbers(areas))
        values = counting.Answers(self.partition, self.counts).of(edges)
        return Answer(values, self.standard_deviation * Reach.of(self.partition, edges).l2)

    def nonnegative(self) -> SpatialHistogram:
        """Return the nearest map without negative counts and with the same total.

        Nearest in the sum of squares. The total is kept as far as it is not negative.
        """
        from dpselect.spatial import postprocess

        return self._with(postprocess.nonnegative(self.counts), "nonnegative")

    def consistent(self) -> SpatialHistogram:
        """Return the map made consistent with the coarse grid that paid for the tuning.

        Both measured the same points: sums of cells are moved to the mean of both, weighted
        by how much noise each holds.

        Raises:
            ParameterError: There was one candidate, so there is no coarse grid; or the counts
                have been processed already.
        """
        from dpselect.spatial import postprocess

        counts = postprocess.consistent(self)
        return self._with(counts, "consistent")

    def _with(self, counts: Values, step: str) -> SpatialHistogram:
        return replace(self, counts=counts, processing=(*self.processing, step))

    def raster(self, shape: tuple[int, int] | None = None) -> Values:
        """Return counts by position along x and y, from west to east and south to north.

        Args:
            shape: Cells along x and y; those of the map itself if it is a uniform grid.

        Raises:
            ParameterError: The cells are no uniform grid, and no shape is given.
        """
        from dpselect.spatial import export

        return export.raster(self, shape)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the map: points per unit of area, with a legend of what colours mean.

        Args:
            ax: Axes to draw into; a new figure if not given.
        """
        from dpselect.spatial.plot import draw

        return draw(self, ax)

    def to_frame(self) -> pl.DataFrame:
        """Return one row for each cell: its bounds and its count."""
        from dpselect.spatial import export

        return export.to_frame(self)

    def to_parquet(self, path: str | Path) -> None:
        """Write the map, with everything that :meth:`from_parquet` needs to read it."""
        from dpselect.spatial import storage

        storage.write(self, path)

    @classmethod
    def from_parquet(cls, path: str | Path) -> SpatialHistogram:
        """Read a map that :meth:`to_parquet` wrote.

        Raises:
            DataError: There is no such file, or it is no map.
        """
        from dpselect.spatial import storage

        return storage.read(path)

    def to_geojson(self, path: str | Path | None = None) -> dict[str, Any]:
        """Return the cells as a GeoJSON feature collection, and write it if asked to.

        Raises:
            ParameterError: The reference system is another than GeoJSON's, EPSG:4326.
        """
        from dpselect.spatial import export

        return export.to_geojson(self, path)

    def to_geopandas(self) -> geopandas.GeoDataFrame:
        """Return the cells as geometries; needs ``dpselect[geo]``."""
        from dpselect.spatial import export

        return export.to_geopandas(self)

    def to_xarray(self, shape: tuple[int, int] | None = None) -> xarray.DataArray:
        """Return a raster with the coordinates of its centres; needs ``dpselect[geo]``."""
        from dpselect.spatial import export

        return export.to_xarray(self, shape)

    def to_geotiff(self, path: str | Path, shape: tuple[int, int] | None = None) -> None:
        """Write a raster with its place and reference system; needs ``dpselect[geo]``."""
        from dpselect.spatial import export

        export.to_geotiff(self, path, shape)


def _numbers(areas: object) -> ArrayLike:
    """Return rectangles given as a frame row by row, and anything else as it is."""
    to_numpy = getattr(areas, "to_numpy", None)
    return areas if to_numpy is None else to_numpy()  # type: ignore[return-value] # checked next
