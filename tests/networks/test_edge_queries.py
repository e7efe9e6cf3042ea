"""Rows of a table that are no edges."""

import polars as pl

from dpselect.networks import edge_queries as queries
from support.engines import every_engine, held_by


def read_as(nodes):
    return queries.EdgeRows(nodes=range(nodes), source="a", target="b")


@every_engine
def test_invalid_edges_are_counted(engine):
    data = held_by(engine, pl.DataFrame({"a": [0, 1, 1, None, 9], "b": [1, 1, 7, 1, 9]}))

    assert queries.count_invalid(queries.ends_of(data, read_as(3))) == (3, 1)
