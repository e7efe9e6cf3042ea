"""Edges that stay in their engine: the same objectives, so the same law of every draw."""

from functools import cache, partial

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dp
from dpselect.networks import (
    EdgeTable,
    Graph,
    degree,
    edge_queries,
    ego_betweenness,
    ego_density,
)
from support.engines import every_engine, held_by
from support.refusals import refused

RNG = np.random.default_rng(3)
NODES = 30
HUBS = (RNG.pareto(1, 120) * 4).astype(int) % NODES
EDGES = pl.DataFrame({"a": RNG.integers(0, NODES, 120), "b": HUBS})
METRICS = {
    "degree": degree,
    "ego-density": ego_density,
    "ego-betweenness": ego_betweenness,
    "by degrees": partial(ego_betweenness, sensitivity="degree"),
    "pareto": lambda graph: dp.pareto([degree(graph), ego_density(graph)]),
}
ENDS = {"source": "a", "target": "b"}


DRAW = dp.LocalDampening(epsilon=1.0)


@cache
def in_memory():
    """Return the objective of every metric, and the law of its draw."""
    graph = Graph.from_edges(EDGES, nodes=NODES, **ENDS)
    made = {name: metric(graph) for name, metric in METRICS.items()}
    return {name: (one, DRAW.probabilities(one)) for name, one in made.items()}


@every_engine
def test_every_metric_is_the_same_to_the_last_bit(engine, crossing):
    there = EdgeTable.from_edges(held_by(engine, EDGES), nodes=NODES, **ENDS)

    for name, (ours, law) in in_memory().items():
        theirs = METRICS[name](there)
        assert (ours.scores == theirs.scores).all()
        assert list(ours.candidates) == list(theirs.candidates)
        for distance in (0, 1, 7):
            assert (ours.sensitivity.at(distance) == theirs.sensitivity.at(distance)).all()
        assert (law == DRAW.probabilities(theirs)).all()
        assert (ours.highest, ours.direction) == (theirs.highest, theirs.direction)
    assert max(crossing) <= 2 * len(EDGES)  # a row for each node and k, and no row of the table


@every_engine
def test_rows_that_are_no_edges_are_counted(engine):
    data = held_by(engine, pl.DataFrame({"a": [0, 1, 1, None, 9], "b": [1, 1, 7, 1, 9]}))
    rows = edge_queries.EdgeRows(nodes=range(3), **ENDS)

    assert edge_queries.count_invalid(edge_queries.ends_of(data, rows)) == (3, 1)


@pytest.mark.parametrize("nodes", [NODES, range(9, 40), [*map(str, range(30))]], ids=repr)
def test_degrees_of_a_lazy_frame_are_those_in_memory(nodes):
    edges = EDGES if not isinstance(nodes, list) else EDGES.cast(pl.String)
    found = EdgeTable.from_edges(edges.lazy(), nodes=nodes, **ENDS).degrees
    assert found.tolist() == Graph.from_edges(edges, nodes=nodes, **ENDS).degrees.tolist()


def test_an_engine_lists_so_many_labels_and_no_more():
    edges = pl.DataFrame({"a": [1], "b": [2]})
    nodes = range(1, 10_002)

    assert EdgeTable.from_edges(edges.lazy(), nodes=nodes, **ENDS).degrees.sum() == 2
    with refused("nodes"):
        EdgeTable.from_edges(held_by("duckdb", edges), nodes=nodes, **ENDS)


@pytest.mark.parametrize("nodes", [4, [1, 2, 3], [-1, 2, 3], [-5, -2]])
def test_an_id_beyond_signed_integers_is_no_node_of_arrow(nodes):
    """Arrow raises where such an id is compared with a signed one, and names it."""
    columns = {"a": pa.array([1, 2, 2**63], pa.uint64()), "b": pa.array([2, 3, 9], pa.int64())}
    ours = EdgeTable.from_edges(pa.table(columns), nodes=nodes, **ENDS)
    without = EdgeTable.from_edges(pa.table(columns).slice(0, 2), nodes=nodes, **ENDS)

    assert ours.degrees.tolist() == without.degrees.tolist()
