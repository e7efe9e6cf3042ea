"""The load that a plan states is the one of the release, in passes and in rows."""

import numpy as np
import polars as pl
import pytest

from dpselect import passes, tables
from dpselect.categories import plan_keys, plan_top, release_keys, release_top
from dpselect.networks import EdgeTable, plan_nodes, release_nodes
from dpselect.percentiles import Range, plan_percentiles, release_percentiles
from dpselect.spatial import (
    RelativeCappedSize,
    even_queries,
    plan_heavy_cells,
    plan_histogram,
    release_heavy_cells,
    release_histogram,
)
from dpselect.spatial.box import Box
from dpselect.tables import collecting, columns
from dpselect.trees import (
    Bins,
    ID3Classifier,
    MultiObjectiveTreeClassifier,
    PrivateSelectKBest,
)
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
    "epsilon": 1e4,
}


def percentiles(**asked):
    asked = {**SHARED, "column": "v", **asked}
    return plan_percentiles(**asked), lambda held: release_percentiles(held, **asked)


def nodes(*metric, **asked):
    asked = {"metric": list(metric), "epsilon": 1.0, **asked}

    def release(held):
        edges = EdgeTable(held, source="source", target="target", nodes=40)
        return release_nodes(edges, 2, **asked)

    return plan_nodes(40, 2, **asked), release


def tree(kind, **asked):
    made = kind(**{**TREES, **asked})
    return made.plan(), lambda held: made.fit(held, "ward")


def top(**asked):
    asked = {**SHARED, **asked}
    return plan_top(**asked), lambda held: release_top(held, **asked)


def histogram(**asked):
    asked = {**UNIT, "queries": even_queries(Box(0, 0, 1, 1))[:150], **asked}
    return plan_histogram(**asked), lambda held: release_histogram(held, **asked)


def heavy():
    asked = {**UNIT, "grid": (8, 4)}
    return plan_heavy_cells(3, **asked), lambda held: release_heavy_cells(held, 3, **asked)


def keys(**asked):
    asked = {**SHARED, "column": "ward", "delta": 1e-6, **asked}
    return plan_keys(**asked), lambda held: release_keys(held, **asked)


COUNTED = {
    "several percentiles by ranks": lambda: percentiles(
        p=[50, 60], candidates=range(1100), method="one-by-one", mechanism="exponential"
    ),
    "a recursion": lambda: percentiles(p=[25, 50, 75], candidates=range(1000)),
    "two ways to draw": lambda: percentiles(p=[50, 99], candidates=range(600)),
    "numbers of a range": lambda: percentiles(p=50, candidates=Range(0, 1000, 1e-3)),
    "degrees": lambda: nodes("degree"),
    "densities and degrees": lambda: nodes("degree", "ego-density", combine="pareto"),
    "betweenness": lambda: nodes("ego-betweenness", mechanism="permute-and-flip"),
    "a tree": lambda: tree(ID3Classifier, max_depth=2),
    "a tree of no splits": lambda: tree(ID3Classifier, max_depth=0, on_invalid="raise"),
    "a front": lambda: tree(
        MultiObjectiveTreeClassifier,
        population=201,
        generations=2,
        initial_depth=1,
        max_depth=1,
    ),
    "columns of a table": lambda: tree(PrivateSelectKBest, k=1),
    "cells": heavy,
    "grids": lambda: histogram(grids=[(2, 8), 4]),
    "a declared number": lambda: histogram(
        grids=[(2, 8), 4], measure=RelativeCappedSize(floor=10, max_records=5000)
    ),
    "values": lambda: top(column="day", k=2, candidates=[0, 1, 2, 3]),
    "values that are not public": lambda: top(column="day", k=2, delta=1e-6),
    "values of groups": lambda: top(
        column="day", k=2, candidates=[0, 1], group="ward", groups=["A", "B"]
    ),
    "keys": keys,
    "keys by weights": lambda: keys(method="rounds", user="v", max_per_user=2),
}
ON_SPARK = ("two ways to draw", "degrees", "a tree", "grids")
QUICK = ("several percentiles by ranks", "degrees", "betweenness", "values", "keys")
BOUNDED = {
    "a quadtree": histogram,
    "all rules": lambda: histogram(
        grids=[4], method=["uniform", "guideline", "adaptive", "privtree"]
    ),
    "values of released groups": lambda: top(column="day", k=1, group="ward", delta=1e-6),
    "a tree that stays small": lambda: tree(ID3Classifier, max_depth=3, **FEW_COLUMNS),
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


def test_nobody_is_told_of_what_was_not_expected():
    shown = []

    with passes.watching(lambda *step: shown.append(step)):
        tables.count_records(FRAME.lazy())

    assert not shown


def test_memory_grows_with_the_rows():
    few, many = (
        passes.load(plan_nodes(n, 1, metric="degree", epsilon=1.0).passes, spark=True)
        for n in (10**4, 10**6)
    )

    assert many.driver_bytes - few.driver_bytes == pytest.approx(130 * (10**6 - 10**4))
