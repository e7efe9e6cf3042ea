"""Table 1, our columns: the least epsilon that finds half and nine tenths of the true top k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dpselect_studies import graphs
from dpselect_studies.farias_2023.influence import METHODS, true_order
from dpselect_studies.panels import panels
from dpselect_studies.study import Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpselect.typing import Indices


@dataclass(frozen=True)
class Setting:
    """Graphs, number of nodes, recalls to reach, and steps of bisection."""

    graphs: tuple[str, ...]
    max_degree: int
    k: int
    recalls: tuple[float, ...]
    runs: int
    halvings: int


FULL = Setting(("enron", "dblp_htne", "github_musae"), 10_000, 10, (0.5, 0.9), 100, 10)
SMALL = Setting(("enron",), 10_000, 5, (0.5,), 10, 3)

LEAST, MOST = 1e-4, 1e6
"""Range of the bisection; beyond its end the least epsilon is reported as infinite."""


@dataclass(frozen=True)
class Cell:
    """One graph and one method."""

    graph: str
    max_degree: int
    method: str
    k: int
    recalls: tuple[float, ...]
    runs: int
    halvings: int


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every graph with every method."""
    rest = (setting.k, setting.recalls, setting.runs, setting.halvings)
    return [
        Cell(graph, setting.max_degree, method, *rest)
        for graph, method in product(setting.graphs, METHODS)
    ]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return the least epsilon for each recall, by bisection of its logarithm."""
    method = METHODS[cell.method]
    unit = method.scores(cell.graph, cell.max_degree)
    true = true_order(cell.graph, cell.max_degree)[: cell.k]

    def recall(epsilon: float) -> float:
        drawn: Indices = method.draw.simulate(unit, epsilon, k=cell.k, size=cell.runs, rng=rng)
        return float(np.isin(drawn, true).mean())

    rows: list[Row] = []
    for wanted in cell.recalls:
        low, high = np.log(LEAST), np.log(MOST)
        for _ in range(cell.halvings):
            middle = (low + high) / 2
            low, high = (low, middle) if recall(np.exp(middle)) >= wanted else (middle, high)
        rows.append(
            {
                "graph": graphs.TITLES[cell.graph],
                "k": cell.k,
                "method": cell.method,
                "recall": wanted,
                "epsilon": float(np.exp(high)) if high < np.log(MOST) else np.inf,
            }
        )
    return rows


def plot(frame: pl.DataFrame) -> Figure:
    """Draw the least epsilon against the recall, a panel for each graph."""
    return panels(
        frame,
        x="recall",
        y="epsilon",
        line="method",
        panel="graph",
        x_label="mean recall of the true top 10",
        y_label="least epsilon for all 10 nodes (edge neighbours)",
        log="y",
    )


STUDY = Study(
    title="Table 1: the least epsilon for half and nine tenths of the true top 10",
    small=SMALL,
    full=FULL,
    cells=cells,
    measure=measure,
    plot=plot,
    discussion="""
The paper's claim is a budget three to four orders of magnitude smaller than the exponential
mechanism's, for the same recall. It holds, with the paper's sensitivity and the shifted form:
half of the true top 10 takes epsilon 0.15 for 7,600 on Enron and 0.07 for 2,000 on GitHub,
five and four orders. **Degree alone takes half of that again**: 0.07 and 0.04. Infinite means
never: the order that the mechanism draws by, however sharply, is not that of ego betweenness.
On DBLP even the degree's first ten hold fewer than nine of the true ten.

How the paper's own Table 1 is laid out is not known to us; these are the columns that its
claim needs.
""",
)
