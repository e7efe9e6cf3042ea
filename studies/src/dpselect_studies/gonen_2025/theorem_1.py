"""Theorem 1: its bounds on delta against the exact optimum and both readings of A1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import expm1
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dpselect.subsets import Subset, theorem_1_lower, theorem_1_upper
from dpselect_studies.gonen_2025.bounds import sphere_delta
from dpselect_studies.panels import panels
from dpselect_studies.study import Printed, Reason, Row, Study

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


LOWER = "lower bound, ours above epsilon 0"
OPTIMUM = "optimum"
BALL = "ball (A1 as proved)"
UPPER = "printed upper bound (Theorem 1)"
SPHERE = "sphere (A1 as printed)"
PRINTED_LOWER = "printed lower bound (Theorem 1)"


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every size at every epsilon."""
    return [Cell(n, d, epsilon) for (n, d), epsilon in product(setting.sizes, setting.epsilons)]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:  # noqa: ARG001 -- all is exact
    """Return delta by beta: bounds, schemes and the optimum."""
    n, d, epsilon = cell.n, cell.d, cell.epsilon
    betas = range(min(d, n - d) + 1)
    optimum = Subset(n=n, d=d, beta=0, epsilon=epsilon, scheme="optimal")
    ball = replace(optimum, scheme="ball")
    found = {
        LOWER: [theorem_1_lower(n, d, beta, epsilon=epsilon) for beta in betas],
        OPTIMUM: [replace(optimum, beta=beta).delta_at() for beta in betas],
        BALL: [replace(ball, beta=beta).delta_at() for beta in betas],
        UPPER: [theorem_1_upper(n, d, beta) for beta in betas],
        SPHERE: [sphere_delta(n, d, beta) for beta in betas],
        PRINTED_LOWER: [
            max(theorem_1_lower(n, d, beta, epsilon=0.0) - expm1(epsilon), 0.0)
            for beta in betas
        ],
    }
    return [
        {
            "n": n,
            "d": d,
            "epsilon": epsilon,
            "beta": beta,
            "what": what,
            "delta": delta,
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
        x_label="beta: swaps allowed",
        y_label="delta (swap neighbours)",
    )


def _claimed(n: int, d: int, beta: int, value: float, what: str) -> Printed:
    where: Row = {"n": n, "d": d, "beta": beta, "epsilon": 0.0, "what": what}
    source = f"Theorem 1's upper bound, of the {what.partition(' ')[0]}"
    reason = Reason(
        "A1 as printed breaks the theorem; the ball that its proof has does not (errata)",
        "gonen-2025/theorem-1",
        where | {"what": BALL},
        "delta",
        at_most=value,
    )
    return Printed(
        where, "delta", value, 0.00005, source, kind="formula", at_most=True, reason=reason
    )


CLAIMS = ((10, 4, 2, 0.3333), (20, 5, 2, 0.52), (50, 10, 4, 0.54), (100, 10, 5, 0.4722))

STUDY = Study(
    title="Theorem 1: bounds on delta against the exact optimum",
    small=SMALL,
    full=FULL,
    seconds=3,
    cells=cells,
    measure=measure,
    plot=plot,
    printed=[_claimed(*claim, what) for what in (SPHERE, BALL) for claim in CLAIMS],
    discussion="""
The paper prints formulas and no numbers; each is compared as the bound that it is. Algorithm
A1 as stated draws from the sphere, *exactly* beta swaps away, and **breaks its own theorem**:
{delta: n=10 | d=4 | epsilon=0.0 | beta=2 | sphere (A1 as printed) | .3} for {delta: n=10 | d=4
| epsilon=0.0 | beta=2 | printed upper bound (Theorem 1) | .3} at 4 of 10 people and beta 2.
The ball, *at most* beta swaps, which the proof has, keeps the bound and is better than it
({delta: n=10 | d=4 | epsilon=0.0 | beta=2 | ball (A1 as proved) | .3}). At epsilon 0 the ball
is the optimum. Above epsilon 0 the [closed
form](../../docs/report/subsets.md#why-nothing-is-better) is the least
of all mechanisms ({delta: n=10 | d=4 | epsilon=1.0 | beta=2 | optimum | .3} at epsilon 1).

**At nearly every beta a neighbour is ruled out in a large share of the releases**: that is
what the paper's definition allows.
""",
)
