"""Places with shares: the law by runs, and the draw bit by bit."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpselect.draws import place_exponential
from dpselect.draws.exact.inversion import resolve
from dpselect.draws.place_exponential import Places, draw_place

WANTED = [Fraction(0), Fraction(7, 3), Fraction(9), Fraction(100)]
DECAYS = [Fraction(1, 4), Fraction(3), Fraction(40), Fraction(10**12)]


def few(wanted):
    return Places(np.array([1, 2, 4]), np.array([3, 0, 2]), 0, 6, 4, wanted)


def by_definition(places, decay):
    """Return the probability of every place and share, place by place."""
    held = dict(zip(places.held.tolist(), places.weights.tolist(), strict=True))
    before, far = 0, []
    for place in range(places.first, places.last + 1):
        ranks = [
            places.shares * before + j * held.get(place, 0) for j in range(places.shares + 1)
        ]
        far.append([float(decay * abs(rank - places.wanted)) for rank in ranks])
        before += held.get(place, 0)
    weights = np.exp(np.min(far) - np.array(far))
    return weights / weights.sum()


def of_runs(law, places):
    """Return the sums over each run of the laws of its places."""
    runs = np.repeat(np.arange(places.sizes.size), places.sizes)
    sums = np.zeros((places.sizes.size, places.shares + 1))
    np.add.at(sums, runs, law)
    return sums


@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("decay", DECAYS)
def test_the_law_is_that_of_every_place(wanted, decay):
    places = few(wanted)
    law = by_definition(places, decay)

    assert places.probabilities(decay) == pytest.approx(of_runs(law, places))
    for (place, share), chance in np.ndenumerate(law):
        log = places.log_probability(decay, place, share)
        assert np.exp(log) == pytest.approx(chance, rel=1e-12)


@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("decay", DECAYS)
def test_bits_decide_with_the_probability_of_the_law(wanted, decay):
    """All numbers of 10 bits: what is undecided is all that an outcome may lack."""
    places, known = few(wanted), 10
    chances = of_runs(by_definition(places, decay), places).ravel()
    weights = place_exponential.weights(places, decay, known)
    found = [resolve(weights, uniform, known) for uniform in range(2**known)]
    undecided = found.count(None) / 2**known

    assert undecided <= 2 * chances.size / 2**known
    for outcome, chance in enumerate(chances):
        decided = found.count(outcome) / 2**known
        assert decided - 1e-12 <= chance <= decided + undecided + 1e-12


@pytest.mark.parametrize("wanted", [*WANTED, Fraction(10**7)])
@pytest.mark.parametrize("decay", [*DECAYS, Fraction(1, 500)])
def test_the_bounds_enclose_the_law(wanted, decay):
    places = Places(np.array([3, 4, 9, 10**12]), np.array([2, 0, 700, 5]), 0, 10**13, 4, wanted)
    whole = places.probabilities(decay).cumsum()
    for bits in (8, 96):
        bounds = place_exponential.weights(places, decay, bits)
        total = bounds.most[-1] + bounds.beyond
        for at, (least, most) in enumerate(zip(bounds.least, bounds.most, strict=True)):
            upto = whole[bounds.first + at - 1] if bounds.first + at else 0.0
            assert least / total <= upto + 1e-9
            assert most / bounds.least[-1] >= upto - 1e-9


@pytest.mark.slow
def test_draws_follow_the_law():
    """Unseeded: false alarm 1 in 10^6."""
    places = few(Fraction(9))
    law = by_definition(places, Fraction(1, 4))
    counts = np.zeros(law.shape)
    for _ in range(6000):
        place, share = draw_place(places, Fraction(1, 4))
        counts[place, share] += 1

    assert stats.chisquare(counts.ravel(), 6000 * law.ravel()).pvalue > 1e-6
