r"""Figure 11: sensitivity of the error of grids against :math:`\delta`, by form.

:math:`\delta` is the share of all points that relative errors are taken over at least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.spatial import (
    ErrorMeasure,
    RelativeCappedSize,
    RelativeClipped,
    RelativeKnownSize,
    Weighted,
    partition_error,
)
from dpselect.typing import Values
from dpselect_studies.fanaeepour_2017.methods import CLIP, coarse_counts
from dpselect_studies.fanaeepour_2017.places import PLACES, Case, case
from dpselect_studies.fanaeepour_2017.published_not_private import published_not_private
from dpselect_studies.panels import panels
from dpselect_studies.study import Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Setting:
    """Point sets, forms and shares delta; epsilon of the map and its share for tuning."""

    places: tuple[str, ...]
    forms: tuple[str, ...]
    deltas: tuple[float, ...]
    epsilon: float
    share: float
    runs: int


@dataclass(frozen=True)
class Cell:
    """One form on one point set, at one delta; as many coarse grids as there are runs."""

    place: str
    form: str
    delta: float
    epsilon: float
    share: float
    runs: int


Maker: TypeAlias = Callable[[Case, Cell, np.random.Generator], ErrorMeasure]


def clipped(here: Case, cell: Cell, _rng: np.random.Generator) -> ErrorMeasure:
    """Cut errors at a public number."""
    return RelativeClipped(floor=cell.delta * here.size, clip=CLIP, norm="l1")


def known_size(here: Case, cell: Cell, _rng: np.random.Generator) -> ErrorMeasure:
    """Take the number of points for public; neighbours by substitution."""
    return RelativeKnownSize(floor=cell.delta * here.size, records=here.size, norm="l1")


def capped_size(here: Case, cell: Cell, _rng: np.random.Generator) -> ErrorMeasure:
    """Take twice the number of points for a public bound on it."""
    return RelativeCappedSize(
        floor=cell.delta * here.size, max_records=2 * here.size, norm="l1"
    )


def default(here: Case, cell: Cell, rng: np.random.Generator) -> ErrorMeasure:
    """Weigh absolute errors by a coarse noisy grid."""
    coarse = coarse_counts(here, cell.share * cell.epsilon / 2, rng)
    weights = coarse.weights(here.tuned, cell.delta)
    return Weighted(neighbours=dp.Neighbours.ADD_REMOVE, weights=weights)


PUBLISHED = "published form (not private)"
FORMS: dict[str, Maker] = {
    "repaired: error cut at 10": clipped,
    "repaired: at most 2n points": capped_size,
    "repaired: n public, substitution": known_size,
    "default, weights from noisy counts": default,
}

FULL = Setting(
    places=tuple(PLACES),
    forms=(PUBLISHED, *FORMS),
    deltas=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05),
    epsilon=0.5,
    share=0.2,
    runs=20,
)
SMALL = Setting(
    ("markets",), (PUBLISHED, *FORMS), (0.001, 0.01), epsilon=0.5, share=0.2, runs=2
)


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every point set with every form and delta."""
    return [
        Cell(place, form, delta, setting.epsilon, setting.share, setting.runs)
        for place, form, delta in product(setting.places, setting.forms, setting.deltas)
    ]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return the largest sensitivity over the grids, and the range of scores over it."""
    here = case(cell.place)
    runs = cell.runs if cell.form == next(reversed(FORMS)) else 1
    found = np.array([_measured(here, cell, rng) for _ in range(runs)])
    sensitivity, steps = found.mean(axis=0)
    return [
        {
            "points": PLACES[cell.place].title,
            "form": cell.form,
            "delta": cell.delta,
            "sensitivity": float(sensitivity),
            "steps": float(steps),
        }
    ]


def _measured(here: Case, cell: Cell, rng: np.random.Generator) -> tuple[float, float]:
    errors, bounds = _errors_and_bounds(here, cell, rng)
    return float(bounds.max()), float(np.ptp(errors) / bounds.max())


def _errors_and_bounds(
    here: Case, cell: Cell, rng: np.random.Generator
) -> tuple[Values, Values]:
    scale = 1 / ((1 - cell.share) * cell.epsilon)
    if cell.form == PUBLISHED:
        published = published_not_private(
            here.points,
            here.partitions,
            here.tuned,
            scale=scale,
            size=here.size,
            delta=cell.delta,
        )
        return published.errors, published.sensitivities
    error_measure = FORMS[cell.form](here, cell, rng)
    if error_measure.relation is dp.Neighbours.SUBSTITUTE:
        scale *= 2
    found = partition_error(
        here.points,
        partitions=here.partitions,
        queries=here.tuned,
        scale=scale,
        measure=error_measure,
    )
    return found.scores, np.broadcast_to(found.sensitivity.bounds, len(found))


def plot(frame: pl.DataFrame) -> Figure:
    """Draw sensitivities against delta, a panel for each point set."""
    return panels(
        frame,
        x="delta",
        y="sensitivity",
        line="form",
        panel="points",
        x_label="δ: share of all points that errors are taken over at least",
        y_label="largest sensitivity over the grids",
        log="xy",
    )


STUDY = Study(
    title="Figure 11: sensitivity of the error of grids against delta",
    small=SMALL,
    full=FULL,
    cells=cells,
    measure=measure,
    plot=plot,
    discussion="""
No printed number of this figure is at hand; the formula of the published form is put together
from the errata, and that this is Figure 11 is our assignment. All are sensitivities of a mean
relative error, with a floor of delta times the number of points, at epsilon 0.5 with a fifth
for tuning.

The published sensitivity grows as one over delta squared, and so do those of the two repairs
that bound or know the number of points. At delta 0.001 **all scores lie within 0.4 (markets),
0.5 (highways) and 2.3 (check-ins) sensitivities of each other** (`steps` in the frame): with
a tenth of a nat the choice is nearly uniform, which is what makes the published form bad in
Figures 5 and 10.

And it is no sensitivity, as it depends on the private number of points: the test of this
package finds a privacy loss of 1.096 times epsilon, for epsilon 1 and above. The violation is
in the probability of an unlikely outcome, a very fine grid; at epsilon 0.1 the same pair of
databases loses less than epsilon.

Cutting the error at 10 makes the sensitivity grow as one over delta only, and the scores are
7 to 141 sensitivities wide. Weights from noisy counts, with a bound that counts only the
queries that one point can reach, make it 85 to 850 times smaller again. On markets the
default's line is flat below delta 0.002, since its floor is never below the noise of a coarse
cell. The repair with a public number of points is for substitution, where counts need twice
the noise.
""",
)
