"""Recall of influential nodes, for Figures 8 to 10 and Table 1.

The metric is ego betweenness (Definition 19), its neighbour relation one edge. Recall is the
share of the true top k that is drawn, 1 at best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import polars as pl

import dpselect as dp
from dpselect import scaling
from dpselect.draws import Draw, Exponential, PermuteAndFlip
from dpselect.networks import degree, ego_betweenness
from dpselect.typing import Indices, Scores
from dpselect_studies import graphs
from dpselect_studies.panels import panels
from dpselect_studies.study import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpselect.objective import Objective


Bound: TypeAlias = Literal["codegree", "degree"]
"""Sensitivity bounds of ego betweenness: by codegrees, or the paper's by degrees."""


@dataclass(frozen=True)
class Setting:
    """One graph, its public bound on degrees, and what is varied."""

    graph: str
    max_degree: int
    ks: tuple[int, ...]
    epsilons: tuple[float, ...]
    runs: int


@dataclass(frozen=True)
class Cell:
    """One graph and one method: its unit scores are computed once."""

    graph: str
    max_degree: int
    method: str
    ks: tuple[int, ...]
    epsilons: tuple[float, ...]
    runs: int


KS = (5, 10, 20)
EPSILONS = tuple(10.0**power for power in range(-3, 5))


def full(graph: str) -> Setting:
    """Return the paper's setting for one graph."""
    return Setting(graph, max_degree=10_000, ks=KS, epsilons=EPSILONS, runs=100)


def small(graph: str) -> Setting:
    """Return a setting of seconds."""
    return Setting(graph, max_degree=10_000, ks=(5,), epsilons=(0.1, 1000.0), runs=10)


@cache
def betweenness(graph: str, max_degree: int, bound: Bound) -> Objective:
    """Return ego betweenness, with the paper's sensitivity or the tighter one by codegrees."""
    return ego_betweenness(graphs.load(graph), max_degree=max_degree, sensitivity=bound)


def _anchored(graph: str, max_degree: int, bound: Bound) -> Scores:
    objective = betweenness(graph, max_degree, bound)
    return dp.AnchoredLocalDampening(epsilon=1.0).unit_scores(objective)


@dataclass(frozen=True)
class Method:
    """How nodes are drawn: graph and public bound on degrees -> unit scores, and a draw."""

    scores: Callable[[str, int], Scores]
    draw: Draw


METHODS = {
    "degree alone, exponential": Method(
        lambda graph, _: scaling.by_global(degree(graphs.load(graph))), Exponential()
    ),
    "degree alone, permute-and-flip": Method(
        lambda graph, _: scaling.by_global(degree(graphs.load(graph))), PermuteAndFlip()
    ),
    "exponential": Method(
        lambda graph, most: scaling.by_global(betweenness(graph, most, "degree")), Exponential()
    ),
    "permute-and-flip": Method(
        lambda graph, most: scaling.by_global(betweenness(graph, most, "degree")),
        PermuteAndFlip(),
    ),
    "local dampening": Method(
        lambda graph, most: scaling.dampened(betweenness(graph, most, "degree")), Exponential()
    ),
    "shifted local dampening": Method(
        lambda graph, most: scaling.shifted(
            betweenness(graph, most, "degree"), "non-decreasing"
        ),
        Exponential(),
    ),
    "pairwise": Method(
        lambda graph, most: scaling.pairwise(betweenness(graph, most, "degree")), Exponential()
    ),
    "anchored": Method(lambda graph, most: _anchored(graph, most, "degree"), Exponential()),
    "local dampening, codegrees": Method(
        lambda graph, most: scaling.dampened(betweenness(graph, most, "codegree")),
        Exponential(),
    ),
    "shifted, codegrees": Method(
        lambda graph, most: scaling.shifted(
            betweenness(graph, most, "codegree"), "non-decreasing"
        ),
        Exponential(),
    ),
    "pairwise, codegrees": Method(
        lambda graph, most: scaling.pairwise(betweenness(graph, most, "codegree")),
        Exponential(),
    ),
    "anchored, codegrees": Method(
        lambda graph, most: _anchored(graph, most, "codegree"), Exponential()
    ),
}
"""The honest baseline first; what names no codegrees has the sensitivity of the paper."""


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every method."""
    rest = (setting.ks, setting.epsilons, setting.runs)
    return [Cell(setting.graph, setting.max_degree, method, *rest) for method in METHODS]


def true_order(graph: str, max_degree: int) -> Indices:
    """Return all nodes by ego betweenness, highest first, ties by number."""
    return np.argsort(-betweenness(graph, max_degree, "degree").scores, kind="stable")


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return the mean recall for each k and epsilon."""
    true = true_order(cell.graph, cell.max_degree)
    method = METHODS[cell.method]
    unit = method.scores(cell.graph, cell.max_degree)
    rows: list[Row] = []
    for k, epsilon in product(cell.ks, cell.epsilons):
        drawn = method.draw.simulate(unit, epsilon, k=k, size=cell.runs, rng=rng)
        rows.append(
            {
                "graph": graphs.TITLES[cell.graph],
                "k": k,
                "method": cell.method,
                "epsilon": epsilon,
                "recall": float(np.isin(drawn, true[:k]).mean()),
            }
        )
    return rows


def plot(frame: pl.DataFrame) -> Figure:
    """Draw recall against epsilon, a panel for each k."""
    return panels(
        frame.with_columns(panel=pl.format("{}, k = {}", "graph", "k")),
        x="epsilon",
        y="recall",
        line="method",
        panel="panel",
        x_label="epsilon for all k nodes (edge neighbours)",
        y_label="recall of the true top k",
        log="x",
    )
