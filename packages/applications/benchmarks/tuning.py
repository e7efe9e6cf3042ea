"""Private search of tree parameters, costs of repeated runs, and clear leads.

``python benchmarks/tuning.py accuracy DATA NAME RUNS OUT`` measures one data set of the folder
DATA (``adult``, ``acs`` or ``nltcs``) and writes ``tuning_NAME.csv`` into the folder OUT, which
is ``benchmarks/results`` for the stored ones: accuracy on a tenth of the records of a private
search over depth x criterion x mechanism of DiffPID3, of its shifted tree of depth 5 (called
default) at the same epsilon, and of a search that is not private, which fits every candidate at
the whole epsilon and counts exactly. All three get the same records. ``summary`` prints the
means of the stored results, and
``costs``, ``simulations`` and ``leads`` print their tables.
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
from dp_accounting import ComposedDpEvent
from dp_accounting.dp_event import RandomizedResponseDpEvent, RepeatAndSelectDpEvent
from dp_accounting.privacy_accountant import NeighboringRelation
from dp_accounting.rdp import RdpAccountant
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from dpselect.draws import Exponential as ExponentialDraw, PermuteAndFlip as PermuteAndFlipDraw
from dpselect.trees import Bins, ID3Classifier
from dpselect.typing import Indices, Values
from dpselect_applications.tuning import (
    Geometric,
    Logarithmic,
    Poisson,
    PrivateSearchCV,
    Repetitions,
    StableArgmax,
    TruncatedNegativeBinomial,
    best_probabilities,
    renyi_of_best,
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


def summary() -> None:
    """Print the mean accuracies of all measured data sets, with their standard errors."""
    files = sorted(RESULTS.glob("tuning_*.csv"))
    table = pl.concat([pl.read_csv(file) for file in files])
    wide = (
        table.group_by("data", "epsilon", "way")
        .agg(
            mean=pl.col("accuracy").mean(),
            error=pl.col("accuracy").std() / pl.len().sqrt(),
            runs=pl.len(),
        )
        .sort("data", "epsilon", "way")
    )
    for row in wide.iter_rows():
        print("{:6} {:4} {:20} {:.4f} +- {:.4f} ({} runs)".format(*row))


LAWS: tuple[Repetitions, ...] = (
    TruncatedNegativeBinomial(mean=10, shape=-0.5),
    Logarithmic(mean=10),
    TruncatedNegativeBinomial(mean=10, shape=0.5),
    Geometric(mean=10),
    TruncatedNegativeBinomial(mean=10, shape=3.0),
    Poisson(mean=10),
)


def costs() -> None:
    """Print prices of the best of ten runs on average beside those of dp_accounting."""
    print("law, epsilon of a run: ours, printed, epsilon at delta 1e-6 (ours, dp_accounting)")
    for law in LAWS:
        shape = getattr(law, "shape", np.inf)
        for epsilon in (0.1, 1.0):
            noise = 2 * np.exp(-epsilon) / (1 + np.exp(-epsilon))
            event = RandomizedResponseDpEvent(noise, 2)
            relation = NeighboringRelation.REPLACE_ONE
            one, theirs = (RdpAccountant(neighboring_relation=relation) for _ in range(2))
            one.compose(event)
            printed = "-" if shape == np.inf else f"{(2 + shape) * epsilon:.3f}"
            difference, approximate = "-", "-"
            if shape >= 0:
                theirs.compose(ComposedDpEvent([RepeatAndSelectDpEvent(event, 10, shape)]))
                orders, divergences = one._orders, one._rdp  # noqa: SLF001 -- to compare with
                ours = renyi_of_best(orders, divergences, repetitions=law)
                known = np.minimum.accumulate(theirs._rdp[::-1])[::-1]  # noqa: SLF001
                difference = f"{np.abs(ours / known - 1).max():.1e}"
                approximate = f"{theirs.get_epsilon(1e-6):.3f}"
            print(
                f"{law!r:60} {epsilon:4} {law.epsilon_of(epsilon):8.3f} {printed:>7} "
                f"{approximate:>8} {difference:>8}"
            )


def simulations(size: int = 1_000_000) -> None:
    """Hold the exact law of the best of a geometric number against simulations."""
    rng = np.random.default_rng(1)
    scores, chances = np.arange(8), np.array([0.3, 0.2, 0.15, 0.12, 0.1, 0.08, 0.04, 0.01])
    numbers: Indices = rng.geometric(1 / 5, size)
    drawn = rng.choice(8, numbers.sum(), p=chances)
    starts = np.concatenate([[0], np.cumsum(numbers)[:-1]])
    counts = np.bincount(np.maximum.reduceat(drawn, starts), minlength=8)
    law = best_probabilities(scores, chances, repetitions=Geometric(mean=5))
    for y in range(8):
        print(f"  outcome {y}: law {law[y]:.6f}, simulated {counts[y] / size:.6f}")
    square = ((counts - size * law) ** 2 / (size * law)).sum()
    print(f"chi-square {square:.2f} with 7 degrees of freedom (24.3 is exceeded once in 1,000)")


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
        tables: dict[str, Callable[..., None]] = {
            "costs": costs,
            "leads": leads,
            "simulations": simulations,
            "summary": summary,
        }
        tables[what](*map(Path, rest))


if __name__ == "__main__":
    main()
