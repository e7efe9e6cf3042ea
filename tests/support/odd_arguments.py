"""Calls of every public entry with good arguments, and odd values to put in place of one.

Those of queries are made of the cases of :mod:`support.releases`. Data hold the marker of
:mod:`support.odd_input`; arguments never do, so no message that quotes an argument has it.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import dpselect as dp
from dpselect import networks, percentiles, trees
from support.odd_fields import FRONT, PUBLIC, objective
from support.odd_input import MARKER, TEXT
from support.releases import all_cases
from support.releases.core import MECHANISMS

AR = dp.Neighbours.ADD_REMOVE

ODD = [
    *(None, True, False, object, len, {}, {1: 2}, {"a": [1]}, set(), frozenset({1})),
    *(0, 1, 2, 3, -1, 7, 2**63, -(2**63), 10**400),
    *(0.0, -0.0, 0.5, 1.0, -0.5, 100.5, 5e-324, 1e-310, 1e308, inf, -inf, nan),
    *(Decimal("0.1"), Decimal("sNaN"), Fraction(1, 3), 1j, np.float16(0.5), np.float32(0.1)),
    *(np.int8(1), np.int64(-1), np.uint64(2**63), np.bool_(1), np.datetime64("NaT", "s")),
    *(pd.NA, pd.NaT, "", "x", "1", "f", "g", "nan", "edge", "substitute", "exponential"),
    *("add-remove", "pareto", "\udc80", "\0", b"x", bytearray(b"1"), [2**63], slice(None)),
    *([], [1], [1, 2], [nan], [inf, 1], [None], ["f"], ["f", "f"], [[]], [[1, 2], [3]]),
    *((), (1, 2), (2, 1), ("f", "g"), range(0), range(3), [object], [[0, 0, 1, 1]]),
    *(np.array([]), np.array([nan]), np.zeros((2, 2)), np.array(["a"]), np.array(3.0)),
    *(np.ones((3, 4), dtype=bool), pl.Series([1, 2]), pd.DataFrame({"f": [1]}), Ellipsis),
]  # fmt: skip
"""Any value; as a size each is too large to be had or small enough to be quick."""


@dataclass(frozen=True)
class Call:
    """One public entry with good arguments.

    Attributes:
        function: Called with data, a budget, and the arguments by name.
        arguments: By name.
        data: Makes the data, with the marker in them.
        neighbours: The relation of the budget.
        user: The column of the persons that it protects; None where it protects rows.
    """

    function: Callable[..., object]
    arguments: dict[str, Any]
    data: Callable[[], Any] = tuple
    neighbours: dp.Neighbours = AR
    user: str | None = None

    def budget(self):
        return dp.Budget(1e6, 0.9, neighbours=self.neighbours, protects=self.user)

    def make(self, changed, budget):
        return self.function(self.data(), budget, **{**self.arguments, **changed})


def marked(data):
    """Return data with one record more that holds nothing but the marker."""
    if isinstance(data, pl.LazyFrame):
        return marked(data.collect()).lazy()
    if isinstance(data, pl.DataFrame | pl.Series):
        frame = data if isinstance(data, pl.DataFrame) else data.to_frame()
        row = {
            name: TEXT if kind == pl.String else MARKER for name, kind in frame.schema.items()
        }
        whole = pl.concat([frame, pl.DataFrame(row, schema=frame.schema, strict=False)])
        return whole if isinstance(data, pl.DataFrame) else whole.to_series()
    if isinstance(data, np.ndarray):
        return np.concatenate([data, np.full_like(data[:1], MARKER)])
    if isinstance(data, tuple) and data and isinstance(data[0], pl.DataFrame):
        return tuple(map(marked, data))
    if isinstance(data, list) and data and isinstance(data[0], int | tuple):
        return [*data, MARKER if isinstance(data[0], int) else (MARKER,) * len(data[0])]
    return data


def given(made):
    """Return the fields of a query or a mechanism."""
    return {one.name: getattr(made, one.name) for one in fields(made)}


def of_case(case):
    """Return the call of the query of a release case, with the fields that it was given."""
    kind = type(case.query)
    return Call(
        lambda data, budget, **fields: kind(**fields).release(data, budget=budget),
        given(case.query),
        lambda: marked(case.data(case.pair(np.random.default_rng(0))[0])),
        case.neighbours,
        getattr(case.query, "user", None),
    )


def of_queries():
    """Return a call for every set of fields that the cases of a query were given."""
    found = {}
    for case in all_cases():
        if case.run is None or isinstance(case.query, dp.Selection):
            asked = frozenset(case.query.plan.arguments)
            found.setdefault((type(case.query), asked), case)
    return {case.name: of_case(case) for case in found.values()}


def table():
    return pl.DataFrame(
        {
            "f": [0, 1, 1, None, MARKER, 3],
            "g": [1.0, 2.0, 3.5, float("nan"), float(MARKER), 0.0],
            "h": [1, None, 2, 3, MARKER, 4],
            "y": ["a", "b", "a", None, f"n{MARKER}", "b"],
        }
    )


def fitted(made):
    return lambda data, budget, **fields: made(**fields, budget=budget).fit(*data)


def drawn(made):
    return lambda data, budget, **options: made(**options).release(data, budget=budget)


def plain(function):
    """Return a call of a function that spends nothing."""
    return lambda data, _budget, **options: function(*data, **options)


ENDS = {"source": "f", "target": "h", "nodes": 9}


def scores():
    return objective([1.0, 2.0, 3.0], candidates="abc", monotone=True)


def labelled():
    return table()[["f", "g"]], table()["y"].to_list()


def of_estimator(made):
    arguments = made.get_params()
    del arguments["budget"]
    return Call(fitted(type(made)), arguments, labelled)


CALLS = {
    **of_queries(),
    **{repr(one): Call(drawn(type(one)), given(one), scores) for one in MECHANISMS},
    "release of several": Call(
        lambda one, budget, k: MECHANISMS[1].release(one, k, budget=budget), {"k": 2}, scores
    ),
    "ID3Classifier": of_estimator(trees.ID3Classifier(**PUBLIC, max_depth=1)),
    "MultiObjectiveTreeClassifier": of_estimator(
        trees.MultiObjectiveTreeClassifier(**PUBLIC, **FRONT)
    ),
    "percentile": Call(
        plain(percentiles.percentile),
        {"p": 50, "upper": 9, "horizon": 1},
        lambda: ([1.0, MARKER],),
    ),
    "Graph.from_edges": Call(plain(networks.Graph.from_edges), ENDS, lambda: (table(),)),
    "EdgeTable": Call(plain(networks.EdgeTable.from_edges), ENDS, lambda: (table(),)),
}
