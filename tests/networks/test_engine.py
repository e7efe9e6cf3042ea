"""Edges that stay in their engine: the same objectives, so the same law of every draw."""

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import ParameterError, PublicClaimError
from dpselect.networks import (
    Degree,
    EdgeTable,
    EgoBetweenness,
    EgoDensity,
    Graph,
    Pareto,
    WeightedSum,
    influential_nodes,
)
from support.engines import every_engine, held_by

RNG = np.random.default_rng(3)
NODES = 60
HUBS = (RNG.pareto(1, 300) * 4).astype(int) % NODES
EDGES = pl.DataFrame({"a": RNG.integers(0, NODES, 300), "b": HUBS})
METRICS = [
    Degree(),
    EgoDensity("degree"),
    EgoDensity("spread"),
    EgoBetweenness(),
    EgoBetweenness(sensitivity="degree"),
    Pareto(["degree", "ego-density"]),
    WeightedSum(["degree", "ego-density"], weights=(1, 10)),
]
ENDS = {"source": "a", "target": "b"}


@every_engine
def test_every_metric_is_the_same_to_the_last_bit(engine, crossing):
    here = Graph.from_edges(EDGES, nodes=NODES, **ENDS)
    there = EdgeTable(held_by(engine, EDGES), nodes=NODES, **ENDS)
    draw = dp.LocalDampening(epsilon=1.0)

    for metric in METRICS:
        ours, theirs = metric.objective(here), metric.objective(there)
        assert (ours.scores == theirs.scores).all()
        assert list(ours.candidates) == list(theirs.candidates)
        for distance in (0, 1, 7):
            assert (ours.sensitivity.at(distance) == theirs.sensitivity.at(distance)).all()
        assert (draw.probabilities(ours) == draw.probabilities(theirs)).all()
        assert metric.largest(here) == metric.largest(there)
    assert max(crossing) <= 2 * len(EDGES)  # a row for each node and k, and no row of the table


def test_a_node_that_meets_all_others_has_a_least():
    complete = [(i, j) for i in range(5) for j in range(i)]
    frame = pl.DataFrame(complete, schema=["a", "b"], orient="row")

    there = EdgeTable(frame.lazy(), nodes=5, **ENDS)

    assert [part.tolist() for part in there.common_neighbours] == [[3] * 5, [3] * 5]


def test_labels_and_nodes_without_edges():
    frame = pl.DataFrame({"a": ["x", "z", "x"], "b": ["y", "x", "x"]})
    people = ["w", "x", "y", "z"]

    there = EdgeTable(frame.lazy(), nodes=people, **ENDS)

    assert there.degrees.tolist() == [0, 2, 1, 1]
    assert there.ego_betweenness.tolist() == [0, 1, 0, 0]
    assert repr(there) == "EdgeTable(4 nodes)"


def test_nodes_are_released_from_a_lazy_frame():
    star = pl.LazyFrame({"a": [0] * 49, "b": range(1, 50)})
    table = EdgeTable(star, nodes=50, **ENDS)

    chosen = influential_nodes(
        table, 1, metric="degree", mechanism="permute-and-flip", epsilon=30.0
    )

    assert chosen.candidates == (0,)


@pytest.mark.parametrize(
    ("rules", "error", "message"),
    [
        ({}, PublicClaimError, "names a node that is not among nodes"),
        (
            {"unknown": "drop", "self_loops": "refuse"},
            PublicClaimError,
            "joins a node to itself",
        ),
        ({"unknown": "keep"}, ParameterError, "unknown must be 'refuse' or 'drop'"),
        ({"self_loops": "keep"}, ParameterError, "self_loops must be 'refuse' or 'drop'"),
    ],
)
def test_rules_are_those_of_a_graph(rules, error, message):
    frame = pl.DataFrame({"a": [0, 1, 7], "b": [1, 1, 0]})

    for make in (Graph.from_edges, EdgeTable):
        with pytest.raises(error, match=message):
            make(frame.lazy(), nodes=3, **ENDS, **rules)
    assert EdgeTable(frame.lazy(), nodes=3, **ENDS, unknown="drop").degrees.tolist() == [
        1,
        1,
        0,
    ]
