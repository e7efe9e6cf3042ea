"""Theorem 2: its bounds on delta against the exact delta of Algorithm A2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dpselect.subsets import theorem_2_lower, theorem_2_upper
from dpselect_studies.gonen_2025.bounds import union_delta
from dpselect_studies.panels import panels
from dpselect_studies.study import Printed, Reason, Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Setting:
    """People and members, and the epsilons; every beta with d + beta < n is measured."""

    sizes: tuple[tuple[int, int], ...]
    epsilons: tuple[float, ...]


@dataclass(frozen=True)
class Cell:
    """One size and one epsilon, at every beta."""

    n: int
    d: int
    epsilon: float


FULL = Setting(((5, 3), (20, 2), (100, 2), (200, 1)), (0.0, 0.1))
SMALL = Setting(((5, 3), (20, 2)), (0.0,))
EXACT, UPPER, LOWER = "A2, exact", "printed upper bound", "printed lower bound"


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every size at every epsilon."""
    return [Cell(n, d, epsilon) for (n, d), epsilon in product(setting.sizes, setting.epsilons)]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:  # noqa: ARG001 -- all is exact
    """Return delta by beta: what A2 has, and both printed bounds."""
    rows: list[Row] = []
    for beta in range(1, cell.n - cell.d):
        found = {
            EXACT: union_delta(cell.n, cell.d, beta),
            UPPER: theorem_2_upper(cell.n, cell.d, beta),
            LOWER: theorem_2_lower(cell.n, cell.d, beta, epsilon=cell.epsilon),
        }
        rows += [
            {
                "n": cell.n,
                "d": cell.d,
                "epsilon": cell.epsilon,
                "beta": beta,
                "within the printed condition": str(2 * cell.d * beta**2 < cell.n),
                "what": what,
                "delta": delta,
            }
            for what, delta in found.items()
        ]
    return rows


def plot(frame: pl.DataFrame) -> Figure:
    """Draw delta against beta, a panel for each size and epsilon."""
    named = pl.format("{} of {}, epsilon {}", "d", "n", "epsilon").alias("panel")
    return panels(
        frame.with_columns(named),
        x="beta",
        y="delta",
        line="what",
        panel="panel",
        x_label="beta: people drawn",
        y_label="delta (swap neighbours)",
    )


def _claimed(n: int, d: int, beta: int) -> Printed:
    where: Row = {"n": n, "d": d, "beta": beta, "epsilon": 0.0, "what": EXACT}
    inside = "inside" if 2 * d * beta**2 < n else "outside"
    value = theorem_2_upper(n, d, beta)
    source = f"Theorem 2's upper bound, {inside} of its condition"
    reason = Reason(
        "outside of the printed condition; the bound holds if and only if n >= beta d, as it "
        "does with one fewer",
        "gonen-2025/theorem-2",
        where | {"beta": beta - 1},
        "delta",
        at_most=value + 1 / (n - d),
    )
    return Printed(
        where, "delta", value, 0.0, source, kind="formula", at_most=True, reason=reason
    )


STUDY = Study(
    title="Theorem 2: bounds on delta against the exact delta of A2",
    small=SMALL,
    full=FULL,
    seconds=1,
    cells=cells,
    measure=measure,
    plot=plot,
    printed=[
        _claimed(n, d, beta)
        for n, d, beta in (
            (100, 2, 2),
            (100, 2, 4),
            (200, 1, 9),
            (100, 2, 50),
            (20, 2, 10),
            (100, 2, 51),
            (5, 3, 1),
        )
    ],
    discussion="""
Algorithm A2 adds beta people at random and never misses a member. Its delta is 1 - beta/n at
every epsilon, the least of all choices that do not know the members. The printed 1 - (beta -
1)/(n - d) holds **if and only if n >= beta d**: at 3 of 5 people and beta 2 it would be .5,
and is .6.
""",
)
