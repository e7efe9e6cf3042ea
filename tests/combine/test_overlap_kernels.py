"""Ranges of scores: their orders, and which are apart from each other."""

import numpy as np
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from dpselect.combine import overlap_kernels
from dpselect.combine.pareto import distance_kernels

halves = st.integers(-4, 4).map(lambda q: q / 2)


@given(hnp.arrays(float, st.integers(1, 40), elements=halves), st.randoms())
def test_an_order_of_any_values_is_sorted(values, random):
    order = np.arange(values.size)
    random.shuffle(order)
    overlap_kernels.sort(values, order)

    assert sorted(order) == list(range(values.size))
    assert (np.diff(values[order]) >= 0).all()


@given(hnp.arrays(float, st.tuples(st.just(2), st.integers(1, 20)), elements=halves))
def test_ranges_are_apart_where_one_ends_below_the_other(drawn):
    low, high = ends = np.sort(drawn, axis=0)
    by_low, by_high = np.argsort(low), np.argsort(high)
    weights = np.arange(1, low.size + 1)
    parted = np.empty((4, low.size), np.int64)
    distance_kernels.apart(ends, by_low, by_high, parted)

    assert (parted[0] == (high < low[:, None]).sum(axis=1)).all()
    assert (parted[1] == (low <= high[:, None]).sum(axis=1)).all()
    assert (by_low[parted[2]] == np.arange(low.size)).all()
    assert (by_high[parted[3]] == np.arange(low.size)).all()
    overlap = (high >= low[:, None]) @ weights
    assert (distance_kernels.overlapping(weights, by_high, parted) == overlap).all()


@given(hnp.arrays(float, st.tuples(st.just(2), st.integers(1, 20)), elements=halves))
def test_a_group_is_open_until_it_overlaps_all_others(drawn):
    low, high = ends = np.sort(drawn, axis=0)
    everyone = np.arange(low.size)
    apart = (high < low[:, None]) | (low > high[:, None])
    still = overlap_kernels.still_open(ends, everyone, everyone)

    assert still.tolist() == np.flatnonzero(apart.any(axis=1)).tolist()
