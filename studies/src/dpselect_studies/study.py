"""Studies: one numbered item of a paper each, as cells that are measured one by one.

A cell is a frozen dataclass of plain values that holds everything its numbers depend on but the
seed. Cells are independent, so a run can be stopped, resumed and divided among processes. What
the paper prints stands beside the cells, and ``dpselect_studies.comparison`` compares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Plain: TypeAlias = str | float | int
Row: TypeAlias = dict[str, Plain]

Setting = TypeVar("Setting")
Cell = TypeVar("Cell")

Kind: TypeAlias = Literal["number", "formula", "words"]
"""What the paper has: a number; a formula or bound, which we evaluate, perhaps outside of its
condition; or words, which we put as a number. The last two are counted apart."""


class Spread(NamedTuple):
    """How much a measured number varies.

    Attributes:
        deviation: Standard deviation of one repetition.
        runs: Independent repetitions of ours.
    """

    deviation: float
    runs: float


@dataclass(frozen=True)
class Null:
    """What needs no part of the paper's method: a choice by chance, or a constant.

    Attributes:
        name: In words.
        where: Rows of the study's frame, by column; their mean counts.
        value: In place of rows, a constant.
    """

    name: str
    where: Mapping[str, Plain] = field(default_factory=dict)
    value: float = 0.0


@dataclass(frozen=True)
class Reason:
    """Why a number differs, and the stored run that bears it out.

    Attributes:
        text: The reason.
        run: The study whose stored run shows it.
        where: Rows of its frame, by column; their mean counts.
        column: The column that shows it.
        at_least: What the mean must be at least, for the reason to hold.
        at_most: What it must be at most.
    """

    text: str
    run: str
    where: Mapping[str, Plain]
    column: str
    at_least: float = -inf
    at_most: float = inf

    def shown_by(self, frame: pl.DataFrame) -> float:
        """Return what the run has; not a number where it has no such row."""
        return mean_of(frame, self.where, self.column)

    def holds(self, frame: pl.DataFrame) -> bool:
        """Return whether the frame of the run, with its claims, bears the reason out."""
        return self.at_least <= self.shown_by(frame) <= self.at_most


@dataclass(frozen=True)
class Printed:
    """What the paper prints.

    Attributes:
        where: The rows of the study's frame to compare with, by column; their mean counts.
        column: The column to compare with.
        value: The number.
        digit: How far the paper's number may be from the printed one: half of its last digit,
            or half of a printed range.
        source: Where it is stated.
        runs: Independent repetitions behind it, of the spread that ours have; 0 where it is
            exact or where their number does not matter.
        kind: A number, a formula or words.
        at_most: The paper states an upper bound, which smaller numbers agree with too.
        in_code: Its rows in a run at the settings of the authors' code, where they have other
            values than ``where``.
        null: What a number must be told from, for its agreement to count; None where both
            sides are exact, and chance could not meet the digits.
        reason: Why ours differs, where it does and a run shows it.
    """

    where: Mapping[str, Plain]
    column: str
    value: float
    digit: float
    source: str
    runs: float = 0
    kind: Kind = "number"
    at_most: bool = False
    in_code: Mapping[str, Plain] = field(default_factory=dict)
    null: Null | None = None
    reason: Reason | None = None

    def as_in_code(self) -> Printed:
        """Return the number with its rows in a run at the settings of the authors' code."""
        null = self.null
        if null is not None:
            known = {key: self.in_code.get(key, one) for key, one in null.where.items()}
            null = replace(null, where=known)
        return replace(self, where={**self.where, **self.in_code}, null=null)

    def agrees(self, ours: float, tolerance: float) -> bool:
        """Return whether a number is within a tolerance, or below an upper bound."""
        difference = ours - self.value
        return (difference if self.at_most else abs(difference)) <= tolerance + ROUNDING


ROUNDING = 1e-9
"""Of floats, which no tolerance has to cover."""


def mean_of(frame: pl.DataFrame, where: Mapping[str, Plain], column: str) -> float:
    """Return the mean of a column over some rows; not a number if there are none."""
    if not {*where, column} <= set(frame.columns):
        return float("nan")
    found = frame.filter(**where)[column].drop_nulls().to_numpy()
    return float(np.mean(found)) if found.size else float("nan")


def _nothing_added(frame: pl.DataFrame) -> pl.DataFrame:
    return frame


def _exact(_found: pl.DataFrame, _number: Printed) -> Spread:
    return Spread(0.0, 1)


@dataclass(frozen=True, kw_only=True)
class Study(Generic[Setting, Cell]):
    """A table, a figure, a theorem or the examples of a paper.

    Attributes:
        title: One line.
        small: The setting that takes seconds, for tests.
        full: The paper's setting, or the nearest that the data allow.
        code: The settings of the authors' published code, where they are others than those of
            the text; None if there are none.
        seconds: Of computing that the full setting takes, about.
        cells: Setting -> its cells, each independent of the others.
        measure: Cell, generator -> rows of the tidy frame. A function of a module, so that
            it can be sent to processes.
        plot: Frame -> figure.
        printed: The paper's numbers that ours are compared with.
        spread: Rows of one number, what is printed -> how much it varies; nothing, if not
            stated.
        with_claims: Frame -> the frame and the rows that statements about several numbers are
            compared with.
        discussion: Where our numbers agree with the paper, where not, and why; Markdown, with
            numbers of the stored runs in the form that ``report.filled`` reads.
    """

    title: str
    small: Setting
    full: Setting
    code: Setting | None = None
    seconds: float
    cells: Callable[[Setting], Sequence[Cell]]
    measure: Callable[[Cell, np.random.Generator], list[Row]]
    plot: Callable[[pl.DataFrame], Figure]
    printed: Sequence[Printed] = ()
    spread: Callable[[pl.DataFrame, Printed], Spread] = _exact
    with_claims: Callable[[pl.DataFrame], pl.DataFrame] = _nothing_added
    discussion: str


def of_shares(found: pl.DataFrame, number: Printed) -> Spread:
    """Return the largest spread that shares in [0, 1] can have, of rows that hold ``runs``.

    At the mean of both sides: of equal numbers, that is the best guess of what they are.
    """
    ours = float(np.mean(found[number.column].to_numpy()))
    mean = min(max((ours + number.value) / 2, 0.0), 1.0)
    return Spread(float(np.sqrt(mean * (1 - mean))), float(found["runs"].sum()))


def of_parts(found: pl.DataFrame, _number: Printed) -> Spread:
    """Return the spread of rows that hold ``standard_error`` and ``runs``."""
    runs = found["runs"].to_numpy()
    deviations = found["standard_error"].to_numpy() * np.sqrt(runs)
    return Spread(float(np.sqrt(np.average(deviations**2, weights=runs))), float(runs.sum()))
