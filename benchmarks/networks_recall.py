"""How many of the k nodes of highest ego betweenness each mechanism finds.

Run: ``python benchmarks/networks_recall.py [FOLDER]``, with the folder as for ``networks.py``.
Writes ``docs/networks-recall.md`` and ``docs/networks-recall.png``. The graphs are public:
recall reads the true scores.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from matplotlib import pyplot as plt

from dpselect import scaling
from dpselect.draws import Draw, Exponential, PermuteAndFlip
from dpselect.networks import EgoBetweenness, Graph, degree
from dpselect.typing import Scores

GRAPHS = {"enron": 36_692, "github_musae": 37_700}
MAX_DEGREE = 10_000
EPSILONS = [10.0**power for power in range(-3, 5)]
ROUNDS = [5, 10, 20]
SIMULATIONS = 100
DOCS = Path(__file__).parents[1] / "docs"


class Contender(NamedTuple):
    """Unit scores of all nodes, and the draw that follows."""

    name: str
    scores: Scores
    draw: Draw


def contenders(graph: Graph) -> list[Contender]:
    """Return the baseline by degree, and every mechanism on ego betweenness."""
    once, em, pf = degree(graph), Exponential(), PermuteAndFlip()
    metrics = {form: EgoBetweenness(MAX_DEGREE, form) for form in ("degree", "codegree")}
    forms = {form: metric.objective(graph) for form, metric in metrics.items()}
    tight = forms["codegree"]
    anchor = metrics["codegree"].largest(graph)
    found = [
        Contender("degree, exponential", scaling.by_global(once), em),
        Contender("degree, permute-and-flip", scaling.by_global(once), pf),
        Contender("exponential", scaling.by_global(tight), em),
        Contender("permute-and-flip", scaling.by_global(tight), pf),
    ]
    for form, objective in forms.items():
        shifted = scaling.shifted(objective, "non-decreasing")
        found += [
            Contender(f"local-dampening ({form})", scaling.dampened(objective), em),
            Contender(f"shifted ({form})", shifted, em),
            Contender(f"pairwise ({form})", scaling.pairwise(objective), em),
            Contender(f"anchored ({form})", scaling.anchored(objective, anchor), em),
        ]
    found.append(
        Contender("local-dampening (codegree), permute-and-flip", scaling.dampened(tight), pf)
    )
    return found


def recalls(name: str, graph: Graph) -> pl.DataFrame:
    """Return the mean recall for every contender, number of nodes and epsilon."""
    rng = np.random.default_rng(0)
    true = np.argsort(-EgoBetweenness().objective(graph).scores, kind="stable")
    rows = []
    for contender in contenders(graph):
        for k in ROUNDS:
            for epsilon in EPSILONS:
                drawn = contender.draw.simulate(
                    contender.scores, epsilon, k=k, size=SIMULATIONS, rng=rng
                )
                recall = float(np.isin(drawn, true[:k]).mean())
                rows.append((name, k, contender.name, epsilon, recall))
    columns = ["graph", "k", "mechanism", "epsilon", "recall"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def as_markdown(table: pl.DataFrame) -> str:
    """Return one Markdown table for each graph and k."""
    parts = []
    for (graph, k), group in table.group_by("graph", "k", maintain_order=True):
        wide = group.pivot("epsilon", index="mechanism", values="recall")
        header = ["mechanism", *(f"{epsilon:g}" for epsilon in EPSILONS)]
        lines = [f"\n## {graph}, k = {k}\n", " | ".join(header)]
        lines.append(" | ".join(["---", *("---:" for _ in EPSILONS)]))
        lines += [
            " | ".join([str(values[0]), *(f"{value:.2f}" for value in values[1:])])
            for values in wide.drop("graph", "k", strict=False).iter_rows()
        ]
        parts.append("\n".join([lines[0], *(f"| {line} |" for line in lines[1:])]))
    return "\n".join(parts)


def plot(table: pl.DataFrame) -> None:
    """Draw recall against epsilon, a panel for each graph and k."""
    figure, axes = plt.subplots(
        len(GRAPHS), len(ROUNDS), figsize=(12, 6), sharex=True, sharey=True
    )
    panels = table.group_by("graph", "k", maintain_order=True)
    for panel, ((graph, k), group) in zip(axes.flat, panels, strict=True):
        for (mechanism,), line in group.group_by("mechanism", maintain_order=True):
            style = "--" if str(mechanism).startswith("degree") else "-"
            panel.semilogx(line["epsilon"], line["recall"], style, label=mechanism, alpha=0.8)
        panel.set_title(f"{graph}, k = {k}", fontsize="medium")
    figure.supxlabel("epsilon for all k nodes")
    figure.supylabel("recall of the true top k")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", fontsize="small")
    figure.set_layout_engine("constrained")
    figure.savefig(DOCS / "networks-recall.png", dpi=70)


def main() -> None:
    """Simulate, and write the table and the plot."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["DPSELECT_DATA"])
    tables = [
        recalls(
            name,
            Graph.from_edges(
                folder / f"{name}.parquet", source="src", target="dst", nodes=nodes
            ),
        )
        for name, nodes in GRAPHS.items()
    ]
    table = pl.concat(tables)
    text = (
        "# Recall of the most influential nodes\n\n"
        f"Mean recall of the k nodes of highest ego betweenness over {SIMULATIONS} "
        "simulations, by epsilon for all k nodes together. All but the rows that say degree "
        "choose by ego betweenness, with the public bound of "
        f"{MAX_DEGREE:,} on degrees; in parentheses the form of its sensitivity. Made by "
        "`benchmarks/networks_recall.py`; what it means is in [networks](networks.md).\n"
    )
    (DOCS / "networks-recall.md").write_text(f"{text}{as_markdown(table)}\n", encoding="utf-8")
    plot(table)


if __name__ == "__main__":
    main()
