"""Released cells in files, rasters and the objects of geographic packages.

The suffix of a file says its format (``FORMATS``). Cells are rectangles, so their well-known
binary is one fixed layout: GeoParquet, which a map is read from again, needs polars alone, and
GeoJSON needs no package, unless the reference system is one that only pyproj can describe.

Source: GeoParquet 1.1.0.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpselect._optional import needed
from dpselect.errors import DataError, ParameterError, no_file
from dpselect.maps import geo
from dpselect.maps.box import POSITIONS, Box
from dpselect.maps.overlap import CountedCells
from dpselect.maps.partition import Partition, uniform_grid
from dpselect.maps.rules import CoarseGrid
from dpselect.neighbours import Neighbours
from dpselect.plan import ErrorBound, Plan, Spend
from dpselect.query import Query
from dpselect.typing import Values

if TYPE_CHECKING:
    import geopandas
    import xarray

    from dpselect.maps.release import MapRelease

KEY = "dpselect.maps"
"""Key in the metadata of a Parquet file: all of a map but its cells, as JSON."""

FORMAT = 4

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

FACTS = ("scale", "candidates", "processing", "non_uniformity", "version")
"""Attributes of a map that JSON holds as they are, but for lists."""

FINEST = 2048
"""Cells along an axis of a raster whose shape is not given, at most: 32 MiB."""

POLYGON = np.dtype(
    [("order", "u1"), ("kind", "<u4"), ("rings", "<u4"), ("corners", "<u4"), ("xy", "<f8", 10)]
)
"""Well-known binary of a polygon of one ring of five corners."""


def cell_bounds(map_: MapRelease) -> Values:
    """Return the cells as ``(west, south, east, north)``, shape ``(cells, 4)``."""
    return map_.partition.in_box(map_.box)


def format_of(path: str | Path, box: Box) -> str:
    """Return the format of a file of cells; raise if it could not be written.

    Raises:
        ParameterError: The suffix is none of ``FORMATS``, or the format is for another
            reference system.
        MissingDependencyError: The package that writes the format is not installed.
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
    elif name == "GeoPackage":
        needed("geopandas", extra="geo")
    elif system is not None and system.upper() not in geo.WORLD:
        geo.described(system)
    return name


def write_parquet(map_: MapRelease, path: str | Path) -> None:
    """Write a map to a GeoParquet file."""
    coarse, part = map_.coarse, map_.partition
    metadata = {
        "format": FORMAT,
        "box": asdict(map_.box),
        "partition": {
            "label": part.label,
            "base": part.base,
            "regions": part.regions.tolist(),
        },
        "plan": _plan_as_text(map_.plan),
        "query": _query_as_text(map_.query),
        "coarse": coarse and {"counts": coarse.counts.tolist(), "scale": coarse.scale},
        **{name: getattr(map_, name) for name in FACTS},
    }
    needed("polars", extra="standard")
    import polars as pl

    shapes = pl.Series("geometry", blobs(well_known_binary(cell_bounds(map_))), pl.Binary)
    geometry = geoparquet_metadata(map_.box.crs, map_.box.bounds)
    map_.to_frame().with_columns(shapes).write_parquet(
        path, metadata={KEY: json.dumps(metadata), "geo": geometry}
    )


def _plan_as_text(plan: Plan) -> dict[str, Any]:
    kept = {one.name: getattr(plan, one.name) for one in fields(plan)}
    for name in ("passes", "query"):
        del kept[name]
    return {
        **kept,
        "spends": [asdict(spend) for spend in plan.spends],
        "neighbours": str(plan.neighbours),
        "error": plan.error and asdict(plan.error),
    }


def _query_as_text(query: Query[Any] | None) -> dict[str, Any] | None:
    """Return the query as plain values; None if a field of it has no written form."""
    try:
        return None if query is None else query.to_dict()
    except ParameterError:
        return None


def read_parquet(path: str | Path) -> dict[str, Any]:
    """Return the attributes of a map that ``write_parquet`` wrote, by name.

    Raises:
        DataError: There is no such file, or it is not a map.
    """
    needed("polars", extra="standard")
    import polars as pl

    if not Path(path).is_file():
        raise no_file(path)
    try:
        metadata = json.loads(pl.read_parquet_metadata(path)[KEY])
        counts = pl.read_parquet(path, columns=["count"])["count"].to_numpy()
        return _attributes(metadata, counts)
    except (pl.exceptions.PolarsError, KeyError, TypeError, ValueError):
        raise DataError(f"{path} is not a map that to_parquet wrote") from None


def _attributes(metadata: dict[str, Any], counts: Values) -> dict[str, Any]:
    if metadata["format"] != FORMAT:
        raise ValueError("another format")
    stored, coarse = metadata["partition"], metadata["coarse"]
    regions = np.array(stored["regions"], dtype=np.int64)
    partition = Partition(stored["label"], stored["base"], regions)
    if counts.shape != (partition.cells,):
        raise ValueError("another number of cells")
    facts = {name: metadata[name] for name in FACTS}
    return {
        "answer": (partition.label,),
        "plan": _plan(metadata["plan"], metadata["query"]),
        "box": Box(**metadata["box"]),
        "partition": partition,
        "counts": np.asarray(counts, dtype=np.float64),
        "coarse": coarse and CoarseGrid(np.array(coarse["counts"]), coarse["scale"]),
        **{name: tuple(one) if isinstance(one, list) else one for name, one in facts.items()},
    }


def _plan(stored: dict[str, Any], query: dict[str, Any] | None) -> Plan:
    error = stored["error"]
    return Plan(
        **{
            **stored,
            "spends": tuple(Spend(**spend) for spend in stored["spends"]),
            "neighbours": Neighbours(stored["neighbours"]),
            "public": tuple(stored["public"]),
            "error": error and ErrorBound(**error),
            "query": query and Query.from_dict(query),
        }
    )


def raster(map_: MapRelease, shape: tuple[int, int] | None) -> Values:
    """Return counts by position along x and y."""
    own = map_.partition.shape
    if shape is None or shape == own:
        if own is None:
            raise ParameterError(
                f"{map_.partition.label} has cells of several sizes: give the shape of the "
                "raster, such as (256, 256)"
            )
        return map_.counts.reshape(own)
    grid = uniform_grid(shape)
    edges = np.floor(grid.rectangles() * POSITIONS).astype(np.int64)
    return CountedCells(map_.partition, map_.counts).answers(edges).reshape(shape)


def to_geojson(map_: MapRelease) -> dict[str, Any]:
    """Return a GeoJSON feature collection."""
    _check_geojson(map_.box.crs)
    bounds, counts = cell_bounds(map_).tolist(), map_.counts.tolist()
    features = [
        {
            "type": "Feature",
            "properties": {"count": count},
            "geometry": {
                "type": "Polygon",
                "coordinates": [[[w, s], [e, s], [e, n], [w, n], [w, s]]],
            },
        }
        for (w, s, e, n), count in zip(bounds, counts, strict=True)
    ]
    return {"type": "FeatureCollection", "features": features}


def _check_geojson(system: str | None) -> None:
    if system is None:
        raise ParameterError(
            "GeoJSON is in EPSG:4326: give `crs`='EPSG:4326' if the `bounds` are longitudes "
            "and latitudes"
        )
    if system.upper() not in geo.WORLD:
        raise ParameterError(
            f"GeoJSON is in EPSG:4326 and the map in {system}: write .gpkg or .parquet, or use "
            "to_geopandas().to_crs('EPSG:4326').to_json()"
        )


def to_geopandas(map_: MapRelease) -> geopandas.GeoDataFrame:
    """Return the cells as geometries."""
    geopandas, shapely = needed("geopandas", extra="geo"), needed("shapely", extra="geo")
    shapes = shapely.box(*cell_bounds(map_).T)
    return geopandas.GeoDataFrame({"count": map_.counts}, geometry=shapes, crs=map_.box.crs)


def finest_shape(partition: Partition) -> tuple[int, int]:
    """Return the shape of the raster of the smallest cells, or of at most ``FINEST``."""
    if partition.shape is not None:
        return partition.shape
    span, nx, ny = partition.regions[:, 2:5].T
    across, along = (int((partition.base * cut // span).max()) for cut in (nx, ny))
    return min(across, FINEST), min(along, FINEST)


def to_xarray(map_: MapRelease, shape: tuple[int, int] | None) -> xarray.DataArray:
    """Return a raster with labelled axes, from south to north and west to east."""
    xarray = needed("xarray", extra="geo")
    counts = raster(map_, shape)
    box = map_.box
    x, y = (
        box.lines(axis, 2 * np.arange(size) + 1, 2 * size)
        for axis, size in enumerate(counts.shape)
    )
    labels = {
        "units": "points per cell",
        "crs": box.crs or "",
        "cells": map_.partition.label,
        "epsilon": map_.epsilon,
        "neighbours": str(map_.neighbours),
    }
    return xarray.DataArray(
        counts.T, coords={"y": y, "x": x}, dims=("y", "x"), name="count", attrs=labels
    )


def write_geotiff(map_: MapRelease, path: str | Path, shape: tuple[int, int] | None) -> None:
    """Write a GeoTIFF of one band, from north to south as such files are."""
    rasterio = needed("rasterio", extra="geo")
    counts = raster(map_, shape)
    width, height = counts.shape
    west, south, east, north = map_.box.bounds
    across, along = (east - west) / width, (north - south) / height
    with rasterio.open(
        path,
        "w",
        driver="GTiff",
        width=width,
        height=height,
        count=1,
        dtype="float64",
        crs=map_.box.crs,
        transform=rasterio.Affine(across, 0, west, 0, -along, north),
    ) as file:
        file.write(np.ascontiguousarray(counts.T[::-1]), 1)


def well_known_binary(bounds: Values) -> NDArray[np.void]:
    """Return the polygons of cells ``(west, south, east, north)``, one element for each."""
    west, south, east, north = bounds.T
    cells = np.zeros(len(bounds), POLYGON)
    cells["order"], cells["kind"], cells["rings"], cells["corners"] = 1, 3, 1, 5
    ring = (west, south, east, south, east, north, west, north, west, south)
    cells["xy"] = np.column_stack(ring)
    return cells


def blobs(records: NDArray[np.void]) -> list[bytes]:
    """Return the bytes of each element."""
    return records.view(f"V{records.dtype.itemsize}").tolist()


def geoparquet_metadata(crs: str | None, bounds: tuple[float, float, float, float]) -> str:
    """Return the ``geo`` metadata of a Parquet file whose column ``geometry`` has the cells.

    Raises:
        MissingDependencyError: Only pyproj can describe the system, and is not installed.
    """
    column: dict[str, object] = {
        "encoding": "WKB",
        "geometry_types": ["Polygon"],
        "bbox": list(bounds),
    }
    if crs is None:
        column["crs"] = None
    elif crs.upper() not in geo.WORLD:
        # Without an entry the system is that of GPS.
        column["crs"] = geo.described(crs).to_json_dict()
    return json.dumps(
        {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}
    )


def write_geopackage(map_: MapRelease, path: str | Path) -> None:
    """Write a GeoPackage of one layer ``cells``, over any file that is there."""
    with warnings.catch_warnings():
        # A map may have no reference system.
        warnings.filterwarnings("ignore", "'crs' was not provided")
        to_geopandas(map_).to_file(path, driver="GPKG", layer="cells")
