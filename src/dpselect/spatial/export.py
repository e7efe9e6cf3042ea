"""Released cells as frames, files, rasters and the objects of geographic packages.

The suffix of a file says its format (:data:`FORMATS`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dpselect._optional import needed
from dpselect.errors import DataError, ParameterError
from dpselect.neighbours import Neighbours
from dpselect.plan import ErrorBound, Plan, Spend
from dpselect.spatial.box import POSITIONS, Box
from dpselect.spatial.geo import WORLD, described
from dpselect.spatial.geo_files import (
    blobs,
    geoparquet_metadata,
    well_known_binary,
    write_geopackage,
)
from dpselect.spatial.overlap import CountedCells
from dpselect.spatial.partition import Partition, uniform_grid
from dpselect.spatial.rules import CoarseGrid
from dpselect.typing import Values

if TYPE_CHECKING:
    import geopandas
    import polars as pl
    import xarray

KEY = "dpselect.spatial"
"""Of the metadata of a Parquet file: all of a map but its cells, as JSON."""

FORMAT = 3

FORMATS: Mapping[str, str] = MappingProxyType(
    {
        ".parquet": "GeoParquet",
        ".geoparquet": "GeoParquet",
        ".geojson": "GeoJSON",
        ".gpkg": "GeoPackage",
        ".tif": "GeoTIFF",
        ".tiff": "GeoTIFF",
    }
)
"""The format of a file by its suffix."""

FINEST = 2048
"""Cells along an axis of a raster whose shape is not given, at most: 32 MiB."""


class BoxCounts(Protocol):
    """Counts of cells in a box, such as a :class:`~dpselect.spatial.SpatialHistogram`."""

    @property
    def box(self) -> Box:
        """The public box."""

    @property
    def partition(self) -> Partition:
        """Its cells."""

    @property
    def counts(self) -> Values:
        """One count for each cell, shape ``(partition.cells,)``."""


def cell_bounds(cells: BoxCounts) -> Values:
    """Return the cells as ``(west, south, east, north)``, shape ``(cells, 4)``."""
    shares = cells.partition.rectangles()
    axes = [cells.box.coordinates(shares[:, column], column % 2) for column in range(4)]
    return np.column_stack(axes)


def to_frame(cells: BoxCounts) -> pl.DataFrame:
    """Return one row for each cell."""
    needed("polars", extra="standard")
    import polars as pl

    columns = zip(("west", "south", "east", "north"), cell_bounds(cells).T, strict=True)
    return pl.DataFrame({**dict(columns), "count": cells.counts})


def format_of(path: str | Path, box: Box) -> str:
    """Return the format of a file of cells; raise if it could not be written.

    Raises:
        ParameterError: The suffix is none of :data:`FORMATS`, or the format is for another
            reference system.
        MissingDependencyError: What writes the format is not installed.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ParameterError(
            f"cannot write {path}: the suffix must be one of "
            + ", ".join(f"{one} ({name})" for one, name in FORMATS.items())
        )
    name, system = FORMATS[suffix], box.crs
    if name == "GeoParquet":
        needed("polars", extra="standard")
    if name == "GeoJSON":
        _check_geojson(system)
    elif name == "GeoTIFF":
        needed("rasterio", extra="geo")
    elif system is not None and system.upper() not in WORLD:
        described(system)
    return name


def write_parquet(
    cells: BoxCounts,
    path: str | Path,
    *,
    plan: Plan,
    coarse: CoarseGrid | None,
    facts: Mapping[str, object],
) -> None:
    """Write a map to a GeoParquet file.

    Args:
        cells: Box, partition and counts.
        path: Where to.
        plan: Of the release.
        coarse: The coarse grid, if there is one.
        facts: All other attributes, as plain values.
    """
    metadata = {
        "format": FORMAT,
        "box": asdict(cells.box),
        "partition": {
            "label": cells.partition.label,
            "base": cells.partition.base,
            "regions": cells.partition.regions.tolist(),
        },
        "plan": {**asdict(plan), "neighbours": str(plan.neighbours)},
        "coarse": coarse and {"counts": coarse.counts.tolist(), "scale": coarse.scale},
        **facts,
    }
    needed("polars", extra="standard")
    import polars as pl

    shapes = pl.Series("geometry", blobs(well_known_binary(cell_bounds(cells))), pl.Binary)
    geo = geoparquet_metadata(cells.box.crs, cells.box.bounds)
    to_frame(cells).with_columns(shapes).write_parquet(
        path, metadata={KEY: json.dumps(metadata), "geo": geo}
    )


def read_parquet(path: str | Path) -> dict[str, Any]:
    """Return the attributes of a map that :func:`write_parquet` wrote, by name.

    Raises:
        DataError: There is no such file, or it is not a map.
    """
    needed("polars", extra="standard")
    import polars as pl

    if not Path(path).is_file():
        raise DataError(f"there is no file {path}")
    try:
        metadata = json.loads(pl.read_parquet_metadata(path)[KEY])
        counts = pl.read_parquet(path, columns=["count"])["count"].to_numpy()
        return _attributes(metadata, counts)
    except (pl.exceptions.PolarsError, KeyError, TypeError, ValueError):
        raise DataError(f"{path} is not a map that to_parquet wrote") from None


def _attributes(metadata: dict[str, Any], counts: np.ndarray[Any, Any]) -> dict[str, Any]:
    if metadata.pop("format") != FORMAT:
        raise ValueError("another format")
    stored, coarse = metadata.pop("partition"), metadata.pop("coarse")
    regions = np.array(stored["regions"], dtype=np.int64)
    partition = Partition(stored["label"], stored["base"], regions)
    if counts.shape != (partition.cells,):
        raise ValueError("another number of cells")
    return {
        "box": Box(**metadata.pop("box")),
        "partition": partition,
        "counts": np.asarray(counts, dtype=np.float64),
        "plan": _plan(metadata.pop("plan")),
        "coarse": coarse and CoarseGrid(np.array(coarse["counts"]), coarse["scale"]),
        "scale": metadata["scale"],
        "points_per_user": metadata["points_per_user"],
        "candidates": tuple(metadata["candidates"]),
        "processing": tuple(metadata["processing"]),
        "unevenness": metadata["unevenness"],
        "version": metadata["version"],
    }


def _plan(stored: dict[str, Any]) -> Plan:
    error = stored["error"]
    return Plan(
        **{
            **stored,
            "spends": tuple(Spend(**spend) for spend in stored["spends"]),
            "neighbours": Neighbours(stored["neighbours"]),
            "public": tuple(stored["public"]),
            "error": error and ErrorBound(**error),
        }
    )


def raster(cells: BoxCounts, shape: tuple[int, int] | None) -> Values:
    """Return counts by position along x and y."""
    own = cells.partition.shape
    if shape is None or shape == own:
        if own is None:
            raise ParameterError(
                f"{cells.partition.label} has cells of several sizes: give the shape of the "
                "raster, such as (256, 256)"
            )
        return cells.counts.reshape(own)
    grid = uniform_grid(shape)
    edges = np.floor(grid.rectangles() * POSITIONS).astype(np.int64)
    return CountedCells(cells.partition, cells.counts).answers(edges).reshape(shape)


def to_geojson(cells: BoxCounts, path: str | Path | None) -> dict[str, Any]:
    """Return a GeoJSON feature collection, and write it if a path is given."""
    _check_geojson(cells.box.crs)
    features = [
        {
            "type": "Feature",
            "properties": {"count": count},
            "geometry": {
                "type": "Polygon",
                "coordinates": [[[w, s], [e, s], [e, n], [w, n], [w, s]]],
            },
        }
        for (w, s, e, n), count in zip(
            cell_bounds(cells).tolist(), cells.counts.tolist(), strict=True
        )
    ]
    collection = {"type": "FeatureCollection", "features": features}
    if path is not None:
        Path(path).write_text(json.dumps(collection), encoding="utf-8")
    return collection


def _check_geojson(system: str | None) -> None:
    if system is None:
        raise ParameterError(
            "GeoJSON is in EPSG:4326: give crs='EPSG:4326' if the bounds are longitudes and "
            "latitudes"
        )
    if system.upper() not in WORLD:
        raise ParameterError(
            f"GeoJSON is in EPSG:4326 and the map in {system}: write .gpkg or .parquet, or use "
            "to_geopandas().to_crs('EPSG:4326').to_json()"
        )


def to_geopackage(cells: BoxCounts, path: str | Path, description: str) -> None:
    """Write a GeoPackage of one layer."""
    write_geopackage(
        path,
        cells=cell_bounds(cells),
        counts=cells.counts,
        crs=cells.box.crs,
        description=description,
    )


def to_geopandas(cells: BoxCounts) -> geopandas.GeoDataFrame:
    """Return the cells as geometries."""
    geopandas, shapely = needed("geopandas", extra="geo"), needed("shapely", extra="geo")
    shapes = shapely.box(*cell_bounds(cells).T)
    return geopandas.GeoDataFrame({"count": cells.counts}, geometry=shapes, crs=cells.box.crs)


def finest_shape(partition: Partition) -> tuple[int, int]:
    """Return the shape of the raster of the smallest cells, or of at most :data:`FINEST`."""
    if partition.shape is not None:
        return partition.shape
    span, nx, ny = partition.regions[:, 2:5].T
    across, along = (int((partition.base * cut // span).max()) for cut in (nx, ny))
    return min(across, FINEST), min(along, FINEST)


def to_xarray(
    cells: BoxCounts, shape: tuple[int, int] | None, attributes: Mapping[str, object]
) -> xarray.DataArray:
    """Return a raster with labelled axes, from south to north and west to east."""
    xarray = needed("xarray", extra="geo")
    counts = raster(cells, shape)
    box = cells.box
    x, y = (
        box.coordinates((np.arange(size) + 0.5) / size, axis)
        for axis, size in enumerate(counts.shape)
    )
    labels = {
        "units": "points per cell",
        "crs": box.crs or "",
        "cells": cells.partition.label,
        **attributes,
    }
    return xarray.DataArray(
        counts.T, coords={"y": y, "x": x}, dims=("y", "x"), name="count", attrs=labels
    )


def to_geotiff(cells: BoxCounts, path: str | Path, shape: tuple[int, int] | None) -> None:
    """Write a GeoTIFF of one band, from north to south as such files are."""
    rasterio = needed("rasterio", extra="geo")
    counts = raster(cells, shape)
    width, height = counts.shape
    west, south, east, north = cells.box.bounds
    across, along = (east - west) / width, (north - south) / height
    with rasterio.open(
        path,
        "w",
        driver="GTiff",
        width=width,
        height=height,
        count=1,
        dtype="float64",
        crs=cells.box.crs,
        transform=rasterio.Affine(across, 0, west, 0, -along, north),
    ) as file:
        file.write(np.ascontiguousarray(counts.T[::-1]), 1)
