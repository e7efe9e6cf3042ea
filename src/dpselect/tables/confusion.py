"""The records of each class that each of many trees gets right, in one pass."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw
import numpy as np

from dpselect.tables.collecting import counts, sum_in_blocks
from dpselect.tables.opening import open_table
from dpselect.tables.ways import Way, place
from dpselect.typing import Indices


def count_hits(codes: object, label: str, classes: int, trees: Sequence[Way]) -> Indices:
    """Count the records that each tree assigns to the class that they have.

    Args:
        codes: A frame with columns of codes from 0, and the class. Private.
        label: The column of the class, ``0`` to ``classes - 1``.
        classes: How many classes there are.
        trees: Each sends a record to the number of a class. Public.

    Returns:
        Shape ``(trees, classes)``. Private.

    Raises:
        DataError: The engine refuses the query.
    """
    hits = [
        (place(tree) == nw.col(label)).cast(nw.Int64).sum().alias(f"tree{position}")
        for position, tree in enumerate(trees)
    ]
    table = np.zeros((len(trees), classes), dtype=np.int64)
    for block in sum_in_blocks(open_table(codes), codes, hits, by=[label], most=classes):
        group = counts(block.pop(label))
        for name, column in block.items():
            table[int(name.removeprefix("tree")), group] = counts(column)
    return table
