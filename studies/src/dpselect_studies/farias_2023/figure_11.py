"""Figure 11: accuracy of ID3 whose splits are drawn privately (DiffPID3).

Mean over ten times 10-fold cross-validation, of trees with two and with five questions on a
path at most, beside other libraries' on the same folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, sqrt
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dpselect import Objective
from dpselect.mechanisms import Mechanism
from dpselect.trees import Tree
from dpselect.trees.counts import MemoryCounts
from dpselect.trees.growth import Growth
from dpselect.trees.samplers import Simulated
from dpselect.typing import Indices, Values
from dpselect_studies import surveys
from dpselect_studies.farias_2023 import peers
from dpselect_studies.panels import panels
from dpselect_studies.study import Printed, Row, Study
from dpselect_studies.surveys import Survey

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDS = 10
NO_PRIVACY = 1e9
"""An epsilon without protection: the same code, with negligible noise."""

MECHANISMS = {
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
        plain = Objective(objective.scores, objective.sensitivity, objective.candidates)
        return super().choose(mechanism, plain, k)

    def count(self, counts: Sequence[int], epsilon: float) -> Indices:
        return super().count(counts, min(epsilon, self.unit))


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every table and depth with every method."""
    methods = [AS_PRINTED, *MECHANISMS, NON_PRIVATE, MAJORITY, *peers.METHODS]
    return [
        Cell(survey, depth, method, setting.epsilons, setting.runs)
        for survey, depth, method in product(setting.surveys, setting.depths, methods)
    ]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return the mean accuracy for each epsilon; what has none is repeated at each."""
    if cell.method in peers.METHODS:
        return _stored(cell)
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


def _stored(cell: Cell) -> list[Row]:
    common: Row = {"survey": surveys.TITLES[cell.survey], "depth": cell.depth}
    return [
        {
            **common,
            "method": cell.method,
            "epsilon": epsilon,
            "accuracy": peers.accuracy(cell.method, cell.survey, cell.depth, epsilon),
        }
        for epsilon in cell.epsilons
    ]


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
        train = MemoryCounts(survey.schema, codes, counts.sum(axis=1) - test)
        for i, epsilon in enumerate(epsilons):
            answers = shares(survey, cell, epsilon, train, rng).argmax(axis=1)
            right[i] += np.take_along_axis(test, answers[:, None], axis=1).sum()
    return (right / len(survey.labels)).tolist()


def shares(
    survey: Survey, cell: Cell, epsilon: float, train: MemoryCounts, rng: np.random.Generator
) -> Values:
    """Return what a tree says for every row of codes, shape ``(m, 2)``."""
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
    """Draw accuracy against epsilon, a panel for each table and depth.

    Of other libraries, diffprivlib's tree and the better DP-EBM are shown.
    """
    name = pl.format("{}, depth {}", "survey", "depth")
    shown = frame.filter(~pl.col("method").is_in(["diffprivlib forest", "DP-EBM"]))
    return panels(
        shown.with_columns(panel=name).sort("depth", maintain_order=True),
        x="epsilon",
        y="accuracy",
        line="method",
        panel="panel",
        x_label="epsilon of a tree (add/remove neighbours)",
        y_label="accuracy on the tenth left out",
        log="x",
    )


LEADS = {
    "local over exponential": ("local dampening", AS_PRINTED),
    "shifted over local": ("shifted local dampening", "local dampening"),
    "shifted over exponential": ("shifted local dampening", AS_PRINTED),
}
"""Differences that the text states, in points of accuracy."""
ALL = "all three"


def with_leads(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the largest leads of methods over others, by table and over all."""
    wide = frame.pivot(on="method", index=["survey", "depth", "epsilon"], values="accuracy")
    parts = [(str(survey), part) for (survey,), part in wide.group_by("survey")]
    if len(parts) == len(FULL.surveys):
        parts.append((ALL, wide))
    rows = []
    for name, (ahead, behind) in LEADS.items():
        if {ahead, behind} <= set(wide.columns):
            for survey, part in parts:
                points = 100 * float((part[ahead] - part[behind]).to_numpy().max())
                rows.append({"lead": name, "survey": survey, "points": points})
    schema = {"lead": pl.String, "survey": pl.String, "points": pl.Float64}
    return pl.concat([frame, pl.DataFrame(rows, schema=schema)], how="diagonal")


def _claimed(
    lead: str, survey: str, points: float, reason: str = "", *, at_most: bool = False
) -> Printed:
    where: Row = {"lead": lead, "survey": survey}
    tolerance = 0.0 if at_most else 1.0
    return Printed(where, "points", points, tolerance, "section 7.4", at_most, reason)


STUDY = Study(
    title="Figure 11: accuracy of ID3 by how splits are drawn",
    small=SMALL,
    full=FULL,
    cells=cells,
    measure=measure,
    plot=plot,
    with_claims=with_leads,
    printed=[
        _claimed("local over exponential", ALL, 5.0),
        _claimed(
            "shifted over local", ALL, 1.0, "the exact sensitivity, in place of Algorithm 5"
        ),
        _claimed("shifted over exponential", "ACS", 8.0, at_most=True),
        _claimed("shifted over exponential", "Adult", 4.0),
    ],
    discussion="""
The paper gives curves, and the text says how far they lie apart: plain dampening (its
LocalDiffPID3) up to 5 % over the exponential mechanism, the shifted form up to 1 % over plain,
up to 4 % over the exponential mechanism on Adult. Against the exponential mechanism as printed
ours are 5.4, 2.6 and 3.4 points at most. On ACS at depth 2 plain dampening is below the
exponential mechanism from epsilon 0.1 on, by .7 points at 2, and not at depth 5: the inversion
that the text describes. On NLTCS from 0.5 on the exponential mechanism is ahead of both, by up
to .8 points.

**Much of what dampening wins over the exponential mechanism is the mechanism's own.** As
printed, it ignores that one record moves the scores of all columns in the same direction, and
leaves unspent what a path has left at its leaf. With both put right (the lines without "as
printed") it gains up to 5 points at epsilon 0.1 and below. Plain local dampening is then ahead
on NLTCS at 0.05 and 0.1 alone, by .5 to 1.4 points, and on ACS at depth 2 no better than the
majority class from 0.5 on. That is no lack of epsilon: dampening divides by a sensitivity that
differs by column, so its order of columns is not that of the gain, and it makes another tree
than ID3 however large epsilon is.

**Shifted local dampening is the form that helps**: up to 4.6 points above permute-and-flip
(NLTCS, depth 2, epsilon 0.05), and first on Adult and ACS from 0.1 on. Its order of columns is
another too, which on NLTCS costs it .3 to .9 points against permute-and-flip from 0.5 on.

The sensitivity is the exact one: Lemma 15 and Algorithm 5 as printed are not admissible (see
the errata). The global one is by a public bound of 50,000 records, for all three.

The honest baselines: on ACS the majority class is 1.2 points below the best tree there is, and
at epsilon 0.01 the trees of depth 5 are below it. diffprivlib's tree splits at random and
hardly depends on epsilon: from 0.5 on it is 4 to 11 points below permute-and-flip on NLTCS, 5
to 7 on Adult. interpret's DP-EBM with a learning rate of 0.1 is the better classifier on NLTCS
and Adult from 0.1 on, by .4 to 1.6 points against the best tree, for the weaker guarantee
(epsilon, 1e-6); with its default rate it is behind on Adult, and with both on ACS.
""",
)
