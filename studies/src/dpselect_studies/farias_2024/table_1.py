"""Table 1: coverage of privately evolved fronts by fronts without privacy (DP-MOET).

The metric is ``C(front without privacy, private front)`` of Definition 6.3, 0 at best, over
true positive and true negative rates on the records that the trees evolved on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dpselect.typing import Values
from dpselect_studies import surveys
from dpselect_studies.farias_2024.coverage import DOMINANCES, coverage
from dpselect_studies.farias_2024.evolving import (
    NO_PRIVACY,
    NOTHING,
    PART,
    Cell,
    Method,
    Setting,
    Sizes,
    both_readings,
    evolution,
    in_parts,
    rates,
)
from dpselect_studies.panels import panels
from dpselect_studies.study import Printed, Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BEST = Method("pareto", "global")
METHODS = {
    "Pareto, global": BEST,
    "Pareto, local": Method("pareto", "local"),
    "margin, noisy denominators": Method("margin", "noisy-denominators"),
}
FIXED = {"by chance": NOTHING, "another run without privacy": NO_PRIVACY}
"""What does not depend on epsilon: the worst and the best that can be expected."""


SIZES = Sizes(population=30, survivors=3, front=3, generations=4, initial_depth=3, max_depth=9)
EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0)
SMALL = Setting(surveys=("nltcs",), sizes=SIZES, epsilons=(0.1, 5.0), runs=1)


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every table with the paper's methods, and a part of the runs of all others."""
    ours = [one for one in setting.surveys if one != surveys.ANYWHERE]
    printed = [name for name in METHODS if name.startswith("Pareto")]
    others = [*product(ours, [name for name in (*METHODS, *FIXED) if name not in printed])]
    others += product(set(setting.surveys) - set(ours), printed)
    first = replace(setting, runs=min(setting.runs, PART))
    return in_parts(setting, [*product(ours, printed)]) + in_parts(first, others)


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return the mean of C for each epsilon and kind of dominance.

    Private and non-private runs are independent. What has no epsilon is repeated at each.
    """
    best = [front(cell, BEST, NO_PRIVACY, rng) for _ in range(cell.runs)]
    if cell.method in FIXED:
        same = [front(cell, BEST, FIXED[cell.method], rng) for _ in range(cell.runs)]
        drawn = [same] * len(cell.epsilons)
    else:
        method = METHODS[cell.method]
        drawn = [
            [front(cell, method, epsilon, rng) for _ in range(cell.runs)]
            for epsilon in cell.epsilons
        ]
    rows: list[Row] = []
    for (epsilon, fronts), dominance in product(
        zip(cell.epsilons, drawn, strict=True), DOMINANCES
    ):
        pairs = zip(best, fronts, strict=True)
        found = np.array(
            [coverage(free, private, dominance=dominance) for free, private in pairs]
        )
        rows.append({
            "survey": surveys.TITLES[cell.survey],
            "method": cell.method,
            "epsilon": epsilon,
            "total": epsilon * cell.sizes.generations,
            "dominance": dominance,
            "C": float(found.mean()),
            "standard_error": float(found.std() / sqrt(max(cell.runs - 1, 1))),
            "balanced_accuracy": balanced(fronts),
            "runs": cell.runs,
            "part": cell.part,
        })  # fmt: skip
    return rows


def front(cell: Cell, method: Method, epsilon: float, rng: np.random.Generator) -> Values:
    """Return both rates of the trees of one run."""
    schema = surveys.load(cell.survey).schema
    plan = evolution(schema, cell.sizes, method, epsilon)
    return rates(plan, surveys.counts(cell.survey), rng)


def balanced(fronts: Sequence[Values]) -> float:
    """Return the mean of both rates of each front's best tree, on average over fronts."""
    return float(np.mean([one.mean(axis=1).max() for one in fronts]))


def plot(frame: pl.DataFrame) -> Figure:
    """Draw C against epsilon, a panel for each table and each reading of epsilon."""
    anywhere = pl.col("survey") == surveys.TITLES[surveys.ANYWHERE]
    return panels(
        both_readings(frame.filter(pl.col("dominance") == "pareto", ~anywhere)),
        x="shown",
        y="C",
        line="method",
        panel="panel",
        x_label="epsilon (add/remove neighbours); above: of each selection, below: of a run",
        y_label="share of a private front that is dominated",
        log="x",
    )


TABLE = {
    ("nltcs", "Pareto, global"): (0.48, 0.48, 0.48, 0.48, 0.48, 0.48, 0.48),
    ("nltcs", "Pareto, local"): (0.45, 0.35, 0.25, 0.13, 0.12, 0.11, 0.10),
    ("adult", "Pareto, global"): (0.21, 0.20, 0.22, 0.19, 0.19, 0.21, 0.20),
    ("adult", "Pareto, local"): (0.18, 0.14, 0.10, 0.07, 0.08, 0.07, 0.08),
    ("acs", "Pareto, global"): (0.28, 0.28, 0.28, 0.28, 0.28, 0.28, 0.28),
    ("acs", "Pareto, local"): (0.25, 0.19, 0.15, 0.12, 0.11, 0.10, 0.10),
}
"""The printed table."""


REASONS = {
    "Pareto, global": "the level of a choice by chance, which hangs on operators and depths "
    "that the text leaves open",
    "Pareto, local": "the same, and the sensitivity is the exact one in place of the printed, "
    "which is not admissible",
}


def _printed() -> list[Printed]:
    return [
        Printed(
            {
                "survey": surveys.TITLES[survey],
                "method": method,
                "dominance": "pareto",
                "epsilon": epsilon,
            },
            "C",
            value,
            0.1,
            "Table 1",
            reason=REASONS[method],
        )
        for (survey, method), values in TABLE.items()
        for epsilon, value in zip(EPSILONS, values, strict=True)
    ]


STUDY = Study(
    title="Table 1: fronts evolved without privacy against private ones, by the metric C",
    small=SMALL,
    full=Setting(
        surveys=("nltcs", "acs", "adult", surveys.ANYWHERE),
        sizes=SIZES,
        epsilons=EPSILONS,
        runs=500,
    ),
    cells=cells,
    measure=measure,
    plot=plot,
    printed=_printed(),
    discussion="""
**500 runs** of the paper's two methods, as in the paper, with a standard error of at most .02;
100 of the rest and of cuts anywhere, with at most .04. The setting is the paper's: trees of 3
questions at first and 9 at most, k = 3 rounds and so four selections, mutation down to the
largest depth and children as parents, as in Algorithm 1. Its depths 4 and 10 are taken to
count levels of nodes.

**What agrees**: the local form, in 20 of 21 cells, and the global one on ACS and Adult. The
local form falls as in print, to .13, .09 and .13 where .10, .08 and .10 are printed; a second
run without privacy has .12, .05 and .05.

**What does not**: the global column of NLTCS is flat, as printed, but at .28 to .33 for .48,
and the local form starts there, at .33 for .45 at epsilon .01. It is that of a choice by
chance (.32 there, .20 on ACS and .11 on Adult); why the paper's is larger cannot be told,
since its pool and pruning are not stated in full. Within the tolerance it is lower on the
other tables too, .20 to .25 for .28 and .12 to .16 for .20, and the local form needs a few
times the printed epsilon for the same share on NLTCS.

**Cuts between numbers** are drawn at any real number in the text, at edges of eight bins in
ours. Adult was run with both. The local form is on average .018 from the printed values with
edges and .037 with cuts anywhere, the global one .060 and .063. With cuts anywhere the local
form hardly falls, since most cuts of capital gain and loss separate nobody. A bin for every
integer costs `MultiObjectiveTreeClassifier` nothing, as it counts hits and no tables.

Ours, the **margin over noisy denominators**, is dominated least: .04 to .12 from epsilon 0.05
on. The mean of both rates of its best tree (`balanced_accuracy`) is .71 to .72 on NLTCS, .65
to .66 on ACS and .62 to .63 on Adult from there on, where evolution *without* privacy by the
Pareto score has .64, .59 and .56 and a choice by chance .56, .53 and .54: a Pareto score keeps
trees that always answer one class.

Algorithm 1 passes epsilon to each of its four selections and so costs four times that: the
upper panels are by the printed epsilon, the lower ones by what a run costs.
""",
)
