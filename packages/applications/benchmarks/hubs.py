"""Hubs through noisy degrees: recall of the true top 10, beside degree alone, on real graphs.

Run: ``python benchmarks/hubs.py``, with the data sets in the folder of the environment
variable ``DPSELECT_DATA``. Both are simulated 200 times with Laplace noise of NumPy, of the
scales of the release; exact counts of a node and a cap are kept between simulations. Recall is
that of the 10 nodes of the largest ego betweenness, for the hubs (30 of them) and for the noisy
sequence of degrees at the same epsilon. ``ratio`` is the median of the hubs' scores over their
ego betweenness, where scores are estimates of it. Results: ``benchmarks/results/hubs.csv``.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import numpy as np

import dpselect as dp
from dpselect.networks import Graph
from dpselect_applications.hubs import hubs

DATA = Path(os.environ["DPSELECT_DATA"])
RESULTS = Path(__file__).with_name("results") / "hubs.csv"
GRAPHS = {
    "les_miserables": 77,
    "ca_astroph": 18_772,
    "dblp_htne": 28_085,
    "enron": 36_692,
    "github_musae": 37_700,
}
EPSILONS = (0.1, 0.5, 1.0, 2.0, 10.0)
K, HUBS, SIMULATIONS = 10, 30, 200


def rows(name: str) -> Iterator[tuple[object, ...]]:
    """Yield the results of one graph."""
    if name == "les_miserables":
        novel = nx.les_miserables_graph()
        graph = Graph.from_networkx(novel, nodes=novel.nodes)
    else:
        path = DATA / f"{name}.parquet"
        graph = Graph.from_edges(path, source="src", target="dst", nodes=GRAPHS[name])
    true = graph.ego_betweenness()
    top = set(np.argsort(-true, kind="stable")[:K].tolist())
    degrees, rng = graph.degrees, np.random.default_rng(15)

    @cache
    def flow(hub: int, cap: int) -> int:
        return hubs.flow(*hubs.ego_edges(graph, hub), cap)

    for epsilon in EPSILONS:
        found, ratios = np.zeros(2), list[float]()
        query = dp.Hubs(nodes=len(graph), k=K, metric="ego-betweenness", epsilon=epsilon)
        share = query.plan.spends[0].epsilon / epsilon
        for _ in range(SIMULATIONS):
            alone = degrees + rng.laplace(0, 2 / epsilon, degrees.size)
            by_degree = set(np.argsort(-alone, kind="stable")[:K].tolist())
            found[1] += len(top & by_degree) / K
            if share == 1:
                continue
            noisy = np.rint(degrees + rng.laplace(0, 2 / (share * epsilon), degrees.size))
            chosen = np.argsort(-noisy, kind="stable")[:HUBS]
            held = np.clip(noisy[chosen], 2, degrees.size - 1)
            caps = hubs.caps_of(held, HUBS, hubs.largest_cap(len(graph)))
            scales = 2 * caps * hubs.moved_together(1 / caps) / ((1 - share) * epsilon)
            counts = [flow(*one) for one in zip(chosen.tolist(), caps.tolist(), strict=True)]
            edges = np.rint(counts + rng.laplace(0, 1, HUBS) * scales) / 2
            densities = hubs.estimated_densities(edges, scales / np.sqrt(2), held)
            estimates = hubs.estimated_betweenness(densities, held)
            best = np.argsort(-estimates, kind="stable")[:K]
            found[0] += len(top & set(chosen[best].tolist())) / K
            ratios.extend((estimates[best] / np.maximum(true[chosen[best]], 1)).tolist())
        if share == 1:
            found[0] = found[1]
        ratio = f"{np.median(ratios):.3g}" if ratios else ""
        yield name, K, epsilon, *(f"{one:.4g}" for one in found / SIMULATIONS), ratio
        print(f"{name}, epsilon = {epsilon}", flush=True)


def main() -> None:
    """Measure, and write the results."""
    found = [row for name in GRAPHS for row in rows(name)]
    with RESULTS.open("w", encoding="utf-8", newline="") as stored:
        writer = csv.writer(stored, lineterminator="\n")
        writer.writerow(("graph", "k", "epsilon", "hubs", "degree", "ratio"))
        writer.writerows(found)


if __name__ == "__main__":
    main()
