"""Places with shares: the law by runs, and the draw bit by bit."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from scipy import stats

from dpselect.draws import place_exponential
from dpselect.draws.exact.inversion import resolve
from dpselect.draws.place_exponential import Places, draw_place
from support.halves import distance, ranks_of_shares

WANTED = [Fraction(0), Fraction(7, 3), Fraction(9), Fraction(37, 3), Fraction(100)]
KNOWN = 10
DECAYS = [Fraction(1, 4), Fraction(3), Fraction(40), Fraction(10**12)]


def few(wanted):
    return Places(np.array([1, 2, 4]), np.array([3, 0, 2]), 0, 6, 4, wanted)


def by_definition(places, decay):
    """Return the probability of every place and share, place by place."""
    held = dict(zip(places.held.tolist(), places.weights.tolist(), strict=True))
    before, far = 0, []
    for place in range(places.first, places.last + 1):
        weight = places.shares * held.get(place, 0)
        ranks = ranks_of_shares(before, weight, places.shares)
        far.append([float(decay * distance(places.wanted, *ends)) for ends in ranks])
        before += weight
    weights = np.exp(np.min(far) - np.array(far))
    return weights / weights.sum()


def of_runs(law, places):
    """Return the sums over each run of the laws of its places."""
    runs = np.repeat(np.arange(places.sizes.size), places.sizes)
    sums = np.zeros((places.sizes.size, places.shares + 1))
    np.add.at(sums, runs, law)
    return sums


def by_runs(places, decay):
    """Return the law of every run and share, from that of runs and that of shares of each."""
    law = places.probabilities(decay)
    return np.array(
        [chance * places.probabilities_of_shares(decay, run) for run, chance in enumerate(law)]
    )


@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("decay", DECAYS)
def test_the_law_is_that_of_every_place(wanted, decay):
    places = few(wanted)
    law = by_definition(places, decay)

    assert by_runs(places, decay) == pytest.approx(of_runs(law, places))
    for (place, share), chance in np.ndenumerate(law):
        log = places.log_probability(decay, place, share)
        assert np.exp(log) == pytest.approx(chance, rel=1e-12)


@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("decay", DECAYS)
def test_bits_decide_with_the_probability_of_the_law(wanted, decay):
    """All numbers of 10 bits, of runs and of the shares of each."""
    places = few(wanted)
    law = of_runs(by_definition(places, decay), places)
    check_bits(place_exponential.weights(places, decay, KNOWN), law.sum(axis=1))
    for run, of_shares in enumerate(law):
        if of_shares.sum() > 0:
            bounds = place_exponential.weights_of_shares(places, decay, run, KNOWN)
            check_bits(bounds, of_shares / of_shares.sum())


def check_bits(bounds, chances):
    """Check that what is undecided is all that an outcome may lack."""
    found = [resolve(bounds, uniform, KNOWN) for uniform in range(2**KNOWN)]
    undecided = found.count(None) / 2**KNOWN

    assert undecided <= 2 * chances.size / 2**KNOWN
    for outcome, chance in enumerate(chances):
        decided = found.count(outcome) / 2**KNOWN
        assert decided - 1e-12 <= chance <= decided + undecided + 1e-12


@pytest.mark.parametrize("wanted", [*WANTED, Fraction(10**7)])
@pytest.mark.parametrize("decay", [*DECAYS, Fraction(1, 500)])
def test_the_bounds_enclose_the_law(wanted, decay):
    places = Places(np.array([3, 4, 9, 10**12]), np.array([2, 0, 700, 5]), 0, 10**13, 4, wanted)
    with localcontext(Context(prec=80, Emin=-(10**17), Emax=10**17)):
        upto = list(accumulate(run_weights(places, decay), initial=Decimal(0)))
        for bits in (8, 96):
            bounds = place_exponential.weights(places, decay, bits)
            total = bounds.most[-1] + bounds.beyond
            for at, (least, most) in enumerate(zip(bounds.least, bounds.most, strict=True)):
                part = upto[bounds.first + at] / upto[-1]
                assert Decimal(least) / total <= part <= Decimal(most) / bounds.least[-1]


def run_weights(places, decay):
    """Return the weights of all runs by the definition, beside the nearest share of all."""
    held = dict(zip(places.held.tolist(), places.weights.tolist(), strict=True))
    before, far = 0, []
    for start, size in zip(places.starts.tolist(), places.sizes.tolist(), strict=True):
        weight = places.shares * (held.get(start, 0) if size else 0)
        ranks = ranks_of_shares(before, weight, places.shares)
        far.append([distance(places.wanted, *ends) for ends in ranks])
        before += weight
    least = min(map(min, far))
    logs = [[-decay * (one - least) for one in run] for run in far]
    return [
        size * sum((Decimal(log.numerator) / log.denominator).exp() for log in run)
        for run, size in zip(logs, places.sizes.tolist(), strict=True)
    ]


@pytest.mark.parametrize("share", range(5))
def test_ranks_of_the_most_records_do_not_overflow(share):
    """The wanted rank is in the middle of those of one share, far from all others."""
    most = (2**62 - 1) // 4 - 6
    middle = Fraction(min(max(8 * share, 1), 31), 8) * most
    places = Places(np.array([1, 2, 3]), np.array([3, most, 3]), 0, 10**9, 4, 12 + middle)

    assert draw_place(places, Fraction(1, 2**40)) == (2, share)
    assert places.log_probability(Fraction(1, 2**40), 2, share) == 0


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
