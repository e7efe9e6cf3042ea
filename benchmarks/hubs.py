"""Hubs through noisy degrees: recall of the true top 10, beside degree alone, on real graphs.

Run: ``python benchmarks/hubs.py``, with the data sets in the folder of the environment
variable ``DPSELECT_DATA``. Both are simulated 200 times with Laplace noise of NumPy, of the
scales of the release; exact counts of a node and a cap are kept between simulations. Recall is
that of the 10 nodes of the largest ego betweenness, for the hubs (30 of them) and for the noisy
sequence of degrees at the same epsilon. Results: ``benchmarks/results/hubs.csv``.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from dpselect.networks import Graph, hubs

DATA = Path(os.environ["DPSELECT_DATA"])
RESULTS = Path(__file__).with_name("results") / "hubs.csv"
GRAPHS = {"ca_astroph": 18_772, "enron": 36_692, "github_musae": 37_700}
EPSILONS = (0.1, 0.5, 1.0, 2.0)
K, HUBS, SIMULATIONS = 10, 30, 200


def rows(name: str) -> Iterator[tuple[object, ...]]:
    """Yield the results of one graph."""
    path = DATA / f"{name}.parquet"
    graph = Graph.from_edges(path, source="src", target="dst", nodes=GRAPHS[name])
    top = set(np.argsort(-graph.ego_betweenness(), kind="stable")[:K].tolist())
    degrees, rng = graph.degrees, np.random.default_rng(15)
    metric = hubs.HUB_METRICS["ego-betweenness"]

    @cache
    def flow(hub: int, cap: int) -> int:
        return hubs.flow(*hubs.ego_edges(graph, hub), cap)

    for epsilon in EPSILONS:
        found = np.zeros(2)
        for _ in range(SIMULATIONS):
            half = epsilon / 2
            noisy = np.rint(degrees + rng.laplace(0, 2 / half, degrees.size))
            chosen = np.argsort(-noisy, kind="stable")[:HUBS]
            held = np.clip(noisy[chosen], 2, degrees.size - 1)
            caps = np.ceil(metric.cap_share * held).astype(np.int64)
            scales = 2 * caps * hubs.moved_together(1 / caps) / half
            counts = [flow(*one) for one in zip(chosen.tolist(), caps.tolist(), strict=True)]
            edges = np.rint(counts + rng.laplace(0, 1, HUBS) * scales) / 2
            densities = hubs.estimated_densities(edges, scales / np.sqrt(2), held)
            best = chosen[np.argsort(-metric.estimate(densities, held), kind="stable")[:K]]
            alone = degrees + rng.laplace(0, 2 / epsilon, degrees.size)
            by_degree = np.argsort(-alone, kind="stable")[:K]
            found += [len(top & set(one.tolist())) / K for one in (best, by_degree)]
        yield name, K, epsilon, *(f"{one:.4g}" for one in found / SIMULATIONS)
        print(f"{name}, epsilon = {epsilon}", flush=True)


def main() -> None:
    """Measure, and write the results."""
    found = [row for name in GRAPHS for row in rows(name)]
    with RESULTS.open("w", encoding="utf-8", newline="") as stored:
        writer = csv.writer(stored, lineterminator="\n")
        writer.writerow(("graph", "k", "epsilon", "hubs", "degree"))
        writer.writerows(found)


if __name__ == "__main__":
    main()
