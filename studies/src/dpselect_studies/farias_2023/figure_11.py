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
from dpselect_studies.study import Null, Printed, Reason, Row, Study, of_parts
from dpselect_studies.surveys import Survey

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDS = 10
HALVES = ("first_half", "second_half")
"""Means of every other run: a difference is looked for in one half and taken of the other."""
NO_PRIVACY = 1e9
"""An epsilon without protection: the same code, with negligible noise."""

MECHANISMS = {
    "exponential": "exponential",
    "permute-and-flip": "permute-and-flip",
    "local dampening": "local-dampening",
    "shifted local dampening": "shifted",
}
EXPONENTIAL, PLAIN, SHIFTED = (
    "exponential, as printed", "local dampening, as printed", "shifted, as printed"
)  # fmt: skip
AS_PRINTED = {EXPONENTIAL: "exponential", PLAIN: "local-dampening", SHIFTED: "shifted"}
"""All three by Algorithm 4, with its leaves and what it spends on them."""
PAPERS = {
    EXPONENTIAL: "GlobalDiffPID3",
    PLAIN: "LocalDiffPID3",
    SHIFTED: "ShiftedLocalDiffPID3",
}
"""The paper's names."""
NON_PRIVATE = "ID3 without privacy"
MAJORITY = "majority class"


MORE = {("nltcs", 2, name): 10 for name in AS_PRINTED}
"""How many times as many runs there are where accuracies vary most, and leads are largest."""


@dataclass(frozen=True)
class Setting:
    """Tables, largest depths, epsilons of a tree, and how often all folds are gone through.

    ``classes`` are tables of the first depth alone, whose class is another column.
    """

    surveys: tuple[str, ...]
    depths: tuple[int, ...]
    epsilons: tuple[float, ...]
    runs: int
    classes: tuple[str, ...] = ()


FULL = Setting(
    surveys=("nltcs", "acs", "adult"),
    depths=(2, 5),
    epsilons=(0.01, 0.05, 0.1, 0.5, 1.0, 2.0),
    runs=10,
    classes=tuple(surveys.CLASSES),
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
    """What the mechanisms of the paper do, where ours do better.

    They do not use that a record moves the scores of all columns in the same direction, and
    what a path did not spend is left unused.

    Attributes:
        unit: What one query costs.
    """

    unit: float = inf

    def choose(self, mechanism: Mechanism, objective: Objective, k: int) -> list[int]:
        plain = Objective(
            objective.scores,
            objective.sensitivity,
            objective.candidates,
            direction=objective.direction,
        )
        return super().choose(mechanism, plain, k)

    def count(self, counts: Sequence[int], epsilon: float) -> Indices:
        return super().count(counts, min(epsilon, self.unit))


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every table and depth with every method."""
    methods = [*AS_PRINTED, *MECHANISMS, NON_PRIVATE, MAJORITY, *peers.METHODS]
    wanted = [
        *product(setting.surveys, setting.depths, methods),
        *product(setting.classes, setting.depths[:1], AS_PRINTED),
    ]
    return [Cell(*one, setting.epsilons, setting.runs * MORE.get(one, 1)) for one in wanted]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return the mean accuracy for each epsilon; what has none is repeated at each."""
    if cell.method in peers.METHODS:
        return _stored(cell)
    survey = surveys.load(cell.survey)
    private = cell.method in MECHANISMS or cell.method in AS_PRINTED
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
            "runs": cell.runs,
            **{
                half: float(by_run[start % cell.runs :: 2, i].mean())
                for start, half in enumerate(HALVES)
            },
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
    mechanism = (MECHANISMS | AS_PRINTED).get(cell.method, "exponential")
    plan = Growth(
        survey.schema,
        epsilon,
        cell.depth,
        "information-gain",
        mechanism,
        surveys.MAX_RECORDS,
    )
    printed = cell.method in AS_PRINTED
    sampler = PrintedSampler(rng, plan.unit) if printed else Simulated(rng)
    return Tree(survey.schema, plan.grow(train, sampler)).probabilities(train.codes)


def plot(frame: pl.DataFrame) -> Figure:
    """Draw accuracy against epsilon, a panel for each table and depth.

    Of other libraries, diffprivlib's tree and the better DP-EBM are shown.
    """
    name = pl.format("{}, depth {}", "survey", "depth")
    shown = frame.filter(
        ~pl.col("method").is_in(["diffprivlib forest", "DP-EBM"]),
        ~pl.col("survey").str.contains("class"),
    )
    return panels(
        shown.with_columns(panel=name).sort("depth", maintain_order=True),
        x="epsilon",
        y="accuracy",
        line="method",
        panel="panel",
        x_label="epsilon of a tree (add/remove neighbours)",
        y_label="accuracy on the tenth left out",
        log="x",
        papers=PAPERS,
    )


LEADS = {
    "local over exponential": (PLAIN, EXPONENTIAL),
    "shifted over local": (SHIFTED, PLAIN),
    "shifted over exponential": (SHIFTED, EXPONENTIAL),
}
"""Differences that the text states, in points of accuracy."""
ALL = "all three"
LEAST, MOST = "NLTCS, the least of 16 classes", "NLTCS, the largest of 16 classes"


def with_leads(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the largest leads of methods over others, by table and over all.

    The largest of many noisy differences is too large on average. So it is looked for in one
    half of the runs, and taken of the other half; the mean of both ways counts.
    """
    values = [*HALVES, "standard_error", "runs"]
    if not set(values) <= set(frame.columns):
        return frame.with_columns(lead=pl.lit(None, pl.String), points=pl.lit(None, pl.Float64))
    wide = frame.filter(pl.col("method").is_in(list(AS_PRINTED))).pivot(
        on="method", index=["survey", "depth", "epsilon"], values=values
    )
    main = wide.filter(~pl.col("survey").str.contains("class"))
    parts = {str(survey): part for (survey,), part in wide.group_by("survey")}
    if main["survey"].n_unique() == len(FULL.surveys):
        parts[ALL] = main
    rows: list[Row] = []
    for lead, pair in LEADS.items():
        if not {f"{HALVES[0]}_{one}" for one in pair} <= set(wide.columns):
            continue
        found = {name: _lead(part, *pair) for name, part in parts.items()}
        classes = [name for name in found if "class" in name]
        if classes:
            by_points = sorted(classes, key=lambda name: found[name]["points"])
            found |= {LEAST: found[by_points[0]], MOST: found[by_points[-1]]}
        rows += [{"lead": lead, "survey": name, **one} for name, one in found.items()]
    schema = {"lead": pl.String, "survey": pl.String, "points": pl.Float64}
    added = pl.DataFrame(rows) if rows else pl.DataFrame(schema=schema)
    return pl.concat([frame, added], how="diagonal_relaxed")


def _lead(part: pl.DataFrame, ahead: str, behind: str) -> dict[str, float]:
    """Return the largest lead in points, its standard error and the number of runs."""
    first, second = (
        (part[f"{half}_{ahead}"] - part[f"{half}_{behind}"]).to_numpy() for half in HALVES
    )
    errors = np.hypot(*(part[f"standard_error_{one}"].to_numpy() for one in (ahead, behind)))
    places = [int(first.argmax()), int(second.argmax())]
    points = (second[places[0]] + first[places[1]]) / 2
    return {
        "points": 100 * float(points),
        "standard_error": 100 * float(np.sqrt(np.mean(errors[places] ** 2))),
        "runs": float(np.mean(part[f"runs_{ahead}"].to_numpy()[places])),
    }


def _claimed(
    lead: str,
    survey: str,
    points: float,
    source: str = "section 7.4",
    reason: Reason | None = None,
    *,
    at_most: bool = False,
) -> Printed:
    return Printed(
        {"lead": lead, "survey": survey},
        "points",
        points,
        0.5,
        source,
        runs=10,
        at_most=at_most,
        null=Null("no lead"),
        reason=reason,
    )


OF_CLASS = Reason(
    "the class of NLTCS is not named, and the lead depends on it: the least of 16 columns",
    "farias-2023/figure-11",
    {"lead": "shifted over local", "survey": LEAST},
    "points",
    at_most=1.0,
)

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
        _claimed("shifted over local", ALL, 1.0, reason=OF_CLASS),
        _claimed("shifted over exponential", "ACS", 8.0, at_most=True),
        _claimed("shifted over exponential", "Adult", 4.0),
        _claimed("shifted over exponential", ALL, 12.0, "abstract"),
    ],
    spread=of_parts,
    seconds=650,
    discussion="""
The text says by how much the curves differ at most. All three lines "as printed" follow
Algorithm 4. The largest of 36 noisy differences is biased upwards, so it is located in one half
of the runs and measured in the other. Plain dampening is then 3.9 points above the exponential
mechanism (printed: 5), and the shifted form 3.0 above it on Adult (printed: 4); both agree. The
abstract's "up to 12 %" is 6.8. **The class of NLTCS is not named, and decides**: with other
columns as the class the leads lie between -1.2 and 13.7. Here it is the last column.

**Two corrections matter more than the choice of mechanism**: one record changes the scores of
all columns in the same direction, and a leaf can spend what its path has left. With both the
exponential mechanism gains up to 3.8 points, and dampening up to 6.0. Plain dampening is then
ahead by at most 1.4 points, and on ACS at depth 2 no better than the majority class. **Shifted
dampening helps**: up to 4.6 points above permute-and-flip (NLTCS, depth 2, epsilon 0.05), and
first on Adult and ACS from 0.1 on; on NLTCS it is .3 to .9 points behind from 0.5 on.

Baselines: on ACS the majority class is 1.2 points below the best tree. diffprivlib's tree is 4
to 11 points below permute-and-flip on NLTCS from epsilon 0.5 on, and 5 to 7 on Adult. DP-EBM
with learning rate 0.1 is .4 to 1.6 points better on NLTCS and Adult from 0.1 on, for the weaker
guarantee (epsilon, 1e-6).
""",
)
