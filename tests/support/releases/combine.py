"""Releases of combined objectives."""

from dataclasses import dataclass

import numpy as np

import dpselect as dp
from dpselect.combine import by_name
from dpselect.mechanisms import by_name as mechanism_by_name
from dpselect.neighbours import Neighbours
from dpselect_conformance import ReleaseCase

CANDIDATES = ("a", "b", "c", "d")


@dataclass(frozen=True)
class _Votes:
    """Ballots of two votes each, one for what is useful and one for what is cheap."""

    relation: Neighbours
    combination: str
    mechanism: str

    @property
    def name(self):
        return f"combine {self.combination}, {self.relation}, {self.mechanism}"

    def objective(self, ballots):
        """Count the two kinds of votes: a ballot changes each score by at most 1."""
        counts = np.zeros((2, len(CANDIDATES)))
        for useful, cheap in ballots:
            counts[0, useful] += 1
            counts[1, cheap] += 1
        parts = [
            dp.Objective(
                votes,
                dp.GlobalSensitivity(1, self.relation),
                CANDIDATES,
                monotone=self.relation is Neighbours.ADD_REMOVE,
            )
            for votes in counts
        ]
        return by_name(self.combination, parts, [2, 1])

    @property
    def query(self):
        named = {"name": self.mechanism}
        if self.mechanism == "shifted":
            named["direction"] = "non-increasing"
        mechanism = mechanism_by_name(named, 1.0).for_objective(self.objective([]))
        return dp.Selection(mechanism=mechanism, k=1, neighbours=self.relation)

    def pair(self, rng):
        ballots = [tuple(ballot) for ballot in rng.integers(0, len(CANDIDATES), (8, 2))]
        if self.relation is Neighbours.ADD_REMOVE:
            return ballots, ballots[1:]
        return ballots, [tuple(rng.integers(0, len(CANDIDATES), 2)), *ballots[1:]]


_MECHANISMS = {
    "pareto": ("exponential", "local-dampening", "shifted", "anchored", "pairwise"),
    "weighted-sum": ("permute-and-flip", "noisy-max"),
    "margin": ("permute-and-flip", "generalized"),
}

_VOTES = [
    _Votes(relation, combination, mechanism)
    for relation in (Neighbours.ADD_REMOVE, Neighbours.SUBSTITUTE)
    for combination, mechanisms in _MECHANISMS.items()
    for mechanism in mechanisms
]

CASES = [
    ReleaseCase(votes.name, votes.query, votes.pair, data=votes.objective) for votes in _VOTES
]
