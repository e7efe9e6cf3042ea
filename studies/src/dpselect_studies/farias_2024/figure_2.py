"""Figure 2: weighted sum of both rates of one evolved tree (DP-MOET, aggregation).

Three times the true positive rate and twice the true negative rate, 5 at best, on the records
that the tree was made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dpselect.trees import Leaf, Tree
from dpselect.trees.counts import MemoryCounts
from dpselect.trees.growth import Growth
from dpselect.trees.samplers import Simulated
from dpselect.typing import Indices, Values
from dpselect_studies import surveys
from dpselect_studies.farias_2024.evolving import (
    NO_PRIVACY,
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

WEIGHTS = (2.0, 3.0)
"""Of the true negative and of the true positive rate."""

METHODS = {
    "aggregation, global": Method("weighted-sum", "global", WEIGHTS),
    "aggregation, local": Method("weighted-sum", "local", WEIGHTS),
    "aggregation, noisy denominators": Method("weighted-sum", "noisy-denominators", WEIGHTS),
}
NON_PRIVATE = "aggregation, no privacy"
ID3 = {"LocalDiffPID3": "local-dampening", "ShiftedLocalDiffPID3": "shifted"}
"""One tree of the same largest depth: as in the paper, and by the shifted form."""
WEIGHTED = ", answers by weight"
POSITIVE = "always positive"


SIZES = Sizes(
    population=100, survivors=20, front=1, generations=3, initial_depth=2, max_depth=4
)
SMALL = Setting(surveys=("nltcs",), sizes=SIZES, epsilons=(0.1, 2.0), runs=1)


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every table with every method; both answers of ID3 are one cell."""
    methods = [*METHODS, *ID3, NON_PRIVATE, POSITIVE]
    return in_parts(setting, list(product(setting.surveys, methods)))


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return the mean fitness for each epsilon; what has none is repeated at each."""
    if cell.method == POSITIVE:
        return _flat(cell, np.full(cell.runs, WEIGHTS[1]))
    if cell.method == NON_PRIVATE:
        found = [
            evolved(cell, "aggregation, global", NO_PRIVACY, rng) for _ in range(cell.runs)
        ]
        return _flat(cell, np.array(found))
    rows: list[Row] = []
    for epsilon in cell.epsilons:
        if cell.method in ID3:
            pairs = np.array([grown(cell, epsilon, rng) for _ in range(cell.runs)])
            rows += [_row(cell, cell.method, epsilon, epsilon, pairs[:, 0])]
            weighted = cell.method + WEIGHTED
            rows += [_row(cell, weighted, epsilon, epsilon, pairs[:, 1])]
        else:
            drawn = [evolved(cell, cell.method, epsilon, rng) for _ in range(cell.runs)]
            total = epsilon * cell.sizes.generations
            rows.append(_row(cell, cell.method, epsilon, total, np.array(drawn)))
    return rows


def evolved(cell: Cell, method: str, epsilon: float, rng: np.random.Generator) -> float:
    """Return the fitness of the tree of one run."""
    schema = surveys.load(cell.survey).schema
    plan = evolution(schema, cell.sizes, METHODS[method], epsilon)
    return float((rates(plan, surveys.counts(cell.survey), rng)[0] * WEIGHTS).sum())


def grown(cell: Cell, epsilon: float, rng: np.random.Generator) -> tuple[float, float]:
    """Return the fitness of one ID3 tree of the same depth, by both kinds of answers.

    The second answers what has the larger weighted share of its class, by the released
    counts of all leaves: no further query of the records.
    """
    schema, records = surveys.load(cell.survey).schema, surveys.counts(cell.survey)
    plan = Growth(
        schema,
        epsilon,
        cell.sizes.max_depth,
        "information-gain",
        ID3[cell.method],
        surveys.MAX_RECORDS,
    )
    tree = Tree(schema, plan.grow(records, Simulated(rng)))
    shares = tree.probabilities(records.codes)
    leaves = [node.counts for _, _, node in tree.walk() if isinstance(node, Leaf)]
    totals = np.maximum(np.maximum(leaves, 0).sum(axis=0), 1)
    return fitness(shares, records), fitness(shares * WEIGHTS / totals, records)


def fitness(shares: Values, records: MemoryCounts) -> float:
    """Return the weighted sum of rates if the larger share is answered."""
    right: Indices = np.arange(2) == shares.argmax(axis=1)[:, None]
    both = (records.counts * right).sum(axis=0) / records.counts.sum(axis=0)
    return float((both * WEIGHTS).sum())


def _flat(cell: Cell, found: Values) -> list[Row]:
    return [_row(cell, cell.method, epsilon, epsilon, found) for epsilon in cell.epsilons]


def _row(cell: Cell, method: str, epsilon: float, total: float, found: Values) -> Row:
    return {
        "survey": surveys.TITLES[cell.survey],
        "method": method,
        "epsilon": epsilon,
        "total": total,
        "fitness": float(found.mean()),
        "standard_error": float(found.std() / sqrt(max(cell.runs - 1, 1))),
        "runs": cell.runs,
        "part": cell.part,
    }


def plot(frame: pl.DataFrame) -> Figure:
    """Draw fitness against epsilon, a panel for each table and each reading of epsilon."""
    return panels(
        both_readings(frame),
        x="shown",
        y="fitness",
        line="method",
        panel="panel",
        x_label="epsilon (add/remove neighbours); above: as printed, below: of a run",
        y_label="3 TPR + 2 TNR",
        log="x",
    )


SAME = 0.5
"""The epsilon of the sentence before."""
IMPROVEMENTS = {"Adult": 21.0, "NLTCS": 6.0}
"""Of the local form over LocalDiffPID3, in percent."""


def with_improvements(frame: pl.DataFrame) -> pl.DataFrame:
    """Add by how many percent the local form is above LocalDiffPID3 at one epsilon."""
    means = frame.filter(pl.col("epsilon") == SAME).pivot(
        on="method", index="survey", values="fitness", aggregate_function="mean"
    )
    if not {"aggregation, local", "LocalDiffPID3"} <= set(means.columns):
        return frame.with_columns(improvement=pl.lit(None, pl.Float64))
    ratio = pl.col("aggregation, local") / pl.col("LocalDiffPID3")
    found = means.select("survey", improvement=100 * (ratio - 1))
    return pl.concat([frame, found.with_columns(method=pl.lit(IMPROVEMENT))], how="diagonal")


IMPROVEMENT = "aggregation, local, over LocalDiffPID3"

STUDY = Study(
    title="Figure 2: fitness of one evolved tree, 3 TPR + 2 TNR",
    small=SMALL,
    full=Setting(
        surveys=("nltcs", "acs", "adult"),
        sizes=SIZES,
        epsilons=(0.01, 0.05, 0.1, 0.5, 1.0, 2.0),
        runs=100,
    ),
    cells=cells,
    measure=measure,
    plot=plot,
    with_claims=with_improvements,
    printed=[
        Printed(
            {"survey": survey, "method": IMPROVEMENT},
            "improvement",
            percent,
            5.0,
            "section 6.4, epsilon 0.5",
            reason="the text names neither ID3's depth nor train or test records",
        )
        for survey, percent in IMPROVEMENTS.items()
    ],
    discussion="""
**100 runs**, with a standard error of at most .064; how many the paper made is not said.
Evolution is by Algorithm 1: three selections, each at the printed epsilon, mutation down to the
largest depth and children as parents. Rates are on the records that the trees were made from,
and ID3 has the same largest depth of 4 questions; the paper says neither.

**What agrees**: the local form is above the global one everywhere, which is a random tree,
below the 3 of "always positive"; it is level with evolution without privacy from epsilon 0.5
on (3.97 for 3.98 on NLTCS, 3.91 for 3.97 on ACS, 3.79 for 3.78 on Adult); and it is above
LocalDiffPID3 on Adult, by 17 % at .5, of which the sentence before speaks, and 34 % at .1,
where the text has 21 %.

**What does not**: on NLTCS LocalDiffPID3 is level from 0.1 on, where the text has it 6 %
below; and on ACS the text has LocalDiffPID3 best from 0.5 on, where ours is at 2.34 to 2.47
against 3.91. It is so here only if its leaves answer by the weights (4.15 to 4.17), which its
released counts allow at no cost. **With answers by weight ID3 is ahead of evolution without
privacy on Adult and ACS**, and the private form of either matters less than this.

**Noisy denominators**, ours, need the least epsilon: at .01 of a selection they are at 3.95
on NLTCS, where the local form has 3.56. Our local form takes the larger of the two weighted
sensitivities, not their sum: a record is positive or negative, never both. ID3 costs the
printed epsilon, evolution three times that: the lower panels are by what a run costs.
""",
)
