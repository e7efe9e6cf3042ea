"""Private search of tree parameters, and clear leads.

``python benchmarks/tuning.py accuracy DATA NAME RUNS OUT`` measures one data set of the folder
DATA (``adult``, ``acs`` or ``nltcs``) and writes ``tuning_NAME.csv`` into the folder OUT, which
is ``benchmarks/results`` for the stored ones: accuracy on a tenth of the records of a private
search over depth x criterion x mechanism of DiffPID3, of its shifted tree of depth 5 (called
default) at the same epsilon, and of a search that is not private, which fits every candidate at
the whole epsilon and counts exactly. All three get the same records. ``leads`` prints a table.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from dpselect.draws import Exponential as ExponentialDraw, PermuteAndFlip as PermuteAndFlipDraw
from dpselect.trees import Bins, ID3Classifier
from dpselect.typing import Values
from dpselect_applications.tuning import (
    PrivateSearchCV,
    StableArgmax,
)
from trees_folds import ADULT_NUMBERS, ADULT_UNUSED, folds

RESULTS = Path(__file__).with_name("results")
EPSILONS = (0.5, 1.0, 2.0)
GRID: dict[str, list[Any]] = {
    "max_depth": [1, 2, 3, 5, 8],
    "criterion": ["information-gain", "gini", "majority"],
    "mechanism": ["permute-and-flip", "shifted"],
}
MAX_RECORDS = 50_000


def load(folder: Path, name: str) -> tuple[pl.DataFrame, pl.Series, ID3Classifier]:
    """Return columns, labels and a tree with the public claims about them."""
    table = pl.read_parquet(folder / f"{name}.parquet")
    domains: dict[str, Any] = {}
    if name == "adult":
        label = "income"
        for column in table.columns:
            if column in ADULT_NUMBERS:
                domains[column] = Bins(*ADULT_NUMBERS[column])
            elif column not in ADULT_UNUSED:
                domains[column] = sorted(table[column].cast(pl.String).unique())
    else:
        label = table.columns[-1]
        domains = {column: [0, 1] for column in table.columns[:-1]}
    labels = table[label].cast(pl.String) if name == "adult" else table[label]
    tree = ID3Classifier(
        EPSILONS[0],
        domains=domains,
        classes=sorted(labels.unique()),
        max_records=MAX_RECORDS,
        max_depth=5,
        criterion="information-gain",
        mechanism="shifted",
        splits="values",
    )
    return table.select(*domains), labels, tree


def accuracy(folder: Path, name: str, runs: int, out: Path) -> None:
    """Measure a data set, and write a row for each run, epsilon and way."""
    x, y, tree = load(folder, name)
    rows = []
    for run in range(runs):
        test = folds(len(y), run) == 0
        fit = x.filter(~test), y.filter(~test)
        held = x.filter(test), y.filter(test)
        for epsilon in EPSILONS:
            search = PrivateSearchCV(tree, GRID, epsilon=epsilon).fit(*fit)
            default = clone(tree).set_params(epsilon=epsilon).fit(*fit)
            scores = {
                "private search": search.score(*held),
                "default": default.score(*held),
                "search, not private": not_private(tree, epsilon, fit, run).score(*held),
            }
            chosen = " ".join(str(value) for value in search.best_params_.values())
            rows += [[name, epsilon, run, way, score] for way, score in scores.items()]
            print(name, epsilon, run, scores, chosen, flush=True)
        # After every run, so that a long measurement can be stopped.
        with (out / f"tuning_{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["data", "epsilon", "run", "way", "accuracy"])
            writer.writerows(rows)


def not_private(
    tree: ID3Classifier, epsilon: float, fit: tuple[pl.DataFrame, pl.Series], run: int
) -> ID3Classifier:
    """Return the best of all candidates, each fitted at epsilon, by an exact count."""
    x, y = fit
    held = np.random.default_rng(run).random(len(y)) < 0.3
    trials = [
        clone(tree)
        .set_params(epsilon=epsilon, **one)
        .fit(x.filter(pl.Series(~held)), y.filter(pl.Series(~held)))
        for one in ParameterGrid(GRID)
    ]
    valid = x.filter(pl.Series(held)), y.filter(pl.Series(held))
    return max(trials, key=lambda trial: trial.score(*valid))


def leads() -> None:
    """Print the lead, in counts, with which the best is released with probability 0.95."""
    print("epsilon, delta, n: StableArgmax, exponential, permute-and-flip; n - 1 equal rivals")
    for epsilon, delta in product((0.1, 1.0), (1e-6, 1e-9)):
        stable = StableArgmax(epsilon=epsilon, delta=delta, neighbours="add-remove")
        for n in (10, 10**4, 10**6):
            needed = [
                least_lead(n, partial(draw.probabilities, epsilon=2 * epsilon))
                for draw in (ExponentialDraw(), PermuteAndFlipDraw())
            ]
            print(epsilon, delta, n, stable.lead_for(0.95), *needed)


def least_lead(n: int, law: Callable[..., Values]) -> int:
    """Return the least integer lead with which the first of n candidates has 0.95."""
    low, high = 0, 2**12
    while low + 1 < high:
        middle = (low + high) // 2
        scores = np.zeros(n)
        scores[0] = middle
        low, high = (low, middle) if law(scores)[0] >= 0.95 else (middle, high)
    return high


def main() -> None:
    """Make the table that is asked for."""
    what, *rest = sys.argv[1:]
    if what == "accuracy":
        accuracy(Path(rest[0]), rest[1], int(rest[2]), Path(rest[3]))
    else:
        leads()


if __name__ == "__main__":
    main()
