"""Ranks of candidates: every engine counts what NumPy counts, so every draw has one law."""

from math import inf, nan

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from support.engines import held_by
from support.placing import placed
from support.ranks import ranks_in
from support.refusals import refused

RNG = np.random.default_rng(5)
NUMBERS = [None, nan, inf, -inf, -5.0, 0.0, 0.1 + 0.2, 0.3, *RNG.normal(5, 3, 200).tolist()]


def ranks_by_definition(candidates):
    known = [x for x in NUMBERS if x is not None and x == x]  # noqa: PLR0124 -- not NaN
    known = placed(known, candidates)
    return [[sum(x < c for x in known), sum(x <= c for x in known)] for c in candidates]


def test_ranks_in_memory_are_those_of_the_definition():
    candidates = np.array([5.0, -5.0, 0.3, 0.1 + 0.2, 5.0, 1e9, -1e9])

    ranks, missing = ranks_in(np.array(NUMBERS, dtype=float), candidates)

    assert np.concatenate([ranks.below, ranks.upto]).T.tolist() == ranks_by_definition(
        candidates
    )
    assert (ranks.numbers, missing) == ([len(NUMBERS) - 2], 2)


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
