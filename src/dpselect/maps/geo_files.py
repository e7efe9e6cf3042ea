"""Files of points and of areas: GeoParquet, GeoPackage, GeoJSON, shapefiles, FlatGeobuf.

A file states its reference system itself. Only its geometries are read.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from dpselect._optional import needed, replaced
from dpselect.errors import DataError
from dpselect.tables.formats import PARQUET
from dpselect.tables.source import Source

GEO = {".geoparquet", ".gpkg", ".geojson", ".shp", ".fgb"}
"""Endings of files that hold geometries; those of Parquet may."""

PARQUET_LIKE = {*PARQUET, ".geoparquet"}

SURE = 70
"""Per cent of confidence from which a system is named by its number."""

T = TypeVar("T")


def geo_file(data: object) -> Path | None:
    """Return the path of a file of geometries, None of anything else; no row is read.

    Raises:
        DataError: There is no such file.
        ParameterError: Rows are to be selected, or it is stated how text is written.
    """

    def is_one(path: Path) -> bool:
        kind = path.suffix.lower()
        return kind in GEO or (kind in PARQUET and path.is_file() and bool(_metadata(path)))

    cure = "give the rows that geopandas.read_file(..., where=...) selects"
    return Source.of(data).whole_file(is_one, cure=cure)


def crs_of(path: Path) -> str | None:
    """Return the reference system of a file, None if it states none; no row is read.

    Raises:
        DataError: It cannot be read.
        MissingDependencyError: pyproj or pyogrio, which geopandas brings, is not installed.
    """
    if path.suffix.lower() not in PARQUET_LIKE:
        pyogrio = needed("pyogrio", extra="geo")
        stated = _read(path, lambda: pyogrio.read_info(path)["crs"])
    else:
        known = _metadata(path)
        # What is not stated there is the default of the format.
        stated = known["columns"][known["primary_column"]].get("crs", "OGC:CRS84")
    return _read(path, lambda: name_of(stated))


def name_of(system: object) -> str | None:
    """Return the name of a reference system by an authority, if it has one; None of none.

    Raises:
        MissingDependencyError: pyproj is not installed.
    """
    if system is None:
        return None
    known = needed("pyproj", extra="geo").CRS.from_user_input(system)
    authority = known.to_authority(min_confidence=SURE)
    return str(known.to_string()) if authority is None else ":".join(authority)


def geometries(path: Path) -> Any:  # noqa: ANN401 -- geopandas has no types
    """Return the geometries of a file with their reference system; private, if they are points.

    Raises:
        DataError: It cannot be read.
        MissingDependencyError: geopandas is not installed.
    """
    return _read(path, lambda: _reader(path)(path)).geometry


def areas_of(path: Path) -> Any:  # noqa: ANN401
    """Return the areas of a file with their names, as geopandas reads them; public.

    Raises:
        DataError: It cannot be read.
        MissingDependencyError: geopandas is not installed.
    """
    return _read(path, lambda: _reader(path)(path))


def _reader(path: Path) -> Callable[[Path], Any]:
    geopandas = needed("geopandas", extra="geo")
    read: Callable[[Path], Any] = geopandas.read_file
    return geopandas.read_parquet if path.suffix.lower() in PARQUET_LIKE else read


def _metadata(path: Path) -> dict[str, Any]:
    """Return what a Parquet file says of its geometries; nothing if it has none."""
    polars = needed("polars", extra="standard")
    stated = _read(path, lambda: polars.read_parquet_metadata(path))
    known: dict[str, Any] = json.loads(stated.get("geo", "{}"))
    return known


def _read(path: Path, read: Callable[[], T]) -> T:
    refusal = f"{path} cannot be read: it must be a complete file of points or areas"
    return replaced(read, lambda: DataError(refusal))
