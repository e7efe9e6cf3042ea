"""Decoders against their definitions, by brute force over all sets of positives."""

from itertools import product
from math import log

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dpselect_pooling import (
    Assay,
    belief_propagation,
    bernoulli,
    comp,
    dd,
    integer_program,
    near_constant_column_weight,
    outcomes,
    scomp,
)

PEOPLE = 7
ALL = np.array(list(product([False, True], repeat=PEOPLE)))


@st.composite
def instances(draw):
    """A design of 1 to 6 pools of 7 people, and who is positive."""
    pools = draw(st.integers(1, 6))
    cells = draw(st.lists(st.booleans(), min_size=pools * PEOPLE, max_size=pools * PEOPLE))
    status = draw(st.lists(st.booleans(), min_size=PEOPLE, max_size=PEOPLE))
    return np.array(cells).reshape(pools, PEOPLE), np.array(status)


def explaining(design, results):
    """All sets of positives that give these outcomes."""
    return [status for status in ALL if (outcomes(design, status) == results).all()]


@pytest.mark.slow
@given(instances())
def test_comp_takes_those_whom_some_explanation_takes(instance):
    design, status = instance
    results = outcomes(design, status)

    assert (comp(design, results) == np.any(explaining(design, results), axis=0)).all()


@pytest.mark.slow
@given(instances())
def test_dd_takes_those_whom_every_explanation_takes(instance):
    design, status = instance
    results = outcomes(design, status)

    assert (dd(design, results) == np.all(explaining(design, results), axis=0)).all()


@given(instances())
def test_scomp_explains_all_and_lies_between(instance):
    design, status = instance
    results = outcomes(design, status)
    found = scomp(design, results)

    assert (outcomes(design, found) == results).all()
    assert (dd(design, results) <= found).all()
    assert (found <= comp(design, results)).all()


@settings(max_examples=40, deadline=None)
@given(instances())
def test_ilp_is_a_smallest_explanation(instance):
    design, status = instance
    results = outcomes(design, status)
    found = integer_program(design, results)

    assert (outcomes(design, found) == results).all()
    assert found.sum() == min(s.sum() for s in explaining(design, results))


@settings(max_examples=40, deadline=None)
@given(instance=instances(), seen=st.integers(0, 63))
def test_noisy_ilp_is_a_likeliest_set(instance, seen):
    design, _ = instance
    results = np.array([bool(seen >> t & 1) for t in range(len(design))])
    errs = {"assay": Assay(sensitivity=0.9, specificity=0.97), "prevalence": 0.1}

    def log_posterior(status):
        pools = outcomes(design, status)
        chance = np.where(pools, 0.9, 0.03)
        tests = np.log(np.where(results, chance, 1 - chance)).sum()
        return tests + status.sum() * log(0.1) + (~status).sum() * log(0.9)

    best = max(log_posterior(status) for status in ALL)
    assert log_posterior(integer_program(design, results, **errs)) == pytest.approx(
        best, abs=1e-6
    )


def test_a_positive_pool_that_nothing_explains_is_left_out():
    design = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])

    for decoder in (comp, dd, scomp, integer_program):
        assert decoder(design, [True, False, True]).tolist() == [False, False, True]


def test_thresholds_forgive_one_wrong_pool():
    rng = np.random.default_rng(3)
    design = near_constant_column_weight(60, 60, weight=8, rng=rng)
    status = np.arange(60) < 3
    results = outcomes(design, status)
    results[np.flatnonzero(design[:, 0] & ~design[:, 1] & ~design[:, 2])[0]] = False

    assert not comp(design, results)[0]
    assert comp(design, results, negative_allowed=1)[0]
    assert dd(design, results, negative_allowed=1, alone_needed=2)[0]
    assert (scomp(design, results, negative_allowed=1, gain_needed=2)[:3]).all()


def posterior_by_definition(design, results, assay, prevalence):
    weights = []
    for status in ALL:
        inside = design[:, status].sum(axis=1)
        chance = assay.chance_of_positive(inside, design.sum(axis=1))
        tests = np.where(results, chance, 1 - chance).prod()
        weights.append(tests * prevalence ** status.sum() * (1 - prevalence) ** (~status).sum())
    return np.array(weights) @ ALL / np.sum(weights)


@given(seen=st.integers(0, 15), specificity=st.sampled_from([1.0, 0.98]))
def test_belief_propagation_is_exact_on_designs_without_cycles(seen, specificity):
    design = np.array(
        [
            [1, 1, 1, 0, 0, 0, 0],
            [0, 0, 1, 1, 1, 0, 0],
            [0, 0, 0, 0, 1, 1, 0],
            [0, 0, 0, 0, 0, 0, 1],
        ]
    )
    results = np.array([bool(seen >> t & 1) for t in range(4)])
    assay = Assay(sensitivity=0.9, specificity=specificity)
    marginals = belief_propagation(design, results, prevalence=0.15, assay=assay)

    exact = posterior_by_definition(design.astype(bool), results, assay, 0.15)
    assert marginals.converged
    assert marginals.posterior == pytest.approx(exact, abs=1e-5)


def test_belief_propagation_reports_when_it_did_not_converge():
    rng = np.random.default_rng(1)
    design = bernoulli(30, 12, probability=0.4, rng=rng)
    marginals = belief_propagation(design, rng.random(12) < 0.5, prevalence=0.2, rounds=1)

    assert not marginals.converged
    assert marginals.rounds == 1
    assert marginals.positives.shape == (30,)


def test_an_assay_errs_as_it_says():
    assay = Assay(sensitivity=0.9, specificity=0.98, dilution=0.5)

    assert assay.chance_of_positive([1, 0], [4, 4]) == pytest.approx([0.45, 0.02])
    assert Assay().perfect
    assert not assay.perfect
    flips = Assay(sensitivity=0.9, flip=0.1)
    assert flips.chance_of_positive([0, 2], [5, 5]) == pytest.approx([0.1, 0.82])
