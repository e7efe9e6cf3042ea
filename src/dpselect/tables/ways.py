"""Where a tree sends a record, as one expression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import narwhals as nw


@dataclass(frozen=True, slots=True)
class Fork:
    """A question about a column of codes.

    Attributes:
        column: The column.
        ways: Where each code goes, from code 0 on.
    """

    column: str
    ways: tuple[Way, ...]


Way: TypeAlias = Fork | int | None
"""A question, the number of the place that a record ends in, or none that counts."""


def place(way: Way) -> nw.Expr:
    """Return the number of the place that a record ends in; null for none."""
    if way is None:
        return nw.lit(None, nw.Int64)
    if not isinstance(way, Fork):
        return nw.lit(way, nw.Int64)
    # Codes that go the same way are one case.
    goals: dict[Way, list[int]] = {}
    for code, below in enumerate(way.ways):
        goals.setdefault(below, []).append(code)
    chosen = nw.lit(None, nw.Int64)
    for below, codes in goals.items():
        chosen = nw.when(_is_one_of(way.column, codes)).then(place(below)).otherwise(chosen)
    return chosen


def _is_one_of(column: str, codes: list[int]) -> nw.Expr:
    value = nw.col(column)
    return value == codes[0] if len(codes) == 1 else value.is_in(codes)
