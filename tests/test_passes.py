"""The load that a plan states is the one of the release, in passes and in rows."""

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect import passes, tables
from dpselect.maps import Weighted, even_queries
from dpselect.networks import degree
from dpselect.tables import collecting, columns
from dpselect.trees import Bins
from support.engines import SPARK, held_by

SIZE = 3000
RNG = np.random.default_rng(1)
FRAME = pl.DataFrame(
    {
        "v": RNG.integers(0, 1000, SIZE),
        "x": RNG.random(SIZE),
        "y": RNG.random(SIZE),
        "ward": RNG.choice(["A", "B"], SIZE),
        "day": np.arange(SIZE) % 4,
        "hour": np.arange(SIZE) // 4 % 4,
        "source": RNG.integers(0, 40, SIZE),
        "target": RNG.integers(0, 40, SIZE),
    }
)
FEW_COLUMNS = {"domains": {"day": [0, 1, 2, 3], "hour": [0, 1, 2, 3]}, "epsilon": 1.0}
SHARED = {"epsilon": 100.0, "neighbours": "add-remove"}
UNIT = {**SHARED, "x": "x", "y": "y", "bounds": (0, 0, 1, 1)}
TREES = {
    "domains": {"day": [0, 1, 2, 3], "hour": [0, 1, 2, 3], "x": Bins(0, 1, 201)},
    "classes": ["A", "B"],
    "max_records": 3500,
    "label": "ward",
    "epsilon": 1e4,
    "neighbours": "add-remove",
}


def percentiles(**asked):
    query = dp.Percentiles(**SHARED, column="v", **asked)
    return query.plan, query.release


def nodes(*metric, **asked):
    query = dp.TopNodes(nodes=40, k=2, metric=metric, epsilon=1.0, **asked)
    return query.plan, query.release


def tree(kind, **asked):
    query = kind(**{**TREES, **asked})
    return query.plan, query.release


def top(**asked):
    asked = {**SHARED, **asked}
    return dp.TopKeys(**asked).plan, lambda held: dp.TopKeys(**asked).release(held)


class Declared(Weighted):
    """An error of at most so many points, who are counted first."""

    most_records = 5000


def points(**asked):
    query = dp.Map(**UNIT, queries=even_queries((0, 0, 1, 1))[:150], **asked)
    return query.plan, query.release


def heavy():
    query = dp.HeavyCells(**UNIT, grid=(8, 4), k=3)
    return query.plan, query.release


def keys(**asked):
    asked = {**SHARED, "column": "ward", "delta": 1e-6, **asked}
    return dp.Keys(**asked).plan, lambda held: dp.Keys(**asked).release(held)


COUNTED = {
    "several percentiles by ranks": lambda: percentiles(
        p=[50, 60], candidates=range(1100), method="one-by-one", mechanism="exponential"
    ),
    "a recursion": lambda: percentiles(p=[25, 50, 75], candidates=range(1000)),
    "two ways to draw": lambda: percentiles(p=[50, 99], candidates=range(600)),
    "numbers of a range": lambda: percentiles(p=50, upper=1000, step=1e-3),
    "degrees": lambda: nodes("degree"),
    "densities and degrees": lambda: nodes("degree", "ego-density", combine="pareto"),
    "betweenness": lambda: nodes("ego-betweenness", mechanism="permute-and-flip"),
    "betweenness by degrees": lambda: nodes("ego-betweenness", mechanism="shifted"),
    "a tree": lambda: tree(dp.ID3Tree, max_depth=2),
    "a tree of no splits": lambda: tree(dp.ID3Tree, max_depth=0, on_invalid="raise"),
    "a front": lambda: tree(
        dp.TreeFront,
        population=201,
        generations=2,
        initial_depth=1,
        max_depth=1,
    ),
    "columns of a table": lambda: tree(dp.BestColumns, k=1),
    "cells": heavy,
    "grids": lambda: points(grids=[(2, 8), 4]),
    "a declared number": lambda: points(
        grids=[(2, 8), 4], measure=Declared(neighbours="add-remove")
    ),
    "values": lambda: top(column="day", k=2, candidates=[0, 1, 2, 3]),
    "values that are not public": lambda: top(column="day", k=2, delta=1e-6),
    "values of groups": lambda: top(
        column="day", k=2, candidates=[0, 1], by="ward", groups=["A", "B"]
    ),
    "keys": keys,
}
ON_SPARK = ("two ways to draw", "degrees", "a tree", "grids")
QUICK = ("several percentiles by ranks", "degrees", "betweenness", "values", "keys")
BOUNDED = {
    "a quadtree": points,
    "a metric of one's own": lambda: nodes(lambda graph: degree(graph)),  # noqa: PLW0108
    "all rules": lambda: points(grids=[4], method=["uniform", "guideline", "adaptive"]),
    "values of released groups": lambda: top(column="day", k=1, by="ward", delta=1e-6),
    "keys in rounds, until none is left": lambda: keys(
        method="rounds", user="v", max_per_user=2
    ),
    "a tree that stays small": lambda: tree(dp.ID3Tree, max_depth=3, **FEW_COLUMNS),
}


@pytest.fixture
def asked(monkeypatch):
    """Return a list that gets the most rows of every query that is collected."""
    queries = []
    collected, read = collecting._rows, columns._collect

    def rows(table, most):
        queries.append(most)
        return collected(table, most)

    def values(table, data):
        queries.append(None)
        return read(table, data)

    monkeypatch.setattr(collecting, "_rows", rows)
    monkeypatch.setattr(columns, "_collect", values)
    return queries


@pytest.mark.parametrize(
    ("case", "engine"),
    [
        pytest.param(case, "polars", marks=[] if case in QUICK else [pytest.mark.slow])
        for case in COUNTED
    ]
    + [
        pytest.param(
            case, "spark", marks=[*SPARK.marks, *([] if case in QUICK else [pytest.mark.slow])]
        )
        for case in ON_SPARK
    ],
)
def test_a_plan_states_the_passes_and_rows_of_its_release(case, engine, asked):
    plan, release = COUNTED[case]()
    shown = []

    with passes.watching(lambda *step: shown.append(step)):
        release(held_by(engine, FRAME))

    stated = passes.load(plan.passes, spark=engine == "spark")
    assert [most for most in stated.rows if isinstance(most, int)] == [
        most for most, said in zip(asked, stated.rows, strict=True) if isinstance(said, int)
    ]
    assert stated.passes == len(asked)
    steps = [(done, stated.passes) for done in range(stated.passes)]
    assert list(dict.fromkeys(shown)) == [*steps, (stated.passes, stated.passes)]


@pytest.mark.parametrize("case", BOUNDED)
def test_a_release_stays_within_the_stated_passes_and_rows(case, asked):
    plan, release = BOUNDED[case]()

    release(held_by("polars", FRAME))

    stated = passes.load(plan.passes).rows
    assert len(asked) <= len(stated)
    for most, bound in zip(asked, stated, strict=False):
        assert isinstance(bound, str) or most <= bound


def test_a_run_reads_the_records_less_often_than_it_counts():
    one, two = percentiles(p=50, candidates=range(9)), keys(method="rounds")
    of_both = [plan.passes for plan, _ in (one, two, two)]
    rows = {"kept": 1, "not kept": 4}

    assert len(of_both[1]) == 4
    assert passes.of_run(of_both, kept=True) == rows["kept"]
    assert passes.of_run(of_both, kept=False) == rows["not kept"]
    assert passes.of_run(of_both[1:2], kept=True) == 4


def test_nobody_is_told_of_what_was_not_expected():
    shown = []

    with passes.watching(lambda *step: shown.append(step)):
        tables.count_records(FRAME.lazy())

    assert not shown


def test_memory_grows_with_the_rows():
    few, many = (
        passes.load(
            dp.TopNodes(nodes=n, k=1, metric="degree", epsilon=1.0).plan.passes, spark=True
        )
        for n in (10**4, 10**6)
    )

    assert many.driver_bytes - few.driver_bytes == pytest.approx(130 * (10**6 - 10**4))
