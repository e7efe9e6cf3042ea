"""Ranks of candidates, counted in an engine."""

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from support.engines import held_by
from support.ranks import ranks_in
from support.refusals import refused


@pytest.mark.parametrize(("engine", "several"), [("polars", False), ("duckdb", True)])
def test_many_candidates_take_several_passes(engine, several, crossing):
    """In polars, which looks up all of them at once, only one."""
    data = held_by(engine, pl.DataFrame({"v": np.arange(2000)}))

    ranks, _ = ranks_in(data, np.arange(1100) + 0.5, "v")

    assert ranks.upto.tolist() == [[*range(1, 1100), 2000]]
    assert (len(crossing) >= 3) == several


@pytest.mark.spark
def test_rows_of_spark_have_no_numbers_to_release():
    held = held_by("spark", pl.DataFrame({"v": [1.0, 2.0], "who": ["ann", "bob"]}))
    asked = {"column": "v", "p": 50, "upper": 3, "epsilon": 1.0}

    with refused("label"):
        dp.PercentileRecord(**asked).release(held)
    chosen = dp.PercentileRecord(label="who", **asked).release(held)
    assert chosen.answer[0] in {"ann", "bob"}
