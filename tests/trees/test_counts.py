"""Records in memory, compressed to unique rows."""

from collections import Counter

import numpy as np
import pytest

from dpselect.trees.counts import compress


@pytest.mark.parametrize("sizes", [(2, 3, 2), (9, 50, 7), (2**40, 3, 2**40)])
@pytest.mark.parametrize("records", [0, 1, 60])
def test_unique_rows_have_the_records_of_each_class(sizes, records):
    """By a table of all rows that there can be, by sorted integers and by sorted rows."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, np.minimum(sizes, 3), (records, 3))
    labels = rng.integers(0, 2, records)
    unique, counts = compress(codes, labels, np.array(sizes), 2)
    expected = Counter(zip(map(tuple, codes.tolist()), labels.tolist(), strict=True))

    assert len(set(map(tuple, unique.tolist()))) == len(unique)
    assert {
        (tuple(row), label): count
        for row, of_row in zip(unique.tolist(), counts.tolist(), strict=True)
        for label, count in enumerate(of_row)
        if count
    } == expected
