"""All databases of at most 5 people and 4 keys: the exact delta of every release."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

import dpselect as dp
from dpselect.budget import zcdp
from dpselect.draws.exact.samplers import intercepted
from dpselect.keys.selection import (
    GaussianSelection,
    LaplaceSelection,
    OptimalSelection,
    selection_of,
)
from support.key_definitions import (
    add_person,
    exact_delta,
    hockey_stick,
    independent,
    neighbouring,
    subsets,
)

ADDED, REPLACED = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
LAWS = [OptimalSelection, LaplaceSelection, GaussianSelection]
ROUNDED = 1e-15
"""Of sums of probabilities in floating point."""


def set_law(law):
    """Return the exact law of a set of keys, as a function of the counts."""
    return lambda counts: independent(law.probabilities(np.array(counts)).tolist())


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("per_user", [1, 3, 4])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.1), (0.3, 1e-3)])
def test_a_set_of_keys_costs_its_delta(law, per_user, epsilon, delta):
    pairs = list(neighbouring(4, 4, per_user))

    spent = exact_delta(pairs, set_law(law(epsilon, delta, per_user)), epsilon)

    assert spent <= delta + ROUNDED
    if law is OptimalSelection and per_user == 1:
        assert spent == pytest.approx(delta, rel=1e-12)


def at_every_count(law, keys):
    """Yield pairs where one person has all of some keys of as many people each."""
    for people in range(2 * law.half + 3):
        yield (people,) * keys, (people + 1,) * keys


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("keys", [1, 3])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-2), (0.3, 1e-5)])
def test_keys_of_many_people_cost_no_more(law, keys, epsilon, delta):
    """Where probabilities are near one half, which few people do not reach."""
    chosen = law(epsilon, delta, keys)

    assert (
        exact_delta(at_every_count(chosen, keys), set_law(chosen), epsilon) <= delta + ROUNDED
    )


@pytest.mark.parametrize("law", [LaplaceSelection, GaussianSelection])
@pytest.mark.parametrize("keys", [1, 3, 40])
def test_keys_of_one_person_cost_their_own_part_of_delta(law, keys):
    """By sums of the noise: no least threshold is too low, and one lower is."""
    chosen = law(1.0, 1e-3, keys)
    of_noise, own = (spend.delta for spend in chosen.spends())
    z = np.arange(-6000, 6001) / chosen.scale
    mass = np.exp(-np.abs(z) if law is LaplaceSelection else -(z**2) / 2)
    of_one = [
        mass[6000 + chosen.noise.threshold - 1 - lower :].sum() / mass.sum() for lower in (0, 1)
    ]
    of_any, too_low = (1 - (1 - one) ** keys for one in of_one)

    assert of_any <= own < too_low
    assert of_noise + own == pytest.approx(1e-3, rel=1e-12)


def replaced(people, per_user):
    """Yield pairs that differ in the keys of one person."""
    bases = {small for small, _ in neighbouring(people, 4, per_user)}
    one = [(), *subsets(range(4), per_user)]
    for base in bases:
        for keys, other in product(one, one):
            if keys < other:
                yield add_person(base, keys), add_person(base, other)


@pytest.mark.parametrize("per_user", [1, 2])
def test_one_person_who_is_replaced_costs_the_same(per_user):
    pairs = list(replaced(2, per_user))

    for method in ("optimal", "laplace", "gaussian"):
        keys = set_law(selection_of(method, 0.5, 0.02, 2 * per_user))
        assert exact_delta(pairs, keys, 0.5) <= 0.02 + ROUNDED


@pytest.mark.parametrize("relation", [ADDED, REPLACED])
@pytest.mark.parametrize("per_user", [1, 2, 4])
def test_a_sequence_of_all_groups_is_made_for_what_one_person_changes(per_user, relation):
    """Equal to the largest change of all counts together: less would not be private."""
    pairs = neighbouring(3, 4, per_user) if relation is ADDED else replaced(2, per_user)
    plan = dp.TopKeys(
        column="key",
        k=1,
        candidates=[0, 1],
        by="ward",
        groups=["a", "b"],
        user="person",
        max_per_user=per_user,
        epsilon=1.0,
        neighbours=relation,
        mechanism="noisy-sequence",
    ).plan

    moved = max(int(np.abs(np.subtract(x, y)).sum()) for x, y in pairs)

    assert f"scale {moved})" in plan.mechanism
    assert plan.epsilon == plan.spends[0].epsilon == 1.0


# The laws themselves.


@pytest.mark.parametrize(("law", "half"), [(OptimalSelection, 86), (LaplaceSelection, 110)])
def test_half_a_chance_comes_with_as_many_people_as_in_the_paper(law, half):
    chances = law(0.1, 1e-5, 1).probabilities(np.arange(200))

    assert np.argmax(chances >= 0.5) == half == law(0.1, 1e-5, 1).half
    assert chances[0] == 0
    assert chances[1] <= 1e-5


@pytest.mark.parametrize("law", [LaplaceSelection, GaussianSelection])
def test_a_noisy_count_of_the_threshold_is_released_and_none_below_it(law):
    chosen = law(1.0, 1e-3, 7)
    people = np.array([-1, 0, 1]) + chosen.noise.threshold

    with intercepted(lambda _name, _draw, args, _kwargs: args[0]):
        held, noisy = chosen.select(people, None)

    assert held.tolist() == [False, True, True]
    assert noisy.tolist() == people.tolist()


def test_composition_is_that_of_products_of_randomised_responses():
    each, epsilon = 0.4, 0.7
    high, low = np.exp(each) / (1 + np.exp(each)), 1 / (1 + np.exp(each))
    laws = [
        {bits: np.prod([a if bit else b for bit in bits]) for bits in product([0, 1], repeat=5)}
        for a, b in ((high, low), (low, high))
    ]

    assert zcdp.composed_delta(epsilon, each, 5) == pytest.approx(hockey_stick(*laws, epsilon))
    assert zcdp.composed_delta(2.1, each, 5) == 0


@pytest.mark.parametrize("changed", [1, 50])
def test_gaussian_noise_has_the_part_of_delta_with_the_least_threshold(changed):
    noise = GaussianSelection(1.0, 1e-6, changed).noise
    least, rho = noise.threshold, zcdp.rho_for(1.0, noise.price.delta)
    assert 2 * Fraction(rho) * Fraction(noise.scale) ** 2 >= changed
    for part in (0.05, 0.2, 0.5, 0.8, 0.95):
        sigma = np.sqrt(changed / (2 * zcdp.rho_for(1.0, part * 1e-6)))
        each = -np.expm1(np.log1p(-(1 - part) * 1e-6) / changed)

        # A normal tail from half of an integer on, and the next integer.
        assert least <= 2.5 + sigma * norm.isf(each)


def test_the_method_is_the_one_that_needs_fewest_people():
    assert selection_of(None, 1.0, 1e-6, 1).name == "optimal"
    assert selection_of(None, 1.0, 1e-6, 100).name == "gaussian"
    every = [
        selection_of(name, 1.0, 1e-6, 3).half for name in ("optimal", "laplace", "gaussian")
    ]
    assert selection_of(None, 1.0, 1e-6, 3).half == min(every)
