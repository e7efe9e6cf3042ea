"""Kernels: the rows of persons gathered and put in order, and the least numbers of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpselect._compiled import compiled
from dpselect.typing import Indices

SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""An odd integer near 2^64 over the golden ratio: its products spread persons over buckets."""


@compiled
def is_before(columns: Indices, row: int, other: int) -> bool:
    """Return whether a row is before another one by all columns but the first."""
    for j in range(1, columns.shape[0]):
        if columns[j, row] != columns[j, other]:
            return bool(columns[j, row] < columns[j, other])
    return False


@compiled
def sort_cells(cells: Indices, columns: Indices, low: int, high: int) -> None:
    """Sort triples of two integers and a row, by the integers and the row's other columns.

    Shell's sort: most parts have a few cells, and none takes quadratic time.
    """
    gap = 1
    while 3 * gap + 1 < high - low:
        gap = 3 * gap + 1
    while gap > 0:
        for start in range(low + gap, high):
            first, second, row = cells[start, 0], cells[start, 1], cells[start, 2]
            place = start - gap
            while place >= low and (
                cells[place, 0] > first
                or (
                    cells[place, 0] == first
                    and (
                        cells[place, 1] > second
                        or (
                            cells[place, 1] == second
                            and is_before(columns, row, cells[place, 2])
                        )
                    )
                )
            ):
                for j in range(3):
                    cells[place + gap, j] = cells[place, j]
                place -= gap
            place += gap
            cells[place, 0], cells[place, 1], cells[place, 2] = first, second, row
        gap //= 3


@compiled
def gathered(
    persons: Indices,
    first: Indices,
    bits: int,
    part: tuple[int, int],
    free: int,
    counted: NDArray[np.bool_],
) -> tuple[Indices, Indices]:
    """Return the cells of the buckets with more than ``free`` rows, and where each starts.

    Args:
        persons: Shape ``(n,)``, an integer for each person.
        first: Shape ``(n,)``, the first column by which rows are put in order.
        bits: There are ``2**bits`` buckets of persons.
        part: The first bucket of this call, and the one after the last.
        free: Rows of a bucket that all count.
        counted: Set true for these; shape ``(n,)``.
    """
    shift, low, size = np.uint64(64 - bits), part[0], part[1] - part[0]
    starts = np.zeros(size + 1, np.int64)
    for row in range(persons.size):
        bucket = np.int64((np.uint64(persons[row]) * SPREAD) >> shift) - low
        if 0 <= bucket < size:
            starts[bucket + 1] += 1
    for place in range(size):
        held = starts[place + 1]
        starts[place + 1] = starts[place] + (held if held > free else 0)
    cells = np.empty((starts[size], 3), np.int64)
    next_cell = starts[:-1].copy()
    for row in range(persons.size):
        bucket = np.int64((np.uint64(persons[row]) * SPREAD) >> shift) - low
        if bucket < 0 or bucket >= size:
            continue
        if starts[bucket] == starts[bucket + 1]:
            counted[row] = True
            continue
        at = next_cell[bucket]
        cells[at, 0], cells[at, 1], cells[at, 2] = persons[row], first[row], row
        next_cell[bucket] = at + 1
    return cells, starts


@compiled
def crowded(
    cells: Indices,
    starts: Indices,
    columns: Indices,
    most: int,
    distinct: bool,  # noqa: FBT001 -- kernels take no keywords
    counted: NDArray[np.bool_],
) -> tuple[Indices, Indices]:
    """Return the rows of the persons who have more than ``most``, and where each person's end.

    Args:
        cells: Persons, first columns and rows, by buckets; they are put in order.
        starts: Where each bucket starts.
        columns: Shape ``(m, n)``, by which a person's rows are put in order.
        most: Rows of a person that count.
        distinct: Whether equal rows of a person are one.
        counted: Set true for the rows of everybody else; shape ``(n,)``.
    """
    rows = np.empty(cells.shape[0], np.int64)
    ends = np.empty(rows.size // (most + 1), np.int64)
    held = people = 0
    for bucket in range(starts.size - 1):
        last = starts[bucket + 1]
        sort_cells(cells, columns, starts[bucket], last)
        start = held
        for cell in range(starts[bucket], last):
            row, before = cells[cell, 2], cells[cell - 1, 2]
            if cell == starts[bucket] or cells[cell, 0] != cells[cell - 1, 0]:
                start = held
            elif (
                distinct
                and cells[cell, 1] == cells[cell - 1, 1]
                and not is_before(columns, before, row)
            ):
                row = -1
            if row >= 0:
                rows[held] = row
                held += 1
            if cell + 1 < last and cells[cell + 1, 0] == cells[cell, 0]:
                continue
            if held - start > most:
                ends[people] = held
                people += 1
            else:
                for place in range(start, held):
                    counted[rows[place]] = True
                held = start
    return rows[:held], ends[:people]


@compiled
def count_least(
    rows: Indices,
    ends: Indices,
    turns: Indices,
    words: tuple[Indices, Indices],
    prime: int,
    most: int,
    counted: NDArray[np.bool_],
) -> None:
    """Set true the rows whose places have the least numbers, ``most`` of each person.

    Args:
        rows: Person by person and in order.
        ends: Where those of each person end.
        turns: By which rows count before their numbers decide, by row; empty if by nothing.
        words: Two of each person, with which the numbers of places are mixed.
        prime: The modulus.
        most: How many.
        counted: The result; by row.
    """
    cells, one = np.empty((1, 3), np.int64), np.empty((1, 0), np.int64)
    start = 0
    for person in range(ends.size):
        size = ends[person] - start
        if size > cells.shape[0]:
            cells = np.empty((2 * size, 3), np.int64)
        for place in range(size):
            number = place + words[0][person]
            number = number * number % prime * number % prime + words[1][person]
            cells[place, 1] = number * number % prime * number % prime
            cells[place, 2] = row = rows[start + place]
            cells[place, 0] = turns[row] if turns.size else 0
        sort_cells(cells, one, 0, size)
        for place in range(most):
            counted[cells[place, 2]] = True
        start = ends[person]
