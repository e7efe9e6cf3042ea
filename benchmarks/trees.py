"""Private trees on NLTCS: cross-validation, the root's sensitivity, evolution.

Each table measures the naive version in the same run, or says what it extrapolates from.
``python benchmarks/trees.py DATA`` takes the folder of ``nltcs.parquet``; ``--quick`` does a
tenth of the work.
"""

from __future__ import annotations

import platform
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from itertools import product
from math import log2
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl

import dpselect as dp
from dpselect import trees
from dpselect.trees.criteria import objective_of
from dpselect.trees.domains import Categories
from dpselect.trees.growth import Growth
from dpselect.trees.moet import MultiObjectiveTreeClassifier
from dpselect.trees.patterns import Patterns, compress
from dpselect.trees.records import Schema
from dpselect.trees.sampling import Simulated
from dpselect.trees.selection import Allowance, Selection
from dpselect.trees.structure import Tree
from dpselect.typing import Indices

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0)
WORKERS = 2


def pool() -> ProcessPoolExecutor:
    """Return fresh processes: polars does not survive a fork."""
    return ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn"))


@cache
def load(folder: Path, name: str = "nltcs") -> tuple[Indices, Indices, Schema]:
    """Return codes, labels (the last column) and the schema of a table of zeros and ones."""
    table = pl.read_parquet(folder / f"{name}.parquet").to_numpy().astype(np.int64)
    columns = table.shape[1] - 1
    names = tuple(f"a{j:02}" for j in range(columns))
    return table[:, :-1], table[:, -1], Schema(names, (Categories([0, 1]),) * columns, (0, 1))


def accuracy_of_fold(
    folder: Path, epsilon: float, mechanism: str, depth: int, job: tuple[int, int]
) -> float:
    """Train on nine tenths of the records, test on one; ``job`` is (run, fold)."""
    codes, labels, schema = load(folder)
    run, fold = job
    part = np.random.default_rng(run).permutation(len(labels)) % 10
    train, test = part != fold, part == fold
    plan = Growth(schema, epsilon, depth, "information-gain", mechanism, 25_000)  # type: ignore[arg-type]
    patterns = compress(codes[train], labels[train], schema.sizes, 2)
    sampler = Simulated(np.random.default_rng([run, fold]))
    tree = Tree(schema, plan.grow(patterns, sampler))
    found = tree.probabilities(codes[test]).argmax(axis=1)
    return float((found == labels[test]).mean())


def cross_validation(folder: Path, runs: int, workers: ProcessPoolExecutor) -> None:
    """Time 10-fold cross-validation of shifted ID3 at depth 5 over six epsilons."""
    jobs = list(product(range(runs), range(10)))
    first = partial(accuracy_of_fold, folder, 1.0, "shifted", 5)
    list(workers.map(first, jobs[: 2 * WORKERS]))
    start = time.perf_counter()
    for epsilon in EPSILONS:
        one = partial(accuracy_of_fold, folder, epsilon, "shifted", 5)
        mean = np.mean(list(workers.map(one, jobs, chunksize=5)))
        print(f"  epsilon {epsilon:<5g} mean accuracy {mean:.4f}")
    seconds = time.perf_counter() - start
    print(f"shifted ID3, {runs} x 10 folds x {len(EPSILONS)} epsilons: {seconds:.1f} s\n")


def by_enumeration(a: int, b: int, upto: int) -> float:
    """Sum the changes of one cell over the distances as the paper's Algorithm 5 does.

    Every distance enumerates all cells that so many removals and additions reach.
    """

    def rise(x: int) -> float:
        return (x + 1) * log2(x + 1) - (x * log2(x) if x else 0.0)

    def change(a: int, b: int) -> float:
        return rise(a - 1) - rise(b - 1) if b else rise(a)

    total = 0.0
    for t in range(upto):
        total += max(change(a + t - 2 * i, b - i) for i in range(min(b, t) + 1))
    return total


def root(folder: Path) -> None:
    """Time the shifted score's sum over all distances at the root of a tree."""
    codes, labels, schema = load(folder)
    patterns = compress(codes, labels, schema.sizes, 2)
    tables = patterns.tables(np.arange(len(patterns.codes)), schema.sizes)
    objective = objective_of("information-gain", tables, schema.names, max_records=21_574)
    objective.sensitivity.shortfall()
    start = time.perf_counter()
    repeats = 20
    for _ in range(repeats):
        objective.sensitivity.shortfall()
    ours = (time.perf_counter() - start) / repeats
    # Enumeration grows with the square of the distance: measure it up to 600 in one cell
    # with enough records, and extrapolate to all distances and all cells.
    upto = 600
    start = time.perf_counter()
    by_enumeration(12_000, 6_000, upto)
    measured = time.perf_counter() - start
    cells = 2 * int(schema.sizes.sum())
    naive = measured * (21_574 / upto) ** 2 / 2 * cells
    print("root, sum over 21,574 distances of 15 columns, the enumeration extrapolated")
    print(f"  from {upto} distances of one cell, halved because the rarest class runs out:")
    print(f"  ours {ours * 1e3:.2f} ms, enumeration {naive:,.0f} s, {naive / ours:,.0f} x\n")


def evolve(
    folder: Path, epsilon: float, selection: Selection, sensitivity: Allowance, run: int
) -> tuple[float, float]:
    """Run DP-MOET in the setting of Table 1; return both exact rates of the first tree."""
    codes, labels, schema = load(folder)
    patterns: Patterns = compress(codes, labels, schema.sizes, 2)
    classifier = MultiObjectiveTreeClassifier(
        epsilon,
        selection=selection,
        sensitivity=sensitivity,
        population=30,
        survivors=3,
        front=3,
        generations=3,
        initial_depth=3,
        max_depth=9,
        rates_share=0.0,
        domains=dict(zip(schema.names, schema.domains, strict=True)),
        classes=schema.classes,
        max_records=25_000,
        random_state=run,
    )
    plan = classifier._plan(schema, 25_000)  # noqa: SLF001 -- experiments stay inside
    front = plan.run(patterns, Simulated(np.random.default_rng(run)))
    hits = plan.hits(front, patterns)[0] / patterns.counts.sum(axis=0)
    return float(hits[1]), float(hits[0])


def evolution(folder: Path, runs: int, workers: ProcessPoolExecutor) -> None:
    """Time many runs of DP-MOET for every selection."""
    ways: list[tuple[Selection, Allowance]] = [
        ("pareto", "global"),
        ("pareto", "local"),
        ("margin", "noisy-denominators"),
        ("weighted-sum", "local"),
        ("weighted-sum", "noisy-denominators"),
    ]
    for selection, sensitivity in ways:
        one = partial(evolve, folder, 1.0, selection, sensitivity)
        list(workers.map(one, range(2 * WORKERS)))
        start = time.perf_counter()
        found = np.array(list(workers.map(one, range(runs), chunksize=5)))
        seconds = time.perf_counter() - start
        print(
            f"DP-MOET {selection}, {sensitivity}: {runs} runs in {seconds:.1f} s, "
            f"mean TPR {found[:, 0].mean():.3f}, TNR {found[:, 1].mean():.3f}"
        )


def main() -> None:
    """Print all tables."""
    quick = "--quick" in sys.argv
    folder = Path(next(part for part in sys.argv[1:] if not part.startswith("-")))
    print(f"Python {platform.python_version()}, {WORKERS} processes, dpselect {dp.__version__}")
    print(f"{trees.__name__}: NLTCS, 21,574 records of 16 binary columns\n")
    root(folder)
    with pool() as workers:
        cross_validation(folder, 1 if quick else 10, workers)
        evolution(folder, 50 if quick else 500, workers)


if __name__ == "__main__":
    main()
