"""Sums of both rates of evolved trees, by the size of the search.

``python benchmarks/trees_front.py DATA [OUT]`` reads ``nltcs``, ``acs`` and ``adult`` from the
folder DATA and writes ``trees_front.csv`` into OUT, ``benchmarks/results`` if not given. A sum
is that of the exact rates, on the records it was trained with, of the tree that a release calls
best; epsilon 10^7 is without privacy. First in each data set, without epsilon: a tree of
scikit-learn of the same depth, with balanced classes. Seconds are those of the processor for
one run. One process.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
from sklearn.tree import DecisionTreeClassifier

import dpselect as dp
from dpselect.trees.counts import MemoryCounts
from dpselect.trees.front import Evolution
from dpselect.typing import Values
from dpselect_studies.simulated import Simulated
from trees_folds import DATA_SETS
from trees_mechanisms import MAX_RECORDS, load

SIZES = ((100, 4), (300, 4), (1000, 4), (100, 8), (300, 8), (100, 16))
"""Populations and generations."""
EPSILONS = (0.1, 1.0, 50.0, 1e7)
RUNS, DEPTH = 20, 5


def sums(counts: MemoryCounts, front: dp.TreeFront) -> Iterator[tuple[float, float]]:
    """Yield the sum of the best tree's exact rates, and the seconds, of each run."""
    training = cast(Evolution, front.design())
    for run in range(-1, RUNS):
        start = time.process_time()
        sampler = Simulated(np.random.default_rng([1, run + 1]))
        trees = training.run(counts, sampler, np.random.default_rng([0, run + 1]))
        noisy = cast("Values", training.noisy_rates(trees, counts, sampler))
        seconds = time.process_time() - start
        exact = counts.hits(trees) / counts.totals()
        if run >= 0:  # the first compiles
            yield exact[noisy.sum(axis=1).argmax()].sum(), seconds


def rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the results of all data sets, sizes and epsilons."""
    for name in DATA_SETS:
        codes, labels, schema = load(folder, name)
        counts = MemoryCounts.of_records(schema, codes, labels)
        tree = DecisionTreeClassifier(max_depth=DEPTH, class_weight="balanced", random_state=0)
        found = tree.fit(codes, labels).predict(codes) == labels
        yield {
            "data": name,
            "mean": float(found[labels == 1].mean() + found[labels == 0].mean()),
        }
        for (population, generations), epsilon in product(SIZES, EPSILONS):
            front = dp.TreeFront(
                population=population,
                generations=generations,
                max_depth=DEPTH,
                domains=dict(zip(schema.names, schema.domains, strict=True)),
                classes=schema.classes,
                max_records=MAX_RECORDS[name],
                epsilon=epsilon,
                neighbours="add-remove",
            )
            found, seconds = np.array(list(sums(counts, front))).T
            yield {
                "data": name,
                "population": population,
                "generations": generations,
                "epsilon": epsilon,
                "mean": found.mean(),
                "sd": found.std(ddof=1),
                "least": found.min(),
                "most": found.max(),
                "seconds": seconds.mean(),
            }


def main() -> None:
    """Measure everything and write the table."""
    folder = Path(sys.argv[1])
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).with_name("results")
    table = []
    for row in rows(folder):
        table.append(row)
        print(*row.values(), flush=True)
    pl.DataFrame(table, infer_schema_length=None).with_columns(
        pl.col("mean", "sd", "least", "most", "seconds").round(4)
    ).write_csv(out / "trees_front.csv")


if __name__ == "__main__":
    main()
