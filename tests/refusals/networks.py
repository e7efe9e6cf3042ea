"""Refusals of networks."""

from math import nan

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

import dpselect as dp
from dpselect.errors import ColumnError, DataError, NeighboursError, PublicClaimError
from dpselect.networks import (
    EdgeTable,
    Graph,
    Metric,
    degree,
    edge_queries,
    ego_betweenness,
)
from support.refusals import Each, both, refusing, releasing

EDGES = [(0, 1), (0, 2), (0, 3), (1, 2), (3, 4), (1, 4)]
GRAPH = Graph.from_edges(EDGES, nodes=5)
HUB = Graph.from_edges([(0, leaf) for leaf in range(1, 78)], nodes=78)
BETWEEN = "ego-betweenness"
EMPTY = Graph.from_edges([], nodes=3)
TWO = ["degree", "ego-density"]
AND = {"source": "a", "target": "b"}
NAMES = ["ann", "bob", "cy", "dee", "eve"]
ENDS = {"source": "from", "target": "to"}
FRAME = pl.DataFrame({"from": [0], "to": [1]})
STAR = pl.DataFrame({"source": [0, 0], "target": [1, 2]})
SECRET = pl.LazyFrame({"a": [1], "b": [2], "t": ["secret"]})
WHO = pl.DataFrame({"a": [0, 1], "b": [0, 2], "who": [1, 2], "length": [0.5, 0.5]})
COMPLEX = pd.DataFrame({"source": [0], "target": [1j], "who": [0]})
PERSONS = {"user": "who", "max_per_user": 2}
OF_EDGES = Graph.from_edges([(0, 1)], nodes=5)
HELD = Graph.from_edges(WHO, **AND, nodes=5, **PERSONS)


def stated(neighbours="edge"):
    count = dp.GlobalSensitivity(1, neighbours)
    facts = {"sensitivity": count, "direction": "non-decreasing"}
    return Metric(degree, lambda nodes: dp.Facts(candidates=nodes, **facts))


def checked(data=STAR, **asked):
    dp.TopNodes(**asked).check(data)


def simple_edges(nodes, columns):
    source, target = columns
    rows = edge_queries.EdgeRows(nodes=nodes, source=source, target=target)
    edge_queries.simple_edges(SECRET, rows)


DEGREE = {"nodes": 5, "metric": "degree", "epsilon": 1.0}
TOP = releasing(dp.TopNodes, data=GRAPH, k=2, mechanism="shifted", **DEGREE)
AMONG = releasing(
    dp.TopNodes, nodes=5, k=1, metric=TWO, combine="pareto", redraw="remaining", epsilon=1.0
)
KINDS = releasing(
    dp.TopNodes, nodes=4, k=1, metric=TWO, combine="pareto", epsilon=1.5, dominance="weak"
)
OF_PERSONS = releasing(dp.TopNodes, data=HELD, k=1, **DEGREE, **AND, **PERSONS)
CHECKED = refusing(checked, k=1, **DEGREE)
MEMORY = refusing(Graph.from_edges, edges=EDGES, nodes=5)
NAMED = refusing(Graph.from_edges, **ENDS)
OF_EACH = [
    refusing(one, edges=WHO, **AND, nodes=3, **PERSONS)
    for one in (Graph.from_edges, EdgeTable.from_edges)
]
HELD_ROWS = both(*OF_EACH)
NX = refusing(Graph.from_networkx, nodes=5)
SIMPLE = refusing(simple_edges)
ADJACENCY = nx.to_numpy_array(nx.star_graph(4), dtype=int)

NO_NODES = [pl.Float64, pl.String, pl.Boolean]

ROWS = [
    TOP("k", k=Each([6, 0])),
    TOP("metric", metric=Each(["pagerank", 7, [7], []])),
    TOP("combine", metric=TWO),
    TOP("max_degree", metric=["degree", {"ego-betweenness": 1}], combine="margin"),
    TOP("combine", metric=TWO, combine="sum"),
    TOP("weights", metric=TWO, combine="weighted-sum"),
    TOP("weights must be 2 numbers", metric=TWO, combine="weighted-sum", weights=[1]),
    TOP("weights must be", metric=TWO, combine="weighted-sum", weights="ab"),
    TOP("weights", weights=[1]),
    TOP("max_degree", max_degree=3),
    TOP("must be stated for edge neighbours", NeighboursError, metric=stated("add-remove")),
    TOP("facts", metric=Each([stated(), lambda _graph: None])),
    TOP("facts of metric", metric=Metric(degree, lambda _nodes: None)),
    TOP("mechanism", mechanism="best"),
    TOP("k", above=3),
    TOP("above", k=None, above=3),
    TOP("epsilon", epsilon=0),
    TOP("max_degree", PublicClaimError, data=HUB, nodes=78, metric=BETWEEN, max_degree=2),
    TOP("nodes", data=Graph.from_edges(EDGES, nodes=6)),
    TOP("nodes", nodes=Each([["a", "b"], 0])),
    TOP("source", source="a", target="a"),
    TOP("edges must be a file, a data frame", DataError, data=7),
    AMONG("redraw", redraw="some"),
    AMONG("combine", metric="degree", combine=None),
    AMONG("has none", mechanism="noisy-sequence"),
    AMONG("has none", k=None, above=3),
    KINDS("metric", metric=[{}, "degree"]),
    KINDS("metric", metric=[{"deg": 1}, "ego-density"]),
    KINDS("not all 0", metric=[{"degree": 0}, "ego-density"]),
    KINDS("weights must be finite", metric=[{"degree": nan}, "ego-density"]),
    KINDS("weights must be numbers", metric=[{"degree": "two"}, "ego-density"]),
    KINDS("combine", combine="margin"),
    KINDS("dominance", dominance="pareto"),
    CHECKED("no column 'from'", ColumnError, source="from"),
    CHECKED("must name nodes, which are", ColumnError, nodes=["a", "b"]),
    CHECKED("must name nodes, which are", ColumnError, data=COMPLEX.head(0), nodes=2),
    TOP("must name nodes, which are", ColumnError, data=COMPLEX.head(0), nodes=2, **PERSONS),
    refusing(degree)("graph must be a", graph=[(0, 1)]),
    refusing(ego_betweenness, EMPTY)("sensitivity", sensitivity="spread"),
    refusing(ego_betweenness, EMPTY)("max_degree", max_degree=0),
    SIMPLE("must name the columns of the two ends", nodes=range(3), columns=("a", "a")),
    SIMPLE("no column 'c'", ColumnError, nodes=range(3), columns=("a", "c")),
    SIMPLE("'t' must name nodes, which are", ColumnError, nodes=range(3), columns=("a", "t")),
    SIMPLE("'a' must name nodes, which are", ColumnError, nodes=("x",), columns=("t", "a")),
    CHECKED("'Weight' are refused", data=STAR.with_columns(Weight=1)),
    HELD_ROWS("'weight' are refused", edges=WHO.rename({"length": "weight"})),
    NX("the graph is directed", DataError, graph=nx.DiGraph(EDGES)),
    MEMORY("a row and a column", DataError, edges=sparse.csr_array((4, 4), dtype=int)),
    MEMORY("real numbers", edges=Each([sparse.eye(5), sparse.eye(5, dtype=complex)])),
    MEMORY("on_invalid", on_invalid="ignore"),
    NAMED("must name nodes", ColumnError, edges=Each(map(FRAME.cast, NO_NODES)), nodes=3),
    NAMED("must name nodes, which are", ColumnError, edges=FRAME, nodes=NAMES),
    MEMORY("must name nodes, which are integers", ColumnError, edges=np.array([[0.5, 1.0]])),
    refusing(Graph.from_edges)("source", edges=FRAME, nodes=2),
    NAMED("no column 'dst'", ColumnError, edges=FRAME, target="dst", nodes=2),
    MEMORY("or pairs", DataError, edges=Each([np.array([(0, 1, 2)]), np.array([0, 1]), 7])),
    MEMORY("must name nodes, which are integers", ColumnError, edges=np.zeros((0, 2))),
    MEMORY("or pairs in an array", DataError, edges=np.zeros(1, dtype=np.int64)),
    # An array that may be an adjacency; its length, which is private, does not decide it.
    MEMORY("", DataError, edges=Each([ADJACENCY, np.asmatrix(ADJACENCY)])),
    MEMORY("", DataError, nodes=2, edges=Each([1 - np.eye(2, dtype=int), np.array([[0, 1]])])),
    MEMORY("", DataError, nodes=2, edges=np.empty((0, 2), dtype=int)),
    MEMORY("at least 1", nodes=Each([0, -3])),
    MEMORY("an integer", nodes=2.5),
    MEMORY("nodes", nodes=Each([[], ["a", "b", "a"]])),
    MEMORY("be hashed", nodes=[["a"], ["b"]]),
    MEMORY("nodes", nodes="abc"),
    HELD_ROWS("go together", max_per_user=None),
    HELD_ROWS("no column 'nobody'", ColumnError, user="nobody"),
    HELD_ROWS("users must be text", ColumnError, user="length"),
    HELD_ROWS("joins a node to itself", PublicClaimError, on_invalid="raise"),
    OF_PERSONS("user", user=None, max_per_user=None),
    OF_PERSONS("max_per_user", max_per_user=3),
    OF_PERSONS("user", data=OF_EDGES),
    OF_PERSONS("edges must be a table", data=[(0, 1)]),
    OF_PERSONS("go together", user=None),
    CHECKED("users must be", ColumnError, data=WHO.cast({"who": pl.Float64}), **AND, **PERSONS),
]
