"""Accuracy of ID3 trees by how their splits are drawn, on the folds of the other trees.

``python benchmarks/trees_mechanisms.py DATA [OUT]`` reads ``nltcs``, ``acs`` and ``adult`` from
the folder DATA and writes ``trees_mechanisms.csv`` into OUT, ``benchmarks/results`` if not
given. Numbers of Adult have ten bins between their public bounds. One process.
"""

from __future__ import annotations

import sys
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from dpselect.trees import records
from dpselect.trees.counts import MemoryCounts
from dpselect.trees.domains import Bins, Categories
from dpselect.trees.growth import Growth
from dpselect.trees.records import Schema
from dpselect.trees.samplers import Simulated
from dpselect.trees.tree import Tree
from dpselect.typing import Indices
from trees_folds import ADULT_NUMBERS, ADULT_UNUSED, DATA_SETS, EPSILONS, FOLDS, folds

MECHANISMS = ("shifted", "permute-and-flip", "exponential", "local-dampening", "pairwise")
DEPTHS = (2, 5)
RUNS = 1
MAX_RECORDS = {"nltcs": 25_000, "acs": 60_000, "adult": 60_000}


@cache
def load(folder: Path, name: str) -> tuple[Indices, Indices, Schema]:
    """Return codes, labels and the schema; the class is the last column, or the income."""
    frame = pl.read_parquet(folder / f"{name}.parquet")
    label = "income" if name == "adult" else frame.columns[-1]
    kept = [one for one in frame.columns if one != label and one not in ADULT_UNUSED]
    texts = frame.select(
        pl.col(one) if one in ADULT_NUMBERS else pl.col(one).cast(pl.String) for one in kept
    )
    domains = tuple(
        Bins(*ADULT_NUMBERS[one], bins=10)
        if one in ADULT_NUMBERS
        else Categories(sorted(texts[one].drop_nulls().unique()))
        for one in kept
    )
    classes = frame[label].cast(pl.String)
    schema = Schema(tuple(kept), domains, tuple(sorted(classes.unique())))
    codes = records.codes(records.read(texts, fields=len(kept)), schema)
    return codes, (classes == schema.classes[1]).to_numpy().astype(np.int64), schema


def accuracies(
    folder: Path, name: str, depth: int, epsilon: float, by: str | None
) -> list[float]:
    """Return the accuracy on each fold of each run."""
    codes, labels, schema = load(folder, name)
    growth = Growth(schema, epsilon, depth, "information-gain", by, MAX_RECORDS[name])
    found = []
    for run, fold in product(range(RUNS), range(FOLDS)):
        part = folds(len(labels), run)
        train, test = part != fold, part == fold
        counts = MemoryCounts.of_records(schema, codes[train], labels[train])
        sampler = Simulated(np.random.default_rng([run, fold]))
        tree = Tree(schema, growth.grow(counts, sampler))
        answers = tree.probabilities(codes[test]).argmax(axis=1)
        found.append(float((answers == labels[test]).mean()))
    return found


def main() -> None:
    """Measure everything and write the table."""
    folder = Path(sys.argv[1])
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).with_name("results")
    rows = []
    for name, depth, epsilon, by in product(DATA_SETS, DEPTHS, EPSILONS, MECHANISMS):
        found = np.array(accuracies(folder, name, depth, epsilon, by))
        rows.append(
            {
                "data": name,
                "depth": depth,
                "epsilon": epsilon,
                "mechanism": by,
                "runs": RUNS,
                "accuracy": round(float(found.mean()), 5),
                "sd_of_folds": round(float(found.std(ddof=1)), 5),
            }
        )
        print(*rows[-1].values(), flush=True)
    pl.DataFrame(rows).write_csv(out / "trees_mechanisms.csv")


if __name__ == "__main__":
    main()
