"""OpenDP's samplers: the same distributions, in place of the library's own."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from support.opendp_samplers import opendp_samplers
from support.strategies import every_draw

SCORES = np.array([0.0, 1.0, 3.0, 3.0])
FALSE_ALARM = 1e-6


@pytest.mark.slow
@every_draw
def test_opendp_draws_by_the_same_law(draw):
    with opendp_samplers():
        observed = Counter(draw.sample(SCORES, 2.0, 1)[0] for _ in range(1000))

    expected = 1000 * draw.probabilities(SCORES, 2.0)
    assert stats.chisquare([observed[at] for at in range(4)], expected).pvalue > FALSE_ALARM
