"""Persons of several edges: one limit in every engine, and the privacy of each person."""

from functools import cache
from itertools import combinations_with_replacement

import polars as pl
import pytest

import dpselect as dp
from dpselect.audit import check_admissible, check_private
from dpselect.mechanisms import by_name
from dpselect.networks import METRICS, Graph
from dpselect.networks.metrics import degree_facts, of_persons
from dpselect.sensitivity import grouped
from dpselect_conformance import replay
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


def law(database, *, paid=MOST, most=MOST):
    degrees = graph(database, most).degrees
    objective = of_persons(degree_facts(degrees.size), paid).of(degrees)
    return by_name("permute-and-flip", EPSILON).probabilities(objective)


@pytest.mark.parametrize("relation", [ADD_REMOVE, dp.Neighbours.SUBSTITUTE], ids=str)
def test_a_person_is_protected_and_not_an_edge_alone(relation):
    """To replace a person by another is to take one away and to add one."""
    steps = 1 if relation is ADD_REMOVE else 2

    def report(**how):
        near = are_neighbours(relation)
        return check_private(lambda x: law(x, **how), DATABASES, near, steps * EPSILON)

    assert report().ok
    assert 0.6 * EPSILON < report().loss <= EPSILON * steps
    if relation is ADD_REMOVE:
        # Planted: paid for as one edge, and no limit that is paid for as if there were one.
        assert not report(paid=1).ok
        assert not report(most=9).ok


def test_two_persons_more_are_not_paid_for_as_one():
    """A replay of one person is what the plan states, one of two persons is more."""
    query = nodes("ego-density", k=2)
    rows = [(0, i, 9) for i in range(1, 5)] + [(1, 2, 0), (1, 3, 0), (2, 3, 1), (2, 4, 1)]

    def drawn(rows):
        return query.release(pl.DataFrame(rows, schema=SCHEMA, orient="row"))

    replay(drawn, rows, [row for row in rows if row[2] != 1]).raise_if_failed()
    assert drawn(rows).neighbours is ADD_REMOVE
