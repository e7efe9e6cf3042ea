"""Table 2: share of drawn nodes that the true best dominate (DP-MOTkIN, Pareto).

Degree and ego density. The metric is ``C(true top k, drawn k)`` of Definition 6.3, 0 at best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dpselect import combine, scaling
from dpselect.combine import coverage
from dpselect.combine.pareto.coverage import Dominance
from dpselect.draws import Exponential, PermuteAndFlip
from dpselect.networks import degree, ego_density
from dpselect.typing import Scores
from dpselect_studies import graphs
from dpselect_studies.panels import panels
from dpselect_studies.study import Printed, Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpselect.objective import Objective

METRICS = (degree, ego_density)
DOMINANCES: tuple[Dominance, ...] = ("weak", "pareto", "strict")


@dataclass(frozen=True)
class Setting:
    """What is varied: graphs with how many nodes are drawn of each, epsilons, repetitions."""

    nodes: tuple[tuple[str, int], ...]
    epsilons: tuple[float, ...]
    runs: int


FULL = Setting(
    nodes=(("github_musae", 3), ("enron", 3), ("dblp_htne", 10)),
    epsilons=(0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0),
    runs=500,
)
SMALL = Setting(nodes=(("enron", 3),), epsilons=(0.1, 50.0), runs=20)


@dataclass(frozen=True)
class Cell:
    """One graph and one method, at all epsilons: its unit scores are computed once."""

    graph: str
    k: int
    method: str
    epsilons: tuple[float, ...]
    runs: int


@cache
def parts_of(graph: str) -> list[Objective]:
    """Return degree and ego density of every node."""
    return [metric(graphs.load(graph)) for metric in METRICS]


@cache
def pareto_of(graph: str) -> Objective:
    """Return the Pareto score of both."""
    return combine.pareto(parts_of(graph))


METHODS: dict[str, Callable[[str], Scores]] = {
    "Pareto, global": lambda graph: scaling.by_global(pareto_of(graph)),
    "Pareto, local": lambda graph: scaling.dampened(pareto_of(graph)),
    "Pareto, local, shifted": lambda graph: scaling.shifted(pareto_of(graph), "non-increasing"),
    "margin, global": lambda graph: scaling.by_global(combine.margin(parts_of(graph))),
    "margin, local": lambda graph: scaling.by_global(combine.local_margin(parts_of(graph))),
    "degree alone": lambda graph: scaling.by_global(degree(graphs.load(graph))),
}
"""Unit scores of all nodes, by method; all are drawn by permute-and-flip or Gumbel noise."""


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every graph with every method."""
    return [
        Cell(graph, k, method, setting.epsilons, setting.runs)
        for (graph, k), method in product(setting.nodes, METHODS)
    ]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return the mean of C for each epsilon, draw and kind of dominance."""
    values = np.column_stack([part.scores for part in parts_of(cell.graph)])
    score = pareto_of(cell.graph).scores
    best = np.argsort(-score, kind="stable")[: cell.k]
    unit = METHODS[cell.method](cell.graph)
    rows: list[Row] = []
    for epsilon, draw in product(cell.epsilons, (Exponential(), PermuteAndFlip())):
        drawn = draw.simulate(unit, epsilon, k=cell.k, size=cell.runs, rng=rng)
        for dominance in DOMINANCES:
            shares = [coverage(values[best], values[one], dominance=dominance) for one in drawn]
            rows.append({
                "graph": graphs.TITLES[cell.graph],
                "k": cell.k,
                "method": cell.method,
                "draw": draw.name,
                "epsilon": epsilon,
                "dominance": dominance,
                "C": float(np.mean(shares)),
                "on_front": float(np.mean(score[drawn] == 0)),
            })  # fmt: skip
    return rows


def plot(frame: pl.DataFrame) -> Figure:
    """Draw C against epsilon, a panel for each graph."""
    shown = frame.filter(pl.col("dominance") == "strict", pl.col("draw") == "exponential")
    return panels(
        shown,
        x="epsilon",
        y="C",
        line="method",
        panel="graph",
        x_label="epsilon for all k nodes (edge neighbours)",
        y_label="share of drawn nodes that a true one dominates",
        log="x",
    )


LOCAL = {
    "graph": "GitHub",
    "method": "Pareto, local",
    "draw": "exponential",
    "dominance": "strict",
}

STUDY = Study(
    title="Table 2: true top k against drawn nodes, by the metric C",
    small=SMALL,
    full=FULL,
    cells=cells,
    measure=measure,
    plot=plot,
    printed=[
        Printed({**LOCAL, "epsilon": epsilon}, "C", 0.0, 0.02, "Table 2, local, GitHub")
        for epsilon in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
    ],
    discussion="""
On GitHub the paper prints 0.00 for the local version from epsilon 0.5 on. Definition 4.5 does
not give that: the Pareto score of a node moves by more than its whole range when one edge
does, the dampened scores of all nodes lie within two or three units, and plain dampening is
hardly better than a uniform choice until epsilon is about 20. The authors' code keeps a
sensitivity of earlier nodes for later ones and takes a smaller one for the density, so its
column is not what the definition gives. The **shifted** form of the same objective, which is
ours, does reach 0.00 from epsilon 0.1 on for GitHub and Enron.

What C says depends on conventions, so the frame has all three kinds of dominance and beside C
the share of drawn nodes that lie on the Pareto front. The true top k are the nodes of highest
Pareto score, ties by number; the fronts hold 50, 68 and 45 nodes. **C alone misleads on
DBLP**: nodes drawn uniformly have C = .25, because three quarters of all nodes are in small
dense groups that no hub dominates, and the shifted Pareto score has C = .55 although 45 % of
what it draws lies on the front, where uniform draws have .2 %: the rest are hubs just behind
the front. By C the local margin is best there (.01 at epsilon 50, 30 % on the front).

**Degree alone** draws nodes of the front as often as the shifted Pareto score does on all
three graphs, and needs neither density nor dampening.
""",
)
