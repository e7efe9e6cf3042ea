"""The queries that a plan states are those of the release."""

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect import passes, tables
from dpselect.maps import even_queries
from dpselect.trees import Bins
from support.engines import SPARK, held_by
from support.releases import all_cases

SIZE = 3000
RNG = np.random.default_rng(1)
FRAME = pl.DataFrame(
    {
        "v": RNG.integers(0, 1000, SIZE),
        "x": RNG.random(SIZE),
        "y": RNG.random(SIZE),
        "ward": RNG.choice(["A", "B"], SIZE),
        "day": np.arange(SIZE) % 4,
        "source": RNG.integers(0, 40, SIZE),
        "target": RNG.integers(0, 40, SIZE),
    }
)
SHARED = {"epsilon": 100.0, "neighbours": "add-remove"}
TREES = {"classes": ["A", "B"], "max_records": 3500, "label": "ward", **SHARED, "epsilon": 1e4}
TREES |= {"domains": {"day": [0, 1, 2, 3], "x": Bins(0, 1, 201), "y": Bins(0, 1, 99)}}
FRONT = {"population": 201, "generations": 2, "initial_depth": 1, "max_depth": 1}
UNIT = {**SHARED, "x": "x", "y": "y", "bounds": (0, 0, 1, 1)}
LARGE = {
    "two ways to draw": dp.Percentiles(**SHARED, column="v", p=[50, 99], candidates=range(600)),
    "grids": dp.Map(**UNIT, queries=even_queries((0, 0, 1, 1))[:150], grids=[(2, 8), 4]),
    "degrees": dp.TopNodes(nodes=40, k=2, metric="degree", epsilon=1.0),
    "a tree": dp.ID3Tree(**TREES, max_depth=2),
    "a front": dp.TreeFront(**TREES, **FRONT),
}
"""Of more candidates, sums or lines than an engine is asked about at once; polars takes all."""


def of_table(case):
    """Return the table of a case in polars; None if it has another one, or none."""
    data = case.data(case.pair(np.random.default_rng(1))[0])
    stated = case.run is None and case.plan().passes
    return data.lazy() if stated and isinstance(data, pl.DataFrame | pl.LazyFrame) else None


CASES = {one.name: one for one in all_cases() if type(one.query) is not dp.Hubs}
CASES = {name: one for name, one in CASES.items() if of_table(one) is not None}


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


def check(query, data, asked, *, fewer=False):
    plan, shown = query.plan, []
    with passes.watching(lambda *step: shown.append(step)):
        query.release(data)

    assert len(asked) == plan.passes or (fewer and 1 <= len(asked) < plan.passes)
    steps = [(done, plan.passes) for done in range(len(asked) + 1)]
    assert list(dict.fromkeys(shown)) == steps


@pytest.mark.parametrize("name", CASES)
def test_a_plan_states_the_queries_of_its_release(name, asked):
    """Where no group is released there is nothing more to ask."""
    query = CASES[name].query

    released = getattr(query, "by", None) is not None and query.groups is None
    check(query, of_table(CASES[name]), asked, fewer=released)


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        *((name, "polars") for name in LARGE),
        *(pytest.param(one, *SPARK.values, marks=SPARK.marks) for one in [*LARGE][:3]),
    ],
)
def test_a_plan_states_the_queries_of_many_blocks(name, engine, asked):
    check(LARGE[name], held_by(engine, FRAME), asked, fewer=engine == "polars")


def test_nobody_is_told_of_what_was_not_expected():
    shown = []
    with passes.watching(lambda *step: shown.append(step)):
        tables.count_records(FRAME.lazy())

    assert not shown
