from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect.percentiles import PercentileSensitivity, percentile

FAR = 10**9
UNIVERSES = [(1, 4), (2, 6), (3, 5), (4, 5), (5, 5), (6, 4), (7, 3)]


def scores_of_every_database(n, upper, k):
    """Shape (upper + 1,) * n + (n,): the score of each record in each database."""
    values = np.stack(np.indices((upper + 1,) * n), axis=-1).astype(float)
    return -np.abs(np.sort(values, axis=-1)[..., k - 1 : k] - values)


def by_definition(n, upper, k):
    """Yield LS(x, t, r) of every database for t = 0, 1, ...; a step runs along one axis."""
    scores = scores_of_every_database(n, upper, k)
    axes = range(n)
    sensitivity = np.max(
        [
            np.maximum(
                scores.max(axis=i, keepdims=True) - scores,
                scores - scores.min(axis=i, keepdims=True),
            )
            for i in axes
        ],
        axis=0,
    )
    while True:
        yield sensitivity
        sensitivity = np.max(
            [
                np.broadcast_to(sensitivity.max(axis=i, keepdims=True), scores.shape)
                for i in axes
            ],
            axis=0,
        )


@pytest.mark.parametrize(
    ("n", "upper"), [(3, 4), *(pytest.param(*one, marks=pytest.mark.slow) for one in UNIVERSES)]
)
def test_equals_the_element_local_sensitivity_everywhere(n, upper):
    """Sorted databases stand for all: both sides follow the records around."""
    for k in range(1, n + 1):
        ours = {
            x: PercentileSensitivity(np.array(x, dtype=float), k, upper, FAR)
            for x in combinations_with_replacement(range(upper + 1), n)
        }
        for distance, expected in zip(range(n + 2), by_definition(n, upper, k), strict=False):
            for x, sensitivity in ours.items():
                if n == 1 and distance >= sensitivity.horizon:
                    continue  # the bound, of a sensitivity that is 0
                found = np.broadcast_to(sensitivity.at(distance), n)
                assert found.tolist() == expected[x].tolist(), (x, k, distance)


@given(values=st.permutations([0, 1, 1, 3, 4, 7]), k=st.integers(1, 6), t=st.integers(0, 3))
def test_it_follows_the_records_when_they_change_places(values, k, t):
    ordered = sorted(values)
    expected = PercentileSensitivity(np.array(ordered, dtype=float), k, 8, FAR).at(t)
    found = PercentileSensitivity(np.array(values, dtype=float), k, 8, FAR).at(t)

    if found.ndim > 0:
        assert found.tolist() == [expected[ordered.index(value)] for value in values]
    assert found.ndim == expected.ndim


def test_the_horizon_ends_where_every_database_has_the_bound():
    for k in range(1, 5):
        *_, last = zip(range(min(k, 5 - k) + 2), by_definition(4, 3, k), strict=False)

        assert PercentileSensitivity(np.zeros(4), k, 3, FAR).horizon == min(k, 5 - k) + 1
        assert (last[1] == 3).all()


@given(values=st.lists(st.integers(0, 10), min_size=2, max_size=9), k=st.integers(1, 9))
def test_one_record_moves_every_other_score_by_a_fifth_of_the_range(values, k):
    """So dampening divides by no less, and gains at most a factor of five in epsilon."""
    k = min(k, len(values))
    sensitivity = PercentileSensitivity(np.array(values, dtype=float), k, 10.0, FAR)
    others = np.array(values) != sorted(values)[k - 1]

    assert (sensitivity.at(0)[others] >= 10 / 5).all()


def test_a_fifth_is_attained():
    sensitivity = PercentileSensitivity(np.array([1.0, 2.0, 3.0]), 2, 5.0, FAR)

    assert sensitivity.at(0).min() == 1.0


@given(values=st.lists(st.integers(0, 10), min_size=2, max_size=9), k=st.integers(1, 9))
def test_no_score_is_further_from_zero_than_one_step(values, k):
    """One record can take the percentile's value: dampened scores end at -1."""
    objective = percentile(values, p=100 * min(k, len(values)) / (len(values) + 1), upper=10)

    assert (dp.scaling.dampened(objective) >= -1).all()
