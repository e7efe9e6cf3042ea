"""Persons of several edges: what one of them changes of every metric."""

from functools import cache
from itertools import combinations_with_replacement

import polars as pl
import pytest

import dpselect as dp
from dpselect.audit import check_admissible
from dpselect.networks import METRICS, Graph
from dpselect.sensitivity import grouped
from support.neighbours import are_neighbours

ADD_REMOVE = dp.Neighbours.ADD_REMOVE
MOST, EPSILON, NODES = 2, 1.0, 5
ENDS = {"source": "a", "target": "b", "user": "who"}
STAR = ((0, 1), (0, 2), (0, 3), (0, 4))
PERSONS = [STAR, STAR[:2], ((1, 2), (2, 1), (1, 1)), ((3, 4), (1, 2), (0, 1), (2, 4))]
DATABASES = [x for n in range(4) for x in combinations_with_replacement(PERSONS, n)]
SCHEMA = {"a": pl.Int64, "b": pl.Int64, "who": pl.Int64}


def nodes(metric="degree", **asked):
    asked = {**ENDS, "nodes": NODES, "k": 1, "max_per_user": MOST, "epsilon": EPSILON, **asked}
    return dp.TopNodes(metric=metric, **asked)


@cache
def graph(database, most=MOST):
    """Return the graph of persons, each a tuple of rows, whose name is their own."""
    rows = [
        (*row, 5 * PERSONS.index(person) + database[:place].count(person))
        for place, person in enumerate(database)
        for row in person
    ]
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return Graph.from_edges(frame, **ENDS, nodes=NODES, max_per_user=most)


@pytest.mark.parametrize("metric", METRICS)
def test_the_sensitivity_is_that_of_a_person(metric):
    """Edges that two persons have are among them: they stay when one of these goes."""
    query = nodes(metric)

    report = check_admissible(
        lambda x: query.objective(graph(x)), DATABASES, are_neighbours(ADD_REMOVE)
    )
    assert report.ok, str(report)

    def by_edges(x):  # planted: what one edge changes, said of a person
        part = METRICS[metric].objective(graph(x))
        return dp.Objective(part.scores, grouped(part.sensitivity, 1, neighbours=ADD_REMOVE))

    planted = check_admissible(by_edges, DATABASES, are_neighbours(ADD_REMOVE))
    assert not planted.ok
