"""The sums of a sensitivity, against sums of its values one by one."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect.sensitivity import weighted_sum
from support.strategies import element_objectives, quarters, sum_by_definition

EDGE = dp.Neighbours.EDGE


@st.composite
def every_kind(draw):
    """A sensitivity of any class for four candidates."""
    horizon = draw(st.integers(0, 9))
    keys = draw(st.lists(st.integers(0, 8), min_size=4, max_size=4))
    table = np.cumsum([*draw(st.lists(quarters, min_size=1, max_size=6)), 0.5])
    bound = draw(st.sampled_from([0.5, 2.0, 50.0]))
    tabulated = dp.TabulatedSensitivity(table, keys, bound, horizon, EDGE)
    kinds = {
        "tabulated": tabulated,
        "local": dp.LocalSensitivity(lambda t: table[min(t, 1)], bound, EDGE, horizon=horizon),
        "global": dp.GlobalSensitivity(bound, EDGE, horizon=horizon),
        "global each": dp.GlobalSensitivity([1.0, bound, 3.0, 0.25], EDGE, horizon=horizon),
    }
    kinds["sum"] = weighted_sum([tabulated, kinds["local"]], [2.0, -0.5])
    kinds["closed sum"] = weighted_sum([tabulated, kinds["global"]], [0.0, 1.5])
    kinds["open sum"] = weighted_sum([tabulated, kinds["global each"]], [1.0, 1.0])
    return kinds[draw(st.sampled_from(sorted(kinds)))]


@given(every_kind(), st.lists(st.integers(0, 14), min_size=4, max_size=4))
def test_cumulative_adds_the_values_below_the_distance(sensitivity, distances):
    expected = [sum_by_definition(sensitivity, t, r, 4) for r, t in enumerate(distances)]

    assert sensitivity.cumulative(np.array(distances)) == pytest.approx(expected)
    assert np.broadcast_to(sensitivity.cumulative(distances[0]), 4) == pytest.approx(
        [sum_by_definition(sensitivity, distances[0], r, 4) for r in range(4)]
    )


@given(every_kind())
def test_shortfall_adds_what_is_missing_to_the_bound(sensitivity):
    expected = [
        sensitivity.horizon * sensitivity.bound
        - sum_by_definition(sensitivity, sensitivity.horizon, r, 4)
        for r in range(4)
    ]

    assert np.broadcast_to(sensitivity.shortfall(), 4) == pytest.approx(expected)


@given(every_kind(), st.lists(st.floats(0, 60), min_size=4, max_size=4))
def test_locate_brackets_every_height(sensitivity, heights):
    heights = np.array(heights)
    steps, start, width = sensitivity.locate(heights)

    assert (steps <= sensitivity.horizon).all()
    for r in range(4):
        i = int(steps[r])
        below = sum_by_definition(sensitivity, i, r, 4)
        assert start[r] == pytest.approx(below)
        assert below <= heights[r] + 1e-9
        assert width[r] == pytest.approx(sum_by_definition(sensitivity, i + 1, r, 4) - below)
        assert i == sensitivity.horizon or heights[r] <= below + width[r] + 1e-9


@given(every_kind())
def test_the_bound_holds_everywhere_and_from_the_horizon_on_exactly(sensitivity):
    horizon = sensitivity.horizon

    assert all((sensitivity.at(t) <= sensitivity.bounds).all() for t in range(horizon))
    assert (sensitivity.at(horizon) == sensitivity.bound).all()


@pytest.mark.slow
def test_sums_over_many_distances_lose_no_digits():
    """A plain float sum of 10^5 tenths is off by 1.9e-8."""
    tenth = dp.ElementSensitivity(lambda _: np.array([0.1]), 1.0, 100_000, EDGE)
    table = dp.TabulatedSensitivity(np.full(100_000, 0.1), [0], 1.0, 100_000, EDGE)

    assert float(tenth.cumulative(100_000)[0]) == pytest.approx(10_000, rel=1e-15)
    assert float(table.cumulative(100_000)[0]) == pytest.approx(10_000, rel=1e-15)


@given(element_objectives())
def test_a_generic_sensitivity_never_asks_beyond_its_horizon(objective):
    asked = []
    inner = objective.sensitivity
    watched = dp.ElementSensitivity(
        lambda t: asked.append(t) or inner.at(t), inner.bound, inner.horizon, EDGE
    )
    watched.shortfall()
    watched.locate(np.abs(objective.scores))

    assert all(t < inner.horizon for t in asked)


def test_some_candidates_have_the_sums_of_the_whole():
    positions = np.array([3, 0, 2])
    wholes = [
        dp.TabulatedSensitivity(np.cumsum([1.0, 1, 2, 3, 5]), [0, 1, 1, 2], 9.0, 7, EDGE),
        dp.ElementSensitivity(lambda t: [t, 2 * t, 1, 3 * t + 1], 8, 5, EDGE),
        dp.GlobalSensitivity([1, 2, 3, 4], EDGE, horizon=4),
    ]
    for whole in wholes:
        some, heights = whole.take(positions), np.array([4.0, 0.5, 11.0])
        everyone = np.zeros(4)
        everyone[positions] = heights

        for t in range(9):
            assert some.at(t).tolist() == np.broadcast_to(whole.at(t), 4)[positions].tolist()
            sums = np.broadcast_to(whole.cumulative(t), 4)[positions]
            assert np.broadcast_to(some.cumulative(t), 3) == pytest.approx(sums)
        each = np.array([6, 1, 3])
        expected = [whole.cumulative(int(t))[r] for t, r in zip(each, positions, strict=True)]
        assert some.cumulative(each) == pytest.approx(expected)
        assert some.shortfall() == pytest.approx(whole.shortfall()[positions])
        for ours, theirs in zip(some.locate(heights), whole.locate(everyone), strict=True):
            assert ours == pytest.approx(theirs[positions])
