"""Figure 10: median relative error of tuned maps, against the size of the queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dpselect_studies.fanaeepour_2017.methods import METHODS, PAPERS, Cell, by_size
from dpselect_studies.fanaeepour_2017.places import PLACES
from dpselect_studies.panels import panels
from dpselect_studies.study import Printed, Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Setting:
    """Point sets and methods, at epsilons and one share for tuning, and how many maps."""

    places: tuple[str, ...]
    methods: tuple[str, ...]
    epsilons: tuple[float, ...]
    share: float
    runs: int


FULL = Setting(tuple(PLACES), tuple(METHODS), epsilons=(1.0,), share=0.2, runs=100)
SMALL = Setting(("markets",), tuple(METHODS), epsilons=(1.0,), share=0.2, runs=3)


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every point set with every method."""
    return [
        Cell(place, method, epsilon, setting.share, setting.runs)
        for place, method, epsilon in product(setting.places, setting.methods, setting.epsilons)
    ]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return the errors of each size of query, the means of all maps."""
    return by_size(cell, rng)


def plot(frame: pl.DataFrame) -> Figure:
    """Draw errors against sizes, a panel for each point set."""
    return panels(
        frame,
        x="area",
        y="error",
        line="method",
        panel="points",
        x_label="area of queries, % of the box",
        y_label="median relative error",
        log="xy",
    )


REASONS = {
    "markets": "other points than the paper's, at 100 other positions",
    "highways": "other points than the paper's",
    "gowalla": "a tenth of the paper's check-ins and of its rho; most queries are empty",
}


def _printed(place: str, method: str, value: float, *, at_most: bool = False) -> Printed:
    where: Row = {"points": PLACES[place].title, "method": method, "area": 1.0}
    # Most of the small queries of the check-ins are empty: their median of all is infinite.
    column = "error" if place == "gowalla" else "error_of_all"
    tolerance = 0.0 if at_most else 0.03
    return Printed(where, column, value, tolerance, "section 8.4", at_most, REASONS[place])


E2EPRIV, HEURISTIC, *_ = PAPERS
STUDY = Study(
    title="Figure 10: median relative error against the size of queries",
    small=SMALL,
    full=FULL,
    cells=cells,
    measure=measure,
    plot=plot,
    printed=[
        _printed("markets", E2EPRIV, 0.13),
        _printed("markets", HEURISTIC, 0.19),
        _printed("highways", E2EPRIV, 0.02, at_most=True),
        _printed("gowalla", E2EPRIV, 0.05),
    ],
    discussion="""
Settings are the paper's: epsilon 1, a fifth of it for tuning, delta .1, .01 and .001 by data
set (its Table 2 prints .1 for all; the text and its rho say otherwise), 100 random queries of
six sizes, 100 maps. All three point sets are **substitutes**. `Leaky` compares noisy maps and
`BestNonPriv` takes the largest grid without noise, as in the paper.

**What a query without points counts decides the smallest size.** The relative error of one is
not defined and the paper does not say. Of the queries of 1 % of the area 27 % hold no point on
markets, 25 % on highways and 70 % on check-ins; of 4 % 6, 6 and 27 %; of 9 % 1 % on check-ins,
from 16 % on none (`without_points`). The picture leaves them out; the comparison counts them
as infinite on the first two sets (`error_of_all`), and leaves them out on check-ins, where
they are most.

On markets the published form has .166 for the printed .13, and Heuristic .157 for .19: the
order is the other way. With other random positions (Figure 11a) they have .135 and .117; one
set of 100 positions says little. On highways it is below the printed .02. On check-ins it has
.88 for .05: the substitute has a tenth of the check-ins, most of a world box is empty, and rho
is as much smaller. `BestNonPriv` is the least everywhere; `Leaky` is below Heuristic on
markets and not on check-ins.

**Ours**: the repaired form, with a public floor, costs nothing on the first two sets, and is
better than the published form on check-ins (.64 for .88). The adaptive grid and the quadtree,
untuned, are the best private maps for small queries on markets and check-ins, with a third of
the error of `Heuristic` on the latter. At this delta tuning gains little over the guideline
with a noisy number of points.
""",
)
