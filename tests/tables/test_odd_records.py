"""No record decides what is read of another one: one property for each kind of application."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dpselect import tables
from dpselect.keys.rows import KeyRows
from dpselect.maps.box import Box
from dpselect.maps.partition import uniform_grid
from dpselect.maps.points import PointRows
from dpselect.networks import EdgeTable, Graph
from dpselect.tables import values
from dpselect.tables.people import PeopleCap
from dpselect.trees import Bins, Categories, records
from dpselect.trees.domains import Schema
from dpselect.trees.engine import EngineCounts
from support.key_definitions import people_by_key
from support.odd_records import LARGE, NAMED, examples, odd_tables
from support.ranks import ranks_in

MIXED = Categories([0, 1, LARGE - 1, LARGE, "a", "1"], other="else")
COUNTS = Bins(0, 4, bins=4)
EDGES = np.array([0.0, 1.0, 2.0, 1e18])
NODES = [0, 3, LARGE, 2]
ENDS = {"source": "s", "target": "t"}


def of_counts(counts):
    return Counter(dict(enumerate(np.ravel(counts).tolist())))


def tree(odd, data):
    """Return records by their codes and that of their label, or by value and class."""
    names = ("x0", "x1", "x2")
    domains = {"x0": MIXED, "x1": MIXED if odd.types[1] == "text" else COUNTS}
    if odd.is_lazy:
        public = Schema.of(domains, MIXED.values, names[:2])
        return of_counts(
            np.concatenate(EngineCounts(data, "x2", public, None, 10**6).tables(0, 1)[0])
        )
    public = Schema.of(domains, MIXED.values, names)
    if odd.container in {"csv", "parquet"}:
        coded = records.Rows(public, "x2", None, "repair").coded(data)
        codes, labels = coded.codes, coded.labels
    else:
        columns = records.read(data, fields=3)
        labels = columns.codes("x2", Categories(public.classes))
        codes = records.codes(columns, public)
    return Counter(map(tuple, np.column_stack([codes, labels]).tolist()))


def numbers(odd, data):
    """Return numbers, or how many are at edges, between them and missing."""
    if odd.is_lazy:
        below, upto, every, missing = ranks_in(data, EDGES, "v")
        return of_counts([*np.diff([0, *np.ravel([below, upto], "F"), every]), missing])
    if odd.container in {"rows", "tuples"}:
        read = values.of_rows(data, 1)[0].numbers()
    elif odd.has_names:
        read = tables.numeric_column(data, "v")
    else:
        read = values.of_array(data[:, 0]).numbers()
    return Counter(map(repr, read.tolist()))


def listed(_, data):
    """Return numbers of a list."""
    given = [row[0] if isinstance(row, list) and len(row) == 1 else row for row in data]
    return Counter(map(repr, tables.numeric_column(given).tolist()))


def keys(odd, data):
    """Return how many rows have each key, also in groups, and how many a cap leaves."""
    if not odd.has_names:
        first = (row[0] if isinstance(row, list | tuple) and row else row for row in data)
        values = data[:, 0] if isinstance(data, np.ndarray) else [*first]
        return Counter(people_by_key(KeyRows(()).read(values).parts()[0][1]))
    [(_, capped)] = KeyRows(("k",), PeopleCap("who", 1)).read(data).parts()
    parts = KeyRows(("k",), by=("g",)).read(data).parts()
    found = {(group, key): n for group, one in parts for key, n in people_by_key(one).items()}
    return Counter({**found, "capped": int(capped.people.sum())})


def edges(odd, data):
    found = Counter()
    if odd.container == "array" and odd.types[0] == "number":
        data = data.astype(object)
    for nodes in [["a", "b", "1", "é"]] if "text" in odd.types else [NODES, 4]:
        graph = Graph.from_edges(data, **(ENDS if odd.has_names else {}), nodes=nodes)
        rows = np.repeat(np.arange(len(graph)), graph.degrees).tolist()
        found.update(
            (str(nodes), *edge) for edge in zip(rows, graph.rows.tolist(), strict=True)
        )
    return found


def degrees(_, data):
    """Return the degrees of a table of edges, counted in its engine."""
    return of_counts(EdgeTable.from_edges(data, **ENDS, nodes=NODES).degrees)


def points(odd, data):
    found = []
    for outside in ("drop", "clip"):
        columns = ("x", "y") if odd.has_names else (None, None)
        rows = PointRows(Box(0, 0, 4, 4), *columns, outside=outside).read(data)
        found.append(rows.in_cells(uniform_grid(4)))
    return of_counts(found)


def points_of_persons(_, data):
    rows = PointRows(Box(0, 0, 4, 4), "x", "y", PeopleCap("who", 2), "clip").read(data)
    return of_counts(rows.in_cells(uniform_grid(1)))


def case(read, moved, columns, *types, slow=True, **held):
    return pytest.param(
        read, moved, odd_tables(columns, *types, **held), marks=[pytest.mark.slow] * slow
    )


TREE = [("integer", "integer", "text"), ("unsigned", "number", "integer")]
TREE += [("text", "text", "unsigned"), ("number", "integer", "number")]
KEYS = [("integer", "text", "unsigned"), ("text", "integer", "text")]
WHOLE = [("integer", "integer"), ("unsigned", "integer")]
TEXTS = {"containers": ("csv", "polars", "duckdb")}
ENGINES = {"containers": [name for name in NAMED if name != "pandas objects"]}
PERSONS = [("number", "number", who) for who in ("integer", "unsigned", "text")]


@pytest.mark.parametrize(
    ("read", "moved", "made"),
    [
        case(tree, {0, 1, 2}, ("x0", "x1", "x2"), *TREE),
        case(numbers, {1}, ("v",), ("integer",), ("unsigned",), ("number",), slow=False),
        case(listed, {1}, ("v",), ("number",), slow=False, containers=("rows",)),
        case(keys, {0, 1, 2}, ("k", "who", "g"), *KEYS, slow=False),
        case(edges, {0, 2, 4}, ("s", "t"), *WHOLE),
        case(edges, {0, 2}, ("s", "t"), ("text", "text"), **TEXTS),
        case(degrees, {0, 2}, ("s", "t"), *WHOLE, **ENGINES),
        case(points, {0, 1, 2}, ("x", "y"), ("number", "number"), ("integer", "unsigned")),
        case(points_of_persons, {0, 1}, ("x", "y", "who"), *PERSONS, containers=NAMED),
    ],
)
@given(data=st.data())
@examples
def test_a_record_changes_nothing_that_is_read_of_others(read, moved, made, data):
    odd = data.draw(made)
    gained = read(odd, odd.with_it())
    gained.subtract(read(odd, odd.without()))

    assert min(gained.values(), default=0) >= 0
    assert gained.total() in moved
