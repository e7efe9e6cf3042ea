"""No record decides anything about another one: one property for each kind of application."""

from collections import Counter
from math import isnan

import numpy as np
import pytest
from hypothesis import given

from dpselect import tables
from dpselect.maps.box import Box
from dpselect.maps.partition import uniform_grid
from dpselect.maps.points import PointRows
from dpselect.networks import EdgeTable, Graph
from dpselect.tables import values
from dpselect.tables.kinds import texts
from dpselect.tables.people import PeopleCap
from dpselect.tables.values import plain_value
from dpselect.trees import Bins, Categories, records
from dpselect.trees.domains import Schema
from dpselect.trees.engine import EngineCounts
from support.odd_records import LARGE, NAMED, examples, odd_tables
from support.ranks import ranks_in

MIXED = Categories([0, 1, LARGE - 1, LARGE, "a", "1"], other="else")
COUNTS = Bins(0, 4, bins=4)
BOX = Box(0, 0, 4, 4)
EDGES = np.array([0.0, 1.0, 2.0, 1e18])


def tree_codes(odd, data):
    """Return the codes of every record, and of its label."""
    names = ("x0", "x1", "x2")
    second = MIXED if odd.types[1] == "text" else COUNTS
    domains = {"x0": MIXED, "x1": second}
    public = Schema.of(domains, MIXED.values, names)
    if odd.container in {"csv", "parquet"}:
        coded = records.Rows(public, "x2", None, "repair").coded(data)
        return np.column_stack([coded.codes, coded.labels])
    columns = records.read(data, fields=3)
    labels = Categories(public.classes).codes(columns.values("x2"))
    return np.column_stack([records.codes(columns, public), labels])


def tree_tables(odd, data):
    """Return records by value and class, of every column."""
    second = MIXED if odd.types[1] == "text" else COUNTS
    public = Schema.of({"x0": MIXED, "x1": second}, MIXED.values, ("x0", "x1"))
    return np.concatenate(EngineCounts(data, "x2", public).tables(0, 1)[0])


@pytest.mark.slow
@given(
    odd_tables(
        ("x0", "x1", "x2"),
        ("integer", "integer", "text"),
        ("unsigned", "number", "integer"),
        ("text", "text", "unsigned"),
        ("number", "integer", "number"),
    )
)
@examples
def test_a_record_of_a_tree(odd):
    if odd.is_lazy:
        gained = tree_tables(odd, odd.with_it()) - tree_tables(odd, odd.without())
        assert gained.min() >= 0
        assert gained.sum() in {0, 2}  # in both columns, or dropped
        return
    there = tree_codes(odd, odd.with_it())

    assert np.delete(there, odd.place, axis=0).tolist() == (
        tree_codes(odd, odd.without()).tolist()
    )


@given(odd_tables(("v",), ("integer",), ("unsigned",), ("number",)))
@examples
def test_a_number_of_a_percentile(odd):
    def ranks(data):
        found, missing = ranks_in(data, EDGES, "v")
        return np.array([*found.below[0], *found.upto[0], found.numbers[0] + missing])

    def read(data):
        if odd.container in {"rows", "tuples"}:
            return values.of_rows(data, 1)[0].numbers()
        if not odd.has_names:
            return values.of_array(data[:, 0]).numbers()
        return tables.numeric_column(data, "v")

    if odd.is_lazy:
        gained = ranks(odd.with_it()) - ranks(odd.without())
        assert set(gained.tolist()) <= {0, 1}
        assert gained[-1] == 1
        return
    here, there = read(odd.without()), np.delete(read(odd.with_it()), odd.place)
    assert [None if isnan(v) else v for v in there] == [None if isnan(v) else v for v in here]


@pytest.mark.slow
@given(odd_tables(("s", "t"), ("integer", "integer"), ("unsigned", "integer")))
@examples
def test_an_edge_of_a_graph(odd):
    ends = {"source": "s", "target": "t"}

    def edges(data, nodes):
        if odd.container == "array" and odd.types[0] == "number":
            data = data.astype(object)
        graph = Graph.from_edges(data, **(ends if odd.has_names else {}), nodes=nodes)
        rows = np.repeat(np.arange(len(graph)), graph.degrees)
        return {(u, v) for u, v in zip(rows.tolist(), graph.rows.tolist(), strict=True)}

    for nodes in (4, [0, 3, LARGE, 2]):
        here, there = edges(odd.without(), nodes), edges(odd.with_it(), nodes)
        assert here <= there
        assert len(there - here) in {0, 2}  # both directions
        if odd.has_names and odd.container != "pandas objects":
            degrees = EdgeTable.from_edges(odd.with_it(), **ends, nodes=nodes).degrees
            assert degrees.sum() == len(there)


@pytest.mark.slow
@given(odd_tables(("s", "t"), ("text", "text"), containers=("csv", "polars", "duckdb")))
@examples
def test_an_edge_between_names(odd):
    def degrees(data):
        nodes = ["a", "b", "1", "é"]
        return Graph.from_edges(data, source="s", target="t", nodes=nodes).degrees

    gained = degrees(odd.with_it()) - degrees(odd.without())
    assert gained.min() >= 0
    assert gained.sum() in {0, 2}


@pytest.mark.slow
@given(odd_tables(("x", "y"), ("number", "number"), ("integer", "unsigned")))
@examples
def test_a_point_of_a_map(odd):
    columns = {"x": "x", "y": "y"} if odd.has_names else {"x": None, "y": None}

    def cells(data, outside):
        points = PointRows(BOX, **columns, outside=outside).read(data)
        return points.in_cells(uniform_grid(4))

    for outside in ("drop", "clip"):
        gained = cells(odd.with_it(), outside) - cells(odd.without(), outside)
        assert gained.min() >= 0
        assert gained.sum() in {0, 1}


@pytest.mark.slow
@given(
    odd_tables(
        ("x", "y", "who"),
        *(("number", "number", who) for who in ("integer", "unsigned", "text")),
        containers=NAMED,
    )
)
@examples
def test_a_point_of_somebody(odd):
    """Everybody has at most two points, and somebody without a name has none."""

    def kept(data):
        points = PointRows(BOX, "x", "y", PeopleCap("who", 2), "clip").read(data)
        return int(points.in_cells(uniform_grid(1))[0])

    rows = [*odd.rows, odd.odd]
    numbers = [[values.number(v) for v in row[:2]] for row in rows]
    known = [not any(map(isnan, pair)) for pair in numbers]
    names = [row[2] for row in rows]
    coded = texts(names) if odd.container == "pandas objects" else map(plain_value, names)
    people = Counter(name for name, there in zip(coded, known, strict=True) if there)
    people.pop(None, None)
    assert kept(odd.with_it()) == sum(min(count, 2) for count in people.values())


def list_of_values(data):
    """Return the only column of rows as a list of values."""
    return [row[0] if isinstance(row, list) and len(row) == 1 else row for row in data]


@given(odd_tables(("v",), ("number",), containers=("rows",)))
@examples
def test_a_number_of_a_list(odd):
    here = tables.numeric_column(list_of_values(odd.without()))
    there = np.delete(tables.numeric_column(list_of_values(odd.with_it())), odd.place)

    assert np.array_equal(here, there, equal_nan=True)
