"""Ranks of public candidates among private numbers, in memory or in the engine of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpselect import tables
from dpselect.typing import Indices, Values

MISSING = -1
"""The position of a record without a number: the last one."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ranks:
    """Counts of numbers below and up to each candidate; private.

    Attributes:
        below: Numbers below each candidate, shape ``(k,)``.
        upto: Numbers below or equal to each candidate, shape ``(k,)``.
        numbers: How many numbers there are.
        missing: How many records have none.
    """

    below: Indices
    upto: Indices
    numbers: int
    missing: int


class Numbers(Protocol):
    """One number per record, or none; private."""

    def ranks(self, candidates: Values) -> Ranks:
        """Return the ranks of finite candidates, shape ``(k,)``, in any order."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NumbersInMemory:
    """Numbers in memory.

    Attributes:
        values: Shape ``(n,)``, float64, a missing number as NaN.
    """

    values: Values

    def ranks(self, candidates: Values) -> Ranks:
        known = np.sort(self.values[~np.isnan(self.values)])
        return Ranks(
            below=np.searchsorted(known, candidates, side="left"),
            upto=np.searchsorted(known, candidates, side="right"),
            numbers=known.size,
            missing=self.values.size - known.size,
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NumbersInEngine:
    """A column of a table whose rows stay in their engine.

    Ranks are one grouping by the position among 512 candidates at a time; at most 1026 rows
    are collected of each, one for every position and one for the missing numbers.

    Attributes:
        data: A path or any frame.
        column: A numeric column.

    Raises:
        ColumnError: The column is missing or not numeric.
        DataError: The data cannot be read.
    """

    data: object
    column: str

    def __post_init__(self) -> None:
        tables.check_columns(self.data, numeric=[self.column])

    def ranks(self, candidates: Values) -> Ranks:
        table = tables.as_numbers(tables.open_table(self.data), self.data, [self.column])
        numbers = table.select(tables.known(self.column).alias("number"))
        edges, which = np.unique(candidates, return_inverse=True)
        block = tables.EDGES_AT_ONCE
        parts = [
            self._of_edges(numbers, edges[first : first + block])
            for first in range(0, edges.size, block)
        ]
        below = np.concatenate([part.below for part in parts])
        upto = np.concatenate([part.upto for part in parts])
        return Ranks(below[which], upto[which], parts[0].numbers, parts[0].missing)

    def _of_edges(self, numbers: tables.Frame, edges: Values) -> Ranks:
        import narwhals as nw

        positions = 2 * edges.size + 1
        position = tables.position_by_side(nw.col("number"), edges.tolist())
        grouped = (
            numbers.lazy()
            .select(position.fill_null(MISSING).alias("position"))
            .group_by("position")
            .agg(nw.len().alias("count"))
        )
        table = tables.collect(grouped, self.data, most=positions + 1)
        held = np.zeros(positions + 1, dtype=np.int64)
        held[tables.counts(table["position"])] = tables.counts(table["count"])
        # Even positions lie between edges, odd ones on them.
        sums = np.cumsum(held[:-1])
        return Ranks(sums[:-1:2], sums[1::2], int(sums[-1]), int(held[MISSING]))


def numbers_of(data: object, column: str | None = None) -> Numbers:
    """Return the numbers of a table's column, or of an array, list or Series.

    Args:
        data: A frame, the path of a Parquet or CSV file, or the numbers themselves. Of a
            lazy frame no row is read.
        column: The numeric column, if ``data`` is a table.

    Raises:
        ColumnError: The column is missing, not numeric, or not named.
        DataError: The data cannot be read, or are not numeric.
        ParameterError: ``column`` is given and ``data`` is no table.
    """
    if column is not None and tables.is_lazy(data):
        return NumbersInEngine(data, column)
    return NumbersInMemory(tables.numeric_column(data, column))
