"""OpenDP's samplers: the same distributions, in place of the library's own."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from dpselect.draws.exact import noisy_counts
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


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["discrete_laplace", "discrete_gaussian"])
@pytest.mark.parametrize("scale", [0.7, 2.5])
def test_both_draw_the_same_noise(noise, scale):
    """Unseeded: false alarm 1 in 10^6; a scale that is 15 % off is seen 99 times in 100."""
    draws, reach = 10_000, int(4 * scale)

    def sizes():
        drawn = getattr(noisy_counts, noise)(np.zeros(draws, dtype=np.int64), scale)
        return np.bincount(np.minimum(np.abs(drawn), reach), minlength=reach + 1)

    ours = sizes()
    with opendp_samplers():
        theirs = sizes()

    both = np.array([ours, theirs])[:, (ours + theirs) > 20]
    assert stats.chi2_contingency(both).pvalue > FALSE_ALARM
