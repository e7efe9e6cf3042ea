"""Top k by counts: k rounds, one noisy sequence, and the joint exponential mechanism.

Run: ``python benchmarks/topk.py [NAME ...]``, with the data sets in the folder of the
environment variable ``DPSELECT_DATA``; all if no name is given; ``time`` for the time of real
releases from 10^6 candidates. Rounds are permute-and-flip. Both are simulated: the sequence
from the law of its sampler, one vector of noise for every k, the rounds by the noisy maximum of
each group of candidates with equal scores. Recall is the share of the true top k that
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
from dpselect.mechanisms.top_k import rounds_or_sequence
from dpselect.networks import Graph, degree
from dpselect.typing import Values

DATA = Path(os.environ["DPSELECT_DATA"])
RESULTS = Path(__file__).with_name("results") / "topk.csv"
KS = (1, 3, 5, 10, 20, 100)
EPSILONS = (0.1, 0.5, 1.0, 2.0)
DRAWS = 200
COLUMNS = (
    "data",
    "candidates",
    "l1",
    "k",
    "epsilon",
    "method",
    "planned",
    "recall",
    "gap",
    "right",
)


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


def places(most: int) -> dp.Objective:
    """Return how many people of Gowalla were at each place, of at most so many a person."""
    table = pl.read_parquet(DATA / "points_gowalla_u5628.parquet")
    capped = table.unique(["user", "poi"]).sort("user", "poi").group_by("user").head(most)
    counts = capped["poi"].value_counts()["count"].to_numpy()
    one = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE, l1=most)
    return dp.Objective(counts, one, monotone=True, step=1)


OBJECTIVES: dict[str, Callable[[], dp.Objective]] = {
    "enron": lambda: graph("enron", 36_692),
    "github_musae": lambda: graph("github_musae", 37_700),
    "ego_twitter": lambda: graph("ego_twitter", 81_306),
    "ca_astroph": lambda: graph("ca_astroph", 18_772),
    "adult, age": lambda: values("age", 17, 90),
    "adult, hours": lambda: values("hours_per_week", 1, 99),
    "acs, attributes": attributes,
    "gowalla, 5 places": lambda: places(5),
    "gowalla, 50 places": lambda: places(50),
}


def rounds(objective: dp.Objective, k: int, epsilon: float, rng: np.random.Generator) -> Values:
    """Return the scores that rounds of permute-and-flip draw, shape ``(DRAWS, k)``.

    The maximum of ``m`` exponential noises is ``-ln(1 - U^(1/m))``.
    """
    scores, sizes = np.unique(objective.scores, return_counts=True)
    left = np.repeat(sizes[None, :].astype(float), DRAWS, axis=0)
    scale = k * objective.sensitivity.bound / epsilon
    drawn = np.empty((DRAWS, k))
    for round_ in range(k):
        with np.errstate(divide="ignore"):
            noise = -np.log(-np.expm1(np.log(rng.random(left.shape)) / left))
        noisy = np.where(left > 0, scores + scale * noise, -np.inf)
        best = noisy.argmax(axis=1)
        drawn[:, round_] = scores[best]
        left[np.arange(DRAWS), best] -= 1
    return drawn


def joint(objective: dp.Objective, k: int, epsilon: float, rng: np.random.Generator) -> Values:
    """Return the scores that the joint exponential mechanism draws, shape ``(DRAWS, k)``.

    A sequence of k candidates has the weight e^(-epsilon U / 2), U the largest shortfall of a
    drawn count from the count of its rank: a mixture over u >= U of uniform sequences of a
    shortfall of at most u. Counts are integers that move by at most 1.
    """
    ranked = np.sort(objective.scores)[::-1]
    shortfalls = np.arange(int(ranked[0] - ranked[-1]) + 1)
    # How many candidates may have rank i: those of at least the count of the rank less u.
    allowed = [
        ranked.size - np.searchsorted(ranked[::-1], ranked[i] - shortfalls) for i in range(k)
    ]
    logs = sum(np.log(count - i) for i, count in enumerate(allowed)) - epsilon / 2 * shortfalls
    logs[:-1] += np.log(-np.expm1(-epsilon / 2))
    law = np.exp(logs - logs.max())
    drawn = np.empty((DRAWS, k))
    for row, u in zip(drawn, rng.choice(shortfalls, DRAWS, p=law / law.sum()), strict=True):
        places: list[int] = []
        for i in range(k):
            while (place := int(rng.integers(allowed[i][u]))) in places:
                pass
            places.append(place)
        row[:] = ranked[places]
    return drawn


def measures(objective: dp.Objective, got: Values) -> tuple[float, float, float]:
    """Return the mean recall and gap, and how often all are right; got: ``(DRAWS, k)``."""
    k = got.shape[1]
    top = np.sort(objective.scores)[-k:]
    last = top[0]
    places = k - (objective.scores > last).sum()
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
        once = sequence.simulate(objective, max(ks), size=DRAWS, rng=rng)
        got = objective.scores[once]
        flip = dp.PermuteAndFlip(epsilon=epsilon)
        for k in ks:
            sequence = dp.NoisySequence(epsilon=flip.epsilon).for_objective(objective)
            planned = rounds_or_sequence(flip, objective, k, sequence) is not flip
            by_rounds = rounds(objective, k, epsilon, rng)
            found_by = {"rounds": by_rounds, "sequence": got[:, :k]}
            found_by["joint"] = joint(objective, k, epsilon, rng)
            for method, found in found_by.items():
                figures = (f"{one:.4g}" for one in measures(objective, found))
                chosen = method == ("sequence" if planned else "rounds")
                yield (name, n, l1, k, epsilon, method, chosen, *figures)
        print(f"{name}, epsilon = {epsilon}", flush=True)


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
