"""What an objective accepts."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import dpselect as dp

ONE = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)


def test_scores_are_kept_as_they_were():
    scores = np.array([1.0, 2.0])
    objective = dp.Objective(scores, ONE)
    scores[0] = 9.0

    assert objective.scores.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        objective.scores[0] = 9.0


def test_a_series_of_candidates_is_read_by_position():
    names = pd.Series(["a", "b"], index=[7, 9])
    release = dp.PermuteAndFlip(epsilon=200).release(dp.Objective([1, 9], ONE, names))
    assert release.answer == ("b",)


def test_a_part_can_be_replaced_and_no_score_loses_a_digit():
    objective = dp.Objective([2**53 + 1, 2**53], ONE, candidates="ab")
    renamed = dataclasses.replace(objective, candidates="cd", monotone=True)

    assert (renamed.candidates, renamed.monotone) == ("cd", True)
    assert renamed.scores_twofold.low.tolist() == [1.0, 0.0]
    # What the former scores rounded away is nothing that the new ones have.
    other = dataclasses.replace(objective, scores=[1.0, 2.0])
    assert (other.scores.tolist(), other.low_order.tolist()) == ([1.0, 2.0], [0.0, 0.0])


def test_two_parts_of_an_array_of_ones_own_are_no_score_and_its_rest():
    both = np.array([[1.0, 2.0], [5.0, np.nan]])
    objective = dp.Objective(both[0], ONE, low_order=both[1])

    assert (objective.scores.tolist(), objective.low_order.tolist()) == ([1.0, 2.0], [0.0, 0.0])
