"""Refusals of objectives, of their sensitivities, scalings and combinations."""

from functools import partial
from math import inf, nan

import numpy as np

import dpselect as dp
from dpselect import scaling, sensitivity
from dpselect.combine import COMBINATIONS, by_name, coverage, pareto_front
from dpselect.errors import NeighboursError, ScoresError, SensitivityError
from support.refusals import Each, both, refusing

AR, EDGE, SWAP = dp.Neighbours.ADD_REMOVE, dp.Neighbours.EDGE, dp.Neighbours.SWAP
FIRST = dp.ElementSensitivity(lambda t: np.array([0.0, 1.0, 2.0]) + t, 9.0, EDGE, horizon=5)
OF_TWO = dp.ElementSensitivity(lambda _: np.ones(2), 1.0, EDGE, horizon=3)
LONG = dp.TabulatedSensitivity([0.5], [0, 0], 1.0, EDGE, horizon=2**30 + 1)
OF_LONG = dp.Objective([1.0, 2.0], LONG)
UNORDERED = [{"a": 1, "b": 2}, {"a", "b"}, iter("ab"), 2]
"""Before, these were refused after the charge, as a candidate was looked up."""


def read(values):
    dp.ElementSensitivity(lambda _: values, 1.0, EDGE, horizon=5).at(0)


def dampened(local):
    flat = dp.LocalSensitivity(local, 3.0, EDGE)
    dp.LocalDampening(epsilon=1.0).probabilities(dp.Objective([1.0, 2.0], flat))


def part(scores=(1, 2), neighbours=EDGE, candidates=None, bound=1):
    return dp.Objective(scores, dp.GlobalSensitivity(bound, neighbours), candidates)


def weighed(combine, weight, objectives):
    return combine(objectives, [weight] * len(objectives))


NAMED = [partial(by_name, name) for name in COMBINATIONS]
WEIGHED = [partial(weighed, one, 1) for one in (dp.weighted_sum, dp.disjoint_sum)]
WEIGHED += [partial(weighed, one, -2) for one in NAMED]
COMBINED = both(*map(refusing, [dp.pareto, dp.margin, pareto_front, *NAMED, *WEIGHED]))
TWO = [part(), part()]
MAXIMUM = refusing(sensitivity.maximum)
ADDED = refusing(sensitivity.weighted_sum, parts=[FIRST, FIRST], weights=[1, 1])
GLOBAL = refusing(dp.GlobalSensitivity, bound=1, neighbours=EDGE)
TABLE = refusing(dp.TabulatedSensitivity, table=[1.0], keys=[0], bound=1.0, neighbours=EDGE,
                 horizon=3)  # fmt: skip
ELEMENT = refusing(dp.ElementSensitivity, np.ones, 1.0, neighbours=EDGE)
SUMS = both(*(refusing(one, TWO) for one in (dp.weighted_sum, dp.disjoint_sum)))
BY_NAME = both(*(refusing(by_name, name, TWO) for name in COMBINATIONS))
COVERED = refusing(coverage, a=[[1, 2]], b=[[1, 2]])
PARETO = refusing(dp.pareto, TWO)
OBJECTIVE = refusing(dp.Objective, scores=[1.0, 2.0], sensitivity=dp.GlobalSensitivity(1, AR))
MECHANISMS = [dp.ExponentialMechanism(epsilon=1.0), dp.LocalDampening(epsilon=2.0)]
COMPARE = refusing(dp.compare, part([1, 5, 5]), mechanisms=MECHANISMS)

ROWS = [
    MAXIMUM("at least one", parts=[]),
    MAXIMUM("edge and swap", NeighboursError, parts=[FIRST, dp.GlobalSensitivity(1, SWAP)]),
    ADDED("different numbers of candidates", SensitivityError, parts=[FIRST, OF_TWO]),
    ADDED("weights must", weights=Each([[1.0], [1.0, nan], [0.0, 0.0], [[1.0, 1.0]]])),
    GLOBAL("l1", l1=Each([0, -1, inf, "2"])),
    GLOBAL(
        "a bound must", SensitivityError, bound=Each([-1, nan, inf, [], [[1.0]], [1.0, 0.0]])
    ),
    GLOBAL("from 1e-200", SensitivityError, bound=Each([1e-309, 1e-201, 1e201, 0.0, inf])),
    GLOBAL("add-remove' (one record more or less", NeighboursError, neighbours="all"),
    ELEMENT("horizon", horizon=Each([-1, 1.5, True, None])),
    refusing(read)("", SensitivityError, values=Each([[-1.0, 1], [nan, 1], [[1.0]], ["b"]])),
    refusing(FIRST.at)("distance", distance=Each([-1, 0.5, True])),
    refusing(FIRST.cumulative)("must be integers", distance=Each([-1, 0.5, [[1]]])),
    TABLE("table must", SensitivityError, table=Each([[], [2.0, 1.0], [-1.0, 1.0], [0.0]])),
    TABLE("keys must", SensitivityError, keys=Each([[0.5], [-1]])),
    refusing(dampened)("an ElementSensitivity", SensitivityError, local=lambda _: np.ones(2)),
    refusing(scaling.shifted, OF_LONG)("at most", direction="non-decreasing"),
    refusing(scaling.shifted, part())("direction", direction=Each(["up", None, "down"])),
    refusing(scaling.anchored, part())("anchor", anchor=Each([inf, nan, "1", True])),
    refusing(scaling.generalized, part())("t", t=Each([inf, nan, "1", True])),
    COMBINED("objectives must be at least one", objectives=[]),
    COMBINED("each of objectives must be an Objective", objectives=[part(), [1, 2]]),
    COMBINED("the same candidates; these score 2, 3", objectives=[part(), part([1, 2, 3])]),
    COMBINED("the same order", objectives=[part(), part(candidates=[1, 0])]),
    COMBINED("and edge", NeighboursError, objectives=[part(), part(neighbours=AR)]),
    refusing(by_name)("margin, not 'both'", name="both", objectives=TWO),
    BY_NAME("weights must", weights=Each([[1], [0, 0], [1, nan], ["a", "b"]])),
    SUMS("weights must be 2 numbers, one for each objective; the shape is (1,)", weights=[1]),
    SUMS("weights must be numbers", weights="heavy"),
    SUMS("finite and not all 0", weights=Each([[1, nan], [0, 0]])),
    refusing(dp.weighted_sum, TWO, [1, 1])("monotone themselves", monotone=True),
    refusing(dp.disjoint_sum, weights=[1, 1])(
        "two changes and may concern two objectives",
        NeighboursError,
        objectives=Each([[part(neighbours=one)] * 2 for one in (SWAP, "substitute")]),
    ),
    PARETO("horizon must be at least 0", horizon=-1),
    PARETO("dominance must be one of weak, standard, strict", dominance="mild"),
    COVERED("", a=[]),
    COVERED("", b=Each([[1, 2], [[1, 2, 3]], [["x", 2]]])),
    COVERED("dominance", dominance="mild"),
    OBJECTIVE("shape (3,) and there are 2 candidates", SensitivityError, sensitivity=FIRST),
    OBJECTIVE("sensitivity must be a Sensitivity, not a float", sensitivity=1.0),
    OBJECTIVE("candidates must be 2", candidates=["a"]),
    OBJECTIVE("keys as candidates", ScoresError, scores={"a": 5}),
    OBJECTIVE("candidates must be a list or another sequence", candidates=Each(UNORDERED)),
    COMPARE("k must be at most", k=4),
    COMPARE("simulations", simulations=0),
    COMPARE("epsilon", epsilons=[1.0, 0.0]),
    COMPARE("mechanisms", mechanisms=[]),
    COMPARE("each of mechanisms must be a Mechanism", mechanisms=["exponential"]),
]
