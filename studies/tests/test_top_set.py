"""One draw of a set against its definition, over all sets."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import dpselect as dp
from dpselect_studies.top_set import simulated

SCORES = np.array([3.0, 1.0, 3.0, 0.0, -2.0, 1.0])


@pytest.mark.parametrize("k", [1, 2, 4, 5])
@pytest.mark.parametrize("monotone", [True, False])
def test_simulated_sets_follow_the_definition(k, monotone):
    edge = dp.GlobalSensitivity(1, dp.Neighbours.EDGE)
    objective = dp.Objective(SCORES, edge, monotone=monotone)
    found = simulated(objective, k, 1.0, size=4000, rng=np.random.default_rng(3))

    sets = list(combinations(range(6), k))
    leads = np.array([SCORES[list(s)].min() - np.delete(SCORES, s).max() for s in sets])
    weights = np.exp(leads / (2 if monotone else 4))
    counts = [(found == s).all(axis=1).sum() for s in sets]

    assert stats.chisquare(counts, 4000 * weights / weights.sum()).pvalue > 1e-5
