"""Figure 11b: median relative error by the share of epsilon for tuning, and size of query."""

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
    """Point sets, methods, epsilons and shares for tuning, and how many maps."""

    places: tuple[str, ...]
    methods: tuple[str, ...]
    epsilons: tuple[float, ...]
    shares: tuple[float, ...]
    runs: int


METHODS = (next(iter(PAPERS)), "repaired form", "default, grids")
FULL = Setting(("markets",), METHODS, (1.0,), (0.2, 0.25, 0.5, 0.75), runs=100)
SMALL = Setting(("markets",), METHODS[:1], (1.0,), (0.2, 0.75), runs=2)


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every point set with every method and share."""
    return [
        Cell(place, method, epsilon, share, setting.runs)
        for place, method, epsilon, share in product(
            setting.places, setting.methods, setting.epsilons, setting.shares
        )
    ]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return the errors of each size of query, the means of all maps."""
    return by_size(cell, rng)


def plot(frame: pl.DataFrame) -> Figure:
    """Draw errors against sizes, a line for each share and a panel for each method."""
    return panels(
        frame.with_columns(line=pl.format("{} of epsilon for tuning", "share")),
        x="area",
        y="error",
        line="line",
        panel="method",
        x_label="area of queries, % of the box",
        y_label="median relative error, markets",
        log="xy",
    )


STUDY = Study(
    title="Figure 11b: relative error by the share of epsilon for tuning",
    small=SMALL,
    full=FULL,
    seconds=25,
    cells=cells,
    measure=measure,
    plot=plot,
    discussion="""
No number is printed. The text says that errors are almost the same for a share of up to a
half, and larger at three quarters: for queries of 1 % the published form has {error: E2EPriv
as published (not private) | area=1.0 | share=0.2 | .3}, {error: E2EPriv as published (not
private) | area=1.0 | share=0.25 | .3}, {error: E2EPriv as published (not private) | area=1.0 |
share=0.5 | .3} and {error: E2EPriv as published (not private) | area=1.0 | share=0.75 | .3}.
The published, the repaired and the default form do not differ: what matters is the epsilon
that is left for the counts.
""",
)
