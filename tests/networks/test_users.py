"""Persons of several edges: one limit in every engine, and the privacy of each person."""

from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.audit import check_admissible, check_private
from dpselect.mechanisms import by_name
from dpselect.networks import METRICS, EdgeTable, Graph
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


def some_calls(kind, *, labels):
    rng = np.random.default_rng(2)
    calls = pl.DataFrame(
        {
            "a": rng.integers(-1, 20, 400),
            "b": rng.integers(0, 20, 400),
            "who": [None if i == 3 else i for i in rng.integers(-5, 30, 400).tolist()],
        }
    ).cast({"who": kind})
    return calls.cast({"a": pl.String, "b": pl.String}) if labels else calls


def test_the_limit_depends_on_each_person_alone():
    calls = some_calls(pl.Int64, labels=False)

    def edges_of(rows):
        held = Graph.from_edges(rows, **ENDS, nodes=20, max_per_user=3)
        ends = np.repeat(np.arange(20), held.degrees)
        return {(u, v) for u, v in zip(ends.tolist(), held.rows.tolist(), strict=True) if u < v}

    alone = [edges_of(own) for own in calls.drop_nulls("who").partition_by("who")]

    assert set().union(*alone) == edges_of(calls)
    assert edges_of(calls.sample(fraction=1.0, shuffle=True, seed=1)) == edges_of(calls)
    assert {len(own) for own in alone} == {3}


@pytest.mark.parametrize("kind", [dp.TopNodes, dp.Hubs])
def test_two_persons_more_are_not_paid_for_as_one(kind):
    """A replay of one person is what the plan states, one of two persons is more."""
    asked = {"metric": "ego-density", "max_per_user": MOST, "epsilon": EPSILON}
    query = kind(nodes=NODES, k=2, **ENDS, **asked)
    rows = [(0, i, 9) for i in range(1, 5)] + [(1, 2, 0), (1, 3, 0), (2, 3, 1), (2, 4, 1)]

    def drawn(rows):
        return query.release(pl.DataFrame(rows, schema=SCHEMA, orient="row"))

    replay(drawn, rows, [row for row in rows if row[2] != 1]).raise_if_failed()
    assert drawn(rows).neighbours is ADD_REMOVE


def test_categories_are_in_the_order_of_their_text():
    """An engine has those of an enumeration in the order in which they are declared."""
    calls = some_calls(pl.Int64, labels=True)
    asked = ENDS | {"nodes": [f"{i}" for i in range(20)], "max_per_user": 3}
    declared = pl.Enum([f"{i}" for i in reversed(range(-1, 20))])

    here = Graph.from_edges(calls, **asked)
    there = EdgeTable(calls.cast({"a": declared, "b": declared}).lazy(), **asked)

    assert there.degrees.tolist() == here.degrees.tolist()
