"""Accuracy of trees by how their splits are drawn, on the folds of the other trees.

``python benchmarks/trees_mechanisms.py DATA [OUT]`` reads ``nltcs``, ``acs`` and ``adult`` from
the folder DATA and writes into OUT, ``benchmarks/results`` if not given:
``trees_mechanisms.csv`` of DiffPID3 by mechanisms, and, which ``--default`` writes alone,
``trees_default.csv`` of the default with its depth, on those and on scikit-learn's breast
cancer (the ten means). Numbers have ten bins between public bounds; those of breast cancer are
the range, wider by a half standard deviation on both sides. One process.
"""

from __future__ import annotations

import sys
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer

import dpselect as dp
from dpselect.trees import records
from dpselect.trees.counts import MemoryCounts
from dpselect.trees.domains import Bins, Categories, Schema
from dpselect.trees.id3 import Growth
from dpselect.trees.tree import Tree
from dpselect.typing import Indices
from dpselect_studies.simulated import Simulated
from trees_folds import ADULT_NUMBERS, ADULT_UNUSED, DATA_SETS, EPSILONS, FOLDS, folds

MECHANISMS = ("shifted", "permute-and-flip", "exponential", "local-dampening", "pairwise")
DEPTHS = (2, 5)
RUNS = 1
MAX_RECORDS = {"cancer": 1_000, "nltcs": 25_000, "acs": 60_000, "adult": 60_000}


@cache
def load(folder: Path, name: str) -> tuple[Indices, Indices, Schema]:
    """Return codes, labels and the schema; the class is the last column, or the income."""
    if name == "cancer":
        return cancer()
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


def cancer() -> tuple[Indices, Indices, Schema]:
    """Return the same of scikit-learn's breast cancer."""
    x, labels = load_breast_cancer(return_X_y=True)
    x = x[:, :10]
    wider = x.std(axis=0) / 2
    ends = zip(x.min(axis=0) - wider, x.max(axis=0) + wider, strict=True)
    domains = tuple(Bins(float(low), float(high), bins=10) for low, high in ends)
    schema = Schema(tuple(f"x{j}" for j in range(10)), domains, (0, 1))
    return records.codes(records.read(x), schema), labels.astype(np.int64), schema


def grown(schema: Schema, epsilon: float, most: int, **fields: Any) -> Growth:  # noqa: ANN401
    """Return the growth of a tree over a schema."""
    query = dp.ID3Tree(
        domains=schema.named,
        classes=schema.classes,
        max_records=most,
        epsilon=epsilon,
        neighbours="add-remove",
        **fields,
    )
    return cast(Growth, query.design())


def accuracies(folder: Path, name: str, growth: Growth, runs: int) -> list[float]:
    """Return the accuracy on each fold of each run."""
    codes, labels, schema = load(folder, name)
    found = []
    for run, fold in product(range(runs), range(FOLDS)):
        part = folds(len(labels), run)
        train, test = part != fold, part == fold
        counts = MemoryCounts.of_records(schema, codes[train], labels[train])
        sampler = Simulated(np.random.default_rng([run, fold]))
        tree = Tree(schema, growth.grow(counts, sampler))
        answers = tree.probabilities(codes[test]).argmax(axis=1)
        found.append(float((answers == labels[test]).mean()))
    return found


def row(folder: Path, name: str, by: str, growth: Growth, runs: int) -> dict[str, object]:
    """Return one line of a table."""
    found = np.array(accuracies(folder, name, growth, runs))
    line = {
        "data": name,
        "depth": growth.depth,
        "epsilon": growth.asked.epsilon,
        "mechanism": by,
        "runs": runs,
        "accuracy": round(float(found.mean()), 5),
        "sd_of_folds": round(float(found.std(ddof=1)), 5),
    }
    print(*line.values(), flush=True)
    return line


def main() -> None:
    """Measure everything and write the tables."""
    folder, *rest = (Path(one) for one in sys.argv[1:] if not one.startswith("-"))
    out = rest[0] if rest else Path(__file__).with_name("results")
    rows = []
    for name, epsilon in product(MAX_RECORDS, EPSILONS):
        schema, most = load(folder, name)[2], MAX_RECORDS[name]
        growth = grown(schema, epsilon, most)
        rows.append(row(folder, name, "default", growth, 10 if name == "cancer" else RUNS))
    pl.DataFrame(rows).write_csv(out / "trees_default.csv")
    if "--default" in sys.argv:
        return
    rows = []
    for name, depth, epsilon, by in product(DATA_SETS, DEPTHS, EPSILONS, MECHANISMS):
        schema, most = load(folder, name)[2], MAX_RECORDS[name]
        growth = grown(
            schema,
            epsilon,
            most,
            max_depth=depth,
            criterion="information-gain",
            mechanism=by,
            splits="values",
        )
        rows.append(row(folder, name, by, growth, RUNS))
    pl.DataFrame(rows).write_csv(out / "trees_mechanisms.csv")


if __name__ == "__main__":
    main()
