"""Hubs through noisy degrees: recall of the true top k, beside degree alone, on real graphs.

Run: ``python benchmarks/hubs.py``, with the data sets in the folder of the environment variable
``DPSELECT_DATA``. Every number is the mean of 100 real releases with the exact noise; the exact
counts of a node and a cap are kept between releases. Ego betweenness: recall of the ``k`` nodes
of the largest one, of the hubs (``3 k`` of them), and of the noisy sequence of degrees at the
same epsilon. Ego density: the mean density of 10 nodes drawn from the 100 of the largest noisy
degrees, over that of the 10 densest of the 100 of the largest degrees. The results are written
to ``benchmarks/results/hubs.csv``.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from dpselect.networks import Graph, ego_flow, release_hubs, release_nodes
from dpselect.typing import Indices, Values

DATA = Path(os.environ["DPSELECT_DATA"])
RESULTS = Path(__file__).with_name("results") / "hubs.csv"
GRAPHS = {"ca_astroph": 18_772, "enron": 36_692, "github_musae": 37_700}
EPSILONS = (0.1, 0.5, 1.0, 2.0)
KS = (10,)
RELEASES = 100


def rows(name: str) -> Iterator[tuple[object, ...]]:
    """Yield the results of one graph."""
    path = DATA / f"{name}.parquet"
    graph = Graph.from_edges(path, source="src", target="dst", nodes=GRAPHS[name])

    @cache
    def flow(hub: int, cap: int) -> int:
        return ego_flow.flow(*ego_flow.ego_edges(graph, hub), cap)

    def flows(graph: Graph, hubs: Sequence[int], caps: Sequence[int]) -> Indices:
        del graph
        return np.array([flow(hub, cap) for hub, cap in zip(hubs, caps, strict=True)])

    ego_flow.flows = flows
    between = graph.ego_betweenness()
    density = graph.triangles() / np.maximum(graph.degrees * (graph.degrees - 1) / 2, 1)
    best = np.sort(density[np.argsort(-graph.degrees)[:100]])[-10:].mean()
    for epsilon in EPSILONS:
        for k in KS:
            yield name, "ego-betweenness", k, epsilon, *recalls(graph, between, k, epsilon)
        print(f"{name}, epsilon = {epsilon}", flush=True)
    share = dense(graph, density, 1.0) / best
    yield name, "ego-density", 10, 1.0, f"{share:.4g}", ""


def recalls(graph: Graph, between: Values, k: int, epsilon: float) -> tuple[str, str]:
    """Return the mean recall of the hubs and of the degrees."""
    top = set(np.argsort(-between, kind="stable")[:k].tolist())
    found = np.zeros(2)
    for _ in range(RELEASES):
        hubs = release_hubs(graph, k, metric="ego-betweenness", epsilon=epsilon)
        degrees = release_nodes(
            graph, k, metric="degree", mechanism="noisy-sequence", epsilon=epsilon
        )
        found += [len(top & set(one.answer)) / k for one in (hubs, degrees)]
    of_hubs, of_degrees = found / RELEASES
    return f"{of_hubs:.4g}", f"{of_degrees:.4g}"


def dense(graph: Graph, density: Values, epsilon: float) -> float:
    """Return the mean density of ten nodes."""
    drawn = [
        release_hubs(graph, 10, metric="ego-density", hubs=100, epsilon=epsilon).answer
        for _ in range(RELEASES)
    ]
    return float(density[np.array(drawn)].mean())


def main() -> None:
    """Measure, and write the results."""
    found = [row for name in GRAPHS for row in rows(name)]
    with RESULTS.open("w", encoding="utf-8", newline="") as stored:
        writer = csv.writer(stored, lineterminator="\n")
        writer.writerow(("graph", "metric", "k", "epsilon", "hubs", "degree"))
        writer.writerows(found)


if __name__ == "__main__":
    main()
