"""Laws of the largest of several integers with noise, by all noisy vectors of a window."""

from itertools import product

import numpy as np
import pytest

from dpselect.draws import sequence
from dpselect.draws.sequence import DiscreteGaussian, DiscreteLaplace

NOISES = [DiscreteLaplace(0.6), DiscreteGaussian(1.3)]
WINDOW = 13
"""Noise beyond it has less than 1e-8."""


def orders(counts, noise):
    """Return all orders, best first and of equal ones the earlier, with the mass of each."""
    z = np.arange(-WINDOW, WINDOW + 1)
    drawn = np.array(list(product(z.tolist(), repeat=len(counts))))
    masses = noise.mass(drawn).prod(axis=1)
    return np.argsort(-(counts + drawn), axis=1, kind="stable"), masses


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: type(noise).__name__)
def test_the_variance_is_that_of_the_masses(noise):
    z = np.arange(-99, 100)

    assert noise.variance == pytest.approx((z**2 * noise.mass(z)).sum(), rel=1e-9)


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: type(noise).__name__)
@pytest.mark.parametrize("counts", [(2, 4, 4), (5, 0, 3), (1, 1, 1), (-7, -4, -5)], ids=str)
def test_laws_by_enumeration(counts, noise):
    given = np.array(counts)
    order, masses = orders(given, noise)
    first = np.bincount(order[:, 0], masses, minlength=3)
    two = first + np.bincount(order[:, 1], masses, minlength=3)
    chosen = np.array([True, False, True])

    assert masses.sum() == pytest.approx(1, abs=1e-7)
    assert sequence.first(given, noise) == pytest.approx(first, abs=1e-7)
    assert sequence.included(given, noise, 2) == pytest.approx(two, abs=1e-7)
    assert sequence.all_before(given, noise, chosen) == pytest.approx(
        masses[order[:, 2] == 1].sum(), abs=1e-7
    )
