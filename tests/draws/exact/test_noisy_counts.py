"""Noise on counts: the exact probabilities of its digits and acceptances, and its laws."""

from fractions import Fraction
from math import exp, expm1, floor

import numpy as np
import pytest
from scipy import stats

from dpselect.draws.exact import lazy_noise, noisy_counts, samplers
from dpselect.draws.exact.noisy_counts import discrete_gaussian, discrete_laplace
from support.enumerated import law_of

SCALES = [0.01, 0.5, 1.0, np.nextafter(2.0, 3), 20.0, 1e6, 2.0**50]


@pytest.mark.parametrize("scale", SCALES)
def test_digits_make_a_geometric_variable(scale):
    """The product of the digits' laws, for g with few digits, by fractions of bounds."""
    digits = noisy_counts._digits(scale)
    many = 200
    ones = [
        noisy_counts._bounds(Fraction(2**i) / Fraction(scale), many, odds=True)
        for i in range(digits)
    ]
    assert all(0 <= high - low <= 2 for low, high in ones)
    beyond = noisy_counts._bounds(Fraction(2**digits) / Fraction(scale), many, odds=False)
    assert 0 <= beyond[1] - beyond[0] <= 2
    chances = [low / 2**many for low, _ in ones]
    for g in (0, 1, 2, 5, 11):
        if g < 2**digits:
            law = 1 - beyond[0] / 2**many
            for i, chance in enumerate(chances):
                law *= chance if g >> i & 1 else 1 - chance
            assert law == pytest.approx(-expm1(-1 / scale) * exp(-g / scale), rel=1e-12)
    assert beyond[1] < 2 ** (many - 64)


def words(monkeypatch, first, later):
    """Give the words that are drawn, the first of each event and what is drawn after it."""

    def drawn(*shape, bits=64):
        return np.full(shape, first, f"u{bits // 8}")

    monkeypatch.setattr(samplers, "words", drawn)
    monkeypatch.setattr(samplers, "randbits", lambda _: later)


def test_an_open_word_is_resolved_by_more_bits(monkeypatch):
    x = Fraction(1, 2)
    event = noisy_counts.Events.of([x], odds=True)
    size = noisy_counts.SHORT
    low, high = noisy_counts._bounds(x, size, odds=True)
    assert high - low == 1
    deeper = noisy_counts._bounds(x, 2 * size, odds=True)[0] - (low << size)
    for later, below in ((deeper - 1, True), (deeper + 1, False)):
        words(monkeypatch, low, later)
        assert noisy_counts._ones(3, event).tolist() == [[below] * 3]
    for first, below in ((low - 1, True), (low + 1, False)):
        words(monkeypatch, first, 0)
        assert noisy_counts._ones(3, event).tolist() == [[below] * 3]


def test_what_is_beyond_the_digits_is_another_geometric_variable(monkeypatch):
    """The first word of every event is 0: all digits are 1, and so are three steps more."""
    steps = iter([2**64 - 1, 0, 0, 2**64 - 1])
    events = []

    def ones(size, drawn):
        events.extend([drawn.odds] * len(drawn.exponents))
        if drawn.odds:
            return np.ones((len(drawn.exponents), size), dtype=bool)
        return np.array([[next(steps) == 0] * size])

    monkeypatch.setattr(noisy_counts, "_ones", ones)
    next(steps)
    drawn = noisy_counts.geometric(1, 1.0)

    assert noisy_counts._digits(1.0) == 6
    assert drawn.tolist() == [63 + 2 * 64]
    assert events == [True] * 6 + [False] * 3


def masses(noise, scale, reach):
    """Return the probabilities of the sizes 0 ... reach - 1, and of all from there on."""
    z = np.arange(-40 * reach, 40 * reach + 1)
    far = np.abs(z) / scale
    law = np.exp(-far if noise is discrete_laplace else -(far**2) / 2)
    return np.bincount(np.minimum(np.abs(z), reach), law / law.sum())


every_noise = pytest.mark.parametrize("noise", [discrete_laplace, discrete_gaussian])


@every_noise
@pytest.mark.parametrize("scale", [0.4, 3.0, 3.9])
def test_noise_follows_its_law(noise, scale):
    """Unseeded: false alarm 1 in 10^6; a scale that is 5 % off is seen 99 times in 100."""
    draws, reach = 100_000, int((6 if noise is discrete_laplace else 3) * scale) + 1
    drawn = noise(np.full(draws, 7), scale) - 7
    observed = np.bincount(np.minimum(np.abs(drawn), reach), minlength=reach + 1)
    law, wrong = (masses(noise, one, reach) for one in (scale, 1.05 * scale))

    assert stats.chisquare(observed, draws * law).pvalue > 1e-6
    assert stats.binomtest(int((drawn > 0).sum()), int((drawn != 0).sum())).pvalue > 1e-6
    assert drawn.dtype == np.int64
    moved = draws * ((wrong - law) ** 2 / law).sum()
    assert stats.ncx2.sf(stats.chi2.isf(1e-6, reach), reach, moved) > 0.99


@every_noise
def test_noisy_counts_stay_within_64_bits(noise):
    ends = np.array([2**63 - 1, -(2**63)])

    assert (np.abs(noise(ends, 2.0)) <= noisy_counts.ENDS).all()


@pytest.mark.parametrize("counts", [(0, 1, 3), (1, 1, 0)])
@pytest.mark.parametrize(("k", "least"), [(1, None), (2, None), (1, 3), (2, 2), (None, 2)])
def test_of_the_largest_noisy_counts_what_is_asked_for_has_its_law(
    monkeypatch, counts, k, least
):
    """With their ties, in their order; alpha is 1/8, and noise ends where 8^-6 is left."""
    sizes = {z: 8.0 ** -abs(z) for z in range(-6, 7)}
    noise = {z: p / sum(sizes.values()) for z, p in sizes.items()}

    def asked_for(noisy):
        order = np.argsort(-noisy, kind="stable")[:k]
        return tuple((int(at), int(noisy[at])) for at in order if noisy[at] >= (least or -99))

    def laplace(ask, size):
        return np.array([ask(noise) for _ in range(size)], int)

    def drawn(ask):
        def reaches(gaps, _):
            chances = np.minimum(8.0**-gaps, 1).tolist()
            return np.array([ask({True: one, False: 1 - one}) for one in chances])

        monkeypatch.setattr(lazy_noise, "reaches", reaches)
        monkeypatch.setattr(noisy_counts, "_laplace", lambda size, _: laplace(ask, size))
        return asked_for(discrete_laplace(np.array(counts), 1.0, k=k, least=least))

    found = law_of(drawn)
    for one, p in law_of(lambda ask: asked_for(counts + laplace(ask, 3))).items():
        assert found[one] == pytest.approx(p, rel=0.02, abs=1e-5)


def test_every_block_of_variables_has_bits_of_its_own(monkeypatch):
    """Words are 0, so that all digits are 1, in the third block alone."""
    blocks = 3
    calls = iter(range(2 * blocks))
    size = blocks * noisy_counts.CHUNK

    def words(events, many, *, bits):
        assert many == noisy_counts.CHUNK
        return np.full((events, many), 0 if next(calls) == 4 else 2**bits - 1, f"u{bits // 8}")

    monkeypatch.setattr(samplers, "words", words)
    monkeypatch.setattr(samplers, "randbits", lambda _: 0)
    drawn = noisy_counts.geometric(size, 2.0)

    assert drawn.nonzero()[0].tolist() == list(range(2 * size // 3, size))
    assert set(drawn[drawn > 0]) == {2 ** noisy_counts._digits(2.0) - 1}


GAUSSIAN_SCALES = [5e-324, 1e-200, 0.3, 1.0, np.nextafter(2.0, 0), 5.5, 1e6 / 3, 2.0**50]
VALUES = [0, 1, -1, 2, 7, -40, 10**6, -(2**53) - 1, 45 * 2**50, 2**62]


every_gaussian = pytest.mark.parametrize("scale", GAUSSIAN_SCALES)


@every_gaussian
def test_accepted_proposals_are_gaussian(scale):
    """The exponents of proposal and acceptance make z^2 / 2 sigma^2, but for a constant."""
    squared, step = Fraction(scale) ** 2, floor(scale) + 1
    for z in VALUES:
        for last in {0, 1, abs(z) % 2**40}:
            exponent = noisy_counts._exponent(z, last, scale)
            assert exponent >= 0
            assert Fraction(abs(z) - last, step) + exponent == (
                Fraction(z) ** 2 / (2 * squared) + squared / (2 * step**2)
            )


@every_gaussian
def test_a_proposal_is_made_of_its_sign_its_steps_and_uniform_bits(monkeypatch, scale):
    """Every pair of a sign and a size has one proposal; the steps have the law of its scale."""
    step = floor(scale) + 1
    many = max(step.bit_length() - noisy_counts.UNEVEN, 0)
    steps = [0, 1, 0, 3]
    uniform = [0, 2**many - 1, 2**many // 2, 2**many // 3]
    signs = [0, 1, 1, 0]
    asked = []

    def geometric(size, of):
        asked.append((size, Fraction(of)))
        return np.array(steps)

    drawn = [place << 64 - many | sign for place, sign in zip(uniform, signs, strict=True)]
    monkeypatch.setattr(samplers, "words", lambda _: np.array(drawn, dtype=np.uint64))
    monkeypatch.setattr(noisy_counts, "geometric", geometric)
    noise, last = noisy_counts._proposed(4, scale)

    assert asked == [(4, Fraction(step, 2**many))]
    assert last.tolist() == [one + sign for one, sign in zip(uniform, signs, strict=True)]
    assert noise.tolist() == [
        (-1) ** sign * ((above << many) + one)
        for above, one, sign in zip(steps, last.tolist(), signs, strict=True)
    ]


def test_the_largest_steps_stay_within_64_bits(monkeypatch):
    monkeypatch.setattr(
        noisy_counts, "geometric", lambda size, _: np.full(size, noisy_counts.ENDS)
    )
    assert (np.abs(noisy_counts._proposed(9, 2.0**50)[0]) >= noisy_counts.ENDS).all()


@every_gaussian
def test_exponents_by_floats_are_enclosed(scale):
    sizes = VALUES + [round(scale * part) for part in (0.4, 1, 1.7, 6, 30)]
    uniform = [(floor(scale) + 1) // (20 + place) for place in range(len(sizes))]
    lows, highs = noisy_counts._exponents(np.array(sizes), np.array(uniform), scale)
    for z, last, low, high in zip(sizes, uniform, lows, highs, strict=True):
        exact = noisy_counts._exponent(z, last, scale)
        assert Fraction(low) <= exact
        # No exponential variable is near 2^100.
        assert exact <= Fraction(high) or low > 2.0**100
        if exact < 1000:
            assert high - low < 2.0**-30


@pytest.mark.parametrize("scale", [0.3, 1.0, 5.5, 1e6 / 3, 2.0**50])
@pytest.mark.parametrize("part", [0, 0.5, 1, 2.5, 7])
def test_acceptances_are_decided_on_the_edge_by_further_bits(monkeypatch, scale, part):
    """By words next to e to minus the exponent, and what follows them."""
    z, last = -round(part * scale), (floor(scale) + 1) // 20
    exponent = noisy_counts._exponent(z, last, scale)
    low, high = noisy_counts._bounds(exponent, 64, odds=False)
    deeper = noisy_counts._bounds(exponent, 128, odds=False)[0] - (low << 64)
    assert high - low == 1
    far = 2**30  # what floats leave open
    for first, later, accepted in [
        (low - far, 0, True),
        (low - 1, 2**64 - 1, True),
        (low, deeper - 1, True),
        (low, deeper + 1, False),
        (low + 1, 0, False),
        (low + far, 0, False),
    ]:
        if 0 <= first < 2**64 and 0 <= later < 2**64:
            words(monkeypatch, first, later)
            three = np.full(3, z), np.full(3, last)
            assert noisy_counts._accepted(*three, scale).tolist() == [accepted] * 3


def test_the_first_that_are_accepted_are_taken(monkeypatch):
    """In their order, and as many as are asked for; the rest is drawn anew."""
    proposed = iter([np.array([5, 6, 7, 8]), np.array([9, 10, 11, 12])])
    monkeypatch.setattr(noisy_counts, "_proposed", lambda *_: (next(proposed), 0))
    monkeypatch.setattr(noisy_counts, "_accepted", lambda noise, *_: noise % 2 == 0)

    assert noisy_counts._gaussian(3, 1.0).tolist() == [6, 8, 10]


@pytest.mark.parametrize("asked", [{"k": 1}, {"least": 3}])
def test_counts_beyond_64_bits_are_released_whatever_is_asked_of_them(asked):
    large = 2**70
    high, _, low = discrete_laplace(np.array([large, 5, -large], dtype=object), 2.0, **asked)

    assert abs(high - large) < 200
    assert abs(low + large) < 200
