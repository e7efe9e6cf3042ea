"""Methods after a noisy number of records: private on every small database, both steps."""

from itertools import combinations_with_replacement
from math import exp

import numpy as np
import pytest

import dpselect as dp
from dpselect.percentiles import choice as choices
from dpselect.percentiles.choice import AfterCount, chances_of_sizes, size_of
from dpselect.percentiles.reading import Records, counts_of
from support.neighbours import are_neighbours

ADDED = dp.Neighbours.ADD_REMOVE
POINTS, EPSILON = np.arange(3.0), 1.2
SMALL = [x for n in range(5) for x in combinations_with_replacement(range(3), n)]


def after_count(p=(90.0,)):
    return AfterCount(p, POINTS, Records(ADDED), EPSILON)


def report(method, chances):
    """Check both outcomes together, the size and the value."""

    def law(database):
        ranks = counts_of(np.array(database, dtype=float), POINTS)
        of_sizes = chances(len(database), method.scale)[:16]
        values = [method.of_size(size).probabilities(ranks)[0] for size in range(16)]
        return np.concatenate([c * v for c, v in zip(of_sizes, values, strict=True)])

    return dp.audit.check_private(law, SMALL, are_neighbours(ADDED), EPSILON)


def test_the_size_and_the_value_are_private_together(monkeypatch):
    monkeypatch.setattr(choices, "SHARE", 0.5)
    monkeypatch.setattr(choices, "FEWEST", 2)  # bins have no law in closed form
    found = report(after_count(), chances_of_sizes)

    assert found.ok, str(found)
    assert found.loss > 0.5 * EPSILON


@pytest.mark.parametrize("scale", [0.3, 2.0, 25.0])
@pytest.mark.parametrize("records", [0, 3, 90])
def test_the_chances_of_sizes_are_sums_of_the_noise(records, scale):
    noise = np.arange(-2000, 2001)
    masses = np.exp(-abs(noise) / scale) * (1 - exp(-1 / scale)) / (1 + exp(-1 / scale))
    expected = np.zeros(choices.LARGEST + 1)
    np.add.at(expected, size_of(records + noise), masses)

    np.testing.assert_allclose(chances_of_sizes(records, scale), expected, atol=1e-12)
