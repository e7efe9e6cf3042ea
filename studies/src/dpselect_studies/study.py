"""What a study is: one table or figure of a paper, as cells that are measured one by one.

A cell is a frozen dataclass of plain values: it names everything that its numbers depend on
but the seed. Cells are independent, so a run can be cut short, resumed and dealt to processes.
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
    """A number that the paper, or who ran its authors' code, gives.

    Attributes:
        where: The row of the study's frame that it belongs to, by column.
        column: The column that it is compared with.
        value: The number.
        tolerance: How far ours may be off and still agree.
        source: Where it is printed.
    """

    where: Mapping[str, Plain]
    column: str
    value: float
    tolerance: float
    source: str


@dataclass(frozen=True, kw_only=True)
class Study(Generic[Setting, Cell]):
    """A table or figure of a paper.

    Attributes:
        title: What it shows, in a line.
        small: The setting that takes seconds, for tests.
        full: The paper's setting, or the nearest that the data allow.
        cells: What is measured in a setting, each independent of the others.
        measure: Cell, generator -> rows of the tidy frame. A function of a module, so that
            processes can be told of it.
        plot: Frame -> figure.
        printed: The numbers that ours are compared with.
        reading: Where ours agrees with print, where not, and why; Markdown.
    """

    title: str
    small: Setting
    full: Setting
    cells: Callable[[Setting], Sequence[Cell]]
    measure: Callable[[Cell, np.random.Generator], list[Row]]
    plot: Callable[[pl.DataFrame], Figure]
    printed: Sequence[Printed] = ()
    reading: str


def compare(study: Study[Setting, Cell], frame: pl.DataFrame) -> pl.DataFrame:
    """Return printed numbers beside ours.

    Args:
        study: The study with its printed numbers.
        frame: What a run of it returned. Printed numbers of rows that are not in it are left
            out: a small run does not measure everything.

    Returns:
        Columns ``where``, ``printed``, ``ours``, ``tolerance``, ``agrees`` and ``source``.
    """
    rows = []
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
            "agrees": abs(ours - number.value) <= number.tolerance,
            "source": number.source,
        })  # fmt: skip
    schema = {
        "where": pl.String,
        "printed": pl.Float64,
        "ours": pl.Float64,
        "tolerance": pl.Float64,
        "agrees": pl.Boolean,
        "source": pl.String,
    }
    return pl.DataFrame(rows, schema=schema)
