"""Groups of identical candidates and the sums of their sensitivities."""

import numpy as np
from hypothesis import given, strategies as st

from dpselect.combine import candidate_groups
from support.strategies import any_sensitivity, several_objectives


@given(
    any_sensitivity(4), st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(0, 12)
)
def test_a_sensitivity_of_some_candidates_is_theirs(sensitivity, positions, distance):
    positions = np.array(positions)
    some = sensitivity.take(positions)

    for ours, whole in [
        (some.at(distance), sensitivity.at(distance)),
        (some.cumulative(distance), sensitivity.cumulative(distance)),
    ]:
        expected = np.broadcast_to(whole, 4)[positions]
        assert (np.broadcast_to(ours, positions.shape) == expected).all()
    assert some.bound == sensitivity.bound
    assert some.horizon == sensitivity.horizon


@given(several_objectives(), st.integers(0, 12))
def test_candidates_of_a_group_agree_in_scores_and_sums(objectives, horizon):
    keys = candidate_groups.sum_keys(objectives, horizon)
    groups, members = candidate_groups.groups_of(objectives, keys)
    upto = candidate_groups.last_distances(objectives, keys, horizon).max()
    for part in objectives:
        assert (part.scores == part.scores[members][groups]).all()
        for t in range(upto + 1):
            sums = np.broadcast_to(part.sensitivity.cumulative(t), len(part))
            assert (sums == sums[members][groups]).all()
