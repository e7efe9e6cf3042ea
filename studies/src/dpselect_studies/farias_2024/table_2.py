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
from dpselect.combine.pareto.dominance import Dominance as Kind
from dpselect.draws import Exponential, PermuteAndFlip
from dpselect.networks import degree, ego_density
from dpselect.typing import Indices, Scores
from dpselect_studies import graphs
from dpselect_studies.farias_2024.coverage import DOMINANCES, coverage
from dpselect_studies.panels import panels
from dpselect_studies.study import Printed, Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpselect import Objective

METRICS = (degree, ego_density)


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
def pareto_of(graph: str, dominance: Kind = "standard") -> Objective:
    """Return the Pareto score of both."""
    return combine.pareto(parts_of(graph), dominance=dominance)


STRICT: dict[str, Callable[[str], Scores]] = {
    "strict Pareto, global": lambda graph: scaling.by_global(pareto_of(graph, "strict")),
    "strict Pareto, local": lambda graph: scaling.dampened(pareto_of(graph, "strict")),
}
"""The same of the score by which the printed numbers come out."""

METHODS: dict[str, Callable[[str], Scores]] = {
    **STRICT,
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
    best = [np.argsort(-score, kind="stable")[: cell.k]] * cell.runs
    if cell.method in STRICT:
        ranked = pareto_of(cell.graph, "strict").scores
        best = [true_best(ranked, cell.k, rng) for _ in range(cell.runs)]
    unit = METHODS[cell.method](cell.graph)
    rows: list[Row] = []
    for epsilon, draw in product(cell.epsilons, (Exponential(), PermuteAndFlip())):
        drawn = draw.simulate(unit, epsilon, k=cell.k, size=cell.runs, rng=rng)
        for dominance in DOMINANCES:
            shares = [
                coverage(values[true], values[one], dominance=dominance)
                for true, one in zip(best, drawn, strict=True)
            ]
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


def true_best(scores: Scores, k: int, rng: np.random.Generator) -> Indices:
    """Return the k nodes of the largest scores, drawn among equals."""
    least = np.partition(scores, -k)[-k]
    above, equal = np.flatnonzero(scores > least), np.flatnonzero(scores == least)
    return np.concatenate([above, rng.choice(equal, k - above.size, replace=False)])


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


TABLE = {
    ("github_musae", "strict Pareto, global"): (0.20, 0.21, 0.22, 0.18, 0.16, 0.10, 0.05, 0.00),
    ("github_musae", "strict Pareto, local"): (0.15, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00),
    ("enron", "strict Pareto, global"): (0.41, 0.39, 0.42, 0.34, 0.33, 0.22, 0.15, 0.07),
    ("enron", "strict Pareto, local"): (0.41, 0.41, 0.39, 0.38, 0.30, 0.16, 0.07, 0.00),
    ("dblp_htne", "strict Pareto, global"): (0.07, 0.09, 0.09, 0.09, 0.08, 0.07, 0.07, 0.05),
    ("dblp_htne", "strict Pareto, local"): (0.08, 0.09, 0.08, 0.08, 0.07, 0.06, 0.05, 0.00),
}
"""The printed table; DBLP is com-dblp there."""


SUBSTITUTE = "another graph, of a tenth as many nodes"
MOVES = "by Definition 4.5 one edge can move a score by thousands of rivals"


def _printed() -> list[Printed]:
    return [
        Printed(
            {
                "graph": graphs.TITLES[graph],
                "method": method,
                "draw": "exponential",
                "dominance": "strict",
                "epsilon": epsilon,
            },
            "C",
            value,
            0.1,
            "Table 2",
            reason=SUBSTITUTE if graph == "dblp_htne" else MOVES,
        )
        for (graph, method), values in TABLE.items()
        for epsilon, value in zip(FULL.epsilons, values, strict=True)
    ]


STUDY = Study(
    title="Table 2: true top k against drawn nodes, by the metric C",
    small=SMALL,
    full=FULL,
    cells=cells,
    measure=measure,
    plot=plot,
    printed=_printed(),
    discussion="""
**The printed numbers are those of a Pareto score with strict dominance**: a node is dominated
by those that are better in both metrics, and not, as Definition 4.3 has it, at least as good.
With it, and the true best drawn among equals, all 16 cells of Enron agree and the global column
of GitHub does, to .04: .23 to .16 up to epsilon 5 for .20 to .16. With Pareto dominance, which
is ours, GitHub has .56 there.

**The local column of GitHub does not agree** from epsilon 0.5 to 10: .22 falling to .12, where
0.00 is printed. By Definition 4.5 one edge can move the score of most nodes by thousands of
rivals, so little is gained over the global form; what is printed does not follow from the
definition. **DBLP is a substitute**, with a tenth of the nodes, and has .48 for .08: only the
order of the columns at epsilon 20 and 50 is that of the paper.

The text claims the local form to be better at all epsilons on all data; its own table has three
cells the other way (Enron at 0.5 and 2, DBLP at 0.1) and several ties.

The **shifted** form of the Pareto score, which is ours, has 0.00 from epsilon 0.1 on for
GitHub and from 0.5 on for Enron, and so has **degree alone**, which needs neither density nor
dampening. C misleads on DBLP: both draw hubs just behind the front, and have .5 where a
uniform choice has .25. So the frame also has the share of drawn nodes on the front, and the
other kinds of dominance. By Pareto dominance the first of equals by number are the true best.
""",
)
