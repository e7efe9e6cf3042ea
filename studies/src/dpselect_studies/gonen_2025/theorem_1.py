"""Theorems 1 and 2: bounds on delta against the exact optimum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dpselect.retrieval import delta_curves, sphere_delta
from dpselect_studies.panels import panels
from dpselect_studies.study import Printed, Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Setting:
    """People and members, and the epsilons; every beta is measured."""

    sizes: tuple[tuple[int, int], ...]
    epsilons: tuple[float, ...]


FULL = Setting(((10, 4), (20, 5), (50, 10), (100, 10)), (0.0, 0.5, 1.0))
SMALL = Setting(((10, 4),), (0.0, 1.0))


@dataclass(frozen=True)
class Cell:
    """One size and one epsilon, at every beta."""

    n: int
    d: int
    epsilon: float


SPHERE = "sphere (A1 as printed)"
NAMES = {
    "lower bound": "lower bound (Theorem 1, ours above epsilon 0)",
    "optimal": "optimum",
    "ball (A1)": "ball (A1 as proved)",
    "upper bound of Theorem 1": "printed upper bound (Theorem 1)",
    "union (A2)": "union (A2, Theorem 2)",
}


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every size at every epsilon."""
    return [Cell(n, d, epsilon) for (n, d), epsilon in product(setting.sizes, setting.epsilons)]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:  # noqa: ARG001 -- all is exact
    """Return delta by beta: bounds, schemes and the optimum."""
    betas, curves = delta_curves(cell.n, cell.d, epsilon=cell.epsilon)
    found = {NAMES[name]: values for name, values in curves.items()}
    found[SPHERE] = np.array([sphere_delta(cell.n, cell.d, int(b)) for b in betas])
    return [
        {
            "n": cell.n,
            "d": cell.d,
            "epsilon": cell.epsilon,
            "beta": int(beta),
            "what": what,
            "delta": float(delta),
        }
        for what, values in found.items()
        for beta, delta in zip(betas, values, strict=True)
    ]


def plot(frame: pl.DataFrame) -> Figure:
    """Draw delta against beta, a panel for each size and epsilon."""
    named = pl.format("{} of {}, epsilon {}", "d", "n", "epsilon").alias("panel")
    return panels(
        frame.with_columns(named),
        x="beta",
        y="delta",
        line="what",
        panel="panel",
        x_label="beta: swaps allowed (union: people too many)",
        y_label="delta (swap neighbours)",
    )


def claimed(n: int, d: int, beta: int, value: float) -> Printed:
    """Return what Theorem 1 claims of the sphere that is printed as Algorithm A1."""
    where: Row = {"n": n, "d": d, "beta": beta, "epsilon": 0.0, "what": SPHERE}
    return Printed(where, "delta", value, 0.0005, "Theorem 1's upper bound for A1")


STUDY = Study(
    title="Theorems 1 and 2: bounds on delta against the exact optimum",
    small=SMALL,
    full=FULL,
    cells=cells,
    measure=measure,
    plot=plot,
    printed=[
        claimed(10, 4, 2, 0.3333),
        claimed(20, 5, 2, 0.52),
        claimed(50, 10, 4, 0.54),
        claimed(100, 10, 5, 0.4722),
    ],
    discussion="""
Algorithm A1 as printed draws from the sphere, *exactly* beta swaps away, and **breaks its own
theorem**: .500 for the .333 that Theorem 1 claims at 4 of 10 people and beta 2. The ball, *at
most* beta swaps, which the proof speaks of, keeps the bound and is better than it (.261). At
epsilon 0 the ball is the optimum; so the gap between Theorem 1's two bounds, .167 to .333, is
closed. Above epsilon 0 a tilt by distance is better than the ball (.185 at epsilon 1), and the
[closed form](pooling.md#why-nothing-is-better) is the least of all mechanisms. The lower bound
above epsilon 0 is [ours](pooling.md#a-bound-without-a-programme), by Theorem 1's argument.

Algorithm A2 never misses a member, at the price of nearly all of delta: exactly 1 - beta/n at
every epsilon, without the condition 2 d beta^2 < n of Theorem 2. No blind choice of beta people
does better; one among the strangers alone has 1 - beta/(n - d).

**At nearly every beta a neighbour is ruled out in a large share of the releases**: that is what
the paper's definition asks for. The price of a usual delta stands beside the
[schemes](pooling.md). How Theorem 3 reads is not known to us, so it is not compared.
""",
)
