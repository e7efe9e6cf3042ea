"""Figure 8: ego betweenness of each node of Enron against its sensitivity at distance 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy import stats

from dpselect.networks import ego_betweenness
from dpselect_studies import graphs
from dpselect_studies.study import Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Setting:
    """The graphs."""

    graphs: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """One graph."""

    graph: str


FULL = Setting(("enron",))
SMALL = FULL


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every graph."""
    return [Cell(graph) for graph in setting.graphs]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:  # noqa: ARG001 -- all is exact
    """Return the distinct points, how many nodes each stands for, and the rank correlation."""
    graph = graphs.load(cell.graph)
    bound = graphs.own_bound(cell.graph)
    objective = ego_betweenness(graph, max_degree=bound, sensitivity="degree")
    sensitivity = objective.sensitivity.at(0)
    points = pl.DataFrame(
        {"betweenness": objective.scores.round(2), "sensitivity": sensitivity}
    )
    correlation = float(stats.spearmanr(objective.scores, sensitivity)[0])
    several = points.group_by("betweenness", "sensitivity").len("nodes")
    return [
        {"graph": graphs.TITLES[cell.graph], "rank_correlation": correlation, **row}
        for row in several.sort("betweenness", "sensitivity").to_dicts()
    ]


def plot(frame: pl.DataFrame) -> Figure:
    """Draw one dot for each point, on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(
        frame["betweenness"].to_numpy() + 1, frame["sensitivity"].to_numpy() + 1, ".", ms=2
    )
    axes.set(xscale="log", yscale="log")
    axes.set_xlabel("ego betweenness, plus 1")
    axes.set_ylabel("sensitivity at distance 0, plus 1 (one edge)")
    return figure


STUDY = Study(
    title="Figure 8: ego betweenness of Enron's nodes against its sensitivity",
    small=SMALL,
    full=FULL,
    seconds=6,
    cells=cells,
    measure=measure,
    plot=plot,
    discussion="""
One dot for each pair of values, for all 36,692 nodes of Enron. The rank correlation is
{rank_correlation: Enron}, the "weak monotonicity" of the text. No number is printed.
""",
)
