"""Passes over records in an engine that trees take."""

from __future__ import annotations

from math import inf

from dpselect._passes import Pass


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


def of_hits(trees: int, classes: int) -> Pass:
    """Return what the records that trees classify correctly take."""
    return Pass(classes, sums=trees, cells=trees * classes)


def of_reading(*, strict: bool) -> tuple[Pass, ...]:
    """Return what is read beforehand: how many records there are, and whether all fit."""
    return (Pass(1), Pass(1)) if strict else (Pass(1),)
