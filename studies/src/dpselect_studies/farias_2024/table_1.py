"""Table 1: coverage of privately evolved fronts by fronts without privacy (DP-MOET).

The metric is ``C(front without privacy, private front)`` of Definition 6.3, 0 at best, over
true positive and true negative rates on the records that the trees evolved on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import sqrt
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import polars as pl

from dpselect.combine import coverage
from dpselect.trees.samplers import Simulated
from dpselect.typing import Values
from dpselect_studies import surveys
from dpselect_studies.farias_2024.evolving import (
    NO_PRIVACY,
    NOTHING,
    PART,
    Bound,
    Cell,
    Dominance,
    Maximum,
    Method,
    Setting,
    Sizes,
    both_readings,
    evolution,
    in_parts,
    rates,
)
from dpselect_studies.panels import marked, panels
from dpselect_studies.study import Null, Printed, Reason, Row, Study, of_parts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOUNDS: tuple[Bound, ...] = ("global", "local")


@dataclass(frozen=True)
class Reading:
    """What the text leaves open of how fronts are compared.

    Attributes:
        dominance: Of the score by which all trees are selected.
        without_privacy: How trees are selected without privacy.
    """

    dominance: Literal["standard", "weak"] = "standard"
    without_privacy: type[Simulated] = Simulated


OURS = Reading()
"""Trees that are equal do not dominate each other, and are kept at random."""
READINGS = {
    "": OURS,
    ", the maximum": Reading(without_privacy=Maximum),
    ", weak": Reading("weak"),
    ", weak, the maximum": Reading("weak", Maximum),
}
"""By what is added to the name of a method: the paper's own Definition 4.3 is weak, and its
version without privacy takes "the maximum", which of equals may be the first."""

GLOBAL, LOCAL, CHANCE = "Pareto, global", "Pareto, local", "by chance"
METHODS = {
    **{
        f"Pareto, {bound}{name}": (Method("pareto", bound, dominance=one.dominance), one)
        for name, one in READINGS.items()
        for bound in BOUNDS
    },
    "margin, noisy denominators": (Method("margin", "noisy-denominators"), OURS),
}
FIXED = {CHANCE: NOTHING, "another run without privacy": NO_PRIVACY}
"""What does not depend on epsilon: the worst and the best that can be expected."""
PAPERS = {GLOBAL: "MO_g", LOCAL: "MO_l"}
"""The paper's names."""


SIZES = Sizes(population=30, survivors=3, front=3, generations=4, initial_depth=3, max_depth=9)
EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0)
SMALL = Setting(surveys=("nltcs",), sizes=SIZES, epsilons=(0.1, 5.0), runs=1)


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every table with the paper's methods, and a part of the runs of all others."""
    ours = [one for one in setting.surveys if one != surveys.ANYWHERE]
    main = [GLOBAL, LOCAL, CHANCE]
    others = [*product(ours, [name for name in (*METHODS, *FIXED) if name not in main])]
    others += product(set(setting.surveys) - set(ours), [GLOBAL, LOCAL])
    first = replace(setting, runs=min(setting.runs, PART))
    return in_parts(setting, [*product(ours, main)]) + in_parts(first, others)


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:
    """Return the mean of C for each epsilon and kind of dominance.

    Private and non-private runs are independent. What has no epsilon is repeated at each.
    """
    fixed = FIXED.get(cell.method)
    method, reading = METHODS[GLOBAL if fixed is not None else cell.method]
    free = Method("pareto", "global", dominance=reading.dominance)
    best = [
        front(cell, free, NO_PRIVACY, rng, reading.without_privacy) for _ in range(cell.runs)
    ]
    if fixed is not None:
        same = [front(cell, method, fixed, rng) for _ in range(cell.runs)]
        drawn = [same] * len(cell.epsilons)
    else:
        drawn = [
            [front(cell, method, epsilon, rng) for _ in range(cell.runs)]
            for epsilon in cell.epsilons
        ]
    rows: list[Row] = []
    for (epsilon, fronts), dominance in product(
        zip(cell.epsilons, drawn, strict=True), get_args(Dominance)
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


def front(
    cell: Cell,
    method: Method,
    epsilon: float,
    rng: np.random.Generator,
    sampler: type[Simulated] = Simulated,
) -> Values:
    """Return both rates of the trees of one run."""
    schema = surveys.load(cell.survey).schema
    plan = evolution(schema, cell.sizes, method, epsilon)
    return rates(plan, surveys.counts(cell.survey), rng, sampler)


def balanced(fronts: Sequence[Values]) -> float:
    """Return the mean of both rates of each front's best tree, on average over fronts."""
    return float(np.mean([one.mean(axis=1).max() for one in fronts]))


def plot(frame: pl.DataFrame) -> Figure:
    """Draw C against epsilon, a panel for each table and each reading of epsilon."""
    anywhere = pl.col("survey") == surveys.TITLES[surveys.ANYWHERE]
    readings = pl.col("method").str.contains("weak|maximum")
    marks = marked(STUDY.printed, "C").with_columns(
        shown="epsilon", panel=pl.format("{}, epsilon as printed", "survey")
    )
    return panels(
        both_readings(frame.filter(pl.col("dominance") == "standard", ~anywhere, ~readings)),
        x="shown",
        y="C",
        line="method",
        panel="panel",
        x_label="epsilon (add/remove neighbours); above: of each selection, below: of a run",
        y_label="share of a private front that is dominated",
        log="x",
        papers=PAPERS,
        marks=marks,
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


HERE = "farias-2024/table-1"
OF_MANY, OF_ONE = 0.04, 0.06
"""How near a reading must be to print: the mean of seven columns of 100 runs, and one."""


def _reason(survey: str, method: str, epsilon: float, value: float) -> Reason | None:
    """Return the reading of the text that has the printed value, if one has."""
    rows: Row = {"survey": surveys.TITLES[survey], "dominance": "standard"}
    if method == GLOBAL:
        # Here nothing depends on epsilon, so all columns are one measurement.
        return Reason(
            'of trees that are equal, "the maximum" may be the first, and not one at random',
            HERE,
            rows | {"method": f"{GLOBAL}, the maximum"},
            "C",
            at_least=value - OF_MANY,
            at_most=value + OF_MANY,
        )
    if survey == "nltcs" and epsilon <= WEAK_UP_TO:
        return Reason(
            "the paper's Definition 4.3, weak dominance, and the first of equals",
            HERE,
            rows | {"method": f"{LOCAL}, weak, the maximum", "epsilon": epsilon},
            "C",
            at_least=value - OF_ONE,
            at_most=value + OF_ONE,
        )
    return None


WEAK_UP_TO = 0.05


def _chance(survey: str, epsilon: float) -> Null:
    where: Row = {"survey": survey, "method": CHANCE, "dominance": "standard"}
    return Null("a choice by chance", where | {"epsilon": epsilon})


def _printed() -> list[Printed]:
    return [
        Printed(
            {
                "survey": surveys.TITLES[survey],
                "method": method,
                "dominance": "standard",
                "epsilon": epsilon,
            },
            "C",
            value,
            0.005,
            "Table 1",
            runs=500,
            null=_chance(surveys.TITLES[survey], epsilon),
            reason=_reason(survey, method, epsilon, value),
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
    spread=of_parts,
    seconds=900,
    discussion="""
500 runs of the paper's two methods and of a choice by chance (standard error at most .02), 100
of the rest. The setting is the paper's; its depths 4 and 10 are taken to count levels of nodes.

**What agrees**: the local form on Adult from epsilon .1 on, on ACS from .5, and on NLTCS at .1
and 5. **The global column is a choice by chance**, .31, .22 and .15 at every epsilon; the
printed one is flat too, at .48, .28 and .20.

**The stored local numbers are of a score of 0 that is dampened to 0**, whatever its
sensitivity. By Definition 12 it is dampened to the number of its leading sensitivities that
are 0, and C is smaller: .28, .14 and .11 on NLTCS at epsilon .1, .5 and 2 in all, for .50,
.46 and .31 ([measured](measurements.md#fronts-of-trees-by-the-pareto-score) at the settings
of the published code), where .25, .13 and .11 are printed.

**The text does not say how equal trees are treated.** Here equal trees do not dominate each
other, and are kept at random. If the first of equals is kept the global column is as printed,
but the local one falls to .20, .17 and .14 only. By Definition 4.3, where equal trees dominate
each other, NLTCS starts at .34. No single reading gives all printed numbers; all readings are
in the file. Cuts at any real number, as in the text, agree less than cuts at the edges of eight
bins.

The **margin over noisy denominators**, which is ours, is dominated least: .04 to .12 from
epsilon 0.05 on. Its best tree has a mean rate of .71 to .72 on NLTCS, .65 to .66 on ACS and .62
to .63 on Adult, where evolution *without* privacy by the Pareto score has .64, .59 and .56.
Algorithm 1 passes epsilon to each of four selections and so costs four times that: the lower
panels are by what a run costs.
""",
)
