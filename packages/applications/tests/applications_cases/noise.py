"""Counts with noise, and the error that is stated for them (``tests/truth``)."""

import numpy as np
import polars as pl
import pytest

import dpselect as dp

PRICE = {"epsilon": 1.0, "neighbours": "add-remove"}


def cells_of_levels():
    tree = {f"{at}": f"t{at % 20}" for at in range(400)}
    rows = [f"{at}" for at in range(400) for _ in range(20 + 1000 * (at // 20 % 2))]
    release = dp.Levels(tree=tree, **PRICE).release(rows)
    truth = [rows.count(one) for one in release.answer]
    return release.plan.error.value, np.array(release.counts) - truth


def counts_of_a_series():
    table = pl.DataFrame({"t": [1, 2, 3, 3], "key": [0, 0, 1, 1]})
    query = dp.Series(
        column="key", period="t", periods=range(1, 13), k=1, candidates=range(400), **PRICE
    )
    truth = np.array([2, 2, *[0] * 398])
    return query.plan.error.value, query.release(table).running[-1] - truth


CASES = [counts_of_a_series, pytest.param(cells_of_levels, marks=pytest.mark.slow)]
