"""Studies: one numbered item of a paper each, as cells that are measured one by one.

A cell is a frozen dataclass of plain values that holds everything its numbers depend on but
the seed. Cells are independent, so a run can be stopped, resumed and divided among processes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Plain: TypeAlias = str | float | int
Row: TypeAlias = dict[str, Plain]

Setting = TypeVar("Setting")
Cell = TypeVar("Cell")


@dataclass(frozen=True)
class Printed:
    """A number that the paper prints.

    Attributes:
        where: The rows of the study's frame to compare with, by column; their mean counts.
        column: The column to compare with.
        value: The number.
        tolerance: Largest difference that counts as agreement.
        source: Where it is stated.
        at_most: The paper states an upper bound, which smaller numbers agree with too.
        reason: Why ours differs, where it does.
    """

    where: Mapping[str, Plain]
    column: str
    value: float
    tolerance: float
    source: str
    at_most: bool = False
    reason: str = ""

    def agrees(self, ours: float) -> bool:
        """Return whether a number is within the tolerance, or below an upper bound."""
        difference = ours - self.value
        return (difference if self.at_most else abs(difference)) <= self.tolerance


def _nothing_added(frame: pl.DataFrame) -> pl.DataFrame:
    return frame


@dataclass(frozen=True, kw_only=True)
class Study(Generic[Setting, Cell]):
    """A table, a figure, a theorem or the examples of a paper.

    Attributes:
        title: One line.
        small: The setting that takes seconds, for tests.
        full: The paper's setting, or the nearest that the data allow.
        cells: Setting -> its cells, each independent of the others.
        measure: Cell, generator -> rows of the tidy frame. A function of a module, so that
            it can be sent to processes.
        plot: Frame -> figure.
        printed: The paper's numbers that ours are compared with.
        with_claims: Frame -> the frame and the rows that statements about several numbers are
            compared with.
        discussion: Where our numbers agree with the paper, where not, and why; Markdown.
    """

    title: str
    small: Setting
    full: Setting
    cells: Callable[[Setting], Sequence[Cell]]
    measure: Callable[[Cell, np.random.Generator], list[Row]]
    plot: Callable[[pl.DataFrame], Figure]
    printed: Sequence[Printed] = ()
    with_claims: Callable[[pl.DataFrame], pl.DataFrame] = _nothing_added
    discussion: str


def compare(study: Study[Setting, Cell], frame: pl.DataFrame) -> pl.DataFrame:
    """Return the paper's numbers beside ours.

    Args:
        study: The study with its printed numbers.
        frame: The frame of a run. Numbers of rows that are not in it are left out: a small
            run does not measure everything.

    Returns:
        Columns ``where``, ``printed``, ``ours``, ``tolerance``, ``agrees``, ``source`` and
        ``why``, the reason where they do not agree.
    """
    rows = []
    frame = study.with_claims(frame)
    for number in study.printed:
        found = frame.filter(**number.where)
        if found.is_empty():
            continue
        ours = float(np.mean(found[number.column].to_numpy()))
        rows.append({
            "where": ", ".join(f"{column} {value}" for column, value in number.where.items()),
            "printed": number.value,
            "ours": ours,
            "tolerance": number.tolerance,
            "agrees": number.agrees(ours),
            "source": number.source,
            "why": "" if number.agrees(ours) else number.reason,
        })  # fmt: skip
    schema = {
        "where": pl.String,
        "printed": pl.Float64,
        "ours": pl.Float64,
        "tolerance": pl.Float64,
        "agrees": pl.Boolean,
        "source": pl.String,
        "why": pl.String,
    }
    return pl.DataFrame(rows, schema=schema)


def counted(study: Study[Setting, Cell], frame: pl.DataFrame | None) -> Row:
    """Return the title, the number of printed values, and how many a run agrees with.

    Args:
        study: The study.
        frame: The frame of its full run, or None if there is none: then nothing agrees yet,
            and ``compared`` is 0.
    """
    row: Row = {"title": study.title, "printed": len(study.printed), "compared": 0, "agree": 0}
    if frame is not None:
        beside = compare(study, frame)
        row |= {"compared": beside.height, "agree": int(beside["agrees"].sum())}
    return row
