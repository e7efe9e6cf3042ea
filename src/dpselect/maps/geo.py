"""Coordinate reference systems, and files of geometries with the packages that read them.

GeoParquet, GeoPackage, GeoJSON, shapefiles and FlatGeobuf: a file states its reference system
itself. Only its geometries are read.
"""

import json
import warnings
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from dpselect._optional import needed
from dpselect.errors import DataError, MissingDependencyError, ParameterError
from dpselect.passes import replaced
from dpselect.tables.formats import PARQUET
from dpselect.tables.source import Source

T = TypeVar("T")

GEOGRAPHIC = {"EPSG:4326", "OGC:CRS84", "WGS84", "EPSG:4269", "EPSG:4258"}
"""Systems in degrees that are known without pyproj."""

DEGREES = "degrees"

POLAR = (-60.0, 84.0)
"""Degrees of latitude beyond which few people live."""


def check_degrees(crs: object, bounds: tuple[float, float, float, float]) -> None:
    """Raise if bounds cannot be degrees although the system is a geographic one, or are.

    Longitudes may run to 360, for maps centred on the date line. Of a system in metres, a box
    that could be one in degrees is some hundred metres at its origin, where nothing is.

    Raises:
        ParameterError: The bounds are of another system, ``crs`` is not a name, or pyproj is
            installed and does not know it.
    """
    if not isinstance(crs, str) or not crs:
        raise ParameterError("`crs` must name a reference system, such as 'EPSG:4326'")
    degrees, (name, metres) = _are_degrees(*bounds), unit(crs)
    cure = (
        f"the `bounds` {bounds} are not: give the bounds in the units of the system, as west, "
        "south, east, north"
    )
    if name == DEGREES and not degrees:
        west, south, east, north = bounds
        swapped = "; are they swapped?" if _are_degrees(south, west, north, east) else ""
        raise ParameterError(
            f"{crs} is in degrees, and {cure} (longitude, latitude, ...), or name the "
            f"projected system{swapped}"
        )
    if degrees and metres is not None and metres <= 1:
        raise ParameterError(f"{crs} is in {name}s, and {cure}")


def _are_degrees(west: float, south: float, east: float, north: float) -> bool:
    return min(west + 360, 360 - east, south + 90, 90 - north) >= 0


def warn_if_swapped(
    crs: str | None, bounds: tuple[float, float, float, float], *, x: str | None, y: str | None
) -> None:
    """Warn if longitudes and latitudes look swapped, by the public arguments alone.

    They do if the columns are named so, or if the system is in degrees and all of the box lies
    where few people live: south of 60 degrees, or north of 84.

    Args:
        crs: The reference system.
        bounds: West, south, east and north.
        x: Name of the column from west to east.
        y: Name of the column from south to north.
    """
    _, south, _, north = bounds
    if _begins(x, "lat") or _begins(y, "lon", "lng"):
        warnings.warn(
            f"x is from west to east (longitude) and y from south to north (latitude): are "
            f"x={x} and y={y} swapped?",
            stacklevel=11,
        )
    elif (north <= POLAR[0] or south >= POLAR[1]) and unit(crs)[0] == DEGREES:
        warnings.warn(
            f"the bounds lie between {south:g} and {north:g} degrees of latitude, where few "
            "people live: they are west, south, east, north; are longitudes and latitudes "
            "swapped?",
            stacklevel=11,
        )


def _begins(column: str | None, *beginnings: str) -> bool:
    return column is not None and column.lower().startswith(beginnings)


def unit(crs: str | None) -> tuple[str, float | None]:
    """Return the unit of the coordinates, and its length in metres where that is known.

    pyproj, if installed, knows the systems that are not listed.
    """
    if crs is None:
        return "coordinate units", None
    if crs.upper() in GEOGRAPHIC:
        return DEGREES, None
    try:
        system = described(crs)
    except MissingDependencyError:
        return f"units of {crs}", None
    if system.is_geographic:
        return DEGREES, None
    axis = system.axis_info[0]
    return str(axis.unit_name), float(axis.unit_conversion_factor)


def described(crs: object) -> Any:  # noqa: ANN401 -- pyproj has no types here
    """Return a reference system as pyproj describes it.

    Raises:
        MissingDependencyError: pyproj is not installed.
        ParameterError: pyproj does not know the system.
    """
    pyproj = needed("pyproj", extra="geo")
    try:
        return pyproj.CRS.from_user_input(crs)
    except (pyproj.exceptions.CRSError, UnicodeEncodeError):
        raise ParameterError(f"`crs` {crs!r} is not a reference system that is known") from None


def check_same(stated: object, crs: str) -> None:
    """Raise if points are in another reference system than the bounds.

    Raises:
        ParameterError: They are.
    """
    # A file has x before y, whatever order of the axes its system states.
    if not described(stated).equals(described(crs), ignore_axis_order=True):
        raise ParameterError(
            f"the points are in {described(stated).to_string()} and the `bounds` in {crs}: "
            "transform the points with to_crs first"
        )


GEO = {".geoparquet", ".gpkg", ".geojson", ".shp", ".fgb"}
"""Endings of files that hold geometries; those of Parquet may."""

PARQUET_LIKE = {*PARQUET, ".geoparquet"}

SURE = 70
"""Per cent of confidence from which a system is named by its number."""


def geo_file(data: object) -> Path | None:
    """Return the path of a file of geometries, None of anything else; no row is read.

    Raises:
        DataError: There is no such file.
        ParameterError: Rows are to be selected, or it is stated how text is written.
    """
    if not isinstance(data, str | PathLike | Source):
        return None

    def is_one(path: Path) -> bool:
        kind = path.suffix.lower()
        return kind in GEO or (kind in PARQUET and path.is_file() and bool(_metadata(path)))

    cure = "give the rows that geopandas.read_file(..., where=...) selects"
    return Source.of(data).whole_file(is_one, cure=cure)


def crs_of(path: Path) -> str | None:
    """Return the reference system of a file of points, None if it states none; no row is read.

    Raises:
        DataError: It cannot be read, or declares that it holds no points.
        MissingDependencyError: pyproj or pyogrio, which geopandas brings, is not installed.
    """
    if path.suffix.lower() not in PARQUET_LIKE:
        pyogrio = needed("pyogrio", extra="geo")
        known = _read(path, lambda: pyogrio.read_info(path, layer=_layer(path)))
        stated = known["crs"]
        # What GDAL says of GeoJSON is found from its rows.
        declared = str(known["geometry_type"]) if path.suffix.lower() != ".geojson" else ""
        if "Line" in declared or "Polygon" in declared:
            raise DataError(f"{path} holds no points: of areas give representative_point()")
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
    """Return the geometries of a file, with their names and their reference system.

    Private, if they are points.

    Raises:
        DataError: It cannot be read.
        MissingDependencyError: geopandas is not installed.
    """
    geopandas = needed("geopandas", extra="geo")
    if path.suffix.lower() in PARQUET_LIKE:
        return _read(path, lambda: geopandas.read_parquet(path))
    return _read(path, lambda: geopandas.read_file(path, layer=_layer(path)))


def _layer(path: Path) -> str:
    """Return the name of the only layer of geometries of a file.

    Raises:
        DataError: There are others, or none.
    """
    every = _read(path, lambda: needed("pyogrio", extra="geo").list_layers(path))
    names: list[str] = [name for name, kind in every if kind]
    if len(names) != 1:
        raise DataError(f"{path} has {len(names)} layers: write the one to read to a file")
    return names[0]


def _metadata(path: Path) -> dict[str, Any]:
    """Return what a Parquet file says of its geometries; nothing if it has none."""
    polars = needed("polars", extra="standard")
    stated = _read(path, lambda: polars.read_parquet_metadata(path))
    known: dict[str, Any] = json.loads(stated.get("geo", "{}"))
    return known


def _read(path: Path, read: Callable[[], T]) -> T:
    refusal = f"{path} cannot be read: it must be a complete file of points or areas"
    return replaced(read, lambda: DataError(refusal))


FORMATS = (".parquet", ".geoparquet", ".gpkg", ".geojson")
"""Suffixes of the files that areas are written to."""


def check_suffix(path: str | Path, crs: str | None, *more: str) -> str:
    """Return the suffix of a file to write; raise if areas could not be written so.

    Args:
        path: The file.
        crs: The reference system of the areas.
        more: Further suffixes, of files without areas.

    Raises:
        ParameterError: The suffix is none of ``FORMATS``, or the file needs a reference system.
    """
    suffix, known = Path(path).suffix.lower(), [*more, *FORMATS]
    if suffix not in known:
        raise ParameterError(
            f"cannot write {path}: the suffix must be one of {', '.join(known)}"
        )
    if suffix == ".geojson" and crs is None:
        raise ParameterError(
            "GeoJSON is in EPSG:4326: give `crs`='EPSG:4326' if the `bounds` are longitudes "
            "and latitudes"
        )
    return suffix


def write(areas: Any, path: str | Path) -> None:  # noqa: ANN401 -- geopandas has no types
    """Write a frame of areas to a file, of which the suffix has been checked.

    GeoJSON is written in its own reference system, EPSG:4326.
    """
    suffix = Path(path).suffix.lower()
    if suffix in PARQUET_LIKE:
        areas.to_parquet(path)
        return
    if suffix == ".geojson":
        areas = areas.to_crs("EPSG:4326")
    with warnings.catch_warnings():
        # A map may have no reference system.
        warnings.filterwarnings("ignore", "'crs' was not provided")
        areas.to_file(path)
