"""At most m points of each user: the same in every engine, whoever else is there."""

from itertools import combinations_with_replacement, product

import polars as pl
import pytest

import dpselect as dp
from dpselect.maps import Weighted, lattice_rectangles, partition_error
from dpselect.maps.box import Box
from dpselect.maps.partition import uniform_grid
from dpselect.maps.points import PointRows
from dpselect.tables.people import PeopleCap

ADD_REMOVE, SUBSTITUTE = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
BOX = Box(-10, 40, 20, 60)
SCHEMA = {"who": pl.String, "x": pl.Float64, "y": pl.Float64}


def frame(rows):
    who, x, y = zip(*rows, strict=True) if rows else ((), (), ())
    columns = {"who": who, "x": map(float, x), "y": map(float, y)}
    return pl.DataFrame({name: list(column) for name, column in columns.items()}, schema=SCHEMA)


def capped(points, most, outside="drop"):
    return PointRows(BOX, "x", "y", PeopleCap("who", most), outside).read(points)


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
