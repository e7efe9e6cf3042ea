"""Figure 2: weighted sum of both rates of one evolved tree (DP-MOET, aggregation).

Three times the true positive rate and twice the true negative rate, 5 at best, on the records
that the tree was made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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
from dpselect_studies.study import Null, Printed, Reason, Row, Study, of_parts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WEIGHTS = (2.0, 3.0)
"""Of the true negative and of the true positive rate."""

GLOBAL, LOCAL = "aggregation, global", "aggregation, local"
METHODS = {
    GLOBAL: Method("weighted-sum", "global", WEIGHTS),
    LOCAL: Method("weighted-sum", "local", WEIGHTS),
    "aggregation, noisy denominators": Method("weighted-sum", "noisy-denominators", WEIGHTS),
}
NON_PRIVATE = "aggregation, no privacy"
PAPERS = {
    GLOBAL: "DP-MOET-Agg_global",
    LOCAL: "DP-MOET-Agg_local",
    NON_PRIVATE: "NODP-MOET-Agg",
}
"""The paper's names; LocalDiffPID3 is its own."""
PLAIN = "LocalDiffPID3"
ID3 = {PLAIN: "local-dampening", "ShiftedLocalDiffPID3": "shifted"}
"""One tree of the same largest depth: as in the paper, and by the shifted form."""
DEPTHS = {f"{PLAIN}, {depth} questions": depth for depth in (1, 2, 3, 5)}
"""The first with another largest depth, which the text does not state."""
CLASSES = tuple(surveys.CLASSES)
"""NLTCS with another column for the class, which the text does not name."""
SAME = 0.5
"""The epsilon of the sentence before the one on LocalDiffPID3."""
EARLIER = 0.1
WEIGHTED = ", answers by weight"
POSITIVE = "always positive"


SIZES = Sizes(
    population=100, survivors=20, front=1, generations=3, initial_depth=2, max_depth=4
)
SMALL = Setting(surveys=("nltcs",), sizes=SIZES, epsilons=(0.1, 2.0), runs=1)


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every table with every method; both answers of ID3 are one cell."""
    methods = [*METHODS, *ID3, NON_PRIVATE, POSITIVE]
    found = in_parts(setting, list(product(setting.surveys, methods)))
    if not {PLAIN, LOCAL} <= set(methods) or SAME not in setting.epsilons:
        return found
    at_same = replace(setting, epsilons=(SAME,))
    others = in_parts(at_same, [*product(setting.surveys, DEPTHS)])
    others = [
        replace(one, sizes=replace(one.sizes, max_depth=DEPTHS[one.method])) for one in others
    ]
    return found + others + in_parts(at_same, [*product(CLASSES, (LOCAL, PLAIN))])


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
        if cell.method in ID3 or cell.method in DEPTHS:
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
        ID3.get(cell.method, ID3[PLAIN]),
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
    depths = pl.col("method").str.contains("questions")
    shown = ~pl.col("survey").str.contains("class") & ~depths
    return panels(
        both_readings(frame.filter(shown)),
        x="shown",
        y="fitness",
        line="method",
        panel="panel",
        x_label="epsilon (add/remove neighbours); above: as printed, below: of a run",
        y_label="3 TPR + 2 TNR",
        log="x",
        papers=PAPERS,
    )


IMPROVEMENTS = {"Adult": 21.0, "NLTCS": 6.0}
"""Of the local form over LocalDiffPID3, in percent."""
IMPROVEMENT = "aggregation, local, over LocalDiffPID3"
LEVEL = "aggregation, local, over no privacy"
CHANCE_LEVEL = "aggregation, global, over no privacy"
AT_EARLIER = "aggregation, local, over LocalDiffPID3, at epsilon 0.1"
OVER_DEPTHS, OVER_CLASSES = "the largest over depths", "the largest over classes"


def _means(frame: pl.DataFrame, epsilon: float) -> pl.DataFrame:
    """Return the fitness by table and method at one epsilon, parts of runs together."""
    return (
        frame.filter(pl.col("epsilon") == epsilon)
        .group_by("survey", "method", maintain_order=True)
        .agg(
            pl.col("fitness").mean(),
            standard_error=(pl.col("standard_error") ** 2).sum().sqrt() / pl.len(),
            runs=pl.col("runs").sum(),
        )
    )


def with_improvements(frame: pl.DataFrame) -> pl.DataFrame:
    """Add by how many percent the local form is above LocalDiffPID3 at one epsilon.

    Also at a smaller one, and the largest over depths of ID3, and over columns of NLTCS that
    are the class.
    """
    means, earlier = _means(frame, SAME), _means(frame, EARLIER)
    rows: list[Row] = []
    for (survey,), part in means.group_by("survey", maintain_order=True):
        by_method = _by_method(part)
        if LOCAL not in by_method or PLAIN not in by_method:
            continue
        ours = by_method[LOCAL]
        if {NON_PRIVATE, GLOBAL} <= set(by_method):
            free = by_method[NON_PRIVATE]
            level = _improvement(ours, free) | {"method": LEVEL}
            chance = _improvement(by_method[GLOBAL], free) | {"method": CHANCE_LEVEL}
            rows += [{"survey": str(survey), **one} for one in (level, chance)]
        rows.append({"survey": str(survey), **_improvement(ours, by_method[PLAIN])})
        before = _by_method(earlier.filter(survey=survey))
        if {LOCAL, PLAIN} <= set(before):
            found = _improvement(before[LOCAL], before[PLAIN]) | {"method": AT_EARLIER}
            rows.append({"survey": str(survey), **found})
        depths = [_improvement(ours, by_method[one]) for one in DEPTHS if one in by_method]
        if depths:
            largest = max(depths, key=lambda row: row["improvement"])
            rows.append({"survey": str(survey), **largest, "method": OVER_DEPTHS})
    classes = [row for row in rows if "class" in str(row["survey"])]
    if classes:
        largest = max(classes, key=lambda row: row["improvement"])
        rows.append({**largest, "survey": surveys.TITLES["nltcs"], "method": OVER_CLASSES})
    schema = {"improvement": pl.Float64, "survey": pl.String, "method": pl.String}
    added = pl.DataFrame(rows) if rows else pl.DataFrame(schema=schema)
    return pl.concat([frame, added], how="diagonal_relaxed")


def _by_method(means: pl.DataFrame) -> dict[str, Row]:
    return {str(row["method"]): row for row in means.iter_rows(named=True)}


def _improvement(ours: Row, theirs: Row) -> Row:
    ratio = float(ours["fitness"]) / float(theirs["fitness"])
    first, second = (
        float(one["standard_error"]) / float(one["fitness"]) for one in (ours, theirs)
    )
    return {
        "method": IMPROVEMENT,
        "improvement": 100 * (ratio - 1),
        "standard_error": 100 * ratio * float(np.hypot(first, second)),
        "runs": ours["runs"],
    }


HERE = "farias-2024/figure-2"
REASONS = {
    "NLTCS": Reason(
        "the class of NLTCS is not named; with four of its columns the lead is 6 to 7 %",
        HERE,
        {"survey": "NLTCS", "method": OVER_CLASSES},
        "improvement",
        at_least=6.0,
    ),
    "Adult": Reason(
        "the sentence names no epsilon; the lead is larger at 0.1",
        HERE,
        {"survey": "Adult", "method": AT_EARLIER},
        "improvement",
        at_least=21.0,
    ),
}

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
            0.5,
            "section 6.4, epsilon 0.5",
            runs=100,
            null=Null("no improvement"),
            reason=REASONS.get(survey),
        )
        for survey, percent in IMPROVEMENTS.items()
    ]
    + [
        Printed(
            {"survey": survey, "method": LEVEL},
            "improvement",
            0.0,
            0.5,
            "section 6.4: the same fitness at epsilon 0.5",
            runs=100,
            kind="words",
            null=Null("the global form", {"survey": survey, "method": CHANCE_LEVEL}),
        )
        for survey in ("NLTCS", "Adult", "ACS")
    ],
    spread=of_parts,
    seconds=400,
    discussion="""
100 runs, with a standard error of at most .064. Evolution follows Algorithm 1: three
selections, each at the printed epsilon. Rates are on the records that the trees were made from,
and ID3 has the same largest depth; the paper states neither.

**What agrees**: the local form is above the global one everywhere, and level with evolution
without privacy at epsilon 0.5 (3.97 for 3.99 on NLTCS, 3.92 for 3.97 on ACS, 3.76 for 3.80 on
Adult).

**What does not**: it is 16 % above LocalDiffPID3 on Adult at .5 and 32 % at .1, where 21 % is
printed. On NLTCS the two are level where 6 % is printed; over its 16 columns as the class the
lead is -5 to 24 %. On ACS the text has LocalDiffPID3 best; here it is so only if its leaves
answer by the weights, which its released counts allow at no cost. **With answers by weight ID3
is ahead of evolution without privacy on Adult and ACS.**

**Noisy denominators**, which are ours, need the least epsilon: 3.95 on NLTCS at .01 per
selection, where the local form has 3.55. ID3 costs the printed epsilon, evolution three times
that.
""",
)
