"""Options of a mechanism in a query of a table: none changes a price or a sensitivity.

Every query of a table with a ``mechanism`` is asked with every mechanism, every option and
numbers at, inside and far beyond its bounds. It is refused before it has data, or on all pairs
of neighbours of a small universe its loss is at most what its plan states, by a replay.
"""

from collections import Counter
from dataclasses import fields, replace
from functools import cache, partial
from itertools import combinations, permutations, product
from math import inf, nan, nextafter

import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import ParameterError
from dpselect.mechanisms import MECHANISMS, by_name
from dpselect.networks import Graph
from dpselect.requests.document import titles
from dpselect_conformance import replay
from support.neighbours import pairs_of_rows
from support.refusals import refused
from support.releases import all_cases

EPSILON, ADDED = 1.0, dp.Neighbours.ADD_REMOVE
LARGEST = 1.7976931348623157e308
NUMBERS = [
    *(0, 5e-324, 1e-300, 1e-200, 1e-9, 0.5, nextafter(1, 0), 1, nextafter(1, 2), 3, 2.0**30),
    *(1e15, nextafter(1e15, inf), 1e200, 1e300, LARGEST, inf, nan, -1e-300, -1, -1e300),
]
EDGES = [0, 0.5, 1, LARGEST]
"""Numbers whose laws are looked at in every universe."""
TEXTS = ["exponential", "permute-and-flip", "non-decreasing", "non-increasing"]
VALUES = [*NUMBERS, *TEXTS, "laplace", "gaussian", True, None, {"name": "exponential"}]


def options():
    """Yield every mechanism with an option, also those that it does not have."""
    known = {one.name for kind in MECHANISMS.values() for one in fields(kind)}
    for name in MECHANISMS:
        yield {"name": name}
        own = {one.name for one in fields(MECHANISMS[name])}
        for option in sorted(known | {"shift", "l2"}):
            values = VALUES if option in own else [1e-9]
            yield from ({"name": name, option: value} for value in values)
        yield {"name": name, "noise": "gaussian", "delta": 0.1}
        for l1, step in product([1e-300, 1e-9, 1e300], repeat=2):
            yield {"name": name, "l1": l1, "bound": l1, "step": step}


OPTIONS = list(options())


def graphs():
    """Return the pairs of graphs on four nodes of which one has one edge more.

    Those alone whose smaller graph is the first of its class under permutations of the nodes:
    no law depends on the numbers of the nodes.
    """
    edges = list(combinations(range(4), 2))

    def renamed(graph, names):
        return tuple(sorted(tuple(sorted((names[u], names[v]))) for u, v in graph))

    every = [graph for n in range(7) for graph in combinations(edges, n)]
    first = {min(renamed(one, names) for names in permutations(range(4))) for one in every}
    return [
        (Graph.from_edges(x, nodes=4), Graph.from_edges([*x, edge], nodes=4))
        for x in sorted(first)
        for edge in edges
        if edge not in x
    ]


def one_more(rows, most):
    """Return the pairs of databases of which one has one record more."""
    return [tuple(map(list, pair)) for pair in pairs_of_rows(ADDED, rows, most)]


def replaced(values, n):
    """Return the pairs of lists of which one record is another."""
    every = [list(x) for x in product(values, repeat=n)]
    return [
        (x, y)
        for x, y in combinations(every, 2)
        if sum(a != b for a, b in zip(x, y, strict=True)) == 1
    ]


@cache
def visits(held):
    rows = [(who, key) for who, keys in enumerate(held) for key in keys]
    return pl.DataFrame(rows, schema={"who": pl.Int64, "key": pl.String}, orient="row")


def persons():
    """Return the pairs of tables of which one has a person more, of up to two keys."""
    kept = ["", "a", "b", "ab"]
    return [(visits(tuple(x)), visits(tuple(y))) for x, y in one_more(kept, 2)]


BOX = {"bounds": [0, 0, 1, 1], "epsilon": EPSILON, "neighbours": "add-remove"}
POINTS = [(0.1, 0.1), (0.9, 0.1), (0.9, 0.9)]
TREE = {
    "label": "label",
    "domains": {"a": [0, 1], "b": [0, 1]},
    "classes": [0, 1],
    "max_records": 3,
    "epsilon": EPSILON,
    "neighbours": "add-remove",
}
SMALL_FRONT = {
    "population": 2,
    "survivors": 1,
    "front": 1,
    "generations": 2,
    "initial_depth": 1,
    "max_depth": 1,
    "random_state": 0,
}
CELLS = [(0, 0, 0), (0, 1, 1), (1, 0, 1)]


def cells(most):
    """Return the pairs of tables of which one has one record more."""
    names = ["a", "b", "label"]
    frames = [
        [pl.DataFrame(x, schema=dict.fromkeys(names, pl.Int64), orient="row") for x in pair]
        for pair in one_more(CELLS, most)
    ]
    return [tuple(pair) for pair in frames]


def counts(**more):
    return dict(column="key", epsilon=EPSILON, neighbours="add-remove", **more)


UNIVERSE = {
    "TopKeys, one": (dp.TopKeys, counts(k=1, candidates=["a", "b"]) | {"column": None},
                     lambda: one_more("ab", 3)),
    "TopKeys, persons": (dp.TopKeys, counts(k=1, candidates=["a", "b"], user="who",
                                            max_per_user=2), persons),
    "HeavyCells": (dp.HeavyCells, BOX | {"grid": 2, "k": 1}, lambda: one_more(POINTS, 2)),
    "Map": (dp.Map, BOX | {"grids": [1, 2]}, lambda: one_more(POINTS, 2)),
    "PercentileRecord": (dp.PercentileRecord, {"p": 50, "upper": 2, "epsilon": EPSILON},
                         lambda: replaced([0, 1, 2], 2)),
    "ID3Tree": (dp.ID3Tree, TREE | {"max_depth": 1}, lambda: cells(2)),
    "BestColumns": (dp.BestColumns, TREE | {"k": 1}, lambda: cells(3)),
    "TreeFront": (dp.TreeFront, TREE | SMALL_FRONT, lambda: cells(2)),
    "TreeFront, global": (dp.TreeFront, TREE | SMALL_FRONT | {
        "generations": 1, "rate_bound": "global", "rates_share": 0.0}, lambda: cells(2)),
    **{
        f"TopNodes, {metric}": (dp.TopNodes, {"nodes": 4, "k": 1, "metric": metric,
                                              "epsilon": EPSILON}, graphs)
        for metric in ("degree", "ego-density", "ego-betweenness")
    },
}  # fmt: skip


@cache
def pairs_of(name):
    return UNIVERSE[name][2]()


def asked(name, mechanism):
    kind, given, _ = UNIVERSE[name]
    return kind(**given, mechanism=mechanism)


FAST = {"TopKeys, one", "PercentileRecord"}


@pytest.mark.parametrize(
    "name",
    [one if one in FAST else pytest.param(one, marks=pytest.mark.slow) for one in UNIVERSE],
)
def test_what_can_be_asked_for_costs_what_the_plan_states(name, record_property):
    found, made = Counter(), set()
    for mechanism in OPTIONS:
        try:
            query = asked(name, mechanism)
        except ParameterError:
            found["refused"] += 1
            continue
        found["asked"] += 1
        assert all(is_free(mechanism["name"], *one) for one in mechanism.items()), mechanism
        if (drawn := repr(by_name(mechanism, EPSILON))) not in made:
            made.add(drawn)
            if name in FAST or {*mechanism.values()} <= {*TEXTS, mechanism["name"], *EDGES}:
                check(query, pairs_of(name))
    record_property("found", dict(found, laws=len(made)))

    assert found["refused"] > 300
    assert len(made) >= 4


def is_free(name, option, value):
    """Return whether a query has a say in an option, or it is as it would be anyhow."""
    usual = {one.name: one.default for one in fields(MECHANISMS[name])}
    free = option == "name" or (option in usual and not MECHANISMS[name].prices_objectives)
    return free or (option in usual and usual[option] == value)


def check(query, pairs):
    for x, y in pairs:
        replay(query.release, x, y).raise_if_failed()


def test_every_query_of_a_table_with_a_mechanism_is_looked_at():
    kinds = {UNIVERSE[name][0].__name__ for name in UNIVERSE}

    every = [getattr(dp, name) for name in titles() if "." not in name]
    assert kinds >= {
        one.__name__
        for one in every
        if one.__module__.startswith("dpselect.")
        and "mechanism" in {field.name for field in fields(one)}
    }


OTHERS = [
    case
    for case in all_cases()
    if type(case.query) is not dp.Selection
    and "mechanism" in {one.name for one in fields(case.query)}
]


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.name)
def test_no_query_is_told_what_one_individual_changes(case):
    """Neither by name nor by a class or a function, in Python or written down."""
    for fact in ("l1", "bound", "step"):
        factory = partial(dp.NoisySequence, **{fact: 1e-9})
        for one in (factory, lambda epsilon, made=factory: made(epsilon=epsilon)):
            with pytest.raises(ParameterError):
                replace(case.query, mechanism=one)


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.name)
def test_a_callable_must_keep_to_the_epsilon_that_it_is_called_with(case):
    """A split of a tree was drawn at the epsilon of the callable, not at that of its plan."""
    with refused("mechanism"):
        replace(
            case.query, mechanism=lambda epsilon: dp.ExponentialMechanism(epsilon=2 * epsilon)
        )
