"""Top k by counts: k rounds against one noisy sequence, recall and gap, on real data.

Run: ``python benchmarks/topk.py [NAME ...]``, with the data sets in the folder of the
environment variable ``DPSELECT_DATA``; all if no name is given. Rounds are permute-and-flip,
drawn exactly. The sequence is simulated from the law of its exact sampler, whose time is
measured besides: one vector of noise gives every k. Recall is the share of the true top k that
is drawn (of ties for the last places, as many count as there are places), the gap how far the
mean score of the drawn ones is below that of the top k, and "right" how often all k are. The
results are written to ``benchmarks/results/topk.csv``.
"""

from __future__ import annotations

import csv
import os
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.mechanisms.crossing import rounds_or_sequence
from dpselect.networks import Graph, degree
from dpselect.typing import Indices

DATA = Path(os.environ["DPSELECT_DATA"])
RESULTS = Path(__file__).with_name("results") / "topk.csv"
KS = (1, 3, 5, 10, 20, 100)
EPSILONS = (0.1, 0.5, 1.0, 2.0)
DRAWS = 200
COLUMNS = ("data", "candidates", "l1", "k", "epsilon", "method", "recall", "gap", "right")


def graph(name: str, nodes: int) -> dp.Objective:
    """Return the degrees of a graph; one edge is protected."""
    path = DATA / f"{name}.parquet"
    return degree(Graph.from_edges(path, source="src", target="dst", nodes=nodes))


def values(column: str, first: int, last: int) -> dp.Objective:
    """Return how many people of Adult have each value; each has one."""
    ages = pl.read_parquet(DATA / "adult.parquet")[column].to_numpy()
    counts = np.bincount(np.clip(ages, first, last) - first, minlength=last - first + 1)
    one = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE, l1=1)
    return dp.Objective(counts, one, range(first, last + 1), monotone=True, step=1)


def attributes() -> dp.Objective:
    """Return how many people of ACS have each of 23 attributes; one may have all."""
    table = pl.read_parquet(DATA / "acs.parquet")
    one = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE, l1=table.width)
    counts = table.sum().row(0)
    return dp.Objective(counts, one, table.columns, monotone=True, step=1)


OBJECTIVES: dict[str, Callable[[], dp.Objective]] = {
    "enron": lambda: graph("enron", 36_692),
    "github_musae": lambda: graph("github_musae", 37_700),
    "ego_twitter": lambda: graph("ego_twitter", 81_306),
    "ca_astroph": lambda: graph("ca_astroph", 18_772),
    "adult, age": lambda: values("age", 17, 90),
    "adult, hours": lambda: values("hours_per_week", 1, 99),
    "acs, attributes": attributes,
}


def measures(objective: dp.Objective, drawn: Indices) -> tuple[float, float, float]:
    """Return the mean recall and gap, and how often all are right; drawn: ``(draws, k)``."""
    scores, k = objective.scores, drawn.shape[1]
    top = np.sort(scores)[-k:]
    got, last = scores[drawn], top[0]
    places = k - (scores > last).sum()
    hits = ((got > last).sum(axis=1) + np.minimum((got == last).sum(axis=1), places)) / k
    return float(hits.mean()), float(top.mean() - got.mean()), float((hits == 1).mean())


def rows(name: str) -> Iterator[tuple[object, ...]]:
    """Yield the results of one data set."""
    objective = OBJECTIVES[name]()
    n, l1 = len(objective), objective.sensitivity.l1
    ks = [k for k in KS if k <= n // 2]
    rng = np.random.default_rng(15)
    for epsilon in EPSILONS:
        sequence = dp.NoisySequence(epsilon=epsilon)
        once = sequence.simulate(objective, max(ks), size=DRAWS, rng=rng).indices
        rounds = dp.PermuteAndFlip(epsilon=epsilon)
        for k in ks:
            drawn = np.array([rounds.choose(objective, k) for _ in range(DRAWS)])
            suited = rounds_or_sequence(rounds, objective, k).name
            for method, found in (("rounds", drawn), ("sequence", once[:, :k])):
                figures = measures(objective, found)
                yield (name, n, l1, k, epsilon, method, *(f"{one:.4g}" for one in figures))
            print(f"{name} epsilon={epsilon} k={k}: planned {suited}", flush=True)


def time_of_a_million() -> None:
    """Print the seconds of exact releases from 10^6 candidates."""
    counts = np.random.default_rng(0).zipf(1.5, 10**6) % 10**6
    one = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE, l1=1)
    objective = dp.Objective(counts, one, monotone=True, step=1)
    for mechanism in (dp.NoisySequence(epsilon=1.0), dp.PermuteAndFlip(epsilon=1.0)):
        for k in (1, 10, 100):
            start = perf_counter()
            mechanism.release(objective, k)
            print(f"10^6 candidates, k={k}, {mechanism.name}: {perf_counter() - start:.2f} s")
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")


def main() -> None:
    """Measure, and replace the rows of the measured data sets in the stored results."""
    names = sys.argv[1:] or list(OBJECTIVES)
    if names == ["time"]:
        time_of_a_million()
        return
    found = [row for name in names for row in rows(name)]
    kept: list[list[str]] = []
    if RESULTS.exists():
        with RESULTS.open(encoding="utf-8", newline="") as stored:
            kept = [row for row in list(csv.reader(stored))[1:] if row[0] not in names]
    with RESULTS.open("w", encoding="utf-8", newline="") as stored:
        writer = csv.writer(stored, lineterminator="\n")
        writer.writerows([COLUMNS, *kept, *found])


if __name__ == "__main__":
    main()
