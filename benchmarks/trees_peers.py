# /// script
# requires-python = ">=3.11,<3.13"
# dependencies = [
#   "diffprivlib==0.6.6",
#   "interpret-core==0.7.8",
#   "numpy==2.4.6",
#   "pandas==3.1.1",
#   "polars==2.1.0",
#   "scikit-learn==1.6.1",
#   "scipy==1.17.1",
# ]
# ///
"""Accuracy of other libraries' private trees, on the folds that ours are measured on.

``uv run benchmarks/trees_peers.py DATA [OUT]`` makes the environment named above, reads
``nltcs``, ``acs`` and ``adult`` from the folder DATA and writes ``trees_peers.csv`` into OUT,
``benchmarks/results`` if not given. diffprivlib does not import under the scikit-learn that
dpselect needs.

All get what ours get: the same columns, the public bounds of numbers and the classes. To
diffprivlib categories are numbers in alphabetical order. Its forest has its default of ten
trees. DP-EBM is no tree but a sum of small ones, and its guarantee is (epsilon, 1e-6), weaker
than the pure one of the others at the same epsilon. At its default learning rate, 0.01, its
300 rounds end before it has learned; it is measured at 0.1 too.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from diffprivlib.models import DecisionTreeClassifier, RandomForestClassifier
from interpret.privacy import DPExplainableBoostingClassifier
from numpy.typing import NDArray

from trees_folds import ADULT_NUMBERS, ADULT_UNUSED, DATA_SETS, EPSILONS, FOLDS, folds

DELTA = 1e-6
WORKERS = 2

Values: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """A data set: numbers as they are, categories by their position.

    Attributes:
        x: Shape ``(n, columns)``.
        y: 0 or 1, shape ``(n,)``.
        low: Public lower bound of each column.
        high: Public upper bound of each column.
        continuous: Which columns are numbers.
    """

    x: Values
    y: NDArray[np.int64]
    low: Values
    high: Values
    continuous: tuple[bool, ...]


@cache
def load(folder: Path, name: str) -> Table:
    """Read a data set; the class is the last column, or the income of Adult."""
    frame = pl.read_parquet(folder / f"{name}.parquet")
    if name != "adult":
        table = frame.to_numpy().astype(np.int64)
        columns = table.shape[1] - 1
        bounds = np.zeros(columns), np.ones(columns)
        return Table(table[:, :-1].astype(float), table[:, -1], *bounds, (False,) * columns)
    kept = [column for column in frame.columns if column not in ADULT_UNUSED]
    values, bounds_of = [], []
    for column in kept:
        if column in ADULT_NUMBERS:
            values.append(frame[column].to_numpy().astype(float))
            bounds_of.append(ADULT_NUMBERS[column])
        else:
            text = frame[column].cast(pl.String).to_numpy()
            categories, position = np.unique(text, return_inverse=True)
            values.append(position.astype(float))
            bounds_of.append((0, len(categories) - 1))
    low, high = np.array(bounds_of, dtype=float).T
    label = (frame["income"].cast(pl.String) == ">50K").to_numpy().astype(np.int64)
    continuous = tuple(column in ADULT_NUMBERS for column in kept)
    return Table(np.stack(values, axis=1), label, low, high, continuous)


def random_splits(
    kind: Callable[..., Any], table: Table, epsilon: float, depth: int, seed: int
) -> Any:  # noqa: ANN401
    """Return diffprivlib's decision tree or random forest."""
    return kind(
        max_depth=depth,
        epsilon=epsilon,
        bounds=(table.low, table.high),
        classes=[0, 1],
        random_state=seed,
    )


def boosting(table: Table, epsilon: float, _: int, seed: int, *, learning_rate: float) -> Any:  # noqa: ANN401
    """Return interpret's DP-EBM, whose small trees have leaves and no depth."""
    numbers = [j for j, continuous in enumerate(table.continuous) if continuous]
    return DPExplainableBoostingClassifier(
        epsilon=epsilon,
        delta=DELTA,
        learning_rate=learning_rate,
        feature_types=[
            "continuous" if continuous else "nominal" for continuous in table.continuous
        ],
        privacy_bounds={j: (table.low[j], table.high[j]) for j in numbers},
        random_state=seed,
        n_jobs=1,
    )


Make: TypeAlias = Callable[[Table, float, int, int], Any]
tree = partial(random_splits, DecisionTreeClassifier)
forest = partial(random_splits, RandomForestClassifier)
# Name, depth, runs of 10-fold cross-validation (boosting is the slowest by far).
METHODS: Mapping[tuple[str, int | None], tuple[Make, int]] = {
    ("diffprivlib tree", 2): (tree, 10),
    ("diffprivlib tree", 5): (tree, 10),
    ("diffprivlib forest", 2): (forest, 10),
    ("diffprivlib forest", 5): (forest, 10),
    ("DP-EBM", None): (partial(boosting, learning_rate=0.01), 2),
    ("DP-EBM, learning rate 0.1", None): (partial(boosting, learning_rate=0.1), 1),
}


def accuracies(
    job: tuple[Path, str, tuple[str, int | None], float, int],
) -> tuple[list[float], float]:
    """Return the accuracy on each fold of one run, and the seconds of processor time."""
    folder, name, method, epsilon, run = job
    table, (make, _) = load(folder, name), METHODS[method]
    part = folds(len(table.y), run)
    start, found = time.process_time(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # seeds are for experiments, as all of them say
        for fold in range(FOLDS):
            train, test = part != fold, part == fold
            model = make(table, epsilon, method[1] or 0, FOLDS * run + fold)
            model.fit(table.x[train], table.y[train])
            found.append(float((model.predict(table.x[test]) == table.y[test]).mean()))
    return found, time.process_time() - start


def row(
    workers: ProcessPoolExecutor,
    folder: Path,
    name: str,
    method: tuple[str, int | None],
    epsilon: float,
) -> dict[str, object]:
    """Return one line of the table: the mean over all folds of all runs."""
    runs = METHODS[method][1]
    jobs = [(folder, name, method, epsilon, run) for run in range(runs)]
    done = list(workers.map(accuracies, jobs))
    found = np.array([accuracy for accuracy, _ in done])
    return {
        "data": name,
        "method": method[0],
        "depth": method[1],
        "epsilon": epsilon,
        "delta": DELTA if method[0].startswith("DP-EBM") else 0.0,
        "runs": runs,
        "accuracy": round(float(found.mean()), 5),
        "sd_of_folds": round(float(found.std(ddof=1)), 5),
        "seconds_per_fit": round(sum(s for _, s in done) / found.size, 4),
    }


def main() -> None:
    """Measure everything and write the table."""
    folder = Path(sys.argv[1])
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).with_name("results")
    rows = []
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as workers:
        for name, method, epsilon in product(DATA_SETS, METHODS, EPSILONS):
            rows.append(row(workers, folder, name, method, epsilon))
            print(*rows[-1].values(), flush=True)
    out.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows).write_csv(out / "trees_peers.csv")


if __name__ == "__main__":
    main()
