"""Released cells in files.

The suffix of a file says its format (``FORMATS``). Cells are rectangles, so their well-known
binary is one fixed layout: GeoParquet, which a map is read from again, needs polars alone, and
GeoJSON needs no package, unless the reference system is one that only pyproj can describe.

Source: GeoParquet 1.1.0.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dpselect._optional import needed
from dpselect.errors import DataError, ParameterError, no_file
from dpselect.maps import geo
from dpselect.maps.box import Box
from dpselect.plan import ErrorBound, Plan, Spend
from dpselect.query import Query
from dpselect.typing import Values

if TYPE_CHECKING:
    from dpselect.maps.release import MapRelease

Released = TypeVar("Released", bound="MapRelease")

KEY = "dpselect.maps"
"""Key in the metadata of a Parquet file: all of a map but its cells, as JSON."""

FORMAT = 5

FORMATS: Mapping[str, str] = MappingProxyType(
    {
        ".parquet": "GeoParquet",
        ".geoparquet": "GeoParquet",
        ".geojson": "GeoJSON",
        ".gpkg": "GeoPackage",
    }
)
"""The format of a file by its suffix."""

POLYGON = np.dtype(
    [("order", "u1"), ("kind", "<u4"), ("rings", "<u4"), ("corners", "<u4"), ("xy", "<f8", 10)]
)
"""Well-known binary of a polygon of one ring of five corners."""


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
    name = FORMATS[suffix]
    if name == "GeoJSON":
        check_geojson(box.crs)
    elif name == "GeoPackage":
        needed("geopandas", extra="geo")
    else:
        needed("polars", extra="standard")
        geoparquet_metadata(box.crs, box.bounds)
    return name


def write_parquet(map_: MapRelease, made_of: dict[str, Any], path: str | Path) -> None:
    """Write a map to a GeoParquet file, with the fields that an equal one is made of."""
    metadata = {
        "format": FORMAT,
        "made_of": {name: one for name, one in made_of.items() if name != "counts"},
        "version": map_.version,
        "plan": asdict(replace(map_.plan, query=None)),
        "query": _query_as_text(map_.query),
    }
    needed("polars", extra="standard")
    import polars as pl

    cells = well_known_binary(map_.partition.in_box(map_.box))
    shapes = pl.Series("geometry", cells, pl.Binary)
    geometry = geoparquet_metadata(map_.box.crs, map_.box.bounds)
    map_.to_frame().with_columns(shapes).write_parquet(
        path, metadata={KEY: json.dumps(metadata, default=str), "geo": geometry}
    )


def _query_as_text(query: Query[Any] | None) -> dict[str, Any] | None:
    """Return the query as plain values; None if a field of it has no written form."""
    try:
        return None if query is None else query.to_dict()
    except ParameterError:
        return None


def read_parquet(kind: type[Released], path: str | Path) -> Released:
    """Return the map that ``write_parquet`` wrote.

    Raises:
        DataError: There is no such file, or it is not a map.
    """
    needed("polars", extra="standard")
    import polars as pl

    if not Path(path).is_file():
        raise no_file(path)
    try:
        kept = json.loads(pl.read_parquet_metadata(path)[KEY])
        counts = pl.read_parquet(path, columns=["count"])["count"].to_numpy()
        plan = _plan(kept["plan"], kept["query"])
        more = {"plan": plan, "version": kept["version"]}
        made = kind.remade({**kept["made_of"], "counts": counts}, **more)
        fits = kept["format"] == FORMAT and counts.shape == (made.partition.cells,)
    except (pl.exceptions.PolarsError, KeyError, TypeError, ValueError):
        fits = False
    if not fits:
        raise DataError(f"{path} is not a map that to_parquet wrote")
    return made


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


def check_geojson(system: str | None) -> None:
    """Raise unless a reference system is known to be GeoJSON's."""
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


def well_known_binary(bounds: Values) -> list[bytes]:
    """Return the polygons of cells ``(west, south, east, north)``."""
    west, south, east, north = bounds.T
    cells = np.zeros(len(bounds), POLYGON)
    cells["order"], cells["kind"], cells["rings"], cells["corners"] = 1, 3, 1, 5
    ring = (west, south, east, south, east, north, west, north, west, south)
    cells["xy"] = np.column_stack(ring)
    return cells.view(f"V{POLYGON.itemsize}").tolist()


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
        map_.to_geopandas().to_file(path, driver="GPKG", layer="cells")
