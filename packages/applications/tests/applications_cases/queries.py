"""Queries of numbers that cannot be computed with (``tests/test_query.py``)."""

from functools import partial

import dpselect as dp

FOUND = {"neighbours": "add-remove", "epsilon": 1.0}
ABSURD = [
    partial(dp.Series, column="a", period="m", periods=[1], k=1, candidates=["a"],
            user="p", max_per_user=2, delta=5e-324, **FOUND),
    partial(dp.TopVariants, variants=10**400, cases=1, controls=1, k=1, epsilon=1.0),
]  # fmt: skip
