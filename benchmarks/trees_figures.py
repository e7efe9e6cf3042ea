"""Accuracy of private trees against epsilon: Figure 11, Table 1 and Figure 2, smaller.

``python benchmarks/trees_figures.py DATA OUT [RUNS]`` reads ``nltcs``, ``acs`` and ``adult``
from the folder DATA and writes ``trees-figures.md`` and a PNG for each figure into OUT. The
papers did 10 x 10-fold cross-validation and 500 evolutions; this does RUNS x 10-fold and 10
RUNS evolutions. Baselines without privacy: the majority class, and ID3 by the same code at an
epsilon that is no protection.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import TypeAlias

import numpy as np
import polars as pl

from dpselect.combine import coverage
from dpselect.trees.domains import Bins, Categories, Domain
from dpselect.trees.generations import Evolution
from dpselect.trees.growth import Growth
from dpselect.trees.moet import MultiObjectiveTreeClassifier
from dpselect.trees.patterns import Patterns, compress
from dpselect.trees.records import Schema, codes, read
from dpselect.trees.sampling import Simulated
from dpselect.trees.structure import Tree
from dpselect.typing import Indices, Values

DATA_SETS = ("nltcs", "acs", "adult")
DEPTHS = (2, 5)
EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0)
TABLE_1 = (0.1, 0.5, 1.0, 5.0, 10.0, 100.0)
NO_PRIVACY = 1e9
MECHANISMS = ("exponential", "local-dampening", "shifted", "permute-and-flip")
FRONTS = (
    ("pareto", "global"),
    ("pareto", "local"),
    ("margin", "global"),
    ("margin", "noisy-denominators"),
)
SUMS = (
    ("weighted-sum", "global"),
    ("weighted-sum", "local"),
    ("weighted-sum", "noisy-denominators"),
)
WEIGHTS = (3.0, 2.0)
MAX_RECORDS = 50_000

Panel: TypeAlias = tuple[str, Sequence[float], dict[str, list[float]]]
"""A title, epsilons, and one row of numbers for each name."""

# Public bounds and categories of the twelve columns of Adult; fnlwgt and education_num are
# left out, as a sampling weight and a second name of education.
ADULT_NUMBERS = {
    "age": (17, 90),
    "hours_per_week": (1, 99),
    "capital_gain": (0, 99_999),
    "capital_loss": (0, 4_356),
}


@cache
def load(folder: Path, name: str) -> tuple[Indices, Indices, Schema]:
    """Return codes, labels and the schema of a data set."""
    frame = pl.read_parquet(folder / f"{name}.parquet")
    if name != "adult":
        table = frame.to_numpy().astype(np.int64)
        columns = tuple(frame.columns[:-1])
        schema = Schema(columns, (Categories([0, 1]),) * len(columns), (0, 1))
        return table[:, :-1], table[:, -1], schema
    kept = [
        column
        for column in frame.columns
        if column not in {"fnlwgt", "education_num", "income", "split"}
    ]
    domains: list[Domain] = [
        Bins(*ADULT_NUMBERS[column])
        if column in ADULT_NUMBERS
        else Categories(sorted(frame[column].cast(pl.String).unique()))
        for column in kept
    ]
    schema = Schema(tuple(kept), tuple(domains), ("<=50K", ">50K"))
    labels = (frame["income"].cast(pl.String) == ">50K").to_numpy().astype(np.int64)
    return codes(read(frame), schema), labels, schema


def accuracies(
    folder: Path, name: str, depth: int, mechanism: str, epsilon: float, run: int
) -> float:
    """Return the mean accuracy of one 10-fold cross-validation."""
    table, labels, schema = load(folder, name)
    part = np.random.default_rng(run).permutation(len(labels)) % 10
    plan = Growth(schema, epsilon, depth, "information-gain", mechanism, MAX_RECORDS)  # type: ignore[arg-type]
    right = 0
    for fold in range(10):
        train = part != fold
        patterns = compress(table[train], labels[train], schema.sizes, 2)
        root = plan.grow(patterns, Simulated(np.random.default_rng([run, fold])))
        found = Tree(schema, root).probabilities(table[~train]).argmax(axis=1)
        right += int((found == labels[~train]).sum())
    return right / len(labels)


@cache
def whole(folder: Path, name: str) -> Patterns:
    """Return all records of a data set as patterns."""
    table, labels, schema = load(folder, name)
    return compress(table, labels, schema.sizes, 2)


def evolution(folder: Path, name: str, run: int, **setting: object) -> Evolution:
    """Return how trees evolve in one run."""
    schema = load(folder, name)[2]
    classifier = MultiObjectiveTreeClassifier(
        rates_share=0.0,
        weights=WEIGHTS,
        domains=dict(zip(schema.names, schema.domains, strict=True)),
        classes=schema.classes,
        max_records=MAX_RECORDS,
        random_state=run,
        **setting,  # type: ignore[arg-type]
    )
    return classifier._plan(schema, MAX_RECORDS)  # noqa: SLF001 -- experiments stay inside


def front(plan: Evolution, patterns: Patterns, run: int) -> Values:
    """Return both exact rates of a drawn front, shape ``(front, 2)``."""
    drawn = plan.run(patterns, Simulated(np.random.default_rng(run)))
    return plan.hits(drawn, patterns) / patterns.counts.sum(axis=0)


def covered(
    folder: Path, name: str, selection: str, sensitivity: str, epsilon: float, run: int
) -> float:
    """Return C(without privacy, private): the share of the drawn front that is dominated."""
    small = {
        "population": 30,
        "survivors": 3,
        "front": 3,
        "generations": 3,
        "initial_depth": 3,
        "max_depth": 9,
    }
    patterns = whole(folder, name)
    private = evolution(
        folder,
        name,
        run,
        epsilon=epsilon,
        selection=selection,
        sensitivity=sensitivity,
        **small,
    )
    free = evolution(
        folder, name, run, epsilon=NO_PRIVACY, selection="pareto", sensitivity="global", **small
    )
    return coverage(front(free, patterns, run), front(private, patterns, run), "pareto")


def fitness(
    folder: Path, name: str, selection: str, sensitivity: str, epsilon: float, run: int
) -> float:
    """Return the weighted sum of rates of the tree that one run releases."""
    plan = evolution(
        folder,
        name,
        run,
        epsilon=epsilon,
        selection=selection,
        sensitivity=sensitivity,
        population=100,
        survivors=20,
        front=1,
        generations=2,
        initial_depth=2,
        max_depth=4,
    )
    negative, positive = front(plan, whole(folder, name), run)[0]
    return float(WEIGHTS[0] * positive + WEIGHTS[1] * negative)


def fitness_of_id3(folder: Path, name: str, epsilon: float, run: int) -> float:
    """Return the same of an ID3 tree of the same depth that knows no weights."""
    table, labels, schema = load(folder, name)
    plan = Growth(schema, epsilon, 4, "information-gain", "permute-and-flip", MAX_RECORDS)
    root = plan.grow(whole(folder, name), Simulated(np.random.default_rng(run)))
    right = Tree(schema, root).probabilities(table).argmax(axis=1) == labels
    positive, negative = right[labels == 1].mean(), right[labels == 0].mean()
    return float(WEIGHTS[0] * positive + WEIGHTS[1] * negative)


def table_of(
    workers: ProcessPoolExecutor,
    rows: Sequence[tuple[str, Callable[[float, int], float]]],
    epsilons: Sequence[float],
    runs: int,
) -> dict[str, list[float]]:
    """Return the mean of each row's function at each epsilon."""
    cells = list(product(range(len(rows)), epsilons, range(runs)))
    found = workers.map(_cell, [(rows[i][1], e, run) for i, e, run in cells], chunksize=2)
    values = np.array(list(found)).reshape(len(rows), len(epsilons), runs).mean(axis=2)
    return {name: values[i].tolist() for i, (name, _) in enumerate(rows)}


def _cell(job: tuple[Callable[[float, int], float], float, int]) -> float:
    function, epsilon, run = job
    return function(epsilon, run)


def markdown(title: str, epsilons: Sequence[float], table: dict[str, list[float]]) -> str:
    """Return a table with one column for each epsilon."""
    lines = [f"### {title}", "", "| | " + " | ".join(f"{e:g}" for e in epsilons) + " |"]
    lines.append("|---" * (len(epsilons) + 1) + "|")
    for name, values in table.items():
        lines.append(f"| {name} | " + " | ".join(f"{value:.3f}" for value in values) + " |")
    return "\n".join([*lines, ""])


def picture(path: Path, panels: Sequence[Panel], unit: str) -> None:
    """Draw the tables side by side."""
    from matplotlib import pyplot as plt

    size = (3.6 * len(panels), 3.4)
    figure, axes = plt.subplots(
        1, len(panels), figsize=size, layout="constrained", squeeze=False
    )
    for ax, (title, epsilons, table) in zip(axes[0], panels, strict=True):
        for (name, values), marker in zip(table.items(), "osD^vPX*", strict=False):
            ax.plot(epsilons, values, marker=marker, markersize=4, label=name)
        ax.set(title=title, xlabel="epsilon", xscale="log", ylabel=unit)
    axes[0][-1].legend(fontsize="x-small")
    figure.savefig(path, dpi=120)


def figure_11(folder: Path, runs: int, workers: ProcessPoolExecutor) -> list[Panel]:
    """Return accuracies of ID3 by mechanism."""
    panels: list[Panel] = []
    for name, depth in product(DATA_SETS, DEPTHS):
        labels = load(folder, name)[1]
        rows = [(m, partial(accuracies, folder, name, depth, m)) for m in MECHANISMS]
        table = table_of(workers, rows, EPSILONS, runs)
        free = accuracies(folder, name, depth, "exponential", NO_PRIVACY, 0)
        table["ID3 without privacy"] = [free] * len(EPSILONS)
        majority = float(max(labels.mean(), 1 - labels.mean()))
        table["majority class"] = [majority] * len(EPSILONS)
        panels.append((f"{name}, depth {depth}", EPSILONS, table))
    return panels


def table_1(folder: Path, runs: int, workers: ProcessPoolExecutor) -> list[Panel]:
    """Return how much of a private front one without privacy dominates."""
    panels: list[Panel] = []
    for name in DATA_SETS:
        rows = [(f"{s}, {d}", partial(covered, folder, name, s, d)) for s, d in FRONTS]
        panels.append((name, TABLE_1, table_of(workers, rows, TABLE_1, 10 * runs)))
    return panels


def figure_2(folder: Path, runs: int, workers: ProcessPoolExecutor) -> list[Panel]:
    """Return the weighted sum of rates of one released tree."""
    panels: list[Panel] = []
    for name in DATA_SETS:
        rows = [(f"{s}, {d}", partial(fitness, folder, name, s, d)) for s, d in SUMS]
        rows.append(("ID3, permute-and-flip", partial(fitness_of_id3, folder, name)))
        panels.append((name, EPSILONS, table_of(workers, rows, EPSILONS, 10 * runs)))
    return panels


def main() -> None:
    """Write all tables and pictures, each as soon as it is there."""
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    figures = (
        ("Figure 11: accuracy", "accuracy", "figure11", figure_11),
        ("Figure 2: 3 TPR + 2 TNR", "3 TPR + 2 TNR", "figure2", figure_2),
        ("Table 1: C(no privacy, private)", "share dominated", "table1", table_1),
    )
    text = [
        "# Private trees: accuracy against epsilon",
        "",
        f"Written by `benchmarks/trees_figures.py` with RUNS = {runs}: {runs} x 10-fold",
        f"cross-validation (the paper: 10 x) and {10 * runs} evolutions (the paper: 500).",
        "",
    ]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as workers:
        for title, unit, name, make in figures:
            start = time.perf_counter()
            panels = make(folder, runs, workers)
            seconds = time.perf_counter() - start
            text += [markdown(f"{title}, {data}", e, table) for data, e, table in panels]
            text.append(f"{seconds:.0f} s in 2 processes.\n")
            picture(out / f"trees-{name}.png", panels, unit)
            (out / "trees-figures.md").write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
