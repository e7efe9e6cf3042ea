"""Picture of a released map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpselect._optional import needed
from dpselect.spatial import geo
from dpselect.spatial.box import Box
from dpselect.spatial.export import BoxCounts, cell_bounds
from dpselect.typing import Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

COLOURS = "cividis"
"""Perceptually uniform, also with colour-vision deficiency."""

EARTH_RADIUS_KM = 6371.0088
"""Mean radius of the Earth (IUGG)."""


def draw(cells: BoxCounts, *, title: str, ax: Axes | None = None) -> Axes:
    """Draw noisy points per area: per km² where the length of the unit is known.

    Negative counts are drawn as zero. Colours are proportional to the square root, so that a
    few dense cells do not leave the rest dark, and end at the 99.9th percentile of the cells.

    Args:
        cells: The map.
        title: Above it.
        ax: Axes to draw into; those of a new pyplot figure if not given.
    """
    needed("matplotlib", extra="standard")
    from matplotlib.colors import PowerNorm

    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=(8, 6), layout="constrained")
    bounds = cell_bounds(cells)
    area, per_area = areas(cells.box, bounds)
    density = np.maximum(cells.counts, 0) / area
    norm = PowerNorm(0.5, vmin=0, vmax=max(float(np.quantile(density, 0.999)), 1e-300))
    coloured = _colour(cells, bounds, density, norm, ax)
    _label(cells.box, title, ax)
    _legend(ax, coloured, f"points per {per_area}")
    return ax


def _colour(
    cells: BoxCounts, bounds: Values, density: Values, norm: Normalize, ax: Axes
) -> ScalarMappable:
    """Draw a uniform grid as an image, other cells as polygons."""
    needed("matplotlib", extra="standard")
    from matplotlib.collections import PolyCollection

    if cells.partition.shape is None:
        west, south, east, north = bounds.T
        corners = np.stack([west, south, west, north, east, north, east, south], axis=1)
        shapes = PolyCollection(
            list(corners.reshape(-1, 4, 2)), array=density, cmap=COLOURS, norm=norm
        )
        shapes.set_rasterized(True)
        return ax.add_collection(shapes)
    box = cells.box
    return ax.imshow(
        density.reshape(cells.partition.shape).T,
        origin="lower",
        extent=(box.west, box.east, box.south, box.north),
        aspect="auto",
        interpolation="nearest",
        cmap=COLOURS,
        norm=norm,
    )


def _legend(ax: Axes, coloured: ScalarMappable, label: str) -> None:
    """Draw a colour bar as high as the map, whatever its proportions."""
    beside = ax.inset_axes((1.03, 0.0, 0.035, 1.0))
    beside.figure.colorbar(coloured, cax=beside, extend="max", extendfrac=0.03, label=label)


def areas(box: Box, bounds: Values) -> tuple[Values, str]:
    """Return the area of every cell, and its unit."""
    west, south, east, north = bounds.T
    unit = geo.unit(box.crs)
    if unit != "degrees":
        metres = geo.metres_per_unit(box.crs)
        area = (east - west) * (north - south)
        if metres is None:
            return area, f"square with sides of 1 ({unit})"
        return area * (metres / 1000) ** 2, "km²"
    # Exact for a sphere: areas are proportional to differences of sines of latitudes.
    sines = np.sin(np.radians(north)) - np.sin(np.radians(south))
    return EARTH_RADIUS_KM**2 * np.radians(east - west) * sines, "km²"


def _label(box: Box, title: str, ax: Axes) -> None:
    unit = geo.unit(box.crs)
    names = ("longitude", "latitude") if unit == "degrees" else ("x", "y")
    if unit == "degrees":
        middle = (box.south + box.north) / 2
        # The true proportions at the middle latitude; a map near a pole keeps some width.
        ax.set_aspect(1 / max(np.cos(np.radians(middle)), 0.2))
    elif geo.metres_per_unit(box.crs) is not None:
        ax.set_aspect("equal")
    ax.locator_params(axis="x", nbins=5)
    ax.set(
        xlim=(box.west, box.east),
        ylim=(box.south, box.north),
        xlabel=f"{names[0]} ({unit})",
        ylabel=f"{names[1]} ({unit})",
        title=title,
    )
