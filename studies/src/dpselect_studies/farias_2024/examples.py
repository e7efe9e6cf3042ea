"""Examples 4.4, 4.6 and 6.2: Pareto scores, their sensitivity, and the change of rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import dpselect as dp
from dpselect import combine
from dpselect.trees import true_positive_rate
from dpselect.typing import Values
from dpselect_studies.panels import beside_printed
from dpselect_studies.study import Printed, Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Setting:
    """Which examples."""

    examples: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """One example."""

    example: str


def example_4_4() -> dict[str, float]:
    """The Pareto scores of five candidates; Figure 1."""
    bound = dp.GlobalSensitivity(1.0, dp.Neighbours.SUBSTITUTE)
    scores = combine.pareto([
        dp.Objective([3.0, 5.0, 4.0, 2.0, 1.0], bound),
        dp.Objective([5.0, 3.0, 2.0, 4.0, 1.0], bound),
    ]).scores  # fmt: skip
    return {f"PS({name})": score for name, score in zip("abcde", scores, strict=True)}


UTILITIES = np.array([1.0, 3.0, 5.0])
CHANGES = np.array([0.5, 1.0, 1.5])
"""What one step can change of each candidate's two utilities."""


def example_4_6() -> dict[str, float]:
    """The sensitivity of the Pareto score of b at distance 0: Definition 4.5, read two ways."""
    sensitivity = dp.ElementSensitivity(
        lambda _distance: CHANGES,
        bound=2.0,
        neighbours=dp.Neighbours.SUBSTITUTE,
        horizon=2,
    )
    ours = combine.pareto([dp.Objective(UTILITIES, sensitivity)] * 2).sensitivity.at(0)
    return {"delta(0, b)": ours[1], "delta(0, b), b itself counted": literal_4_5(1)}


def literal_4_5(candidate: int) -> float:
    """Return Definition 4.5 at distance 0 as printed, where a candidate is its own rival.

    It counts who dominates now and may not after a step, and who does not and may.
    """
    low, high = UTILITIES - CHANGES, UTILITIES + CHANGES
    dominates = UTILITIES[candidate] <= UTILITIES
    may: Values = high >= low[candidate]
    may_not: Values = low <= high[candidate]
    return float((dominates & may_not).sum() + (~dominates & may).sum())


def example_6_2() -> dict[str, float]:
    """The rate of one tree on two neighbouring databases of one record each."""
    rates = [
        true_positive_rate([correct], 1, neighbours=dp.Neighbours.SUBSTITUTE).scores[0]
        for correct in (1, 0)
    ]
    return {
        "TPR(x)": rates[0],
        "TPR(x')": rates[1],
        "largest change of TPR": abs(rates[0] - rates[1]),
    }


EXAMPLES: dict[str, Callable[[], dict[str, float]]] = {
    "4.4": example_4_4,
    "4.6": example_4_6,
    "6.2": example_6_2,
}
FULL = Setting(tuple(EXAMPLES))
SMALL = FULL


def cells(setting: Setting) -> Sequence[Cell]:
    """Return every example."""
    return [Cell(example) for example in setting.examples]


def measure(cell: Cell, rng: np.random.Generator) -> list[Row]:  # noqa: ARG001 -- all is exact
    """Return the numbers of one example."""
    return [
        {"example": cell.example, "what": what, "value": float(value)}
        for what, value in EXAMPLES[cell.example]().items()
    ]


def plot(frame: pl.DataFrame) -> Figure:
    """Draw ours against what is printed."""
    return beside_printed(frame, STUDY.printed)


PRINTED: dict[str, dict[str, float]] = {
    "4.4": {"PS(a)": 0.0, "PS(b)": 0.0, "PS(c)": -1.0, "PS(d)": -1.0, "PS(e)": -4.0},
    "4.6": {"delta(0, b)": 1.0},
    "6.2": {"TPR(x)": 1.0, "TPR(x')": 0.0, "largest change of TPR": 1.0},
}

STUDY = Study(
    title="Examples 4.4, 4.6 and 6.2: Pareto scores and rates",
    small=SMALL,
    full=FULL,
    seconds=7,
    cells=cells,
    measure=measure,
    plot=plot,
    printed=[
        Printed({"example": example, "what": what}, "value", value, 0.0, f"Example {example}")
        for example, several in PRINTED.items()
        for what, value in several.items()
    ],
    discussion="""
In Example 4.6 the paper leaves b out of its own rivals, as it must, but its Definition 4.5 does
not: read literally it gives 2. In Example 6.2 the databases differ by a substitution, while
Lemma 6.1 is proved for records added or removed.
""",
)
