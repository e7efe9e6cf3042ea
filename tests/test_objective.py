"""What an objective accepts."""

import numpy as np
import pandas as pd
import pytest

import dpselect as dp
from dpselect.errors import ParameterError, ScoresError, SensitivityError

ONE = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)


def test_no_message_tells_a_score():
    with pytest.raises(ScoresError) as error:
        dp.Objective([123456.0, np.nan], ONE)

    assert "123456" not in str(error.value)


def test_a_sensitivity_is_for_as_many_candidates():
    three = dp.ElementSensitivity(lambda _: np.ones(3), 1.0, 4, dp.Neighbours.EDGE)

    with pytest.raises(SensitivityError, match=r"shape \(3,\) and there are 2 candidates"):
        dp.Objective([1.0, 2.0], three)


def test_bounds_are_for_as_many_candidates():
    with pytest.raises(SensitivityError, match="3 candidates"):
        dp.Objective([1.0, 2.0, 3.0], dp.GlobalSensitivity([1.0, 2.0], dp.Neighbours.EDGE))


def test_candidates_are_as_many_as_scores():
    with pytest.raises(ParameterError, match="candidates must be 2"):
        dp.Objective([1.0, 2.0], ONE, candidates=["a"])


def test_a_sensitivity_is_a_sensitivity():
    with pytest.raises(ParameterError, match="sensitivity must be a Sensitivity, not a float"):
        dp.Objective([1.0], 1.0)


def test_scores_are_kept_as_they_were():
    scores = np.array([1.0, 2.0])
    objective = dp.Objective(scores, ONE)
    scores[0] = 9.0

    assert objective.scores.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        objective.scores[0] = 9.0


def test_candidates_default_to_positions():
    assert list(dp.Objective([1.0, 2.0], ONE).candidates) == [0, 1]


def test_the_repr_tells_no_score():
    assert "2.5" not in repr(dp.Objective([2.5], ONE))


@pytest.mark.parametrize("candidates", [{"a": 1, "b": 2}, {"a", "b"}, iter("ab"), 2])
def test_candidates_without_an_order_are_refused_where_they_are_given(candidates):
    """Before: after the charge, as a candidate was looked up."""
    with pytest.raises(ParameterError, match="candidates must be a list or another sequence"):
        dp.Objective([1, 2], ONE, candidates=candidates)


def test_a_series_of_candidates_is_read_by_position():
    names = pd.Series(["a", "b"], index=[7, 9])
    release = dp.PermuteAndFlip(epsilon=200).release(dp.Objective([1, 9], ONE, names))
    assert release.answer == ("b",)
