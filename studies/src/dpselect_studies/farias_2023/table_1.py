"""Table 1: recall of SLD-PrivTopk and of PrivateSQL on samples of 50 nodes of three graphs.

A sample is the subgraph of the first 50 nodes that a breadth-first search from a random node
reaches. A cell of the table is the mean over samples, runs and k = 1, 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dpselect import scaling
from dpselect.draws import Exponential
from dpselect.networks import Graph, ego_betweenness
from dpselect.typing import Indices
from dpselect_studies import graphs
from dpselect_studies.farias_2023.private_sql_not_private import counts, top_not_private
from dpselect_studies.panels import panels
from dpselect_studies.study import Printed, Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NODES = 50


@dataclass(frozen=True)
class Setting:
    """Graphs, epsilons, samples of each and runs on a sample."""

    graphs: tuple[str, ...]
    epsilons: tuple[float, ...]
    samples: int
    runs: int


@dataclass(frozen=True)
class Cell:
    """One sample of one graph."""

    graph: str
    sample: int
    epsilons: tuple[float, ...]
    runs: int


FULL = Setting(("enron", "dblp_htne", "github_musae"), (0.1, 0.5, 1.0, 5.0, 10.0), 100, 10)
SMALL = Setting(("enron",), (0.5, 5.0), 1, 2)

OWN, PUBLIC = "sample's own", "49, public"
LOCAL, SQL = "SLD-PrivTopk", "PrivateSQL (noise too small)"


def sampled(graph: Graph, rng: np.random.Generator) -> Graph:
    """Return the subgraph of the first nodes that a breadth-first search reaches."""
    found: list[int] = []
    while len(found) < NODES:  # a seed in a smaller component is given up
        found = [int(rng.integers(len(graph)))]
        for node in found:
            near = graph.rows[graph.starts[node] : graph.starts[node + 1]].tolist()
            found += [one for one in near if one not in found][: NODES - len(found)]
            if len(found) >= NODES:
                break
    inside = np.array(found)
    return Graph.from_edges(_edges_among(graph, inside), nodes=NODES)


def _edges_among(graph: Graph, inside: Indices) -> list[tuple[int, int]]:
    place = {int(node): position for position, node in enumerate(inside)}
    return [
        (place[node], place[one])
        for node in place
        for one in graph.rows[graph.starts[node] : graph.starts[node + 1]].tolist()
        if one in place and place[node] < place[one]
    ]


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every sample of every graph."""
    return [
        Cell(graph, sample, setting.epsilons, setting.runs)
        for graph, sample in product(setting.graphs, range(setting.samples))
    ]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return the mean recall over k for each epsilon, of both methods."""
    part = sampled(graphs.load(cell.graph), rng)
    bounds = {OWN: int(part.degrees.max()), PUBLIC: NODES - 1}
    answers = counts(part)
    units = {
        name: scaling.shifted(
            ego_betweenness(part, max_degree=bound, sensitivity="degree"), "non-decreasing"
        )
        for name, bound in bounds.items()
    }
    order = np.argsort(-ego_betweenness(part).scores, kind="stable")
    rows: list[Row] = []
    for epsilon in cell.epsilons:
        recalls: dict[tuple[str, str], list[float]] = {}
        for k in (1, 2, 3):
            for name, unit in units.items():
                drawn = Exponential().simulate(unit, epsilon, k=k, size=10 * cell.runs, rng=rng)
                recalls.setdefault((LOCAL, name), []).append(np.isin(drawn, order[:k]).mean())
            tops = [
                top_not_private(answers, k, epsilon=epsilon, rng=rng) for _ in range(cell.runs)
            ]
            recalls.setdefault((SQL, "10"), []).append(np.isin(tops, order[:k]).mean())
        rows += [
            {
                "graph": graphs.TITLES[cell.graph],
                "sample": cell.sample,
                "method": method,
                "bound": bound,
                "epsilon": epsilon,
                "recall": float(np.mean(several)),
            }
            for (method, bound), several in recalls.items()
        ]
    return rows


def plot(frame: pl.DataFrame) -> Figure:
    """Draw the mean over samples against epsilon, a panel for each graph."""
    keys = ["graph", "method", "bound", "epsilon"]
    return panels(
        frame.group_by(keys, maintain_order=True)
        .agg(pl.col("recall").mean())
        .with_columns(line=pl.format("{}, degrees to {}", "method", "bound")),
        x="epsilon",
        y="recall",
        line="line",
        panel="graph",
        x_label="epsilon for all k nodes (edge neighbours)",
        y_label="recall of the true top k, mean of k = 1, 2, 3",
        log="x",
    )


TABLE = {
    ("enron", LOCAL): (0.06, 0.45, 0.60, 0.84, 0.88),
    ("enron", SQL): (0.01, 0.01, 0.16, 0.20, 0.21),
    ("dblp_htne", LOCAL): (0.05, 0.27, 0.44, 0.87, 0.92),
    ("dblp_htne", SQL): (0.02, 0.02, 0.05, 0.11, 0.21),
    ("github_musae", LOCAL): (0.07, 0.49, 0.69, 0.86, 0.91),
    ("github_musae", SQL): (0.02, 0.02, 0.02, 0.03, 0.07),
}
"""The printed table; DBLP is com-dblp there."""


TOLERANCES = {LOCAL: 0.1, SQL: 0.08}
"""Of the first: twice the standard error of ten samples, .05 at most."""

SAMPLES = "ten samples whose seeds are not known, and no word on the bound or on k"
SQL_REASON = (
    "noise as the text states it leaves a choice by chance; how the paper's recall grows with "
    "epsilon does not follow from the text"
)


def _printed() -> list[Printed]:
    return [
        Printed(
            {
                "graph": graphs.TITLES[graph],
                "method": method,
                "bound": OWN if method == LOCAL else "10",
                "epsilon": epsilon,
            },
            "recall",
            value,
            TOLERANCES[method],
            "Table 1",
            reason=SAMPLES if method == LOCAL else SQL_REASON,
        )
        for (graph, method), values in TABLE.items()
        for epsilon, value in zip(FULL.epsilons, values, strict=True)
    ]


STUDY = Study(
    title="Table 1: recall of SLD-PrivTopk and of PrivateSQL on samples of 50 nodes",
    small=SMALL,
    full=FULL,
    cells=cells,
    measure=measure,
    plot=plot,
    printed=_printed(),
    discussion="""
A printed cell is taken to be the mean over k = 1, 2, 3, which the text does not say. Samples
are drawn anew, a hundred a graph where the paper has ten: they differ so much that a mean of
ten has a standard error of up to .05, and the tolerance is twice that. DBLP is a substitute.
With the sample's own largest degree as the bound 13 of 15 cells of SLD-PrivTopk agree; ours are
lower by .18 and .11 at epsilon 0.5 and 1 on Enron. With 49, the bound that is public, they are
higher by up to .08.

**PrivateSQL is a choice by chance here**, .03 to .04 at every epsilon, since one view has 1/50
of epsilon and a sensitivity of at least 1,448. The paper's grows to .21 on Enron and DBLP: we
do not see how, and our sensitivity is too small for samples with larger degrees, which errs in
its favour. The .01 and .02 that are printed for small epsilons are less than chance has.
""",
)
