"""Figure 11a: median relative error of tuned maps, against epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dpselect_studies.fanaeepour_2017.methods import PAPERS, Cell, by_size
from dpselect_studies.panels import panels
from dpselect_studies.study import Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Setting:
    """Point sets, methods and epsilons, one share for tuning, and how many maps."""

    places: tuple[str, ...]
    methods: tuple[str, ...]
    epsilons: tuple[float, ...]
    share: float
    runs: int


OURS = ("repaired form", "default, grids", "guideline, noisy N")
FULL = Setting(
    ("markets",), tuple(PAPERS) + OURS, (0.2, 0.4, 0.6, 0.8, 1.0), share=0.2, runs=100
)
SMALL = Setting(("markets",), tuple(PAPERS) + OURS, (0.2, 1.0), share=0.2, runs=2)
SIDES = (0.1,)
"""Queries of 1 % of the area, for tuning and for measuring."""


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every point set with every method and epsilon."""
    return [
        Cell(place, method, epsilon, setting.share, setting.runs, SIDES)
        for place, method, epsilon in product(setting.places, setting.methods, setting.epsilons)
    ]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return the error of queries of 1 %, the mean of all maps."""
    return by_size(cell, rng)


def plot(frame: pl.DataFrame) -> Figure:
    """Draw errors against epsilon."""
    return panels(
        frame,
        x="epsilon",
        y="error",
        line="method",
        panel="points",
        x_label="epsilon (add/remove neighbours), a fifth of it for tuning",
        y_label="median relative error of queries of 1 %",
        log="y",
    )


STUDY = Study(
    title="Figure 11a: relative error against epsilon",
    small=SMALL,
    full=FULL,
    seconds=21,
    cells=cells,
    measure=measure,
    plot=plot,
    discussion="""
No number is printed. The text says that E2EPriv is below Heuristic; on markets, the substitute
for Storage, it is not: {error: E2EPriv as published (not private) | epsilon=0.2} for {error:
Heuristic (not private) | epsilon=0.2} at epsilon 0.2, {error: E2EPriv as published (not
private) | epsilon=1.0 | .3} for {error: Heuristic (not private) | epsilon=1.0 | .3} at 1. The
private guideline with a noisy number of points is within a tenth of Heuristic.
""",
)
