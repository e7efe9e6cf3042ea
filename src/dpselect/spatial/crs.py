"""Coordinate reference systems, as far as a map needs them: degrees or not, equal or not."""

from __future__ import annotations

from dpselect.errors import ParameterError

GEOGRAPHIC = {"EPSG:4326", "OGC:CRS84", "EPSG:4269", "EPSG:4258", "WGS84"}
"""Systems in degrees that are known without pyproj."""


def check_degrees(crs: object, bounds: tuple[float, float, float, float]) -> None:
    """Raise if bounds cannot be degrees while the system is a geographic one.

    Longitudes may run to 360, for maps that do so.

    Raises:
        ParameterError: They cannot be degrees, or ``crs`` is not a name.
    """
    if not isinstance(crs, str) or not crs:
        raise ParameterError("crs must be the name of a reference system, such as 'EPSG:4326'")
    west, south, east, north = bounds
    inside = min(west + 360, 360 - east, south + 90, 90 - north) >= 0
    if not inside and is_geographic(crs):
        raise ParameterError(
            f"{crs} is in degrees, and the bounds {bounds} are not: give the bounds in the "
            "units of the system (longitude, latitude), or name the projected system"
        )


def is_geographic(crs: str) -> bool:
    """Return whether a system is in degrees; of one unknown here pyproj knows, if present."""
    if crs.upper() in GEOGRAPHIC:
        return True
    try:
        import pyproj
    except ImportError:
        return False
    try:
        return bool(pyproj.CRS.from_user_input(crs).is_geographic)
    except pyproj.exceptions.CRSError:
        raise ParameterError(f"crs {crs!r} is not a reference system that is known") from None


def unit(crs: str | None) -> str:
    """Return the unit of the coordinates, for the axes of a map."""
    if crs is None:
        return "coordinate units"
    return "degrees" if is_geographic(crs) else f"units of {crs}"
