"""A released map in the forms of other tools."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect.errors import MissingDependencyError, ParameterError
from dpselect.spatial import counting, crs
from dpselect.spatial.box import POSITIONS
from dpselect.spatial.partition import uniform
from dpselect.typing import Values

if TYPE_CHECKING:
    import geopandas
    import polars as pl
    import xarray

    from dpselect.spatial.histogram import SpatialHistogram


def cell_bounds(histogram: SpatialHistogram) -> Values:
    """Return the cells as ``(west, south, east, north)``, shape ``(cells, 4)``."""
    shares = histogram.partition.rectangles()
    axes = [histogram.box.coordinates(shares[:, column], column % 2) for column in range(4)]
    return np.column_stack(axes)


def to_frame(histogram: SpatialHistogram) -> pl.DataFrame:
    """Return one row for each cell."""
    import polars as pl

    columns = zip(("west", "south", "east", "north"), cell_bounds(histogram).T, strict=True)
    return pl.DataFrame({**dict(columns), "count": histogram.counts})


def raster(histogram: SpatialHistogram, shape: tuple[int, int] | None) -> Values:
    """Return counts by position along x and y."""
    own = histogram.partition.shape
    if shape is None or shape == own:
        if own is None:
            raise ParameterError(
                f"{histogram.chosen} has cells of several sizes: give the shape of the raster, "
                "such as (256, 256)"
            )
        return histogram.counts.reshape(own)
    grid = uniform(shape)
    edges = np.floor(grid.rectangles() * POSITIONS).astype(np.int64)
    return counting.Answers(histogram.partition, histogram.counts).of(edges).reshape(shape)


def to_geojson(histogram: SpatialHistogram, path: str | Path | None) -> dict[str, Any]:
    """Return a GeoJSON feature collection, and write it if a path is given."""
    system = histogram.box.crs
    if system is not None and system.upper() not in crs.WORLD:
        raise ParameterError(
            f"GeoJSON is in EPSG:4326 and the map in {system}: use "
            "to_geopandas().to_crs('EPSG:4326').to_json()"
        )
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
            cell_bounds(histogram).tolist(), histogram.counts.tolist(), strict=True
        )
    ]
    collection = {"type": "FeatureCollection", "features": features}
    if path is not None:
        Path(path).write_text(json.dumps(collection), encoding="utf-8")
    return collection


def to_geopandas(histogram: SpatialHistogram) -> geopandas.GeoDataFrame:
    """Return the cells as geometries."""
    geopandas, shapely = needed("geopandas"), needed("shapely")
    cells = shapely.box(*cell_bounds(histogram).T)
    return geopandas.GeoDataFrame(
        {"count": histogram.counts}, geometry=cells, crs=histogram.box.crs
    )


def to_xarray(histogram: SpatialHistogram, shape: tuple[int, int] | None) -> xarray.DataArray:
    """Return a raster with labelled axes, from south to north and west to east."""
    xarray = needed("xarray")
    counts = raster(histogram, shape)
    box = histogram.box
    x, y = (
        box.coordinates((np.arange(size) + 0.5) / size, axis)
        for axis, size in enumerate(counts.shape)
    )
    attributes = {
        "units": "points per cell",
        "crs": box.crs or "",
        "epsilon": histogram.epsilon,
        "neighbours": str(histogram.neighbours),
        "cells": histogram.chosen,
    }
    return xarray.DataArray(
        counts.T, coords={"y": y, "x": x}, dims=("y", "x"), name="count", attrs=attributes
    )


def to_geotiff(
    histogram: SpatialHistogram, path: str | Path, shape: tuple[int, int] | None
) -> None:
    """Write a GeoTIFF of one band, from north to south as such files are."""
    rasterio = needed("rasterio")
    counts = raster(histogram, shape)
    width, height = counts.shape
    west, south, east, north = histogram.box.bounds
    across, along = (east - west) / width, (north - south) / height
    with rasterio.open(
        path,
        "w",
        driver="GTiff",
        width=width,
        height=height,
        count=1,
        dtype="float64",
        crs=histogram.box.crs,
        transform=rasterio.Affine(across, 0, west, 0, -along, north),
    ) as file:
        file.write(np.ascontiguousarray(counts.T[::-1]), 1)


def needed(module: str) -> Any:  # noqa: ANN401 -- a module
    """Return an optional module.

    Raises:
        MissingDependencyError: It is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingDependencyError(f"this needs {package}: install dpselect[geo]") from None
