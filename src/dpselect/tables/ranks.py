"""Ranks of public candidates among private numbers."""

from __future__ import annotations

from dataclasses import dataclass

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike

from dpselect.tables.cases import EDGES_AT_ONCE, known, position_by_side
from dpselect.tables.collecting import collect, counts
from dpselect.tables.columns import as_numbers
from dpselect.tables.opening import Frame, check_columns
from dpselect.typing import Indices, Values

MISSING = -1
"""The place of a record without a number: the last one."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ranks:
    """How many numbers lie where; private.

    Attributes:
        below: Numbers below each candidate, shape ``(k,)``.
        upto: Numbers below or equal to each candidate, shape ``(k,)``.
        numbers: How many there are.
        missing: How many records have none.
    """

    below: Indices
    upto: Indices
    numbers: int
    missing: int


def count_ranks(data: object, column: str, candidates: ArrayLike) -> Ranks:
    """Count the numbers of a column below and up to each candidate.

    One grouping by the place among 512 candidates at a time; at most 1026 rows come out of
    each, one for every place that there is.

    Args:
        data: A path or any frame. Private.
        column: A numeric column.
        candidates: Finite numbers, shape ``(k,)``, in any order. Public.

    Raises:
        ColumnError: The column is missing or not numeric.
        DataError: The data cannot be read.
    """
    table = as_numbers(check_columns(data, numeric=[column]), data, [column])
    numbers = table.select(known(column).alias("number"))
    points = np.asarray(candidates, dtype=np.float64)
    edges, which = np.unique(points, return_inverse=True)
    parts = [
        _of_edges(numbers, data, edges[first : first + EDGES_AT_ONCE])
        for first in range(0, edges.size, EDGES_AT_ONCE)
    ]
    below = np.concatenate([part.below for part in parts])
    upto = np.concatenate([part.upto for part in parts])
    return Ranks(below[which], upto[which], parts[0].numbers, parts[0].missing)


def _of_edges(numbers: Frame, data: object, edges: Values) -> Ranks:
    places = 2 * edges.size + 1
    place = position_by_side(nw.col("number"), edges.tolist())
    placed = numbers.lazy().select(place.fill_null(MISSING).alias("place"))
    table = collect(
        placed.group_by("place").agg(nw.len().alias("count")), data, most=places + 1
    )
    held = np.zeros(places + 1, dtype=np.int64)
    held[counts(table["place"])] = counts(table["count"])
    sums = np.cumsum(held[:-1])
    return Ranks(sums[:-1:2], sums[1::2], int(sums[-1]), int(held[MISSING]))
