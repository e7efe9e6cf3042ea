"""A released map as a picture that everybody can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpselect.spatial import crs
from dpselect.spatial.export import cell_bounds
from dpselect.typing import Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

    from dpselect.spatial.histogram import SpatialHistogram

COLOURS = "cividis"
"""From dark blue to yellow: its lightness grows evenly, also to the colour-blind."""

EARTH_RADIUS_KM = 6371.0088
"""Mean radius of the Earth (IUGG)."""


def draw(histogram: SpatialHistogram, ax: Axes | None = None) -> Axes:
    """Draw noisy points per area: per km² where the length of the unit is known.

    What noise made negative is drawn as zero. Colours follow the square root, so that a city
    does not leave the rest dark, and end at the 99.9th percentile of the cells.
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import PowerNorm

    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=(8, 6), layout="constrained")
    bounds = cell_bounds(histogram)
    west, south, east, north = bounds.T
    area, per_area = _areas(histogram, bounds)
    density = np.maximum(histogram.counts, 0) / area
    norm = PowerNorm(0.5, vmin=0, vmax=max(float(np.quantile(density, 0.999)), 1e-300))
    coloured: ScalarMappable
    if histogram.partition.shape is None:
        corners = np.stack([west, south, west, north, east, north, east, south], axis=1)
        cells = PolyCollection(
            list(corners.reshape(-1, 4, 2)), array=density, cmap=COLOURS, norm=norm
        )
        cells.set_rasterized(True)
        coloured = ax.add_collection(cells)
    else:
        box = histogram.box
        coloured = ax.imshow(
            density.reshape(histogram.partition.shape).T,
            origin="lower",
            extent=(box.west, box.east, box.south, box.north),
            aspect="auto",
            interpolation="nearest",
            cmap=COLOURS,
            norm=norm,
        )
    _label(histogram, ax)
    _legend(ax, coloured, f"points per {per_area}")
    return ax


def _legend(ax: Axes, coloured: ScalarMappable, label: str) -> None:
    """Say what the colours mean, as high as the map is, whatever its proportions."""
    beside = ax.inset_axes((1.03, 0.0, 0.035, 1.0))
    beside.figure.colorbar(coloured, cax=beside, extend="max", extendfrac=0.03, label=label)


def _areas(histogram: SpatialHistogram, bounds: Values) -> tuple[Values, str]:
    """Return the area of every cell, and its unit."""
    west, south, east, north = bounds.T
    unit = crs.unit(histogram.box.crs)
    if unit != "degrees":
        metres = crs.metres_per_unit(histogram.box.crs)
        area = (east - west) * (north - south)
        if metres is None:
            return area, f"square with sides of 1 ({unit})"
        return area * (metres / 1000) ** 2, "km²"
    # Of a sphere, exactly: the sines of latitudes are proportional to areas.
    sines = np.sin(np.radians(north)) - np.sin(np.radians(south))
    return EARTH_RADIUS_KM**2 * np.radians(east - west) * sines, "km²"


def _label(histogram: SpatialHistogram, ax: Axes) -> None:
    box = histogram.box
    unit = crs.unit(box.crs)
    names = ("longitude", "latitude") if unit == "degrees" else ("x", "y")
    if unit == "degrees":
        middle = (box.south + box.north) / 2
        # As wide as it is on the ground at its middle; a map near a pole keeps some width.
        ax.set_aspect(1 / max(np.cos(np.radians(middle)), 0.2))
    elif crs.metres_per_unit(box.crs) is not None:
        ax.set_aspect("equal")
    ax.locator_params(axis="x", nbins=5)
    ax.set(
        xlim=(box.west, box.east),
        ylim=(box.south, box.north),
        xlabel=f"{names[0]} ({unit})",
        ylabel=f"{names[1]} ({unit})",
        title=(
            f"{histogram.chosen}, ε = {histogram.epsilon:g} ({histogram.neighbours})\n"
            f"standard deviation of the noise in a cell: "
            f"{histogram.standard_deviation:.3g} points"
        ),
    )
