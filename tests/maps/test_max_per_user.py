"""At most m points of each user: the same in every engine, whoever else is there."""

from collections import Counter
from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import dpselect as dp
from dpselect.maps import Weighted, counting, lattice_rectangles, partition_error
from dpselect.maps.box import Box
from dpselect.maps.partition import uniform_grid
from dpselect.maps.points import PointRows
from dpselect.tables.people import PeopleCap

ADD_REMOVE, SUBSTITUTE = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
BOX = Box(-10, 40, 20, 60)
SCHEMA = {"who": pl.String, "x": pl.Float64, "y": pl.Float64}
records = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", None]), st.integers(-12, 22), st.integers(38, 62)
    ),
    max_size=15,
)


def frame(rows):
    who, x, y = zip(*rows, strict=True) if rows else ((), (), ())
    columns = {"who": who, "x": map(float, x), "y": map(float, y)}
    return pl.DataFrame({name: list(column) for name, column in columns.items()}, schema=SCHEMA)


def capped(points, most, outside="drop"):
    return PointRows(BOX, "x", "y", PeopleCap("who", most), outside).read(points)


def places(points):
    return Counter(zip(points.x.tolist(), points.y.tolist(), strict=True))


def inside(rows):
    return [row for row in rows if BOX.west <= row[1] <= BOX.east and 40 <= row[2] <= 60]


@pytest.mark.slow
@given(rows=records, most=st.integers(1, 4))
@settings(deadline=None)
def test_each_individual_keeps_as_many_points_as_may_count_whoever_else_is_there(rows, most):
    alone = Counter()
    for who in ("a", "b", "c"):
        own = [row for row in rows if row[0] == who]
        kept = places(capped(frame(own), most))
        there = places(counting.Points(*BOX.locate(*np.array(own).reshape(-1, 3).T[1:]), BOX))
        assert kept.total() == min(len(inside(own)), most)
        assert kept <= there
        alone += kept

    assert places(capped(frame(rows), most)) == alone


@given(rows=records, most=st.integers(1, 4), random=st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_rows_has_no_say(rows, most, random):
    shuffled = random.sample(rows, len(rows))

    assert places(capped(frame(rows), most)) == places(capped(frame(shuffled), most))


def duck(table):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_arrow(table.to_arrow())


@pytest.mark.slow
@pytest.mark.parametrize("convert", [pl.DataFrame.lazy, duck], ids=["polars", "duckdb"])
@pytest.mark.parametrize("outside", ["drop", "clip"])
@given(rows=records, most=st.integers(1, 4))
@settings(deadline=None, max_examples=15)
def test_every_engine_keeps_the_same_points(convert, outside, rows, most):
    here = capped(frame(rows), most, outside)
    there = capped(convert(frame(rows)), most, outside)
    fine = uniform_grid(64)

    assert there.in_cells(fine).tolist() == here.in_cells(fine).tolist()


def test_a_point_without_an_individual_is_dropped():
    table = pd.DataFrame({"who": ["a", None, "b"], "x": [1.0, 2.0, 3.0], "y": [50.0] * 3})

    assert capped(table, 5).x.size == 2
    assert capped(pl.from_pandas(table).lazy(), 5).in_cells(uniform_grid(1)) == [2]


def test_no_points_are_nobody():
    assert capped(frame([]), 3).x.size == 0
    assert capped(frame([]).lazy(), 3).in_cells(uniform_grid(2)).tolist() == [0] * 4


SPOTS = [(-6.0, 45.0), (-4.0, 45.0), (11.0, 55.0)]
PEOPLE = [own for size in range(4) for own in combinations_with_replacement(SPOTS, size)]
"""Everybody of at most three points."""


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE], ids=str)
@pytest.mark.parametrize("engine", [False, True], ids=["memory", "lazy"])
def test_an_individual_changes_as_many_counts_as_points_count(most, relation, engine):
    """One of two individuals comes, goes or is another one; by enumeration."""
    edges = lattice_rectangles([[-10, 40, -5, 60], [-10, 40, 12, 58]], bounds=BOX.bounds)
    form, grid = Weighted(neighbours=relation, weights=[1.0, 2.0]), uniform_grid(2)
    first = PEOPLE[-1]
    counts, scores = {}, {}
    for second in PEOPLE:
        rows = [("1", *p) for p in first] + [("2", *p) for p in second]
        points = capped(frame(rows).lazy() if engine else frame(rows), most)
        objective = partition_error(
            points, partitions=[grid], queries=edges, scale=1.0, measure=form, max_per_user=most
        )
        counts[second], scores[second] = points.in_cells(uniform_grid(20)), objective.scores[0]
        bound = objective.sensitivity.bound
    others = [()] if relation is ADD_REMOVE else PEOPLE
    pairs = list(product(PEOPLE, others))

    assert max(abs(counts[p] - counts[q]).sum() for p, q in pairs) == most * (
        1 if relation is ADD_REMOVE else 2
    )
    assert 0 < max(abs(scores[p] - scores[q]) for p, q in pairs) <= bound
