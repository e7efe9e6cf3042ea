"""The sums of a sensitivity, against sums of its values one by one."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect.networks.betweenness import by_codegrees
from dpselect.networks.density import by_spread
from dpselect.sensitivity import weighted_sum
from dpselect.trees import InformationGainSensitivity, true_positive_rate
from support.strategies import quarters, sum_by_definition

EDGE = dp.Neighbours.EDGE
"""The first call of a kernel compiles it."""


@st.composite
def kinds_of(draw, kind):
    """A sensitivity of one of several classes for four candidates."""
    horizon = draw(st.integers(0, 9))
    keys = draw(st.lists(st.integers(0, 8), min_size=4, max_size=4))
    table = np.cumsum([*draw(st.lists(quarters, min_size=1, max_size=6)), 0.5])
    bound = draw(st.sampled_from([0.5, 2.0, 50.0]))
    tabulated = dp.TabulatedSensitivity(table, keys, bound, EDGE, horizon=horizon)
    kinds = {
        "tabulated": tabulated,
        "local": dp.LocalSensitivity(lambda t: table[min(t, 1)], bound, EDGE, horizon=horizon),
        "global": dp.GlobalSensitivity(bound, EDGE, horizon=horizon),
        "global each": dp.GlobalSensitivity([1.0, bound, 3.0, 0.25], EDGE, horizon=horizon),
    }
    kinds["sum"] = weighted_sum([tabulated, kinds["local"]], [2.0, -0.5])
    kinds["closed sum"] = weighted_sum([tabulated, kinds["global"]], [0.0, 1.5])
    kinds["open sum"] = weighted_sum([tabulated, kinds["global each"]], [1.0, 1.0])
    # Of degrees that no graph need have; a formula does not know.
    nodes = draw(st.integers(2, 60))
    degrees = np.array(draw(st.lists(st.integers(0, nodes - 1), min_size=4, max_size=4)))
    shares = np.array([draw(st.integers(0, int(d))) for d in degrees])
    kinds["density"] = by_spread(degrees, shares, nodes)
    kinds["betweenness"] = by_codegrees(degrees, shares, max(2, int(degrees.max())))
    return kinds[kind]


@st.composite
def of_records(draw, kind):
    """That of the gain of four columns, or of the rates of four trees, of few records."""
    rng, horizon = np.random.default_rng(draw(st.integers(0, 10**6))), draw(st.integers(1, 9))
    if kind == "gain":
        tables = [rng.integers(0, top, (rng.integers(1, 4), 3)) for top in (2, 3, 6, 10)]
        return InformationGainSensitivity(tables, 100, horizon)
    total = draw(st.integers(0, 12))
    rates = true_positive_rate(
        rng.integers(0, total + 1, 4), total, horizon=horizon, neighbours="add-remove"
    )
    return rates.sensitivity


GIVEN = ("tabulated", "local", "global", "global each", "sum", "closed sum", "open sum")
MADE = {
    **{kind: kinds_of(kind) for kind in (*GIVEN, "density", "betweenness")},
    **{kind: of_records(kind) for kind in ("gain", "rates")},
}

every_one = pytest.mark.parametrize("made", MADE.values(), ids=MADE)


@every_one
@given(st.data(), st.lists(st.integers(0, 14), min_size=4, max_size=4))
def test_cumulative_adds_the_values_below_the_distance(made, data, distances):
    sensitivity = data.draw(made)
    expected = [sum_by_definition(sensitivity, t, r, 4) for r, t in enumerate(distances)]

    assert sensitivity.cumulative(np.array(distances)) == pytest.approx(expected)
    assert np.broadcast_to(sensitivity.cumulative(distances[0]), 4) == pytest.approx(
        [sum_by_definition(sensitivity, distances[0], r, 4) for r in range(4)]
    )


@every_one
@given(st.data())
def test_shortfall_adds_what_is_missing_to_the_bound(made, data):
    sensitivity = data.draw(made)
    expected = [
        sensitivity.horizon * sensitivity.bound
        - sum_by_definition(sensitivity, sensitivity.horizon, r, 4)
        for r in range(4)
    ]

    assert np.broadcast_to(sensitivity.shortfall(), 4) == pytest.approx(expected)


@every_one
@given(st.data(), st.lists(st.floats(0, 60), min_size=4, max_size=4))
def test_locate_brackets_every_height(made, data, heights):
    sensitivity, heights = data.draw(made), np.array(heights)
    steps, start, width = sensitivity.locate(heights)

    assert (steps <= sensitivity.horizon).all()
    for r in range(4):
        i = int(steps[r])
        below = sum_by_definition(sensitivity, i, r, 4)
        assert start[r] == pytest.approx(below)
        assert below <= heights[r] + 1e-9
        assert width[r] == pytest.approx(sum_by_definition(sensitivity, i + 1, r, 4) - below)
        assert i == sensitivity.horizon or heights[r] <= below + width[r] + 1e-9


@every_one
@given(st.data())
def test_the_bound_holds_everywhere_and_from_the_horizon_on_exactly(made, data):
    sensitivity = data.draw(made)
    horizon = sensitivity.horizon

    assert all((sensitivity.at(t) <= sensitivity.bounds).all() for t in range(horizon))
    assert (sensitivity.at(horizon) == sensitivity.bound).all()


@pytest.mark.slow
def test_sums_over_many_distances_lose_no_digits():
    """A plain float sum of 10^5 tenths is off by 1.9e-8."""
    tenth = dp.ElementSensitivity(lambda _: np.array([0.1]), 1.0, EDGE, horizon=100_000)
    table = dp.TabulatedSensitivity(np.full(100_000, 0.1), [0], 1.0, EDGE, horizon=100_000)

    assert float(tenth.cumulative(100_000)[0]) == pytest.approx(10_000, rel=1e-15)
    assert float(table.cumulative(100_000)[0]) == pytest.approx(10_000, rel=1e-15)


@every_one
@given(
    st.data(),
    st.permutations(range(4)),
    st.lists(st.floats(0, 60), min_size=4, max_size=4),
    st.lists(st.integers(0, 14), min_size=4, max_size=4),
)
def test_some_candidates_have_the_sums_of_the_whole(made, data, order, heights, distances):
    positions, heights, distances = np.array(order[:3]), np.array(heights), np.array(distances)
    whole = data.draw(made)
    some = whole.take(positions)

    for t in range(9):
        assert np.broadcast_to(some.at(t), 3).tolist() == (
            np.broadcast_to(whole.at(t), 4)[positions].tolist()
        )
    each = np.broadcast_to(some.cumulative(distances[positions]), 3)
    assert each == pytest.approx(np.broadcast_to(whole.cumulative(distances), 4)[positions])
    missing = np.broadcast_to(whole.shortfall(), 4)[positions]
    assert np.broadcast_to(some.shortfall(), 3) == pytest.approx(missing)
    for ours, theirs in zip(
        some.locate(heights[positions]), whole.locate(heights), strict=True
    ):
        assert ours == pytest.approx(theirs[positions])
