"""Laws of several rounds of the exponential mechanism, by enumeration of all orders."""

from itertools import permutations

import numpy as np
import pytest

from dpselect.draws import Exponential
from dpselect_planner import clocks


def by_enumeration(scores, epsilon, k):
    """Return the probability of each set of ``k`` candidates, round by round."""
    sets = {}
    for order in permutations(range(scores.size), k):
        chance, left = 1.0, list(range(scores.size))
        for drawn in order:
            chance *= Exponential().probabilities(scores[left], epsilon / k)[left.index(drawn)]
            left.remove(drawn)
        sets[frozenset(order)] = sets.get(frozenset(order), 0.0) + chance
    return sets


@pytest.mark.parametrize("k", [1, 2, 4, 5])
@pytest.mark.parametrize("epsilon", [0.1, 3.0, 200.0])
def test_rounds_are_a_race_of_clocks(k, epsilon):
    scores = np.array([0.0, -3.0, -3.0, 2.0, -40.0])
    sets = by_enumeration(scores, epsilon, k)
    law = [sum(chance for one, chance in sets.items() if r in one) for r in range(scores.size)]

    np.testing.assert_allclose(clocks.included(scores, epsilon, k), law, atol=1e-13)
    for chosen, chance in sets.items():
        held = np.isin(np.arange(scores.size), list(chosen))
        assert clocks.all_before(scores, epsilon, held) == pytest.approx(chance, abs=1e-13)
