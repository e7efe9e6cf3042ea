"""Closed sums against the sums term by term, on any degrees."""

from math import fsum

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dpselect.networks.betweenness import by_codegrees
from dpselect.networks.density import by_spread
from dpselect.sensitivity import Sensitivity
from dpselect.sensitivity.base import _walk

compiling = settings(deadline=None)
"""The first call of a kernel compiles it."""


@st.composite
def sensitivities(draw):
    """Draw degrees and codegrees that no graph need have; a formula does not know."""
    n = draw(st.integers(2, 60))
    degrees = np.array(draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=8)))
    shares = [draw(st.integers(0, int(d))) for d in degrees]
    if draw(st.booleans()):
        return by_spread(degrees, np.array(shares), n)
    max_degree = draw(st.integers(max(2, int(degrees.max())), max(2, n)))
    return by_codegrees(degrees, np.array(shares), max_degree)


@compiling
@given(sensitivities(), st.integers(0, 80))
def test_cumulative_sums_the_function(sensitivity, distance):
    assert sensitivity.cumulative(distance) == pytest.approx(
        Sensitivity.cumulative(sensitivity, distance), rel=1e-12, abs=1e-12
    )


@compiling
@given(sensitivities(), st.data())
def test_cumulative_takes_a_distance_for_each_node(sensitivity, data):
    n = sensitivity.at(0).size
    distances = np.array(data.draw(st.lists(st.integers(0, 80), min_size=n, max_size=n)))

    expected = [sensitivity.cumulative(int(t))[node] for node, t in enumerate(distances)]
    assert sensitivity.cumulative(distances) == pytest.approx(expected)


@compiling
@given(sensitivities())
def test_shortfall_sums_what_is_missing(sensitivity):
    missing = sum(sensitivity.bound - sensitivity.at(t) for t in range(sensitivity.horizon))

    assert sensitivity.shortfall() == pytest.approx(missing, rel=1e-12, abs=1e-10)


@compiling
@given(sensitivities(), st.floats(0, 2000))
def test_heights_are_located_as_by_walking(sensitivity, height):
    heights = np.full(sensitivity.at(0).size, height)
    found, walked = sensitivity.locate(heights), _walk(sensitivity, heights)

    def reached(at):
        return at.steps + (heights - at.start) / np.where(at.width > 0, at.width, 1)

    assert reached(found) == pytest.approx(reached(walked), rel=1e-9, abs=1e-9)


@compiling
@given(sensitivities())
def test_values_grow_with_the_distance_up_to_the_bound(sensitivity):
    values = np.array(
        [np.broadcast_to(sensitivity.at(t), sensitivity.at(0).shape) for t in range(90)]
    )

    assert (np.diff(values, axis=0) >= 0).all()
    assert (values[-1] == sensitivity.bound).all()


@compiling
@given(sensitivities(), st.data())
def test_part_of_the_nodes_keep_their_values(sensitivity, data):
    n = sensitivity.at(0).size
    positions = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1)))
    part = sensitivity.take(positions)

    for t in range(sensitivity.horizon):
        assert np.array_equal(part.at(t), sensitivity.at(t)[positions])
    assert np.array_equal(part.cumulative(7), sensitivity.cumulative(7)[positions])


def test_sums_of_small_terms_keep_their_digits():
    """A node of degree 10^5 without spread: terms from 1e-10 to 1."""
    degrees, spreads = np.array([100_000]), np.array([0])
    sensitivity = by_spread(degrees, spreads, 200_000)

    exact = fsum(sensitivity.at(t).item() for t in range(90_000))
    assert sensitivity.cumulative(90_000) == pytest.approx(exact, rel=1e-15, abs=0)


@compiling
@given(st.integers(2, 60), st.data())
def test_the_codegree_form_is_the_larger_of_its_two_terms(max_degree, data):
    d = data.draw(st.integers(0, max_degree))
    h = data.draw(st.integers(0, d))
    sensitivity = by_codegrees(np.array([d]), np.array([h]), max_degree)

    for t in range(max_degree + 2):
        k = min(h + t, max_degree - 1)
        expected = max(min(d + t, max_degree - 1), k * (k - 1) / 4)
        assert sensitivity.at(t).item() == expected
