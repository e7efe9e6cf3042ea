"""Figure 11: accuracy of ID3 whose splits are drawn privately (DiffPID3).

Mean over ten times 10-fold cross-validation, of trees with two and with five questions on a
path at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf, sqrt
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dpselect.mechanisms import Mechanism
from dpselect.objective import Objective
from dpselect.papers import surveys
from dpselect.papers.panels import panels
from dpselect.papers.study import Row, Study
from dpselect.papers.surveys import Survey
from dpselect.trees.growth import Growth, MechanismName
from dpselect.trees.patterns import Patterns
from dpselect.trees.sampling import Simulated
from dpselect.trees.structure import Tree
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDS = 10
NO_PRIVACY = 1e9
"""An epsilon that is no protection: the same code, without noise that would matter."""

MECHANISMS: dict[str, MechanismName] = {
    "exponential": "exponential",
    "permute-and-flip": "permute-and-flip",
    "local dampening": "local-dampening",
    "shifted local dampening": "shifted",
}
AS_PRINTED = "exponential, as printed"
NON_PRIVATE = "ID3 without privacy"
MAJORITY = "majority class"


@dataclass(frozen=True)
class Setting:
    """Tables, largest depths, epsilons of a tree, and how often all folds are gone through."""

    surveys: tuple[str, ...]
    depths: tuple[int, ...]
    epsilons: tuple[float, ...]
    runs: int


FULL = Setting(
    surveys=("nltcs", "acs", "adult"),
    depths=(2, 5),
    epsilons=(0.01, 0.05, 0.1, 0.5, 1.0, 2.0),
    runs=10,
)
SMALL = Setting(surveys=("nltcs",), depths=(2,), epsilons=(0.1, 2.0), runs=1)


@dataclass(frozen=True)
class Cell:
    """One table, depth and method, at all epsilons."""

    survey: str
    depth: int
    method: str
    epsilons: tuple[float, ...]
    runs: int


@dataclass(frozen=True)
class PrintedSampler(Simulated):
    """What the exponential mechanism of the paper does, where ours does better.

    It does not use that a record moves the scores of all columns in the same direction, and
    what a path did not spend is left unused.

    Attributes:
        unit: What one query costs.
    """

    unit: float = inf

    def choose(self, mechanism: Mechanism, objective: Objective, k: int) -> list[int]:
        return super().choose(mechanism, replace(objective, monotone=False), k)

    def count(self, counts: Sequence[int], epsilon: float) -> Indices:
        return super().count(counts, min(epsilon, self.unit))


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every table and depth with every method."""
    methods = [AS_PRINTED, *MECHANISMS, NON_PRIVATE, MAJORITY]
    return [
        Cell(survey, depth, method, setting.epsilons, setting.runs)
        for survey, depth, method in product(setting.surveys, setting.depths, methods)
    ]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return the mean accuracy for each epsilon; what has none is repeated at each."""
    survey = surveys.load(cell.survey)
    private = cell.method in MECHANISMS or cell.method == AS_PRINTED
    epsilons = cell.epsilons if private else (NO_PRIVACY,)
    found = np.array([
        accuracies(survey, folds(len(survey.labels), run), cell, epsilons, rng)
        for run in range(cell.runs)
    ])  # fmt: skip
    by_run = np.broadcast_to(found, (cell.runs, len(cell.epsilons)))
    rows: list[Row] = []
    for i, epsilon in enumerate(cell.epsilons):
        rows.append({
            "survey": surveys.TITLES[cell.survey],
            "depth": cell.depth,
            "method": cell.method,
            "epsilon": epsilon,
            "accuracy": float(by_run[:, i].mean()),
            "standard_error": float(by_run[:, i].std() / sqrt(max(cell.runs - 1, 1))),
        })  # fmt: skip
    return rows


def folds(records: int, run: int) -> Indices:
    """Return the fold of each record: the same for all methods, ours and other libraries'."""
    return np.random.default_rng(run).permutation(records) % FOLDS


def accuracies(
    survey: Survey,
    part: Indices,
    cell: Cell,
    epsilons: Sequence[float],
    rng: np.random.Generator,
) -> list[float]:
    """Return the share of records that trees of the other folds get right, by epsilon."""
    codes, counts = survey.folded(part, FOLDS)
    right = np.zeros(len(epsilons))
    for fold in range(FOLDS):
        test = counts[:, fold]
        train = Patterns(codes, counts.sum(axis=1) - test)
        for i, epsilon in enumerate(epsilons):
            answers = shares(survey, cell, epsilon, train, rng).argmax(axis=1)
            right[i] += np.take_along_axis(test, answers[:, None], axis=1).sum()
    return (right / len(survey.labels)).tolist()


def shares(
    survey: Survey, cell: Cell, epsilon: float, train: Patterns, rng: np.random.Generator
) -> Values:
    """Return what a tree says of every pattern, shape ``(m, 2)``."""
    if cell.method == MAJORITY:
        return np.broadcast_to(train.counts.sum(axis=0), train.counts.shape)
    mechanism = MECHANISMS.get(cell.method, "exponential")
    plan = Growth(
        survey.schema,
        epsilon,
        cell.depth,
        "information-gain",
        mechanism,
        surveys.MAX_RECORDS,
    )
    printed = cell.method == AS_PRINTED
    sampler = PrintedSampler(rng, plan.unit) if printed else Simulated(rng)
    return Tree(survey.schema, plan.grow(train, sampler)).probabilities(train.codes)


def plot(frame: pl.DataFrame) -> Figure:
    """Draw accuracy against epsilon, a panel for each table and depth."""
    name = pl.format("{}, depth {}", "survey", "depth")
    return panels(
        frame.with_columns(panel=name).sort("depth", maintain_order=True),
        x="epsilon",
        y="accuracy",
        line="method",
        panel="panel",
        x_label="epsilon of a tree (add/remove neighbours)",
        y_label="accuracy on the tenth left out",
        log="x",
    )


STUDY = Study(
    title="Figure 11: accuracy of ID3 by how splits are drawn",
    small=SMALL,
    full=FULL,
    cells=cells,
    measure=measure,
    plot=plot,
    reading="",
)
