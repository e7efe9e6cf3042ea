"""Figure 11c: what the paper takes for the sensitivity, by grid and by ρ.

For the 8,938 points of Storage, at ``λ = 1.25``; nothing depends on where the points are.
Queries are as many of each of the six sizes, so that a grid of ``g^2`` cells has
``‖α‖_1 = g^2`` times the mean area.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dpselect_studies.fanaeepour_2017.methods import CLIP
from dpselect_studies.fanaeepour_2017.places import PLACES, SIDES
from dpselect_studies.fanaeepour_2017.published_not_private import sensitivity
from dpselect_studies.panels import panels
from dpselect_studies.study import Printed, Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = PLACES["markets"].printed
SCALE = 1 / 0.8
"""Of the counts' noise: four fifths of epsilon 1."""


@dataclass(frozen=True)
class Setting:
    """Grids, cells along an axis, and shares delta."""

    grids: tuple[int, ...]
    deltas: tuple[float, ...]


@dataclass(frozen=True)
class Cell:
    """One delta, with all grids."""

    grids: tuple[int, ...]
    delta: float


FULL = Setting((40, 60, 80), (0.002, 0.01, 0.1))
SMALL = FULL


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every delta."""
    return [Cell(setting.grids, delta) for delta in setting.deltas]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:  # noqa: ARG001 -- all is exact
    """Return the three printed forms for each grid, and the repaired one."""
    area = float(np.mean(np.square(SIDES)))
    rho = cell.delta * SIZE
    largest = max(cell.grids) ** 2
    forms = {
        "response-dependent (Corollary 7.9)": [area * grid**2 for grid in cell.grids],
        "largest overlap (Equation 7)": [area * largest] * len(cell.grids),
        "largest grid (Equation 8)": [float(largest)] * len(cell.grids),
    }
    rows: list[Row] = [
        _row(cell, grid, form, value)
        for form, covers in forms.items()
        for grid, value in zip(
            cell.grids,
            sensitivity(SCALE * np.array(covers), SIZE, cell.delta).tolist(),
            strict=True,
        )
    ]
    repaired = min(CLIP, 1 / rho + CLIP / (rho + 1))
    name = f"repaired: error cut at {CLIP:g}, rho public"
    return rows + [_row(cell, grid, name, repaired) for grid in cell.grids]


def _row(cell: Cell, grid: int, form: str, value: float) -> Row:
    rho = cell.delta * SIZE
    return {"delta": cell.delta, "rho": rho, "grid": grid, "form": form, "sensitivity": value}


def plot(frame: pl.DataFrame) -> Figure:
    """Draw sensitivities against the grid, a panel for each rho."""
    return panels(
        frame.with_columns(panel=pl.format("rho = {}", pl.col("rho").round(1))),
        x="grid",
        y="sensitivity",
        line="form",
        panel="panel",
        x_label="cells along an axis",
        y_label="sensitivity, relative error",
        log="y",
    )


STUDY = Study(
    title="Figure 11c: what is taken for the sensitivity, by grid and sanity bound",
    small=SMALL,
    full=FULL,
    seconds=1,
    cells=cells,
    measure=measure,
    plot=plot,
    printed=[
        Printed({"delta": delta}, "rho", rho, digit, "Table 2")
        for delta, rho, digit in (
            (0.002, 17.88, 0.005),
            (0.01, 89.38, 0.005),
            (0.1, 893.8, 0.05),
        )
    ],
    discussion="""
The three rho of Table 2 agree; it prints delta .001 for the second, for which rho says .01.
Corollary 7.9 is below Equation (7), which is below Equation (8), as the text says. **None of
the three is a sensitivity**, as all depend on the private number of points. With a public rho
and the error cut at 10 the repaired bound is {sensitivity: repaired: error cut at 10, rho
public | delta=0.002} at rho 17.9, where Corollary 7.9 has {min sensitivity: response-dependent
(Corollary 7.9) | delta=0.002 | .1} and more.
""",
)
