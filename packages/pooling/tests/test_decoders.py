"""Decoders against their definitions, by brute force over all sets of positives."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import dpselect_pooling as pooling

PEOPLE = 7
ALL = np.array(list(product([False, True], repeat=PEOPLE)))


@st.composite
def instances(draw):
    """A design of 1 to 6 pools of 7 people, and who is positive."""
    pools = draw(st.integers(1, 6))
    cells = draw(st.lists(st.booleans(), min_size=pools * PEOPLE, max_size=pools * PEOPLE))
    status = draw(st.lists(st.booleans(), min_size=PEOPLE, max_size=PEOPLE))
    return np.array(cells).reshape(pools, PEOPLE), np.array(status)


@settings(max_examples=60, deadline=None)
@given(instances())
def test_decoders_take_whom_their_definitions_say(instance):
    """Whom some explanation takes, whom every one takes, one between, and a smallest one."""
    design, status = instance
    results = pooling.outcomes(design, status)
    explaining = ALL[((ALL @ design.T > 0) == results).all(axis=1)]
    between, smallest = pooling.scomp(design, results), pooling.integer_program(design, results)

    assert (pooling.comp(design, results) == np.any(explaining, axis=0)).all()
    assert (pooling.dd(design, results) == np.all(explaining, axis=0)).all()
    for found in (between, smallest):
        assert any((found == one).all() for one in explaining)
    assert (pooling.dd(design, results) <= between).all()
    assert smallest.sum() == min(one.sum() for one in explaining)


def posteriors(design, results, assay, prevalence):
    """Return what the probability of each set of positives is in proportion to."""
    inside = ALL.astype(int) @ design.T
    chance = assay.chance_of_positive(inside, np.broadcast_to(design.sum(axis=1), inside.shape))
    tests = np.where(results, chance, 1 - chance).prod(axis=1)
    return tests * np.where(ALL, prevalence, 1 - prevalence).prod(axis=1)


@settings(max_examples=40, deadline=None)
@given(instance=instances(), seen=st.integers(0, 63))
def test_noisy_ilp_is_a_likeliest_set(instance, seen):
    design, _ = instance
    results = np.array([bool(seen >> t & 1) for t in range(len(design))])
    assay = pooling.Assay(sensitivity=0.9, specificity=0.97)
    found = pooling.integer_program(design, results, assay=assay, prevalence=0.1)
    weights = posteriors(design, results, assay, 0.1)

    assert weights[(found == ALL).all(axis=1)] == pytest.approx(weights.max(), rel=1e-6)


def test_a_positive_pool_that_nothing_explains_is_left_out():
    design = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])

    for decoder in (pooling.comp, pooling.dd, pooling.scomp, pooling.integer_program):
        assert decoder(design, [True, False, True]).tolist() == [False, False, True]


def test_thresholds_forgive_one_wrong_pool():
    rng = np.random.default_rng(3)
    design = pooling.near_constant_column_weight(60, 60, weight=8, rng=rng)
    status = np.arange(60) < 3
    results = pooling.outcomes(design, status)
    results[np.flatnonzero(design[:, 0] & ~design[:, 1] & ~design[:, 2])[0]] = False

    assert not pooling.comp(design, results)[0]
    assert pooling.comp(design, results, negative_allowed=1)[0]
    assert pooling.dd(design, results, negative_allowed=1, alone_needed=2)[0]
    assert (pooling.scomp(design, results, negative_allowed=1, gain_needed=2)[:3]).all()


@given(seen=st.integers(0, 15), specificity=st.sampled_from([1.0, 0.98]))
def test_belief_propagation_is_exact_on_designs_without_cycles(seen, specificity):
    design = np.zeros((4, PEOPLE), dtype=bool)
    for pool, people in zip(design, ([0, 1, 2], [2, 3, 4], [4, 5], [6]), strict=True):
        pool[people] = True
    results = np.array([bool(seen >> t & 1) for t in range(4)])
    assay = pooling.Assay(sensitivity=0.9, specificity=specificity)
    marginals = pooling.belief_propagation(design, results, prevalence=0.15, assay=assay)

    weights = posteriors(design, results, assay, 0.15)
    assert marginals.converged
    assert marginals.posterior == pytest.approx(weights @ ALL / weights.sum(), abs=1e-5)


def test_belief_propagation_reports_when_it_did_not_converge():
    rng = np.random.default_rng(1)
    design = pooling.bernoulli(30, 12, probability=0.4, rng=rng)
    marginals = pooling.belief_propagation(
        design, rng.random(12) < 0.5, prevalence=0.2, rounds=1
    )

    assert not marginals.converged
    assert marginals.rounds == 1
    assert marginals.positives.shape == (30,)


def test_an_assay_errs_as_it_says():
    assay = pooling.Assay(sensitivity=0.9, specificity=0.98, dilution=0.5)

    assert assay.chance_of_positive([1, 0], [4, 4]) == pytest.approx([0.45, 0.02])
    assert pooling.Assay().perfect
    assert not assay.perfect
    flips = pooling.Assay(sensitivity=0.9, flip=0.1)
    assert flips.chance_of_positive([0, 2], [5, 5]) == pytest.approx([0.1, 0.82])
