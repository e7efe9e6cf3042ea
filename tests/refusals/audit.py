"""Refusals of audits: laws, universes, and what is to be checked."""

from itertools import combinations_with_replacement
from math import inf, nan
from types import SimpleNamespace

import numpy as np

import dpselect as dp
from dpselect.audit import bounded_range, check_private, delta, privacy_loss, renyi
from dpselect.errors import InsufficientBudgetError, NeighboursError
from dpselect_conformance import check_spends_first, replay
from dpselect_conformance.objectives.universe import build
from support.refusals import Each, both, refusing

AR = dp.Neighbours.ADD_REMOVE
HALF = [0.5, 0.5]
BALLOTS = [x for n in range(5) for x in combinations_with_replacement("ab", n)]
NO_LAWS = [[0.5, 0.4], [-0.5, 1.5], [[0.5, 0.5]], [nan, 1.0], ["a", "b"], [], 1.0]

OF_OTHER_SIZES = [[("a",), ("b", "c")], ["a", "b"]]
NO_SETS = [[frozenset("a"), frozenset("bc")], [("a",), ("b",)]]


def sound(x):
    return dp.Objective([x.count("a"), x.count("b")], dp.GlobalSensitivity(1, AR))


def pay(budget, epsilon=0.5):
    budget.spend(epsilon, neighbours=AR, mechanism="mine")


LAWS = both(
    refusing(privacy_loss, HALF), refusing(bounded_range, HALF),
    refusing(delta, HALF, epsilon=0.1), refusing(renyi, HALF, alpha=2),
)  # fmt: skip
PAIR = [(0,), (1,)]
OWN = refusing(check_private, universe=PAIR, neighbours="substitute", epsilon=1.0)
LOGS = refusing(check_private, universe=PAIR, neighbours="substitute", epsilon=1.0, log=True)
CHECKED = refusing(dp.audit.check_admissible, sound, universe=BALLOTS, neighbours=AR)
SPENT = refusing(check_spends_first, pay, total=1.0, neighbours=AR)
OVERSPENT = refusing(check_spends_first, total=1.0, neighbours=AR)
BUILT = refusing(build, neighbours="add-remove")
REPLAYED = refusing(replay, release=list, x=(), y=())

ROWS = [
    LAWS("q must be probabilities", q=Each(NO_LAWS)),
    LAWS("same outcomes", q=[0.5, 0.25, 0.25]),
    refusing(delta, HALF, HALF)("epsilon", epsilon=Each([-0.1, nan, inf, "1"])),
    refusing(renyi, HALF, HALF)("alpha must", alpha=Each([0.5, nan, "2", True])),
    OWN("same outcomes", distribution=lambda x: np.full(1 + x[0], 1 / (1 + x[0]))),
    LOGS("exp of what distribution returns", distribution=lambda _: [0.0, 0.0]),
    LOGS("the logarithms of", distribution=lambda _: ["a"]),
    CHECKED("max_distance", max_distance=Each([0, 1.5, True])),
    CHECKED("scalings must", scalings=Each([[dp.scaling.dampened], {"dampened": "dampened"}])),
    refusing(dp.audit.check_admissible, list, BALLOTS, AR)("be an Objective"),
    OVERSPENT("requested 2.0", InsufficientBudgetError, release=lambda one: pay(one, 2.0)),
    SPENT("samplers must be", samplers=[len]),
    REPLAYED("plan", plan=Each([3, "plan", dp.Objective])),
    REPLAYED("carries no plan"),
    REPLAYED("has as plan_ must", release=lambda _: SimpleNamespace(plan_=3)),
    BUILT("every database must", universe=Each([[("a",), frozenset("a")], ["a", "ab"]])),
    BUILT("every multiset of records", universe=[("a", "b"), ("b", "a"), ("a",)]),
    BUILT("every database must", neighbours="substitute", universe=Each(OF_OTHER_SIZES)),
    BUILT("every database must", universe=[("a",), ()], neighbours="edge"),
    BUILT("every database must", neighbours="swap", universe=Each(NO_SETS)),
    BUILT("at least two d", universe=Each([[], [()], [(), ("a", "b")]])),
    BUILT("hashable databases", universe=[["a"], []]),
    BUILT("or a function", NeighboursError, universe=[()], neighbours="add and remove"),
]
