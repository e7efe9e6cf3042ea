"""A column that stays in its engine: the same objective, so the same law of every draw."""

from math import nan

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import DataError, NeighboursError, ParameterError
from dpselect.percentiles import (
    percentile_rank,
    percentile_rank_of_column,
    select_percentile,
    select_percentile_value,
)
from support.engines import every_engine, held_by

RNG = np.random.default_rng(5)
DAYS = pl.DataFrame({"days": [None, nan, -1.0, *RNG.gamma(2, 4, 300).round(1).tolist()]})
CANDIDATES = np.linspace(-3, 30, 67)


@every_engine
def test_the_objective_is_the_same_to_the_last_bit(engine, crossing):
    held = held_by(engine, DAYS)
    values = DAYS["days"].to_numpy()

    for relation in (dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE):
        asked = {"p": 90, "candidates": CANDIDATES, "neighbours": relation}
        ours = percentile_rank(values, **asked)
        theirs = percentile_rank_of_column(held, "days", **asked)
        assert (ours.scores == theirs.scores).all()
        assert ours.candidates == theirs.candidates
        assert ours.sensitivity.bound == theirs.sensitivity.bound
        draw = dp.PermuteAndFlip(epsilon=1.0)
        assert (draw.probabilities(ours) == draw.probabilities(theirs)).all()
    assert max(crossing) <= 2 * CANDIDATES.size + 2 < len(DAYS)


@every_engine
def test_a_value_is_released_and_no_row_collected(engine, crossing):
    chosen = select_percentile_value(
        held_by(engine, pl.DataFrame({"v": np.arange(1000.0)})),
        column="v",
        p=50,
        candidates=[0, 500, 1000],
        epsilon=5.0,
        neighbours=dp.Neighbours.ADD_REMOVE,
    )

    assert chosen.candidates == (500.0,)
    assert max(crossing) <= 8


def test_what_is_wrong_is_refused_as_in_memory():
    asked = {"p": 50, "candidates": [1.0], "neighbours": dp.Neighbours.SUBSTITUTE}
    none = pl.LazyFrame(schema={"days": pl.Float64})

    with pytest.raises(DataError, match="a value is missing"):
        percentile_rank_of_column(DAYS.lazy(), "days", on_invalid="raise", **asked)
    with pytest.raises(ParameterError, match="on_invalid must be"):
        percentile_rank_of_column(DAYS.lazy(), "days", on_invalid="drop", **asked)
    with pytest.raises(DataError, match="at least one record"):
        percentile_rank_of_column(none, "days", **asked)
    with pytest.raises(NeighboursError, match="neighbours must be"):
        percentile_rank_of_column(none, "days", **{**asked, "neighbours": dp.Neighbours.EDGE})


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_rows_of_spark_have_no_numbers_to_release():
    held = held_by("spark", pl.DataFrame({"v": [1.0, 2.0], "who": ["ann", "bob"]}))
    asked = {"column": "v", "p": 50, "upper": 3, "epsilon": 1.0}

    with pytest.raises(ParameterError, match="rows of Spark have no order"):
        select_percentile(held, **asked)
    chosen = select_percentile(held, label_column="who", **asked)
    assert chosen.candidates[0] in {"ann", "bob"}
