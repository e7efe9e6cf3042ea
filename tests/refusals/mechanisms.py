"""Refusals of mechanisms, of selections and of their draws."""

from math import inf, nan

import numpy as np

import dpselect as dp
from dpselect.draws.exact.bernoulli import OptimalChances
from dpselect.draws.exact.noisy_counts import discrete_gaussian, discrete_laplace
from dpselect.errors import NeighboursError
from dpselect.mechanisms import TopK, by_name
from support.refusals import Each, both, refusing, releasing

AR = dp.Neighbours.ADD_REMOVE
EDGE = dp.GlobalSensitivity(1, dp.Neighbours.EDGE)
TWO = dp.Objective([1.0, 2.0], EDGE)
TINY = dp.Objective([0.0, 0.0], dp.GlobalSensitivity(1, dp.Neighbours.EDGE, l1=1), step=1e-30)
VOTES = dp.Objective([9000, 0, 5000], dp.GlobalSensitivity(1, AR, l1=1), "abc", step=1)
FACTS = dp.Objective(np.zeros(500), dp.GlobalSensitivity(1, dp.Neighbours.EDGE, l1=2), step=1)
RNG = np.random.default_rng(0)


def kept(make, **options):
    budget = dp.Budget(9.0, neighbours="edge")
    try:
        make.release(TWO, budget=budget, **options)
    finally:
        assert budget.entries == ()


def above(queries=(1,), **changed):
    asked = {"threshold": 2, "sensitivity": 1, "epsilon": 1.2, "neighbours": AR}
    dp.AboveThreshold(**asked | changed).release(queries)


ABOVE = refusing(above)
SEQUENCE = refusing(dp.NoisySequence, epsilon=1.0)
CHOOSE = refusing(
    TopK.choose,
    FACTS,
    k=None,
    above=None,
    mechanism=None,
    rounds=dp.PermuteAndFlip(epsilon=1.0),
)
SELECT = releasing(
    dp.Selection, data=VOTES, mechanism=dp.PermuteAndFlip(epsilon=1.0), k=2, neighbours=AR
)
TOPS = releasing(dp.TopKeys, interval=0.95, epsilon=1.0, neighbours="add-remove")
DAMPENING = refusing(dp.LocalDampening, epsilon=1)
PLAIN = both(refusing(dp.ExponentialMechanism), DAMPENING)
OF_EPSILON = refusing(kept, dp.ExponentialMechanism(epsilon=1.0))
SIMULATED = refusing(dp.ExponentialMechanism(epsilon=1.0).simulate, TWO, size=1, rng=RNG)
BOUND = refusing(dp.ExponentialMechanism(epsilon=1).error_bound, TWO, unit="votes")
NOISE = both(
    *(refusing(one, counts=[0, 0], scale=1.0) for one in (discrete_laplace, discrete_gaussian))
)
NO_COUNTS = [[0.5], [1.0], ["1"], [True]]

ROWS = [
    ABOVE("threshold", threshold=Each([0.5, 2**53])),
    ABOVE("sensitivity", sensitivity=0),
    ABOVE("stops", stops=0),
    ABOVE("epsilon", epsilon=0),
    ABOVE("epsilon is too small", epsilon=1e-300),
    ABOVE("queries", queries=Each([[0.5], [[1]]])),
    PLAIN("epsilon", epsilon=Each([0, -1, nan, inf, 1e-310, "1", True, None])),
    OF_EPSILON("k", k=Each([0, 5, 1.0, True])),
    SIMULATED("k", k=Each([0, 5])),
    SIMULATED("size", size=0),
    SIMULATED("rng", rng=7),
    DAMPENING("draw", draw=Each(["laplace", 1])),
    refusing(dp.ShiftedLocalDampening, epsilon=1)("direction", direction="up"),
    refusing(dp.AnchoredLocalDampening, epsilon=1)("anchor", anchor=nan),
    refusing(dp.GeneralizedExponential, epsilon=1)("t", t=Each([-1, 1e17])),
    refusing(by_name, "median")("mechanism", epsilon=2.0),
    refusing(dp.Neighbours, "addremove")("did you mean 'add-remove'", NeighboursError),
    refusing(by_name("anchored", 2.0).release)("anchor", objective=TWO),
    refusing(by_name("shifted", 2.0).probabilities)("direction", objective=TWO),
    BOUND("probability", probability=Each([nan, 0, 1])),
    TOPS("interval is for noisy", k=1, candidates=["a", "b"]),
    TOPS("probability between", k=3, candidates=["a", "b", "c"], interval=1.0),
    TOPS("candidates", k=3, delta=1e-6),
    SELECT("k", k=Each([None, 0, 4])),
    SELECT("k", above=1.0),
    SELECT("above", k=None, above=Each(["high", 1.0])),
    SELECT("mechanism", mechanism=Each([{"name": "exponential"}, "exponential"])),
    SELECT("one neighbour relation", NeighboursError, neighbours="edge"),
    SELECT("data", data=[1, 2]),
    SEQUENCE("needs a delta above 0", noise="gaussian"),
    SEQUENCE("epsilon", epsilon=1e-200, noise="gaussian", delta=1e-6),
    SEQUENCE("out delta", delta=0.1),
    SEQUENCE("noise", noise="cauchy"),
    SEQUENCE("l1", l1=-1.0),
    refusing(dp.NoisySequence(epsilon=0.1).release, TWO, above=inf)("above"),
    refusing(dp.NoisySequence(epsilon=0.1).release, TINY, 1)("epsilon is too small"),
    refusing(OptimalChances, 1.0)("delta is too small", delta=1e-31),
    NOISE("scale must be", scale=Each([0, -1.0, inf, nan, 2.0**51])),
    NOISE("counts must be integers", counts=Each(map(np.array, NO_COUNTS))),
    CHOOSE("k"),
    CHOOSE("k", k=1, above=2.0),
    CHOOSE("k", k=Each([501, 0])),
    CHOOSE("above", above=np.nan),
    CHOOSE("above", above=2.0, mechanism="exponential"),
    CHOOSE("mechanism", k=1, mechanism="median"),
]
