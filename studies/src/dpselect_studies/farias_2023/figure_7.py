"""Figure 7: expected error of shifted local dampening against the slope of its sensitivity.

``δ_β(t, r) = min(u_r t/β, Δ u)`` for scores 10, 20 and 30, ``Δ u = 100`` and epsilon 1. That it
is admissible is assumed, as in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.typing import Values
from dpselect_studies.panels import panels
from dpselect_studies.study import Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCORES = np.array([10.0, 20.0, 30.0])
LARGEST = 100.0
EPSILON = 1.0


@dataclass(frozen=True)
class Setting:
    """The slopes."""

    betas: tuple[float, ...]


@dataclass(frozen=True)
class Cell:
    """One slope; 0 is the exponential mechanism."""

    beta: float


FULL = Setting((0.0, *(float(beta) for beta in np.geomspace(0.1, 100, 31).round(3))))
SMALL = Setting((0.0, 1.0, 10.0))


def objective(beta: float) -> dp.Objective:
    """Return the three candidates with the sensitivity of a slope."""
    if beta == 0:
        return dp.Objective(SCORES, dp.GlobalSensitivity(LARGEST, dp.Neighbours.SUBSTITUTE))

    def at(distance: int) -> Values:
        return np.minimum(SCORES * distance / beta, LARGEST)

    horizon = ceil(LARGEST * beta / SCORES.min()) + 1
    sensitivity = dp.ElementSensitivity(
        at, bound=LARGEST, neighbours=dp.Neighbours.SUBSTITUTE, horizon=horizon
    )
    return dp.Objective(SCORES, sensitivity)


def expected_error(beta: float) -> float:
    """Return the expected distance of the drawn score from the best; 0 for the global bound."""
    if beta == 0:
        return dp.ExponentialMechanism(epsilon=EPSILON).expected_error(objective(beta))
    shifted = dp.ShiftedLocalDampening(epsilon=EPSILON, direction="non-decreasing")
    return shifted.expected_error(objective(beta))


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every slope."""
    return [Cell(beta) for beta in setting.betas]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:  # noqa: ARG001 -- all is exact
    """Return the expected error."""
    method = "shifted local dampening" if cell.beta else "exponential"
    return [{"method": method, "beta": cell.beta, "error": expected_error(cell.beta)}]


def plot(frame: pl.DataFrame) -> Figure:
    """Draw the error against the slope."""
    return panels(
        frame.filter(pl.col("beta") > 0).with_columns(panel=pl.lit("three candidates")),
        x="beta",
        y="error",
        line="method",
        panel="panel",
        x_label="beta",
        y_label="expected error, scores",
        log="x",
    )


STUDY = Study(
    title="Figure 7: expected error of shifted local dampening by slope of the sensitivity",
    small=SMALL,
    full=FULL,
    seconds=1,
    cells=cells,
    measure=measure,
    plot=plot,
    discussion="""
No number is printed, nor the range of beta. As beta grows the error falls from {max error:
exponential}, that of the exponential mechanism, to 0, as Example 9 says.
""",
)
