"""Objectives that cannot be combined are refused by every combination."""

from functools import partial

import pytest

import dpselect as dp
from dpselect.combine import COMBINATIONS, by_name, pareto_front
from dpselect.errors import NeighboursError, ParameterError

EDGE = dp.Neighbours.EDGE


def with_weights(name, parts):
    return by_name(name, parts, [-2] * len(parts))


@pytest.mark.parametrize(
    "combine",
    [
        dp.pareto,
        dp.margin,
        lambda parts: dp.weighted_sum(parts, [1] * len(parts)),
        lambda parts: dp.disjoint_sum(parts, [1] * len(parts)),
        *(partial(by_name, name) for name in COMBINATIONS),
        *(partial(with_weights, name) for name in COMBINATIONS),
        pareto_front,
    ],
)
class TestWhatCannotBeCombined:
    def part(self, scores=(1, 2), neighbours=EDGE, candidates=None):
        return dp.Objective(scores, dp.GlobalSensitivity(1, neighbours), candidates)

    def test_nothing(self, combine):
        with pytest.raises(ParameterError, match="objectives must be at least one"):
            combine([])

    def test_what_is_no_objective(self, combine):
        with pytest.raises(ParameterError, match="each of objectives must be an Objective"):
            combine([self.part(), [1, 2]])

    def test_different_numbers_of_candidates(self, combine):
        with pytest.raises(ParameterError, match="the same candidates; these score 2, 3"):
            combine([self.part(), self.part([1, 2, 3])])

    def test_different_candidates(self, combine):
        with pytest.raises(ParameterError, match="the same candidates in the same order"):
            combine([self.part(), self.part(candidates=[1, 0])])

    def test_different_neighbours(self, combine):
        with pytest.raises(NeighboursError, match="cannot be combined: add-remove, edge"):
            combine([self.part(), self.part(neighbours=dp.Neighbours.ADD_REMOVE)])
