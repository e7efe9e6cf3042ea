"""Every engine counts around nodes what the definitions say, and only counts leave it."""

import narwhals as nw
import polars as pl

from dpselect.networks import edge_queries as queries
from support.engines import every_engine, held_by


def read_as(nodes):
    return queries.EdgeRows(nodes=range(nodes), source="a", target="b")


def by_node(table, column):
    return dict(zip(table["node"].tolist(), table[column].tolist(), strict=True))


@every_engine
def test_triangles_of_hubs(engine, crossing):
    # Two hubs, which know each other and all others: a triangle for each of the others, and one
    # more for each edge between others and each hub.
    others = [(v, v + 1) for v in range(2, 98, 2)]
    rows = [(0, 1), *((v, hub) for v in range(2, 100) for hub in (0, 1)), *others, (1, 0)]
    data = pl.DataFrame(rows, schema=["a", "b"], orient="row")
    edges = queries.simple_edges(held_by(engine, data), read_as(100))

    triangles = by_node(queries.count_triangles(edges, nodes=100), "triangles")

    joined = {v for edge in others for v in edge}
    hub = 98 + len(others)
    assert triangles == {0: hub, 1: hub} | {v: 1 + 2 * (v in joined) for v in range(2, 100)}
    upwards = queries._upwards(edges).group_by("a").agg(nw.len().alias("edges"))
    assert max(queries.collect(upwards, data, most=100)["edges"]) == 3
    assert max(crossing) <= 100


@every_engine
def test_invalid_edges_are_counted(engine):
    data = held_by(engine, pl.DataFrame({"a": [0, 1, 1, None, 9], "b": [1, 1, 7, 1, 9]}))

    assert queries.count_invalid(queries.ends_of(data, read_as(3))) == (3, 1)
