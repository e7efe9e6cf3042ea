"""Combined sensitivities against the same operation on the values."""

import numpy as np
import pytest

import dpselect as dp
from dpselect.sensitivity import grouped, jump_to_bound, maximum, weighted_sum

EDGE = dp.Neighbours.EDGE
FIRST = dp.ElementSensitivity(lambda t: np.array([0.0, 1.0, 2.0]) + t, 9.0, EDGE, horizon=5)
SECOND = dp.ElementSensitivity(
    lambda t: np.array([1.5, 1.5, 0.5]) + t / 2, 4.0, EDGE, horizon=3
)
ALL = range(8)


def test_a_jump_replaces_everything_from_the_horizon_on():
    jumped = jump_to_bound(FIRST, 2)

    assert jumped.at(1) == pytest.approx(FIRST.at(1))
    assert jumped.at(2) == pytest.approx(9.0)
    assert jump_to_bound(FIRST, 50).horizon == FIRST.horizon


def test_a_group_of_steps_changes_what_its_steps_do_together():
    three = grouped(SECOND, 3, neighbours="add-remove")

    assert (three.bound, three.neighbours) == (12.0, dp.Neighbours.ADD_REMOVE)
    for t in ALL:
        parts = [np.broadcast_to(SECOND.at(3 * t + j), 3) for j in range(3)]
        assert np.broadcast_to(three.at(t), 3) == pytest.approx(np.sum(parts, axis=0))
        assert np.broadcast_to(three.cumulative(t), 3) == pytest.approx(
            np.broadcast_to(SECOND.cumulative(3 * t), 3)
        )
    assert three.shortfall() == pytest.approx(three.horizon * 12 - three.cumulative(1))
    one = grouped(dp.GlobalSensitivity(2, EDGE, l1=5), 4, neighbours="add-remove")
    assert (one.bound, one.l1, one.flat) == (8, 20, True)


def test_weights_count_by_their_size():
    combined = weighted_sum([FIRST, SECOND], [-2.0, 0.5])

    assert combined.bound == 2 * 9 + 0.5 * 4
    for t in ALL:
        assert np.broadcast_to(combined.at(t), 3) == pytest.approx(
            np.broadcast_to(2 * FIRST.at(t) + 0.5 * SECOND.at(t), 3)
        )


@pytest.mark.parametrize("combine", [maximum, lambda parts: weighted_sum(parts, [1.0, 1.0])])
def test_one_number_for_each_candidate_beyond_the_horizon_of_one_part(combine):
    """Before: an IndexError, at a distance that the scores decide."""
    short = dp.ElementSensitivity(lambda _: np.array([1.0, 2.0]), 4.0, EDGE, horizon=3)
    flat = dp.LocalSensitivity(lambda _: 1.0, 2.0, EDGE, horizon=9)
    whole = combine([short, flat])

    for distance in (0, 2, 3, 5, 8, 9, 20):
        assert whole.at(distance).shape == (2,)
        taken = whole.take(np.array([1])).at(distance)
        assert taken.tolist() == [whole.at(distance)[1]]
