"""Numbers of runs: the law by its ratios, and the draw bit by bit."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from dpselect.draws.exact.inversion import resolve
from dpselect_applications.tuning import drawing as repetitions
from dpselect_applications.tuning.drawing import NumberDistribution

LAWS = [
    NumberDistribution(Fraction(3, 4), Fraction(1)),
    NumberDistribution(Fraction(1, 2), Fraction(0)),
    NumberDistribution(Fraction(9, 10), Fraction(-1, 2)),
    NumberDistribution(Fraction(2, 3), Fraction(5, 2)),
    NumberDistribution(Fraction(1, 2), None),
    NumberDistribution(Fraction(3), None),
]
every_law = pytest.mark.parametrize("law", LAWS, ids=repr)


def probabilities(law, most=400):
    """Return the probabilities of all numbers from 0 on, from their ratios."""
    weights = [0.0] * law.first + [1.0]
    for k in range(law.first, most):
        weights.append(weights[-1] * float(Fraction(*law.ratio(k))))
    return np.array(weights) / sum(weights)


@every_law
def test_every_start_of_ten_bits_is_decided_as_the_running_sums_say(law):
    """What is decided lies within the part of its number, and few starts are left open."""
    sums = np.concatenate([[0.0], np.cumsum(probabilities(law))])
    weights, still_open = repetitions.weights(law, 10), 0
    for start in range(2**10):
        number = resolve(weights, start, 10)
        if number is None:
            still_open += 1
            continue
        assert sums[number] <= (start + 1e-9) / 2**10
        assert (start + 1 - 1e-9) / 2**10 <= sums[number + 1]
    assert still_open < 70


@every_law
@pytest.mark.parametrize("known", [3, 10, 64])
def test_weights_and_what_is_beyond_them_are_enclosed(law, known):
    """By fractions; of the largest number on, 2,000 more are summed up."""
    weights = repetitions.weights(law, known)
    exact = Fraction(1 << 2 * known + 64)
    k = law.first
    for (low, high), (next_low, next_high) in pairwise(
        zip(weights.least, weights.most, strict=True)
    ):
        assert next_low - low <= exact <= next_high - high
        exact *= Fraction(*law.ratio(k))
        k += 1
    beyond = 0.0
    weight = float(exact)
    for more in range(k, k + 2000):
        beyond += weight
        weight *= float(Fraction(*law.ratio(more)))
    assert beyond * (1 - 1e-9) <= weights.beyond
    assert 0 < weights.beyond <= weights.most[-1] >> known + 31
