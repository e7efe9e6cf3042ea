"""Theorem 3: decoding after A2's noise, by designs for d + beta and for d positives.

The collector replaces the samples of beta people by known positives, Equation (21); pools are
tested without error and decoded by COMP. What is to be decoded is the union of the members and
the replaced people, which only a design for d + beta positives finds for certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dpselect.subsets import theorem_1_lower, theorem_2_upper
from dpselect_pooling import comp, kautz_singleton
from dpselect_studies.gonen_2025.bounds import union_delta
from dpselect_studies.panels import COLOURS
from dpselect_studies.study import Null, Printed, Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Setting:
    """People, members and replaced samples, and how often they are drawn."""

    sizes: tuple[tuple[int, int, int], ...]
    runs: int


@dataclass(frozen=True)
class Cell:
    """One size and one design."""

    n: int
    d: int
    beta: int
    design_for: str
    runs: int


FULL = Setting(
    ((100, 2, 1), (100, 2, 3), (100, 2, 4), (100, 5, 5), (400, 2, 8), (1000, 5, 9)), 1000
)
SMALL = Setting(((100, 2, 3),), 20)
BOTH, MEMBERS = "d + beta", "d"


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every size with both designs."""
    return [
        Cell(*size, design_for, setting.runs)
        for size, design_for in product(setting.sizes, (BOTH, MEMBERS))
    ]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return how often the union is decoded exactly, and both deltas of Theorem 3."""
    positives = cell.d + (cell.beta if cell.design_for == BOTH else 0)
    design = kautz_singleton(cell.n, d=positives)
    right = missed = 0
    for _ in range(cell.runs):
        union = np.zeros(cell.n, dtype=np.bool_)
        members = rng.choice(cell.n, cell.d, replace=False)
        union[members] = True
        union[rng.choice(cell.n, cell.beta, replace=False)] = True
        decoded = comp(design, (design & union).any(axis=1))
        right += int(np.array_equal(decoded, union))
        missed += int(not decoded[members].all())
    lower_bound_applies = cell.beta <= min(cell.d, cell.n - cell.d)
    return [
        {
            "n": cell.n,
            "d": cell.d,
            "beta": cell.beta,
            "design for": cell.design_for,
            "pools": len(design),
            "decoded": right / cell.runs,
            "members missed": missed / cell.runs,
            "delta": union_delta(cell.n, cell.d, cell.beta),
            "lower bound (23)": theorem_1_lower(cell.n, cell.d, cell.beta, epsilon=0.0)
            if lower_bound_applies
            else 0.0,
        }
    ]


def plot(frame: pl.DataFrame) -> Figure:
    """Draw the share of right decodings of both designs, a pair of bars for each size."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    for side, design_for in enumerate((BOTH, MEMBERS)):
        part = frame.filter(pl.col("design for") == design_for)
        at = np.arange(part.height) + 0.4 * side
        label = f"design for {design_for}"
        axes.bar(at, part["decoded"].to_numpy(), width=0.36, color=COLOURS[side], label=label)
    sizes = part.select(pl.format("{} of {},\nbeta {}", "d", "n", "beta")).to_series()
    axes.set_xticks(np.arange(part.height) + 0.2, sizes.to_list())
    axes.set_xlabel("members of people, and samples replaced")
    axes.set_ylabel("share of draws that are decoded exactly")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=2, frameon=False)
    return figure


def _claims() -> list[Printed]:
    source = "Theorem 3 (b)"
    numbers = []
    for n, d, beta in FULL.sizes:
        if 2 * d * beta**2 >= n:
            continue
        where: Row = {"n": n, "d": d, "beta": beta, "design for": BOTH}
        value = theorem_2_upper(n, d, beta)
        numbers += [
            Printed(
                where,
                "decoded",
                1.0,
                0.0,
                source,
                kind="words",
                null=Null("a design for d alone", where | {"design for": MEMBERS}),
            ),
            Printed(where, "delta", value, 0.0, source, kind="formula", at_most=True),
        ]
    return numbers


STUDY = Study(
    title="Theorem 3: decoding after A2's noise",
    small=SMALL,
    full=FULL,
    seconds=30,
    cells=cells,
    measure=measure,
    plot=plot,
    printed=_claims(),
    discussion="""
(b) requires pools that let the decoder find the members and the replaced people. **A
Kautz-Singleton design for d + beta positives with COMP finds them in every draw; one for d
alone in {decoded: n=100 | d=2 | beta=1 | design for=d} of the draws at 2 of 100 people and
beta 1, in {decoded: n=100 | d=5 | beta=5 | design for=d} at 5 of 100 and beta 5, and seldom
elsewhere.** COMP misses no member with either. All of this requires that collector and
laboratory do not talk.
""",
)
