"""Releases of the mechanisms themselves."""

import numpy as np

import dpselect as dp
from dpselect_conformance import ReleaseCase, pairs_of_persons

AR, EDGE = dp.Neighbours.ADD_REMOVE, dp.Neighbours.EDGE
CANDIDATES = ("north", "east", "south", "west")
EPSILON = 0.5
FLIP = dp.draws.PermuteAndFlip()


def mechanisms_at(epsilon, *, anchor=0.0):
    """Return a mechanism of every kind; the last is the sequence."""
    return [
        dp.ExponentialMechanism(epsilon=epsilon),
        dp.PermuteAndFlip(epsilon=epsilon),
        dp.ReportNoisyMax(epsilon=epsilon),
        dp.LocalDampening(epsilon=epsilon),
        dp.LocalDampening(epsilon=epsilon, draw=FLIP),
        dp.ShiftedLocalDampening(epsilon=epsilon, direction="non-decreasing"),
        dp.ShiftedLocalDampening(epsilon=epsilon, direction="non-increasing", draw=FLIP),
        dp.AnchoredLocalDampening(epsilon=epsilon, anchor=anchor),
        dp.PairwiseLocalDampening(epsilon=epsilon),
        dp.GeneralizedExponential(epsilon=epsilon),
        dp.NoisySequence(epsilon=epsilon),
    ]


MECHANISMS = [
    *mechanisms_at(EPSILON, anchor=40.0)[:-1],
    dp.GeneralizedExponential(epsilon=EPSILON, t=0.5, draw=FLIP),
    dp.NoisySequence(epsilon=EPSILON, l1=18.0, bound=9.0, step=1.0),
]
FIRST_ABOVE = {"threshold": 5, "sensitivity": 1, "monotone": True}
FIRST_ABOVE |= {"epsilon": EPSILON, "neighbours": AR}
ABOVE = dp.NoisySequence(epsilon=EPSILON, l1=1.0, bound=1.0, step=1.0)


votes = pairs_of_persons(lambda held: (*held.values(),), lambda rng: int(rng.integers(4)), 20)[
    AR
]


def counts(ballots):
    """Counts: monotone under add/remove, with one global sensitivity."""
    return dp.Objective(tally(ballots), dp.GlobalSensitivity(1, AR), CANDIDATES, monotone=True)


def tally(ballots):
    return np.bincount(np.array(ballots), minlength=4)


def graphs(rng):
    """Two graphs of five nodes that differ by one edge."""
    matrix = np.triu(rng.random((5, 5)) < 0.5, 1)
    other = matrix.copy()
    other[0, 1] = not other[0, 1]
    return matrix | matrix.T, other | other.T


def squared_degrees(matrix):
    """Squares of degrees, with a sensitivity of each node; not declared monotone."""
    degrees = matrix.sum(axis=1)[:4].astype(float)
    # One edge changes d^2 by at most 2 d + 1; at distance t the degree is at most d + t.
    sensitivity = dp.ElementSensitivity(
        lambda t: np.minimum(2 * (degrees + t) + 1, 9.0), 9.0, EDGE, horizon=8
    )
    return dp.Objective(degrees**2, sensitivity, CANDIDATES, highest=16.0)


def case(mechanism, k, neighbours, objective_of, pair):
    return ReleaseCase(
        name=f"{mechanism!r}, k={k}, {neighbours}",
        query=dp.Selection(mechanism=mechanism, k=k, neighbours=neighbours),
        data=objective_of,
        run=lambda data, budget: mechanism.release(objective_of(data), k, budget=budget),
        pair=pair,
    )


CASES = [
    case(mechanism, k, neighbours, objective_of, pair)
    for mechanism in MECHANISMS
    for k in (1, 2)
    for neighbours, objective_of, pair in ((AR, counts, votes), (EDGE, squared_degrees, graphs))
]
CASES.append(
    ReleaseCase(
        name="Selection above a score, add-remove",
        query=dp.Selection(mechanism=ABOVE, above=4.0, neighbours=AR),
        data=counts,
        run=lambda data, budget: ABOVE.release(counts(data), above=4.0, budget=budget),
        pair=votes,
    )
)
for stops in (1, 2):
    query = dp.AboveThreshold(**FIRST_ABOVE, stops=stops)
    name = f"AboveThreshold, {stops} stops, add-remove"
    CASES.append(ReleaseCase(name, query, votes, data=tally))
