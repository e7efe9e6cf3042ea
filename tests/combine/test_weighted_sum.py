"""Weighted sums of objectives."""

import numpy as np
import pytest

import dpselect as dp
from dpselect.errors import NeighboursError, ParameterError

ADD_REMOVE = dp.Neighbours.ADD_REMOVE
COUNT = dp.GlobalSensitivity(1, ADD_REMOVE)


def counts(*scores, neighbours=ADD_REMOVE, monotone=True):
    sensitivity = dp.GlobalSensitivity(1, neighbours)
    return dp.Objective(scores, sensitivity, candidates=["a", "b"], monotone=monotone)


def test_scores_and_bounds_are_weighted_and_added():
    total = dp.weighted_sum([counts(3, 5), counts(1, 7)], [2, -10])

    assert total.scores.tolist() == [-4, -60]
    assert total.sensitivity.bound == 12
    assert total.candidates == ["a", "b"]


def test_disjoint_records_need_only_the_largest_bound():
    total = dp.disjoint_sum([counts(3, 5), counts(1, 7)], [2, -10])

    assert total.scores.tolist() == [-4, -60]
    assert total.sensitivity.bound == 10
    assert total.sensitivity.closed_form
    assert total.monotone


def test_disjoint_local_sensitivities_are_maximised_at_every_distance():
    local = [
        dp.ElementSensitivity(lambda t, rows=rows: rows[min(t, 1)], 9.0, 3, ADD_REMOVE)
        for rows in ([[1.0, 0.0], [2.0, 2.0]], [[0.5, 0.5], [1.0, 4.0]])
    ]
    total = dp.disjoint_sum([dp.Objective([0, 0], each) for each in local], [1, -3])

    assert total.sensitivity.at(0).tolist() == [1.5, 1.5]
    assert total.sensitivity.at(1).tolist() == [3.0, 12.0]
    assert total.sensitivity.bound == 27
    assert not total.monotone


def test_a_sum_is_monotone_only_if_that_is_claimed_or_one_objective_counts():
    parts = [counts(3, 5), counts(1, 7)]

    assert not dp.weighted_sum(parts, [1, 1]).monotone
    assert dp.weighted_sum(parts, [1, 1], monotone=True).monotone
    assert dp.weighted_sum(parts, [-1, 0]).monotone
    assert not dp.weighted_sum([counts(3, 5, monotone=False)], [1]).monotone


def test_a_weight_of_zero_takes_an_objective_out():
    parts = [counts(3, 5), counts(1, 7, monotone=False)]

    assert dp.disjoint_sum(parts, [2, 0]).monotone
    assert dp.disjoint_sum(parts, [2, 0]).scores.tolist() == [6, 10]
    assert dp.weighted_sum(parts, [2, 0]).sensitivity.bound == 2


def test_a_claim_that_cannot_be_true_is_refused():
    with pytest.raises(ParameterError, match="monotone themselves"):
        dp.weighted_sum([counts(3, 5), counts(1, 7, monotone=False)], [1, 1], monotone=True)


@pytest.mark.parametrize("relation", [dp.Neighbours.SUBSTITUTE, dp.Neighbours.SWAP])
def test_a_step_of_two_changes_is_not_disjoint(relation):
    with pytest.raises(NeighboursError, match="two changes and may concern two objectives"):
        dp.disjoint_sum([counts(3, 5, neighbours=relation)] * 2, [1, 1])


@pytest.mark.parametrize("combine", [dp.weighted_sum, dp.disjoint_sum])
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1], r"weights must be 2 numbers, one for each objective; the shape is \(1,\)"),
        ([[1, 2]], r"the shape is \(1, 2\)"),
        ("heavy", "weights must be numbers"),
        ([1, np.nan], "finite and not all 0"),
        ([0, 0], "finite and not all 0"),
    ],
)
def test_weights_are_one_finite_number_per_objective(combine, weights, message):
    with pytest.raises(ParameterError, match=message):
        combine([counts(3, 5), counts(1, 7)], weights)
