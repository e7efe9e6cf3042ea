"""Calls of every public entry with good arguments, and odd values to put in place of one.

Data hold the marker of :mod:`support.odd_input`; arguments never do, so no message that quotes
an argument has it.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import inf, nan

import numpy as np
import pandas as pd
import polars as pl

import dpselect as dp
from dpselect import (
    categories,
    combine,
    networks,
    percentiles,
    pooling,
    retrieval,
    spatial,
    trees,
)
from support.odd_input import MARKER

AR, SUB, EDGE = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE, dp.Neighbours.EDGE

ODD = [
    *(
        None,
        True,
        False,
        object,
        len,
        {},
        {1: 2},
        {"a": [1]},
        set(),
        frozenset({1}),
        slice(None),
    ),
    *(0, 1, 2, 3, -1, 7, 2**63, -(2**63), 10**400),
    *(0.0, -0.0, 0.5, 1.0, -0.5, 100.5, 5e-324, 1e-310, 1e308, inf, -inf, nan),
    *(Decimal("0.1"), Decimal("sNaN"), Fraction(1, 3), 1j, np.float16(0.5), np.float32(0.1)),
    *(np.int8(1), np.int64(-1), np.uint64(2**63), np.bool_(1), np.datetime64("NaT", "s")),
    *(pd.NA, pd.NaT, "", "x", "1", "f", "g", "nan", "edge", "substitute", "exponential"),
    *("add-remove", "pareto", "\udc80", "\0", b"x", bytearray(b"1")),
    *(
        [],
        [1],
        [1, 2],
        [nan],
        [inf, 1],
        [None],
        ["f"],
        ["f", "f"],
        [[]],
        [[1, 2], [3]],
        [2**63],
    ),
    *((), (1, 2), (2, 1), ("f", "g"), range(0), range(3), [object], [[0, 0, 1, 1]]),
    *(np.array([]), np.array([nan]), np.zeros((2, 2)), np.array(["a"]), np.array(3.0)),
    *(np.ones((3, 4), dtype=bool), pl.Series([1, 2]), pd.DataFrame({"f": [1]}), Ellipsis),
]
"""Any value; as a size each is too large to be had or small enough to be quick."""


@dataclass(frozen=True)
class Call:
    """One public function with good arguments.

    Attributes:
        function: Called with ``data``, if there are any, and the arguments.
        arguments: By name.
        data: Positional ones, made anew.
        spends: Whether it takes a budget.
        neighbours: The relation of that budget.
    """

    function: object
    arguments: dict
    data: object = tuple
    spends: bool = field(default=False, kw_only=True)
    neighbours: dp.Neighbours = field(default=AR, kw_only=True)

    def make(self, changed, budget):
        more = {"budget": budget} if self.spends else {}
        return self.function(*self.data(), **{**self.arguments, **changed, **more})


def table():
    return pl.DataFrame(
        {
            "f": [0, 1, 1, None, MARKER, 3],
            "g": [1.0, 2.0, 3.5, float("nan"), float(MARKER), 0.0],
            "h": [1, None, 2, 3, MARKER, 4],
            "y": ["a", "b", "a", None, f"n{MARKER}", "b"],
        }
    )


def objective():
    return dp.Objective(
        [1.0, 2.0, 3.0], dp.GlobalSensitivity(1, AR, l1=1), "abc", monotone=True
    )


@cache
def graph():
    return networks.Graph.from_edges([(0, 1), (1, 2), (2, 3)], nodes=5)


def fitted(made):
    return lambda *data, **arguments: made(**arguments).fit(*data)


def drawn(made):
    return lambda target, **arguments: made(**arguments).release(target, budget=None)


def with_budget(epsilon=1.0, delta=0.0, neighbours=AR, **spend):
    budget = dp.Budget(epsilon, delta, neighbours=neighbours)
    budget.spend(**{"epsilon": 0.5, "neighbours": neighbours, **spend})
    return budget.to_json()


def one(made):
    return lambda: (made(),)


BASE = {"epsilon": 1.0, "neighbours": AR}
RECORD = {"column": "g", "p": 50, "upper": 9, "horizon": 1, "epsilon": 1.0}
RECORD |= {"mechanism": "shifted", "on_invalid": "repair"}
VALUE = {"column": "g", "p": [25, 50], "candidates": range(10), "method": None, **BASE}
VALUE |= {"mechanism": None, "on_invalid": "repair"}
NODE = {"metric": "degree", "combine": None, "weights": None, "max_degree": None}
NODE |= {"epsilon": 1.0, "mechanism": None}
TOP = {
    "column": "f",
    "k": 2,
    "above": None,
    "candidates": [0, 1, 2],
    "limit": None,
    "group": None,
}
TOP |= {"groups": None, "user": "h", "max_per_user": 2, "counts_share": 0.2, "missing": "drop"}
TOP |= {"delta": 0.0, "mechanism": None, **BASE}
KEYS = {"column": "f", "user": "h", "max_per_user": 2, "method": None, "min_people": 1}
KEYS |= {"missing": "drop", "delta": 1e-3, **BASE}
MAP = {"x": "f", "y": "g", "user": None, "bounds": (0, 0, 9, 9), "grids": [2]}
MAP |= {"queries": [[0, 0, 3, 3]], "method": None, "tuning_share": 0.2, "sanity": 0.001}
MAP |= {"max_points_per_user": None, "outside": "drop", **BASE}
TREE = {"domains": {"f": [0, 1], "g": (0.0, 9.0, 3)}, "classes": ["a", "b"], "max_records": 50}
TREE |= {"on_invalid": "repair", **BASE}
ID3 = TREE | {"max_depth": 2, "criterion": "gini", "mechanism": "shifted"}
FRONT = TREE | {"selection": "weighted-sum", "weights": (1.0, 1.0), "population": 6, "front": 2}
FRONT |= {"survivors": 2, "generations": 1, "initial_depth": 2, "max_depth": 2, "split": None}
FRONT |= {"sensitivity": "noisy-denominators", "totals_share": 0.05, "rates_share": 0.1}
FRONT |= {"random_state": 0}
SUBSET = {"n": 9, "beta": 1, "failure": 0.0, "size_epsilon": 0.5, "epsilon": 1.0, "delta": 0.5}
DESIGN = np.ones((3, 4), dtype=bool)
OUTCOMES = {"design": DESIGN, "flip": 0.1, "neighbours": SUB}
GAIN = {name: TREE[name] for name in ("domains", "classes", "max_records", "neighbours")}
frame = one(table)


def labelled():
    return table().drop("h"), "y"


CALLS = {
    "release_percentile_record": Call(
        percentiles.release_percentile_record, RECORD, frame, spends=True, neighbours=SUB
    ),
    "plan_percentile_record": Call(percentiles.plan_percentile_record, RECORD | {"records": 9}),
    "release_percentiles": Call(percentiles.release_percentiles, VALUE, frame, spends=True),
    "plan_percentiles": Call(percentiles.plan_percentiles, VALUE),
    "percentile": Call(
        percentiles.percentile, {"p": 50, "upper": 9, "horizon": 1}, lambda: ([1.0, MARKER],)
    ),
    "Range": Call(percentiles.Range, {"low": 0.0, "high": 9.0, "step": 0.5}),
    "Graph.from_edges": Call(
        networks.Graph.from_edges, {"source": "f", "target": "h", "nodes": 9}, frame
    ),
    "EdgeTable": Call(networks.EdgeTable, {"source": "f", "target": "h", "nodes": 9}, frame),
    "release_nodes": Call(
        networks.release_nodes, NODE | {"k": 1}, one(graph), spends=True, neighbours=EDGE
    ),
    "plan_nodes": Call(networks.plan_nodes, NODE | {"k": 1, "nodes": 9}),
    "release_top": Call(categories.release_top, TOP, frame, spends=True),
    "plan_top": Call(categories.plan_top, TOP),
    "release_keys": Call(categories.release_keys, KEYS, frame, spends=True),
    "plan_keys": Call(categories.plan_keys, KEYS),
    "release_histogram": Call(spatial.release_histogram, MAP, frame, spends=True),
    "plan_histogram": Call(spatial.plan_histogram, MAP),
    "ID3Classifier": Call(
        fitted(trees.ID3Classifier),
        ID3,
        labelled,
        spends=True,
    ),
    "MultiObjectiveTreeClassifier": Call(
        fitted(trees.MultiObjectiveTreeClassifier),
        FRONT,
        labelled,
        spends=True,
    ),
    "information_gain": Call(
        trees.information_gain, GAIN, lambda: (table()[:, ["f", "g"]], table()["y"].to_list())
    ),
    "release_statuses": Call(
        retrieval.release_statuses,
        {"n": 9, "epsilon": 1.0},
        lambda: ([1, 2],),
        spends=True,
        neighbours=SUB,
    ),
    "release_subset": Call(
        retrieval.release_subset, SUBSET, lambda: ([1, 2],), spends=True, neighbours=SUB
    ),
    "plan_subset": Call(retrieval.plan_subset, SUBSET),
    "SubsetRetrieval": Call(
        drawn(retrieval.SubsetRetrieval),
        {"n": 9, "d": 2, "beta": 1, "epsilon": 1.0, "failure": 0.0, "scheme": "optimal"},
        lambda: ([1, 2],),
    ),
    "release_outcomes": Call(
        pooling.release_outcomes,
        OUTCOMES,
        lambda: ([True, False, True],),
        spends=True,
        neighbours=SUB,
    ),
    "plan_outcomes": Call(pooling.plan_outcomes, OUTCOMES),
    "draw_replaced": Call(
        pooling.draw_replaced,
        {"people": 9, "beta": 2},
        spends=True,
        neighbours=dp.Neighbours.SWAP,
    ),
    "Objective": Call(
        dp.Objective,
        {
            "scores": [1.0, 2.0],
            "sensitivity": dp.GlobalSensitivity(1, AR),
            "candidates": "ab",
            "monotone": False,
            "highest": None,
            "direction": None,
        },
    ),
    "GlobalSensitivity": Call(
        dp.GlobalSensitivity, {"bound": 1.0, "neighbours": AR, "horizon": 9, "l1": None}
    ),
    "TabulatedSensitivity": Call(
        dp.TabulatedSensitivity,
        {"table": [[1, 2]], "keys": [0], "bound": 2, "horizon": 2, "neighbours": AR},
    ),
    **{
        f"{made.__name__}": Call(drawn(made), arguments, one(objective))
        for made, arguments in (
            (dp.ExponentialMechanism, {"epsilon": 1.0}),
            (dp.PermuteAndFlip, {"epsilon": 1.0}),
            (dp.ReportNoisyMax, {"epsilon": 1.0, "noise": "laplace"}),
            (dp.LocalDampening, {"epsilon": 1.0}),
            (dp.ShiftedLocalDampening, {"epsilon": 1.0, "direction": "non-decreasing"}),
            (dp.AnchoredLocalDampening, {"epsilon": 1.0, "anchor": 9.0}),
            (dp.PairwiseLocalDampening, {"epsilon": 1.0}),
            (dp.GeneralizedExponential, {"epsilon": 1.0, "t": 1.0}),
            (dp.NoisySequence, {"epsilon": 1.0, "l1": 1.0, "bound": 1.0, "step": 1.0}),
        )
    },
    "release of several": Call(
        lambda **more: dp.PermuteAndFlip(epsilon=1.0).release(objective(), **more),
        {"k": 2},
        spends=True,
    ),
    "compare": Call(
        lambda **more: dp.compare(objective(), [dp.PermuteAndFlip(epsilon=1.0)], **more),
        {"k": 1},
    ),
    "pareto": Call(combine.pareto, {"objectives": [objective(), objective()]}),
    "weighted_sum": Call(
        combine.weighted_sum, {"objectives": [objective(), objective()], "weights": [1.0, 2.0]}
    ),
    "margin": Call(combine.margin, {"objectives": [objective(), objective()]}),
    "Budget": Call(
        with_budget,
        {"epsilon": 1.0, "delta": 0.1, "neighbours": AR, "note": "", "mechanism": ""},
    ),
    "Budget.spend": Call(lambda spend: with_budget(epsilon=spend), {"spend": 0.5}),
}
