"""Every engine counts what NumPy counts, and no more rows than the counts leave it."""

import numpy as np
import polars as pl
import pytest

from dpselect import tables
from dpselect.errors import ColumnError, ParameterError
from support.engines import every_engine, held_by

RNG = np.random.default_rng(7)
EDGES = pl.DataFrame(
    {"a": RNG.integers(0, 30, 150), "b": (RNG.pareto(1, 150) * 3).astype(int) % 30}
)
CODES = pl.DataFrame(
    {
        name: RNG.integers(0, size, 400)
        for name, size in {"p": 3, "q": 2, "r": 4, "y": 2}.items()
    }
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
    edges = tables.simple_edges(held_by(engine, EDGES), "a", "b", range(25))
    around = graph_by_definition()

    degrees = by_node(tables.count_degrees(edges, nodes=25), "degree")
    triangles = by_node(tables.count_triangles(edges, nodes=25), "triangles")

    assert degrees == {v: len(near) for v, near in around.items() if near}
    inner = {v: sum(len(around[u] & near) for u in near) // 2 for v, near in around.items()}
    assert triangles == {v: count for v, count in inner.items() if count}
    assert max(crossing) <= 25


@every_engine
def test_common_neighbours(engine, crossing):
    edges = tables.simple_edges(held_by(engine, EDGES), "a", "b", range(25))
    around = graph_by_definition()

    table = tables.common_neighbours(edges, nodes=25)

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


@every_engine
def test_pairs_in_ego_networks(engine, crossing):
    edges = tables.simple_edges(held_by(engine, EDGES), "a", "b", range(25))
    around = graph_by_definition()

    table = tables.count_ego_pairs(edges, most=1000)

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
def test_odd_edges_are_counted(engine):
    data = held_by(engine, pl.DataFrame({"a": [0, 1, 1, None, 9], "b": [1, 1, 7, 1, 9]}))

    assert tables.count_odd_edges(data, "a", "b", range(3)) == (3, 1)


def test_labels_are_nodes_too():
    data = pl.LazyFrame({"a": ["x", "y", "x", "q"], "b": ["y", "x", "x", "y"]})

    edges = tables.simple_edges(data, "a", "b", ("x", "y", "z"))

    assert by_node(tables.count_degrees(edges, nodes=3), "degree") == {"x": 1, "y": 1}
    assert tables.count_odd_edges(data, "a", "b", ("x", "y", "z")) == (1, 1)


@pytest.mark.parametrize(
    ("nodes", "columns", "error", "message"),
    [
        (range(3), ("a", "a"), ParameterError, "must name the columns of the two ends"),
        (range(3), ("a", "c"), ColumnError, "no column 'c'"),
        (range(3), ("a", "t"), ColumnError, "'t' must name nodes, which are whole numbers"),
        (("x",), ("t", "a"), ColumnError, "'a' must name nodes, which are text"),
        (tuple(range(1, 10_002)), ("a", "b"), ParameterError, "at most 10,000 labels"),
    ],
)
def test_edges_that_cannot_be_counted_are_refused(nodes, columns, error, message):
    data = pl.LazyFrame({"a": [1], "b": [2], "t": ["secret"]})

    with pytest.raises(error, match=message):
        tables.simple_edges(data, *columns, nodes)


@pytest.mark.parametrize("nodes", [range(4), ("0", "1", "2", "3")])
def test_ids_of_a_csv_file_are_read_as_what_the_nodes_are(tmp_path, nodes):
    (tmp_path / "edges.csv").write_text("a,b\n0,1\n1,0\n1.5,2\nx,3\n")

    edges = tables.simple_edges(tmp_path / "edges.csv", "a", "b", nodes)

    assert by_node(tables.count_degrees(edges, nodes=4), "degree") == {nodes[0]: 1, nodes[1]: 1}


WAY = tables.Fork("p", (0, tables.Fork("q", (1, None)), 2))


def place_of(row):
    p, q = row["p"], row["q"]
    return {0: 0, 2: 2}.get(p, 1 if q == 0 else None)


@every_engine
def test_tables_of_all_open_nodes(engine, crossing):
    tables = tables.count_tables(held_by(engine, CODES), {"q": 2, "r": 4}, "y", 2, WAY, nodes=3)

    expected = np.zeros((3, 6, 2), int)
    for row in CODES.rows(named=True):
        node = place_of(row)
        if node is not None:
            expected[node, row["q"], row["y"]] += 1
            expected[node, 2 + row["r"], row["y"]] += 1
    assert (tables == expected).all()
    assert max(crossing) <= 3 * 2


@every_engine
def test_hits_of_many_trees(engine, crossing):
    trees = [tables.Fork("p", (0, 1, tables.Fork("q", (1, 0)))), 0, 1]
    trees += [tables.Fork("r", tuple(int(code >= k) for code in range(4))) for k in range(60)]

    hits = tables.count_hits(held_by(engine, CODES), "y", 2, trees)

    rows = CODES.rows(named=True)
    first = [row["y"] for row in rows if row["y"] == (0, 1, 1 - row["q"])[row["p"]]]
    labels = CODES["y"].to_list()
    assert hits[0].tolist() == [first.count(0), first.count(1)]
    assert hits[1:3].tolist() == [[labels.count(0), 0], [0, labels.count(1)]]
    split = [row["y"] for row in rows if row["y"] == (row["r"] >= 1)]
    assert hits[4].tolist() == [split.count(0), split.count(1)]
    assert max(crossing) <= 2


@every_engine
def test_no_rows_count_as_none(engine):
    empty = pl.DataFrame(schema={"p": pl.Int64, "y": pl.Int64, "x": pl.Float64})
    data = held_by(engine, empty)

    assert not tables.count_tables(data, {"p": 2}, "y", 2, 0, nodes=1).any()
    assert tables.count_odd_edges(data, "p", "y", range(3)) == (0, 0)
