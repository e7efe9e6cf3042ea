"""The queries that a plan states are those of the release."""

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect import passes, tables
from dpselect.maps import even_queries
from dpselect.networks import Metric, degree
from dpselect.networks.metrics import degree_facts
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
QUARTERS = {"day": [0, 1, 2, 3], "hour": [0, 1, 2, 3]}
FEW_COLUMNS = {"domains": QUARTERS, "epsilon": 1.0}
SHARED = {"epsilon": 100.0, "neighbours": "add-remove"}
UNIT = {**SHARED, "x": "x", "y": "y", "bounds": (0, 0, 1, 1)}
TREES = {"classes": ["A", "B"], "max_records": 3500, "label": "ward", **SHARED, "epsilon": 1e4}
TREES |= {"domains": {**QUARTERS, "x": Bins(0, 1, 201), "y": Bins(0, 1, 99)}}
FRONT = {"population": 201, "generations": 2, "initial_depth": 1, "max_depth": 1}


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
    "several": lambda: percentiles(p=[25, 50, 75], candidates=range(500)),
    "two ways to draw": lambda: percentiles(p=[50, 99], candidates=range(600)),
    "numbers of a range": lambda: percentiles(p=50, upper=1000, step=1e-3),
    "degrees": lambda: nodes("degree"),
    "densities and degrees": lambda: nodes("degree", "ego-density", combine="pareto"),
    "betweenness": lambda: nodes("ego-betweenness", mechanism="permute-and-flip"),
    "betweenness by degrees": lambda: nodes("ego-betweenness", mechanism="shifted"),
    "a tree": lambda: tree(dp.ID3Tree, max_depth=2),
    "a tree of no splits": lambda: tree(dp.ID3Tree, max_depth=0, on_invalid="raise"),
    "a front": lambda: tree(dp.TreeFront, **FRONT),
    "columns of a table": lambda: tree(dp.BestColumns, k=1),
    "a tree of few cells": lambda: tree(dp.ID3Tree, max_depth=3, **FEW_COLUMNS),
    "cells": heavy,
    "grids": lambda: points(grids=[(2, 8), 4]),
    "a metric of one's own": lambda: nodes(Metric(degree, degree_facts, ["degrees"])),
    "values": lambda: top(column="day", k=2, candidates=[0, 1, 2, 3]),
    "values that are not public": lambda: top(column="day", k=2, delta=1e-6),
    "values of groups": lambda: top(
        column="day", k=2, candidates=[0, 1], by="ward", groups=["A", "B"]
    ),
    "keys": keys,
}
FEWER = ("two ways to draw", "grids")
"""Of more candidates, or lines, than an engine is asked about at once; polars takes all."""

ON_SPARK = ("two ways to draw", "degrees", "grids")
QUICK = ("several percentiles by ranks", "degrees", "betweenness", "values", "keys")
BOUNDED = {
    "a quadtree": points,
    "all rules": lambda: points(grids=[4], method=["uniform", "guideline", "adaptive"]),
    "values of released groups": lambda: top(column="day", k=1, by="ward", delta=1e-6),
    "keys in rounds, until none is left": lambda: keys(
        method="rounds", user="v", max_per_user=2
    ),
    "a tree that stays small": lambda: tree(
        dp.ID3Tree, max_depth=3, splits="values", epsilon=0.1
    ),
}


@pytest.fixture
def asked(monkeypatch):
    """Return a list that gets an item for every query that is collected."""
    queries, query = [], passes.query

    def counted():
        queries.append(None)
        return query()

    for module in ("engine", "people"):
        monkeypatch.setattr(f"dpselect.tables.{module}.query", counted)
    return queries


@pytest.mark.parametrize(
    ("case", "engine"),
    [
        pytest.param(case, "polars", marks=[] if case in QUICK else [pytest.mark.slow])
        for case in COUNTED
        if case not in FEWER
    ]
    + [
        pytest.param(
            case, "spark", marks=[*SPARK.marks, *([] if case in QUICK else [pytest.mark.slow])]
        )
        for case in ON_SPARK
    ],
)
def test_a_plan_states_the_queries_of_its_release(case, engine, asked):
    plan, release = COUNTED[case]()
    shown = []

    with passes.watching(lambda *step: shown.append(step)):
        release(held_by(engine, FRAME))

    assert plan.passes == len(asked)
    steps = [(done, plan.passes) for done in range(plan.passes)]
    assert list(dict.fromkeys(shown)) == [*steps, (plan.passes, plan.passes)]


@pytest.mark.parametrize(
    ("case", "engine"),
    [
        *((case, "polars") for case in (*BOUNDED, *FEWER)),
        pytest.param("a tree", "spark", marks=[*SPARK.marks, pytest.mark.slow]),
    ],
)
def test_a_release_takes_at_most_the_stated_queries(case, engine, asked):
    plan, release = {**COUNTED, **BOUNDED}[case]()

    release(held_by(engine, FRAME))

    assert 1 <= len(asked) <= plan.passes


def test_nobody_is_told_of_what_was_not_expected():
    shown = []

    with passes.watching(lambda *step: shown.append(step)):
        tables.count_records(FRAME.lazy())

    assert not shown
