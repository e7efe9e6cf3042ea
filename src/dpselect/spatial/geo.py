"""Coordinate reference systems, and the optional packages for geographic data."""

from __future__ import annotations

from typing import Any

from dpselect._optional import needed
from dpselect.errors import MissingDependencyError, ParameterError

WORLD = {"EPSG:4326", "OGC:CRS84", "WGS84"}
"""Names of the system of GPS, in degrees."""

GEOGRAPHIC = {*WORLD, "EPSG:4269", "EPSG:4258"}
"""Systems in degrees that are known without pyproj."""


def check_degrees(crs: object, bounds: tuple[float, float, float, float]) -> None:
    """Raise if bounds cannot be degrees although the system is a geographic one.

    Longitudes may run to 360, for maps centred on the date line.

    Raises:
        ParameterError: The bounds cannot be degrees, ``crs`` is not a name, or pyproj is
            installed and does not know it.
    """
    if not isinstance(crs, str) or not crs:
        raise ParameterError("crs must be the name of a reference system, such as 'EPSG:4326'")
    west, south, east, north = bounds
    inside = min(west + 360, 360 - east, south + 90, 90 - north) >= 0
    if is_geographic(crs) and not inside:
        raise ParameterError(
            f"{crs} is in degrees, and the bounds {bounds} are not: give the bounds in the "
            "units of the system (longitude, latitude), or name the projected system"
        )


def is_geographic(crs: str) -> bool:
    """Return whether a system is in degrees; pyproj, if installed, knows those not listed."""
    if crs.upper() in GEOGRAPHIC:
        return True
    system = _looked_up(crs)
    return system is not None and bool(system.is_geographic)


def unit(crs: str | None) -> str:
    """Return the unit of the coordinates, for the axes of a map."""
    if crs is None:
        return "coordinate units"
    if is_geographic(crs):
        return "degrees"
    system = _looked_up(crs)
    return f"units of {crs}" if system is None else str(system.axis_info[0].unit_name)


def metres_per_unit(crs: str | None) -> float | None:
    """Return the length of a unit of a projected system, in metres; None if not known."""
    if crs is None or is_geographic(crs):
        return None
    system = _looked_up(crs)
    return None if system is None else float(system.axis_info[0].unit_conversion_factor)


def _looked_up(crs: str) -> Any:  # noqa: ANN401 -- pyproj may be absent
    try:
        pyproj = needed("pyproj", extra="geo")
    except MissingDependencyError:
        return None
    try:
        return pyproj.CRS.from_user_input(crs)
    except pyproj.exceptions.CRSError:
        raise ParameterError(f"crs {crs!r} is not a reference system that is known") from None
