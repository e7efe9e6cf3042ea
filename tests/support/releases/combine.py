"""Releases of combined objectives."""

from functools import partial

import numpy as np

import dpselect as dp
from dpselect.combine import by_name
from dpselect.mechanisms import by_name as mechanism_by_name
from dpselect.neighbours import Neighbours
from dpselect_conformance import ReleaseCase, pairs_of_persons

CANDIDATES = ("a", "b", "c", "d")


PAIRS = pairs_of_persons(
    lambda held: [*held.values()], lambda rng: rng.integers(0, len(CANDIDATES), 2).tolist(), 8
)
"""Ballots of two votes each, one for what is useful and one for what is cheap."""


def objective(relation, combination, ballots):
    """Count the two kinds of votes: a ballot changes each score by at most 1."""
    counts = np.zeros((2, len(CANDIDATES)))
    for ballot in ballots:
        counts[[0, 1], ballot] += 1
    one, monotone = dp.GlobalSensitivity(1, relation), relation is Neighbours.ADD_REMOVE
    parts = [dp.Objective(votes, one, CANDIDATES, monotone=monotone) for votes in counts]
    return by_name(combination, parts, [2, 1])


def case(relation, combination, mechanism):
    made = partial(objective, relation, combination)
    named = {"name": mechanism}
    if mechanism == "shifted":
        named["direction"] = "non-increasing"
    asked = mechanism_by_name(named, 1.0).for_objective(made([]))
    query = dp.Selection(mechanism=asked, k=1, neighbours=relation)
    name = f"combine {combination}, {relation}, {mechanism}"
    return ReleaseCase(name, query, PAIRS[relation], data=made)


_MECHANISMS = {
    "pareto": ("exponential", "local-dampening", "shifted", "anchored", "pairwise"),
    "weighted-sum": ("permute-and-flip", "noisy-max"),
    "margin": ("permute-and-flip", "generalized"),
}

CASES = [
    case(relation, combination, mechanism)
    for relation in PAIRS
    for combination, mechanisms in _MECHANISMS.items()
    for mechanism in mechanisms
]
