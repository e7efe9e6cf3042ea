"""Passes over records in an engine that trees take."""

from __future__ import annotations

from math import inf, prod

import numpy as np

from dpselect.passes import Pass
from dpselect.trees.records import Schema


def of_tables(
    leaves: int, values: int, classes: int, columns: int, most_records: float = inf
) -> Pass:
    """Return what tables of values and classes at some leaves take.

    Args:
        leaves: Leaves of a partial tree.
        values: The values of all columns that are counted.
        classes: How many classes there are.
        columns: How many columns are counted: a record is in one cell for each.
        most_records: The most records that are counted; each group and cell has one.
    """
    groups = leaves * classes
    return Pass(
        int(min(groups, most_records)),
        sums=values,
        cells=int(min(groups * values, most_records * columns)),
    )


def of_levels(schema: Schema, levels: int, most_records: int) -> tuple[Pass, ...]:
    """Return what class totals and the tables of some levels of a tree take."""
    classes = len(schema.classes)
    # A column is split on once in a path, so the largest come first at the worst.
    ways = np.sort(schema.sizes)[::-1].tolist()
    leaves = [prod(ways[:level]) for level in range(levels)]
    return (
        of_tables(1, int(schema.sizes[0]), classes, 1, most_records),
        *(of_tables(open_, sum(ways), classes, len(ways), most_records) for open_ in leaves),
    )


def of_hits(trees: int, classes: int) -> Pass:
    """Return what the records that trees classify correctly take."""
    return Pass(classes, sums=trees, cells=trees * classes)


def of_reading(*, strict: bool) -> tuple[Pass, ...]:
    """Return what is read beforehand: how many records there are, and whether all fit."""
    return (Pass(1), Pass(1)) if strict else (Pass(1),)
