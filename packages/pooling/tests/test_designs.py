"""Designs keep what their names promise."""

import numpy as np
import pytest

import dpselect_pooling as pooling


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_bernoulli_fills_the_share(rng):
    design = pooling.bernoulli(400, 100, probability=0.2, rng=rng)

    assert design.shape == (100, 400)
    assert design.mean() == pytest.approx(0.2, abs=0.01)


def test_near_constant_columns_are_at_most_the_weight(rng):
    weights = pooling.near_constant_column_weight(300, 20, weight=6, rng=rng).sum(axis=0)

    assert weights.max() == 6
    assert 1 <= weights.min() < 6


@pytest.mark.parametrize(("people", "pools", "weight"), [(50, 20, 3), (7, 5, 2), (96, 24, 4)])
def test_doubly_balanced_is_balanced_both_ways(people, pools, weight, rng):
    design = pooling.doubly_balanced(people, pools, weight=weight, rng=rng)

    assert (design.sum(axis=0) == weight).all()
    assert np.ptp(design.sum(axis=1)) <= 1


def test_a_cap_that_is_just_possible_is_met(rng):
    design = pooling.doubly_balanced(100, 30, weight=3, max_pool_size=10, rng=rng)

    assert design.sum(axis=1).max() == 10


def test_dorfman_pools_are_disjoint():
    design = pooling.dorfman(14, pool_size=6)

    assert design.sum(axis=0).tolist() == [1] * 14
    assert design.sum(axis=1).tolist() == [6, 6, 2]


@pytest.mark.parametrize("people", [1, 5, 12, 24, 30])
def test_arrays_give_everybody_a_row_and_a_column(people):
    design = pooling.array_2d(people, rows=3, columns=4)

    assert (design.sum(axis=0) == 2).all()
    assert design.any(axis=1).all()
    assert design.sum(axis=1).max() <= 4
    assert np.unique(design.T, axis=0).shape[0] == people


@pytest.mark.parametrize(("people", "d"), [(500, 3), (16, 2), (90, 4)])
def test_kautz_singleton_is_the_smallest_of_all_primes(people, d):
    """People differ as polynomials do: they share fewer pools than these have coefficients."""
    design = pooling.kautz_singleton(people, d=d)
    shared = design.T.astype(int) @ design
    fewest = []
    for q in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29):
        degree = next(k for k in range(1, 10) if q**k >= people)
        if d * (degree - 1) < q:
            fewest.append(((d * (degree - 1) + 1) * q, degree))
    pools, degree = min(fewest)

    assert len(design) == pools
    assert (np.diag(shared) == d * (degree - 1) + 1).all()
    assert (shared - np.diag(np.diag(shared))).max() == degree - 1
