"""Counterexamples of the errata that stand on printed numbers and examples."""

import numpy as np
import pytest

import dpselect as dp
from dpselect.maps import guideline_size
from dpselect.networks.betweenness import by_degrees
from dpselect_studies.fanaeepour_2017.published_not_private import sensitivity
from dpselect_studies.farias_2024 import examples as pareto_examples


def test_the_grid_of_heuristic_for_storage():
    assert guideline_size(8_938, epsilon=1.0, c=10.0) == 30


def test_the_global_sensitivities_of_dblp_and_enron_are_exchanged():
    largest = {1383: 477_826.5, 343: 29_326.5}

    for degree, printed in largest.items():
        assert degree * (degree - 1) / 4 == printed
        assert by_degrees(np.array([1]), degree + 1).bound == printed


def test_permute_and_flip_needs_at_least_half_of_the_exponential_mechanisms_epsilon():
    rng = np.random.default_rng(0)
    bound = dp.GlobalSensitivity(1.0, dp.Neighbours.EDGE)
    for scores in rng.exponential(5, (20, 8)):
        objective = dp.Objective(scores, bound)
        flipped = dp.PermuteAndFlip(epsilon=1.0).expected_error(objective)

        assert flipped >= dp.ExponentialMechanism(epsilon=2.0).expected_error(objective) - 1e-9


def test_a_candidate_that_is_its_own_rival_has_twice_the_sensitivity_of_example_4_6():
    found = pareto_examples.example_4_6()

    assert found == {"delta(0, b)": 1.0, "delta(0, b), b itself counted": 2.0}


def test_the_printed_corollary_7_9_is_below_what_its_lemmas_give():
    size, delta, kappa = 8938, 0.001, 1.0
    floor = delta * size
    for noise in (0.0, 10.0, 1000.0):
        given = kappa / floor + ((size + 1) * kappa + noise) / (floor * delta * (size + 1))
        printed = sensitivity(noise, size, delta)

        assert given / printed == pytest.approx(1.11, abs=0.01)
