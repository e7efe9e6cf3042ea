"""Every engine counts around nodes what the definitions say, and only counts leave it."""

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from dpselect.networks import edge_queries as queries
from support.engines import every_engine, held_by

RNG = np.random.default_rng(7)
EDGES = pl.DataFrame(
    {"a": RNG.integers(0, 30, 150), "b": (RNG.pareto(1, 150) * 3).astype(int) % 30}
)


def graph_by_definition():
    pairs = {frozenset(pair) for pair in EDGES.rows()}
    neighbours = {v: set() for v in range(30)}
    for pair in pairs:
        if len(pair) == 2 and max(pair) < 25:
            a, b = pair
            neighbours[a].add(b)
            neighbours[b].add(a)
    return neighbours


def by_node(table, column):
    return dict(zip(table["node"].tolist(), table[column].tolist(), strict=True))


@every_engine
def test_degrees_and_triangles(engine, crossing):
    edges = queries.simple_edges(held_by(engine, EDGES), "a", "b", range(25))
    around = graph_by_definition()

    degrees = by_node(queries.count_degrees(edges, nodes=25), "degree")
    triangles = by_node(queries.count_triangles(edges, nodes=25), "triangles")

    assert degrees == {v: len(near) for v, near in around.items() if near}
    inner = {v: sum(len(around[u] & near) for u in near) // 2 for v, near in around.items()}
    assert triangles == {v: count for v, count in inner.items() if count}
    assert max(crossing) <= 25


@every_engine
def test_triangles_of_hubs(engine, crossing):
    # Two hubs, which know each other and all others: a triangle for each of the others, and one
    # more for each edge between others and each hub.
    others = [(v, v + 1) for v in range(2, 98, 2)]
    rows = [(0, 1), *((v, hub) for v in range(2, 100) for hub in (0, 1)), *others, (1, 0)]
    data = pl.DataFrame(rows, schema=["a", "b"], orient="row")
    edges = queries.simple_edges(held_by(engine, data), "a", "b", range(100))

    triangles = by_node(queries.count_triangles(edges, nodes=100), "triangles")

    joined = {v for edge in others for v in edge}
    hub = 98 + len(others)
    assert triangles == {0: hub, 1: hub} | {v: 1 + 2 * (v in joined) for v in range(2, 100)}
    upwards = queries._upwards(edges).group_by("a").agg(nw.len().alias("edges"))
    assert max(queries.collect(upwards, data, most=100)["edges"]) == 3
    assert max(crossing) <= 100


@every_engine
def test_common_neighbours(engine, crossing):
    edges = queries.simple_edges(held_by(engine, EDGES), "a", "b", range(25))
    around = graph_by_definition()

    table = queries.count_common_neighbours(edges, nodes=25)

    expected = {}
    for v in range(25):
        shared = [len(around[v] & around[w]) for w in range(25) if w != v]
        met = [count for count in shared if count]
        if met:
            expected[v] = (min(met), max(met), len(met))
    columns = (by_node(table, name) for name in ("least", "most", "met"))
    least, most, met = columns
    assert {v: (least[v], most[v], met[v]) for v in least} == expected
    assert max(crossing) <= 25


@pytest.mark.slow
@every_engine
def test_pairs_in_ego_networks(engine, crossing):
    edges = queries.simple_edges(held_by(engine, EDGES), "a", "b", range(25))
    around = graph_by_definition()

    table = queries.count_ego_pairs(edges, most=1000)

    expected = {}
    for v, near in around.items():
        for u in near:
            for w in near:
                k = len(around[u] & around[w] & near)
                if u < w and w not in around[u] and k:
                    expected[v, k] = expected.get((v, k), 0) + 1
    keys = zip(table["node"].tolist(), table["k"].tolist(), strict=True)
    assert dict(zip(keys, table["pairs"].tolist(), strict=True)) == expected
    assert max(crossing) == len(expected)


@every_engine
def test_invalid_edges_are_counted(engine):
    data = held_by(engine, pl.DataFrame({"a": [0, 1, 1, None, 9], "b": [1, 1, 7, 1, 9]}))

    assert queries.count_invalid_edges(data, "a", "b", range(3)) == (3, 1)


def test_labels_are_nodes_too():
    data = pl.LazyFrame({"a": ["x", "y", "x", "q"], "b": ["y", "x", "x", "y"]})

    edges = queries.simple_edges(data, "a", "b", ("x", "y", "z"))

    assert by_node(queries.count_degrees(edges, nodes=3), "degree") == {"x": 1, "y": 1}
    assert queries.count_invalid_edges(data, "a", "b", ("x", "y", "z")) == (1, 1)


@pytest.mark.parametrize("nodes", [range(4), ("0", "1", "2", "3")])
def test_ids_of_a_csv_file_are_read_as_what_the_nodes_are(tmp_path, nodes):
    (tmp_path / "edges.csv").write_text("a,b\n0,1\n1,0\n1.5,2\nx,3\n")

    edges = queries.simple_edges(tmp_path / "edges.csv", "a", "b", nodes)

    assert by_node(queries.count_degrees(edges, nodes=4), "degree") == {
        nodes[0]: 1,
        nodes[1]: 1,
    }


@every_engine
def test_no_edges_count_as_none(engine):
    data = held_by(engine, pl.DataFrame(schema={"p": pl.Int64, "y": pl.Int64}))

    assert queries.count_invalid_edges(data, "p", "y", range(3)) == (0, 0)
