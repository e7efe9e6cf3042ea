"""Query rectangles that are spread evenly over a box."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpselect.errors import ParameterError
from dpselect.spatial import Box, even_queries, lattice_rectangles, random_queries

numbers = st.floats(-1e9, 1e9)


@given(west=numbers, south=numbers, width=st.floats(1e-2, 1e9), height=st.floats(1e-2, 1e9))
def test_they_lie_inside_any_box(west, south, width, height):
    box = Box(west, south, west + width, south + height)

    assert len(lattice_rectangles(even_queries(box, each=40), bounds=box)) == 200


def test_they_are_the_same_every_time_and_of_the_sizes_asked_for():
    queries = even_queries((0, 0, 2, 1), sides=(0.1, 0.5), each=30)

    assert (queries == even_queries((0, 0, 2, 1), sides=(0.1, 0.5), each=30)).all()
    assert queries[:, 2] - queries[:, 0] == pytest.approx(np.repeat([0.2, 1.0], 30))
    assert queries[:, 3] - queries[:, 1] == pytest.approx(np.repeat([0.1, 0.5], 30))


def test_random_ones_are_of_the_sizes_asked_for_and_anywhere_that_fits():
    rng = np.random.default_rng(0)
    queries = random_queries((0, 0, 2, 1), sides=(0.1, 0.8), each=500, rng=rng)
    places = (queries[:, :2] / [2, 1]) / (1 - np.repeat([0.1, 0.8], 500))[:, None]

    assert queries[:, 2] - queries[:, 0] == pytest.approx(np.repeat([0.2, 1.6], 500))
    assert len(lattice_rectangles(queries, bounds=(0, 0, 2, 1))) == 1000
    for axis in (0, 1):
        assert stats.kstest(places[:, axis], "uniform").pvalue > 1e-6
    with pytest.raises(ParameterError, match="rng must be"):
        random_queries((0, 0, 2, 1), rng=None)


def test_they_spread_over_the_box():
    queries = even_queries((0, 0, 1, 1), sides=(0.01,), each=400)
    counts, *_ = np.histogram2d(queries[:, 0], queries[:, 1], bins=5, range=[(0, 0.99)] * 2)

    assert counts.min() >= 12
    assert counts.max() <= 20


@pytest.mark.parametrize("arguments", [{"sides": ()}, {"sides": (1.0,)}, {"each": 0}])
def test_no_queries_are_refused(arguments):
    with pytest.raises(ParameterError, match=r"sides must be|each must be"):
        even_queries((0, 0, 1, 1), **arguments)
