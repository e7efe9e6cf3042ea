"""Released cells in files of geographic programs: GeoParquet and GeoPackage.

Cells are rectangles, so their well-known binary is one fixed layout; neither format needs a
geographic package, unless the reference system is one that only pyproj can describe.

Source: GeoParquet 1.1.0; OGC GeoPackage 1.3.0, sections 1 and 2.1.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpselect.spatial import geo
from dpselect.typing import Values

POLYGON = np.dtype(
    [("order", "u1"), ("kind", "<u4"), ("rings", "<u4"), ("corners", "<u4"), ("xy", "<f8", 10)]
)
"""Well-known binary of a polygon of one ring of five corners."""

WGS84 = (
    'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],'
    'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]'
)

# The application number spells GPKG.
TABLES = """
PRAGMA application_id = 1196444487;
PRAGMA user_version = 10300;
CREATE TABLE gpkg_spatial_ref_sys (
  srs_name TEXT NOT NULL, srs_id INTEGER PRIMARY KEY, organization TEXT NOT NULL,
  organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
INSERT INTO gpkg_spatial_ref_sys VALUES
  ('Undefined cartesian', -1, 'NONE', -1, 'undefined', NULL),
  ('Undefined geographic', 0, 'NONE', 0, 'undefined', NULL);
CREATE TABLE gpkg_contents (
  table_name TEXT PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE,
  description TEXT DEFAULT '', last_change DATETIME NOT NULL
  DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), min_x DOUBLE, min_y DOUBLE, max_x DOUBLE,
  max_y DOUBLE, srs_id INTEGER REFERENCES gpkg_spatial_ref_sys(srs_id));
CREATE TABLE gpkg_geometry_columns (
  table_name TEXT PRIMARY KEY REFERENCES gpkg_contents(table_name), column_name TEXT NOT NULL,
  geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL
  REFERENCES gpkg_spatial_ref_sys(srs_id), z TINYINT NOT NULL, m TINYINT NOT NULL);
CREATE TABLE cells (
  fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, geom POLYGON, count DOUBLE NOT NULL);
"""


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


def write_geopackage(
    path: str | Path,
    *,
    cells: Values,
    counts: Values,
    crs: str | None,
    description: str,
) -> None:
    """Write a GeoPackage of one layer ``cells``, over any file that is there.

    Args:
        path: Where to.
        cells: Their bounds, shape ``(cells, 4)``.
        counts: Shape ``(cells,)``.
        crs: The reference system.
        description: Of the layer.

    Raises:
        MissingDependencyError: Only pyproj can describe the system, and is not installed.
    """
    system = _system(crs)
    records = np.zeros(
        len(cells), [("magic", "S2"), ("flags", "<u2"), ("srs", "<i4"), ("polygon", POLYGON)]
    )
    # Version 0 in the lower byte; in the upper one little-endian numbers and no envelope.
    records["magic"], records["flags"], records["srs"] = b"GP", 1 << 8, system[1]
    records["polygon"] = well_known_binary(cells)
    west, south = cells[:, :2].min(axis=0).tolist()
    east, north = cells[:, 2:].max(axis=0).tolist()
    Path(path).unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as file, file:
        file.executescript(TABLES)
        file.executemany(
            "INSERT OR IGNORE INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, NULL)",
            [_system("EPSG:4326"), system],
        )
        file.execute(
            "INSERT INTO gpkg_contents (table_name, data_type, identifier, description, "
            "min_x, min_y, max_x, max_y, srs_id) VALUES ('cells', 'features', 'cells', "
            "?, ?, ?, ?, ?, ?)",
            (description, west, south, east, north, system[1]),
        )
        file.execute(
            "INSERT INTO gpkg_geometry_columns VALUES ('cells', 'geom', 'POLYGON', ?, 0, 0)",
            (system[1],),
        )
        file.executemany(
            "INSERT INTO cells (geom, count) VALUES (?, ?)",
            zip(blobs(records), counts.tolist(), strict=True),
        )


def _system(crs: str | None) -> tuple[str, int, str, int, str]:
    """Return the row of a reference system: name, number, organisation, its number, text."""
    if crs is None:
        return "Undefined cartesian", -1, "NONE", -1, "undefined"
    if crs.upper() in geo.WORLD:
        return "WGS 84", 4326, "EPSG", 4326, WGS84
    system = geo.described(crs)
    authority, code = system.to_authority() or ("NONE", "100000")
    number = int(code) if code.isdigit() else 100000
    return system.name, number, authority, number, system.to_wkt("WKT1_GDAL")
