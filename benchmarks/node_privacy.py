"""Node privacy: recall of the true top 10 by degree, beside edge privacy, on real graphs.

Run: ``python benchmarks/node_privacy.py``, with the data sets in the folder of the environment
variable ``DPSELECT_DATA``. All are simulated 200 times with noise of NumPy, of the scales of
the releases. Beside ``protect="node"`` at several caps are three others at the same epsilon:

- ``edge``: the noisy sequence of degrees, which protects an edge;
- ``projected``: Laplace noise on degrees that are capped, for what the best projection to
  graphs of a degree of at most the cap ``D`` moves of all degrees together: ``2 D`` (a node of
  ``D`` edges is removed from a star). No edge that it loses is counted against it;
- ``rounds``: the exponential mechanism in 10 rounds, each for a sensitivity of the cap.

``ceiling`` is the most that any mechanism reaches, whatever its cap (Theorem 52 of
``docs/theory.md``). Results: ``benchmarks/results/node_privacy.csv``.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dpselect as dp
from dpselect.networks import Graph
from dpselect.networks.node_privacy import NodeDesign

DATA = Path(os.environ["DPSELECT_DATA"])
RESULTS = Path(__file__).with_name("results") / "node_privacy.csv"
GRAPHS = {"ca_astroph": 18_772, "enron": 36_692, "github_musae": 37_700}
EPSILONS = (0.5, 1.0, 3.0, 10.0, 20.0)
CAPS = (250, 500, 1000, 2000)
K, SIMULATIONS = 10, 200
COLUMNS = (
    "graph",
    "k",
    "tenth degree",
    "epsilon",
    "cap",
    "node",
    "projected",
    "rounds",
    "edge",
)


def decay(n: int, cap: int, epsilon: float) -> float:
    """Return the decay of a release."""
    design = dp.TopNodes(
        nodes=n, k=K, metric="degree", protect="node", max_degree=cap, epsilon=epsilon
    ).design()
    assert isinstance(design, NodeDesign)  # noqa: S101 -- for the type
    return design.decay


def rows(name: str) -> Iterator[tuple[object, ...]]:
    """Yield the results of one graph."""
    path = DATA / f"{name}.parquet"
    n = GRAPHS[name]
    degrees = Graph.from_edges(path, source="src", target="dst", nodes=n).degrees
    order = np.argsort(-degrees, kind="stable")[:K]
    top, rng = set(order.tolist()), np.random.default_rng(36)

    def recall(scores: NDArray[Any], noise: str) -> float:
        found = 0
        for _ in range(SIMULATIONS):
            noisy = scores + getattr(rng, noise)(size=n)
            found += len(top & set(np.argpartition(noisy, -K)[-K:].tolist()))
        return found / (K * SIMULATIONS)

    for epsilon in EPSILONS:
        edge = recall(degrees * (epsilon / 2), "laplace")
        ceiling = K * exp(2 * epsilon) / (exp(2 * epsilon) + n - 1)
        for cap in CAPS:
            capped = np.minimum(degrees, cap)
            measured = (
                recall(capped * decay(n, cap, epsilon), "gumbel"),
                recall(capped * (epsilon / (2 * cap)), "laplace"),
                recall(capped * (epsilon / (2 * K * cap)), "gumbel"),
                edge,
                min(1.0, ceiling),
            )
            at = (name, K, int(degrees[order[-1]]), epsilon, cap)
            yield *at, *(f"{one:.4g}" for one in measured)
        print(f"{name}, epsilon = {epsilon}", flush=True)


def main() -> None:
    """Measure, and write the results."""
    found = [row for name in GRAPHS for row in rows(name)]
    with RESULTS.open("w", encoding="utf-8", newline="") as stored:
        writer = csv.writer(stored, lineterminator="\n")
        writer.writerow((*COLUMNS, "ceiling"))
        writer.writerows(found)


if __name__ == "__main__":
    main()
