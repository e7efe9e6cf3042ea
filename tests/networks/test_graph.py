"""Graphs from any source, and what is refused."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from dpselect.errors import PublicClaimError
from dpselect.networks import Graph, reading
from dpselect.networks.edge_queries import checked_nodes

EDGES = [(0, 1), (1, 2), (0, 2), (2, 3)]
NAMES = ["ann", "bob", "cy", "dee", "eve"]


def rows(graph):
    return [
        graph.rows[start:stop].tolist()
        for start, stop in zip(graph.starts[:-1], graph.starts[1:], strict=True)
    ]


EXPECTED = [[1, 2], [0, 2], [0, 1, 3], [2], []]


def test_networkx_and_matrices_of_either_triangle_or_both_give_the_same_graph():
    network = nx.MultiGraph(EDGES)
    network.add_node(4)
    upper = sparse.coo_array((np.full(4, 2), np.array(EDGES).T), shape=(5, 5))

    assert rows(Graph.from_networkx(network, nodes=network.nodes)) == EXPECTED
    for matrix in (upper, upper.T, upper.tocsr() + upper.T):
        assert rows(Graph.from_edges(matrix, nodes=5)) == EXPECTED


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(NAMES)])
def test_nodes_can_be_labels(kind):
    named = [(NAMES[u], NAMES[v]) for u, v in EDGES]
    frame = pl.DataFrame(named, schema={"from": kind, "to": kind}, orient="row")

    for edges in (frame, named):
        graph = Graph.from_edges(edges, source="from", target="to", nodes=NAMES)
        assert rows(graph) == EXPECTED
        assert list(graph.nodes) == NAMES


FRAME = {"schema": ["from", "to"], "orient": "row"}
STRANGERS = [5, -1, 10**12, None, "x", 1.5, ["list"], float("nan"), 10**30]
UNKNOWN = "not among nodes, or none; on_invalid='repair'"
NO_EDGES = {
    "a loop": ([*EDGES, (3, 3)], "joins a node to itself; on_invalid='repair'"),
    **{
        f"{one} in a frame": (pl.DataFrame([*EDGES, (3, one)], **FRAME), UNKNOWN)
        for one in STRANGERS[:4]
    },
    **{f"{one} in a list": ([*EDGES, (3, one)], UNKNOWN) for one in STRANGERS[3:]},
    **{
        f"a record {one}": ([*EDGES, one], UNKNOWN)
        for one in [[0, 1, 2], (2,), 2, "ab", None, (None, 1), (1.5, 2)]
    },
    # Of two unknown nodes, an edge is no loop.
    "two strangers": ([*EDGES, (8, 9)], UNKNOWN),
    "a stranger twice": ([*EDGES, (8, 8)], UNKNOWN),
}


@pytest.mark.parametrize(("edges", "said"), NO_EDGES.values(), ids=NO_EDGES)
def test_what_is_no_edge_is_dropped_or_refused_and_decides_nothing_about_others(edges, said):
    of = {"source": "from", "target": "to", "nodes": 5}

    assert rows(Graph.from_edges(edges, **of)) == EXPECTED
    with pytest.raises(PublicClaimError, match=said):
        Graph.from_edges(edges, **of, on_invalid="raise")


ODD = [
    *("1", " 2 ", "+3", np.str_("3"), "1.0", "x", "1_0", "", "9" * 5000, "\ud800", b"1"),
    *(1, True, 10**5000, 1.0, 1.5, 1e300, np.inf, np.nan, np.int8(1), np.float32(2), None, [1]),
]
"""Ends of any type, as in a list or a column of objects."""


@pytest.mark.parametrize("nodes", [5, ["0", "1", "2", "3", "4"]])
@pytest.mark.parametrize("kind", [int, str, float])
def test_a_list_of_another_type_than_the_nodes_is_read_as_a_text_file_is(nodes, kind, tmp_path):
    pairs = [(kind(u), kind(v)) for u, v in EDGES]
    objects = pd.DataFrame(pairs, columns=["from", "to"], dtype=object)
    of = {"source": "from", "target": "to", "nodes": nodes}
    path = tmp_path / "edges.csv"
    objects.to_csv(path, index=False)

    for edges in (pairs, np.array(pairs, dtype=object), objects):
        assert rows(Graph.from_edges(edges, **of)) == EXPECTED
    if kind is not float:
        assert rows(Graph.from_edges(path, **of)) == EXPECTED
    persons = objects.assign(who=range(len(pairs)))
    held = Graph.from_edges(persons, **of, user="who", max_per_user=1)
    assert rows(held) == EXPECTED


@pytest.mark.parametrize("nodes", [5, ["0", "1", "2", "3", "4"], [70, "1", 3, "x"]])
def test_every_end_of_a_list_is_read_by_itself(nodes):
    labels = checked_nodes(nodes)
    alone = {place: reading.of_pairs([(one, 0)], labels) for place, one in enumerate(ODD)}
    together = reading.of_pairs([(one, 0) for one in ODD], labels)

    assert together.source.tolist() == [alone[place].source[0] for place in range(len(ODD))]
    assert {-1, 1} <= set(together.source.tolist())


def test_whether_lists_are_read_depends_on_no_row():
    """Rows of a matrix are no pairs and are dropped: one row more would undo a refusal."""
    matrix = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]

    for held in (matrix, matrix[:2], [*matrix, (0, 1)], [*map(np.array, matrix)]):
        assert len(Graph.from_edges(held, nodes=3)) == 3
    weighted = Graph.from_edges([(0, 1, 9), (1, 2, 9), (2, 0, 9)], nodes=3)
    assert rows(weighted) == [[1, 2], [0, 2], [0, 1]]
