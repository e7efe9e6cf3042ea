"""Weighted sums of objectives."""

import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from support.strategies import element_objectives

ADD_REMOVE = dp.Neighbours.ADD_REMOVE


def counts(*scores, neighbours=ADD_REMOVE, monotone=True):
    sensitivity = dp.GlobalSensitivity(1, neighbours)
    return dp.Objective(scores, sensitivity, candidates=["a", "b"], monotone=monotone)


def test_disjoint_records_need_only_the_largest_bound():
    total = dp.disjoint_sum([counts(3, 5), counts(1, 7)], [2, -10])

    assert total.scores.tolist() == [-4, -60]
    assert total.sensitivity.bound == 10
    assert total.sensitivity.closed_form
    assert total.monotone


def test_disjoint_local_sensitivities_are_maximised_at_every_distance():
    local = [
        dp.ElementSensitivity(lambda t, rows=rows: rows[min(t, 1)], 9.0, ADD_REMOVE, horizon=3)
        for rows in ([[1.0, 0.0], [2.0, 2.0]], [[0.5, 0.5], [1.0, 4.0]])
    ]
    total = dp.disjoint_sum([dp.Objective([0, 0], each) for each in local], [1, -3])

    for distance, expected in [(0, [1.5, 1.5]), (1, [3.0, 12.0]), (3, [27.0, 27.0])]:
        delta = total.sensitivity.at(distance)
        assert (delta >= expected).all()  # what rounding the sum can move it by is added
        assert delta == pytest.approx(expected, rel=0, abs=36 * 2.0**-40)
    assert not total.monotone


@pytest.mark.parametrize(("weight", "lead"), [(1, 2), (-1, 2), (0.25, 2), (3, 0)])
def test_what_is_not_rounded_keeps_sensitivities_of_0(weight, lead):
    local = dp.ElementSensitivity(lambda t: [float(t > 1), 1.0], 1.0, ADD_REMOVE, horizon=5)
    total = dp.weighted_sum([dp.Objective([0.0, 3.0], local)], [weight])

    assert dp.scaling.dampened(total)[0] == lead


def test_a_sum_is_monotone_only_if_that_is_claimed_or_one_objective_counts():
    parts = [counts(3, 5), counts(1, 7)]

    assert not dp.weighted_sum(parts, [1, 1]).monotone
    assert dp.weighted_sum(parts, [1, 1], monotone=True).monotone
    assert dp.weighted_sum(parts, [-1, 0]).monotone
    assert not dp.weighted_sum([counts(3, 5, monotone=False)], [1]).monotone


@given(
    st.lists(element_objectives(least=4, most=4), min_size=1, max_size=3),
    st.lists(st.floats(0.1, 9), min_size=3, max_size=3),
    st.sampled_from([dp.weighted_sum, dp.disjoint_sum]),
)
def test_no_sum_exceeds_its_highest(drawn, weights, combine):
    parts = [
        dp.Objective(one.scores, one.sensitivity, highest=one.scores.max()) for one in drawn
    ]
    total = combine(parts, weights[: len(parts)])

    assert total.scores.max() <= total.highest + 1e-9 * (1 + abs(total.highest))


def test_a_sum_with_an_unknown_or_negative_part_states_no_highest():
    sensitivity = dp.GlobalSensitivity(1, ADD_REMOVE)
    known, unknown = (dp.Objective([0, 1], sensitivity, highest=top) for top in (2, None))

    assert dp.weighted_sum([known, unknown], [1, 1]).highest is None
    assert dp.weighted_sum([known, known], [1, -1]).highest is None
