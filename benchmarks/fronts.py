"""How often a draw is on the Pareto front, by the combination, and fronts of evolved trees.

``python benchmarks/fronts.py DATA [OUT]`` reads graphs and ``nltcs`` from the folder DATA and
writes ``fronts.csv`` into OUT, ``benchmarks/results`` if not given. Of graphs the value is the
exact probability that one draw is on the front of degree and ego density; of trees the metric C
(0 at best: no tree is dominated by one that was found without privacy), strict, as a mean over
runs at the settings of PrivPareto's published code: class 13, epsilon split over three
selections, weak dominance. Plain dampening is measured a second time with a score of 0 dampened
to 0, whatever its sensitivity. One process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest import mock

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.networks import Graph, degree, ego_density
from dpselect.trees.counts import MemoryCounts
from dpselect.trees.domains import Categories
from dpselect.trees.evolution import Evolution
from dpselect.trees.records import Schema
from dpselect.typing import Scores
from dpselect_studies.farias_2024.evolving import (
    NO_PRIVACY,
    Maximum,
    Method,
    Sizes,
    evolution,
    rates,
)

GRAPHS = MappingProxyType(
    {"github_musae": 37_700, "enron": 36_692, "dblp_htne": 28_085, "ca_astroph": 17_903}
)
EPSILONS = (0.1, 0.5, 1.0, 5.0, 50.0)
NO_LEADS = "plain, D(0) = 0"

CLASS = "a13"
SIZES = Sizes(population=30, survivors=3, front=3, generations=3, initial_depth=3, max_depth=9)
OF_TREES = (0.1, 0.5, 2.0)
RUNS = 100


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


def evolutions(schema: Schema, epsilon: float) -> Mapping[str, Evolution]:
    """Return how trees evolve, by method; epsilon is the price of all selections."""
    each = epsilon / SIZES.generations
    methods = {
        "Pareto, global": Method("pareto", "global", dominance="weak"),
        "Pareto, plain": Method("pareto", "local", dominance="weak"),
        f"Pareto, {NO_LEADS}": Method("pareto", "local", dominance="weak"),
    }
    return {name: evolution(schema, SIZES, one, each) for name, one in methods.items()}


def of_trees(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the mean of C for every method and epsilon, with its standard error."""
    frame = pl.read_parquet(folder / "nltcs.parquet")
    names = [one for one in frame.columns if one != CLASS]
    schema = Schema(tuple(names), (Categories([0, 1]),) * len(names), (0, 1))
    codes, labels = frame.select(names).to_numpy(), frame[CLASS].to_numpy()
    counts = MemoryCounts.of_records(
        schema, np.ascontiguousarray(codes, dtype=np.int64), labels.astype(np.int64)
    )
    free = evolution(schema, SIZES, Method("pareto", "global", dominance="weak"), NO_PRIVACY)
    for epsilon in OF_TREES:
        for method, plan in evolutions(schema, epsilon).items():
            found = []
            for run in range(RUNS):
                best = rates(free, counts, np.random.default_rng([0, run]), Maximum)
                with without_leads() if NO_LEADS in method else nullcontext():
                    drawn = rates(plan, counts, np.random.default_rng([1, run]))
                found.append(dp.combine.coverage(best, drawn, dominance="strict"))
            yield {
                "data": "nltcs",
                "method": method,
                "epsilon": epsilon,
                "value": float(np.mean(found)),
                "error": float(np.std(found) / np.sqrt(RUNS - 1)),
            }


def main() -> None:
    """Measure everything and write the table."""
    folder = Path(sys.argv[1])
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).with_name("results")
    table = []
    for part in (of_graphs, of_trees):
        for row in part(folder):
            table.append(row)
            print(*row.values(), flush=True)
    pl.DataFrame(table, infer_schema_length=None).with_columns(
        pl.col("value", "error").round(4)
    ).write_csv(out / "fronts.csv")


if __name__ == "__main__":
    main()
