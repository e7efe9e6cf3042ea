"""Records in memory, compressed to unique rows."""

from collections import Counter

import numpy as np
import pytest

from dpselect.trees.counts import MemoryCounts
from dpselect.trees.domains import OUTSIDE, Categories, Schema


@pytest.mark.parametrize("sizes", [(2, 3, 2), (9, 50, 7), (3,) * 40])
@pytest.mark.parametrize("records", [0, 1, 60])
def test_rows_have_the_records_of_each_class(sizes, records):
    """By a table of all rows that there can be, by sorted integers, and row by row."""
    rng = np.random.default_rng(0)
    schema = Schema(
        tuple(map(str, range(len(sizes)))),
        tuple(Categories(range(size)) for size in sizes),
        (0, 1),
    )
    codes = rng.integers(0, np.minimum(sizes, 3), (records, len(sizes)))
    labels = rng.integers(0, 2, records)
    codes[::7, 1] = labels[::5] = OUTSIDE
    held = MemoryCounts.of_records(schema, codes, labels)
    inside = (codes != OUTSIDE).all(axis=1) & (labels != OUTSIDE)
    rows = map(tuple, codes[inside].tolist())

    found = Counter()
    held_rows = list(zip(map(tuple, held.codes.tolist()), held.labels.tolist(), strict=True))
    for row, number in zip(held_rows, held.records.tolist(), strict=True):
        found[row] += number
    assert found == Counter(zip(rows, labels[inside].tolist(), strict=True))
    if len(sizes) == 3:
        assert len(set(held_rows)) == len(held_rows)
