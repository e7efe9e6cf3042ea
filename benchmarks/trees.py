"""Private trees on NLTCS: cross-validation, the root's sensitivity, evolution.

Each table measures the naive version in the same run, or says what it extrapolates from.
``python benchmarks/trees.py DATA`` takes the folder of ``nltcs.parquet``; ``--quick`` does a
tenth of the work. Times are those of the clock, and of both processors together, which says
more where others use the machine.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from itertools import product
from math import log2
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numba import njit

import dpselect as dp
from dpselect import trees
from dpselect.trees.base import Simulated
from dpselect.trees.counts import MemoryCounts
from dpselect.trees.criteria import objective_of
from dpselect.trees.domains import Categories, Schema
from dpselect.trees.front import RateBound, Selection
from dpselect.trees.id3 import Growth
from dpselect.trees.tree import Tree
from dpselect.typing import Indices, Values
from trees_folds import EPSILONS, FOLDS, folds

WORKERS = 2


class Measured(NamedTuple):
    """What many jobs returned, and the seconds of the clock and of all processors."""

    values: Values
    clock: float
    processors: float

    def __str__(self) -> str:
        return f"{self.clock:.1f} s, {self.processors:.1f} s of processors"


def pool() -> ProcessPoolExecutor:
    """Return fresh processes: polars does not survive a fork."""
    return ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn"))


def measure(
    workers: ProcessPoolExecutor, function: Callable[[Any], Any], jobs: Sequence[object]
) -> Measured:
    """Call a function with every job, in all workers."""
    start = time.perf_counter()
    done = list(workers.map(partial(_one, function), jobs, chunksize=5))
    clock = time.perf_counter() - start
    return Measured(np.array([value for value, _ in done]), clock, sum(s for _, s in done))


def _one(function: Callable[[Any], Any], job: object) -> tuple[Any, float]:
    start = time.process_time()
    return function(job), time.process_time() - start


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
    part = folds(len(labels), run)
    train, test = part != fold, part == fold
    plan = Growth(schema, epsilon, depth, "information-gain", mechanism, 25_000)
    counts = MemoryCounts.of_records(schema, codes[train], labels[train])
    sampler = Simulated(np.random.default_rng([run, fold]))
    tree = Tree(schema, plan.grow(counts, sampler))
    found = tree.probabilities(codes[test]).argmax(axis=1)
    return float((found == labels[test]).mean())


def cross_validation(folder: Path, runs: int, workers: ProcessPoolExecutor) -> None:
    """Time 10-fold cross-validation of shifted ID3 at depth 5 over six epsilons."""
    jobs = list(product(range(runs), range(FOLDS)))
    first = partial(accuracy_of_fold, folder, 1.0, "shifted", 5)
    list(workers.map(first, jobs[: 2 * WORKERS]))
    clock = processors = 0.0
    for epsilon in EPSILONS:
        one = partial(accuracy_of_fold, folder, epsilon, "shifted", 5)
        done = measure(workers, one, jobs)
        clock, processors = clock + done.clock, processors + done.processors
        print(f"  epsilon {epsilon:<5g} mean accuracy {done.values.mean():.4f}")
    whole = Measured(np.array([]), clock, processors)
    print(f"shifted ID3, {runs} x {FOLDS} folds x {len(EPSILONS)} epsilons: {whole}\n")


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
        largest = 0.0
        for i in range(min(b, t) + 1):
            largest = max(largest, change(a + t - 2 * i, b - i))
        total += largest
    return total


def root(folder: Path) -> None:
    """Time the shifted score's sum over all distances at the root of a tree."""
    codes, labels, schema = load(folder)
    [tables] = MemoryCounts.of_records(schema, codes, labels).tables(0, 1)
    objective = objective_of("information-gain", tables, schema.names, max_records=21_574)
    objective.sensitivity.shortfall()
    start = time.process_time()
    repeats = 20
    for _ in range(repeats):
        objective.sensitivity.shortfall()
    ours = (time.process_time() - start) / repeats
    print("root, sum over 21,574 distances of 15 columns, the enumeration extrapolated from")
    print("one cell, with the square of the distance, halved as the rarest class runs out")
    cells = 2 * int(schema.sizes.sum())
    compiled = njit(by_enumeration)
    compiled(12_000, 6_000, 1)
    for name, function, upto in (
        ("Python", by_enumeration, 600),
        ("compiled", compiled, 6_000),
    ):
        start = time.process_time()
        function(12_000, 6_000, upto)
        naive = (time.process_time() - start) * (21_574 / upto) ** 2 / 2 * cells
        print(
            f"  ours {ours * 1e3:.2f} ms, enumeration in {name}, from {upto:,} distances: "
            f"{naive:,.0f} s, {naive / ours:,.0f} x"
        )
    print()


def evolve(
    folder: Path, epsilon: float, selection: Selection, rate_bound: RateBound, run: int
) -> tuple[float, float]:
    """Run DP-MOET in the setting of Table 1; return both exact rates of the first tree."""
    codes, labels, schema = load(folder)
    counts = MemoryCounts.of_records(schema, codes, labels)
    front = dp.TreeFront(
        selection=selection,
        rate_bound=rate_bound,
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
        epsilon=epsilon,
        neighbours="add-remove",
    )
    sampler = Simulated(np.random.default_rng(run))
    drawn = front.design().training.run(counts, sampler, np.random.default_rng(run))
    hits = counts.hits(drawn)[0] / counts.totals()
    return float(hits[1]), float(hits[0])


def evolution(folder: Path, runs: int, workers: ProcessPoolExecutor) -> None:
    """Time many runs of DP-MOET for every selection."""
    ways: list[tuple[Selection, RateBound]] = [
        ("pareto", "global"),
        ("pareto", "local"),
        ("margin", "noisy-denominators"),
        ("weighted-sum", "local"),
        ("weighted-sum", "noisy-denominators"),
    ]
    for selection, rate_bound in ways:
        one = partial(evolve, folder, 1.0, selection, rate_bound)
        list(workers.map(one, range(2 * WORKERS)))
        done = measure(workers, one, range(runs))
        tpr, tnr = done.values.mean(axis=0)
        print(
            f"DP-MOET {selection}, {rate_bound}: {runs} runs in {done}, mean TPR {tpr:.3f}, "
            f"TNR {tnr:.3f}"
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
