"""Rates against their definition: all (hits, misses), neighbours by breadth first.

The weighted sum of two rates against disjoint_sum and against its definition.
"""

from itertools import product

import numpy as np
import pytest

import dpselect as dp
from dpselect import trees
from dpselect.scaling.dampening import dampen
from support.trees_definitions import add_remove, by_definition, substitute

ADD_REMOVE, SUBSTITUTE = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
MOST = 12


def rate(state):
    hits, misses = state[0], state[1]
    return hits / (hits + misses) if hits + misses else 0.0


@pytest.mark.parametrize("total", range(MOST + 1))
def test_the_sensitivity_equals_the_definition(total):
    hits = np.arange(total + 1)
    sensitivity = trees.true_positive_rate(hits, total, neighbours="add-remove").sensitivity
    found = np.array([np.broadcast_to(sensitivity.at(t), hits.shape) for t in range(MOST + 2)])

    for h in hits:
        assert found[:, h] == pytest.approx(
            by_definition((int(h), total - int(h)), MOST + 1, add_remove, rate), abs=1e-12
        )


@pytest.mark.parametrize("cells", list(product(range(4), range(4), [0, 1, 3]))[1:])
def test_the_sensitivity_under_substitution_equals_the_definition(cells):
    """A third kind of record, of the other class, can be exchanged for one of this."""
    hits, misses, _ = cells
    sensitivity = trees.true_positive_rate(
        [hits], hits + misses, neighbours=SUBSTITUTE
    ).sensitivity
    found = [float(sensitivity.at(t)) for t in range(5)]

    assert found == pytest.approx(by_definition((*cells, 50), 4, substitute, rate), abs=1e-12)


def both(hits, totals, weights, horizon=2**20):
    fast = trees.WeightedRatesSensitivity(
        np.array(hits), np.array(totals), np.array(weights), horizon
    )
    parts = [
        trees.true_positive_rate(
            np.array(hits)[:, k], totals[k], horizon=horizon, neighbours="add-remove"
        )
        for k in (0, 1)
    ]
    slow = dp.disjoint_sum(parts, weights)
    return dp.Objective(slow.scores_twofold, fast, highest=slow.highest), slow


@pytest.mark.parametrize("weights", [(1.0, 1.0), (3.0, 2.0), (0.5, 7.0)])
@pytest.mark.parametrize("totals", [(0, 0), (1, 3), (5, 8), (9, 2)])
@pytest.mark.parametrize("horizon", [0, 4, 2**20])
def test_equals_the_disjoint_sum(weights, totals, horizon):
    hits = list(product(range(totals[0] + 1), range(totals[1] + 1)))
    fast, slow = both(hits, totals, weights, horizon)

    for t in range(14):
        assert np.broadcast_to(fast.sensitivity.at(t), len(hits)) == pytest.approx(
            # The sum pays for its rounding with 2^-40 of the weighted bounds.
            np.broadcast_to(slow.sensitivity.at(t), len(hits)),
            abs=1e-10,
        )
    heights = np.linspace(0.0123, 30.0123, len(hits))
    # Beyond the horizon there are several intervals for a height, and one dampened height.
    assert dampen(heights, fast.sensitivity) == pytest.approx(
        dampen(heights, slow.sensitivity), rel=1e-9, abs=1e-6
    )
