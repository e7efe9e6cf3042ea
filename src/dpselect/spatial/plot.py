"""A released map as a picture that everybody can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpselect.spatial import crs
from dpselect.spatial.export import cell_bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

    from dpselect.spatial.histogram import SpatialHistogram

COLOURS = "cividis"
"""From dark blue to yellow: its lightness grows evenly, also to the colour-blind."""


def draw(histogram: SpatialHistogram, ax: Axes | None = None) -> Axes:
    """Draw noisy points per unit of area; what noise made negative is drawn as zero.

    Colours follow the square root, so that a city does not leave the rest dark, and end at
    the 99.9th percentile of the cells.
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import PowerNorm

    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=(8, 6), layout="constrained")
    bounds = cell_bounds(histogram)
    west, south, east, north = bounds.T
    density = np.maximum(histogram.counts, 0) / ((east - west) * (north - south))
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
    unit = crs.unit(histogram.box.crs)
    figure = ax.get_figure()
    if figure is not None:
        figure.colorbar(coloured, ax=ax, extend="max", label=_per_area(unit))
    return ax


def _per_area(unit: str) -> str:
    return (
        "points per square degree"
        if unit == "degrees"
        else f"points per area, in {unit} squared"
    )


def _label(histogram: SpatialHistogram, ax: Axes) -> None:
    box = histogram.box
    unit = crs.unit(box.crs)
    names = ("longitude", "latitude") if unit == "degrees" else ("x", "y")
    ax.set(
        xlim=(box.west, box.east),
        ylim=(box.south, box.north),
        xlabel=f"{names[0]} ({unit})",
        ylabel=f"{names[1]} ({unit})",
        title=(
            f"{histogram.chosen}, ε = {histogram.epsilon:g} ({histogram.neighbours})\n"
            f"noise in a cell: ±{histogram.standard_deviation:.3g} points"
        ),
    )
