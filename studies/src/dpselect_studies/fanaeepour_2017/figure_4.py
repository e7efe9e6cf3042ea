"""Figure 4: a query that one grid answers wrongly and a finer one exactly.

The query covers a quarter of four cells of a 4 x 4 grid, each with 100 points of which one lies
in the query. An 8 x 8 grid has cells that make up the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dpselect.maps import CountedCells, Points, lattice_rectangles, uniform_grid
from dpselect_studies.panels import beside_printed
from dpselect_studies.study import Printed, Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOUNDS = (0.0, 0.0, 1.0, 1.0)
QUERY = (3 / 8, 3 / 8, 5 / 8, 5 / 8)


@dataclass(frozen=True)
class Setting:
    """The grids, cells along an axis."""

    grids: tuple[int, ...]


@dataclass(frozen=True)
class Cell:
    """One grid."""

    grid: int


FULL = Setting((4, 8))
SMALL = FULL


def points() -> Points:
    """Return 4 points in the query, and 99 near the outer corner of each of its cells."""
    outer = [(x, y) for x in (0.26, 0.74) for y in (0.26, 0.74)]
    inner = [(x, y) for x in (0.45, 0.55) for y in (0.45, 0.55)]
    x, y = np.array(outer * 99 + inner).T
    return Points.of(x, y, bounds=BOUNDS)


def cells(setting: Setting) -> Sequence[Cell]:
    """Return both grids."""
    return [Cell(grid) for grid in setting.grids]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:  # noqa: ARG001 -- all is exact
    """Return the answer of a grid with exact counts."""
    partition = uniform_grid(cell.grid)
    counted = CountedCells(partition, points().in_cells(partition))
    answer = counted.answers(lattice_rectangles(QUERY, bounds=BOUNDS))[0]
    return [{"grid": cell.grid, "answer": float(answer)}]


def plot(frame: pl.DataFrame) -> Figure:
    """Draw ours against what is printed."""
    return beside_printed(frame, STUDY.printed)


STUDY = Study(
    title="Figure 4: a query on two grids",
    small=SMALL,
    full=FULL,
    seconds=7,
    cells=cells,
    measure=measure,
    plot=plot,
    printed=[
        Printed({"grid": grid}, "answer", answer, 1e-6, "section 5")
        for grid, answer in ((4, 100.0), (8, 4.0))
    ],
    discussion="""
As printed: 100 by the coarse grid, whose cells are taken to be uniform, and 4 by the fine one,
whose cells make up the query.
""",
)
