"""Work of an engine as its driver sees it: the load beforehand, and how far it is."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import NamedTuple

from dpselect._passes import Pass, watching

__all__ = ["Load", "load", "watching"]

BYTES_A_ROW, BYTES_A_ROW_OBJECT = 120, 420
"""Of a row that is collected with Arrow or by an embedded engine, and of one that Spark makes
an object of, together with what is drawn from them: measured on degrees."""

BYTES_A_SUM = 16
"""Of a sum in a wide row: the engine's and ours."""

START, START_WITH_SPARK = 200e6, 160e6
"""Bytes of a process that has read nothing, and of one whose rows Spark holds."""


class Load(NamedTuple):
    """What counting takes; public."""

    passes: int
    """Queries over all records, at most."""

    rows: tuple[int | str, ...]
    """The most rows that leave the engine in each; in words where the records bound them."""

    driver_bytes: int
    """Memory of the process that draws, about, without rows that are stated in words."""


def load(passes: Sequence[Pass], *, spark: bool = False) -> Load:
    """Return what the passes of a plan take where an engine holds the records.

    Args:
        passes: Of a :class:`dpselect.Plan`.
        spark: Whether that engine is Spark, which counts some tables in another way.

    Examples:
        >>> from dpselect.percentiles import plan_percentiles
        >>> plan = plan_percentiles(
        ...     p=90, candidates=range(21), epsilon=1.0, neighbours="add-remove"
        ... )
        >>> load(plan.passes)[:2]
        (1, (44,))
    """
    rows = tuple(most for one in passes for most in one.queries(spark=spark))
    largest = max((_bytes(one, spark=spark) for one in passes), default=0)
    return Load(len(rows), rows, int(largest + (START_WITH_SPARK if spark else START)))


def _bytes(one: Pass, *, spark: bool) -> int:
    objects = spark and find_spec("pyarrow") is None
    each = BYTES_A_ROW_OBJECT if objects else BYTES_A_ROW
    if not isinstance(one.rows, int):
        return 0
    if spark and one.sums:
        return one.cells * each + one.rows * one.sums * BYTES_A_SUM
    return one.rows * max(each, one.sums * BYTES_A_SUM)
