"""Ranks of candidates: every engine counts what NumPy counts, so every draw has one law."""

from math import inf, nan

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect.errors import DataError, NeighboursError, ParameterError
from dpselect.percentiles import percentile_rank
from dpselect.percentiles.ranks import ranks_in_engine, ranks_of
from support.engines import every_engine, held_by
from support.placing import placed

RNG = np.random.default_rng(5)
DAYS = pl.DataFrame({"days": [None, nan, -1.0, *RNG.gamma(2, 4, 300).round(1).tolist()]})
NUMBERS = [None, nan, inf, -inf, -5.0, 0.0, 0.1 + 0.2, 0.3, *RNG.normal(5, 3, 200).tolist()]
CANDIDATES = np.linspace(-3, 30, 67)


def ranks_by_definition(candidates):
    known = [x for x in NUMBERS if x is not None and x == x]  # noqa: PLR0124 -- not NaN
    known = placed(known, candidates)
    return [[sum(x < c for x in known), sum(x <= c for x in known)] for c in candidates]


@every_engine
def test_ranks_in_an_engine_are_those_of_the_definition(engine, crossing):
    candidates = [5.0, -5.0, 0.3, 0.1 + 0.2, 5.0, 1e9, -1e9, *np.linspace(0, 9, 60).tolist()]

    held = held_by(engine, pl.DataFrame({"v": NUMBERS}))
    ranks = ranks_in_engine(held, "v", np.array(candidates))

    assert np.concatenate([ranks.below, ranks.upto]).T.tolist() == ranks_by_definition(
        candidates
    )
    assert (ranks.numbers, ranks.missing) == ([len(NUMBERS) - 2], 2)
    assert max(crossing) <= len(candidates) + 1


def test_ranks_in_memory_are_those_of_the_definition():
    candidates = np.array([5.0, -5.0, 0.3, 0.1 + 0.2, 5.0, 1e9, -1e9])

    ranks = ranks_of(np.array(NUMBERS, dtype=float), candidates)

    assert np.concatenate([ranks.below, ranks.upto]).T.tolist() == ranks_by_definition(
        candidates
    )
    assert (ranks.numbers, ranks.missing) == ([len(NUMBERS) - 2], 2)


@given(
    st.lists(st.one_of(st.none(), st.floats()), max_size=20),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8),
)
def test_memory_and_engine_count_the_same(numbers, candidates):
    data = pl.LazyFrame({"v": numbers}, schema={"v": pl.Float64})
    points = np.array(candidates)

    theirs = ranks_in_engine(data, "v", points)
    ours = ranks_of(np.array(numbers, dtype=float), points)

    assert theirs.below.tolist() == ours.below.tolist()
    assert theirs.upto.tolist() == ours.upto.tolist()
    assert (theirs.numbers, theirs.missing) == (ours.numbers, ours.missing)


def test_many_candidates_take_several_passes(crossing):
    data = pl.LazyFrame({"v": np.arange(2000)})

    ranks = ranks_in_engine(data, "v", np.arange(1100) + 0.5)

    assert ranks.upto.tolist() == [[*range(1, 1100), 2000]]
    assert len(crossing) >= 3


def test_text_of_a_csv_file_has_ranks(tmp_path):
    (tmp_path / "stays.csv").write_text("days\n 3 \nunknown\n\n1e2\nNaN\n")

    ranks = ranks_in_engine(tmp_path / "stays.csv", "days", np.array([0.0, 50.0]))

    assert (ranks.below.tolist(), ranks.numbers, ranks.missing) == ([[0, 1]], 2, 3)


@every_engine
def test_no_rows_have_no_ranks(engine):
    data = held_by(engine, pl.DataFrame(schema={"v": pl.Float64}))

    ranks = ranks_in_engine(data, "v", np.ones(1))

    assert (ranks.upto.tolist(), ranks.numbers, ranks.missing) == ([[0]], 0, 0)


@every_engine
def test_the_objective_is_the_same_to_the_last_bit(engine, crossing):
    held = held_by(engine, DAYS)
    values = DAYS["days"].to_numpy()

    for relation in (dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE):
        asked = {"p": 90, "candidates": CANDIDATES, "neighbours": relation}
        ours = percentile_rank(values, **asked)
        theirs = percentile_rank(held, column="days", **asked)
        assert (ours.scores == theirs.scores).all()
        assert ours.candidates == theirs.candidates
        assert ours.sensitivity.bound == theirs.sensitivity.bound
        draw = dp.PermuteAndFlip(epsilon=1.0)
        assert (draw.probabilities(ours) == draw.probabilities(theirs)).all()
    assert max(crossing) <= CANDIDATES.size + 1 < len(DAYS)


@every_engine
def test_a_value_is_released_and_no_row_collected(engine, crossing):
    median = dp.Percentiles(
        column="v", p=50, candidates=[0, 500, 1000], epsilon=5.0, neighbours="add-remove"
    )
    chosen = median.release(held_by(engine, pl.DataFrame({"v": np.arange(1000.0)})))

    assert chosen.answer == (500.0,)
    assert max(crossing) <= 8


def test_what_is_wrong_is_refused_as_in_memory():
    asked = {"p": 50, "candidates": [1.0], "neighbours": dp.Neighbours.SUBSTITUTE}
    none = pl.LazyFrame(schema={"days": pl.Float64})

    with pytest.raises(DataError, match="a value is missing"):
        percentile_rank(DAYS.lazy(), column="days", on_invalid="raise", **asked)
    with pytest.raises(ParameterError, match="on_invalid must be"):
        percentile_rank(DAYS.lazy(), column="days", on_invalid="drop", **asked)
    with pytest.raises(DataError, match="at least one record"):
        percentile_rank(none, column="days", **asked)
    with pytest.raises(NeighboursError, match="neighbours of tables must be"):
        percentile_rank(none, column="days", **{**asked, "neighbours": dp.Neighbours.EDGE})


@pytest.mark.spark
def test_rows_of_spark_have_no_numbers_to_release():
    held = held_by("spark", pl.DataFrame({"v": [1.0, 2.0], "who": ["ann", "bob"]}))
    asked = {"column": "v", "p": 50, "upper": 3, "epsilon": 1.0}

    with pytest.raises(ParameterError, match="rows of Spark have no order"):
        dp.PercentileRecord(**asked).release(held)
    chosen = dp.PercentileRecord(label="who", **asked).release(held)
    assert chosen.answer[0] in {"ann", "bob"}
