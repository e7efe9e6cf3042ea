"""How often a draw is on the Pareto front, by the combination.

``python benchmarks/fronts.py DATA [OUT]`` reads graphs from the folder DATA and writes
``fronts.csv`` into OUT, ``benchmarks/results`` if not given. The value is the exact probability
that one draw is on the front of degree and ego density. Plain dampening is measured a second
time with a score of 0 dampened to 0, whatever its sensitivity. One process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest import mock

import polars as pl

import dpselect as dp
from dpselect.networks import Graph, degree, ego_density
from dpselect.typing import Scores

GRAPHS = MappingProxyType(
    {"github_musae": 37_700, "enron": 36_692, "dblp_htne": 28_085, "ca_astroph": 17_903}
)
EPSILONS = (0.1, 0.5, 1.0, 5.0, 50.0)
NO_LEADS = "plain, D(0) = 0"


def without_leads() -> AbstractContextManager[object]:
    """Dampen scores of 0 to 0."""
    return mock.patch.object(import_module("dpselect.scaling.dampened"), "LONGEST_LEAD", 0)


def laws(parts: list[dp.Objective]) -> Mapping[str, Callable[[float], Scores]]:
    """Return the distribution of one draw by method and epsilon."""
    front, margin = dp.pareto(parts), dp.margin(parts)

    def no_leads(epsilon: float) -> Scores:
        with without_leads():
            return dp.LocalDampening(epsilon=epsilon).probabilities(front)

    return {
        "Pareto, global": lambda e: dp.ExponentialMechanism(epsilon=e).probabilities(front),
        f"Pareto, {NO_LEADS}": no_leads,
        "Pareto, plain": lambda e: dp.LocalDampening(epsilon=e).probabilities(front),
        "Pareto, pairwise": lambda e: dp.PairwiseLocalDampening(epsilon=e).probabilities(front),
        "Pareto, shifted": lambda e: dp.ShiftedLocalDampening(
            epsilon=e, direction="non-increasing"
        ).probabilities(front),
        "margin": lambda e: dp.PermuteAndFlip(epsilon=e).probabilities(margin),
        "degree alone": lambda e: dp.PermuteAndFlip(epsilon=e).probabilities(parts[0]),
    }


def of_graphs(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the probability of the front for every graph, method and epsilon."""
    for name, nodes in GRAPHS.items():
        path = folder / f"{name}.parquet"
        graph = Graph.from_edges(path, source="src", target="dst", nodes=nodes)
        parts = [degree(graph), ego_density(graph)]
        best = dp.combine.pareto_front(parts)
        for method, law in laws(parts).items():
            for epsilon in EPSILONS:
                value = float(law(epsilon)[best].sum())
                yield {"data": name, "method": method, "epsilon": epsilon, "value": value}


def main() -> None:
    """Measure everything and write the table."""
    folder = Path(sys.argv[1])
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).with_name("results")
    table = []
    for row in of_graphs(folder):
        table.append(row)
        print(*row.values(), flush=True)
    pl.DataFrame(table).with_columns(pl.col("value").round(4)).write_csv(out / "fronts.csv")


if __name__ == "__main__":
    main()
