"""Discrete Laplace noise: the exact probabilities of its digits, and its law."""

from fractions import Fraction
from math import exp, expm1

import numpy as np
import pytest
from scipy import stats

from dpselect.draws import geometric
from dpselect.draws.noisy_counts import discrete_laplace
from dpselect.errors import ParameterError

SCALES = [0.01, 0.5, 1.0, np.nextafter(2.0, 3), 20.0, 1e6, 2.0**50]


@pytest.mark.parametrize("scale", SCALES)
def test_digits_make_a_geometric_variable(scale):
    """The product of the digits' laws, for g with few digits, by fractions of bounds."""
    digits = geometric._digits(scale)
    bits = 200
    ones = [
        geometric._bounds(Fraction(2**i) / Fraction(scale), bits, odds=True)
        for i in range(digits)
    ]
    assert all(0 <= high - low <= 2 for low, high in ones)
    beyond = geometric._bounds(Fraction(2**digits) / Fraction(scale), bits, odds=False)
    assert 0 <= beyond[1] - beyond[0] <= 2
    chances = [low / 2**bits for low, _ in ones]
    for g in (0, 1, 2, 5, 11):
        if g < 2**digits:
            law = 1 - beyond[0] / 2**bits
            for i, chance in enumerate(chances):
                law *= chance if g >> i & 1 else 1 - chance
            assert law == pytest.approx(-expm1(-1 / scale) * exp(-g / scale), rel=1e-12)
    assert beyond[1] < 2 ** (bits - 64)


@pytest.mark.parametrize("odds", [True, False])
@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(2), Fraction(40)])
def test_bounds_enclose_the_probability_at_any_precision(x, odds):
    coarse = geometric._bounds(x, 64, odds=odds)
    fine = geometric._bounds(x, 400, odds=odds)

    assert Fraction(coarse[0], 2**64) <= Fraction(fine[0], 2**400)
    assert Fraction(fine[1], 2**400) <= Fraction(coarse[1], 2**64)
    z = exp(-x)
    assert fine[0] / 2**400 == pytest.approx(z / (1 + z) if odds else z, rel=1e-14)


def words(monkeypatch, first, later):
    """Give the words that are drawn, the first of each event and what is drawn after it."""
    monkeypatch.setattr(
        geometric, "token_bytes", lambda size: np.uint64(first).tobytes() * (size // 8)
    )
    monkeypatch.setattr(geometric, "randbits", lambda _: later)


def test_an_open_word_is_resolved_by_more_bits(monkeypatch):
    x = Fraction(1, 2)
    event = geometric.Events.of([x], [True])
    low, high = geometric._bounds(x, 64, odds=True)
    assert high - low == 1
    deeper = geometric._bounds(x, 128, odds=True)[0] - (low << 64)
    for later, below in ((deeper - 1, True), (deeper + 1, False)):
        words(monkeypatch, low, later)
        assert geometric._ones(3, event).tolist() == [[below] * 3]
    for first, below in ((low - 1, True), (low + 1, False)):
        words(monkeypatch, first, 0)
        assert geometric._ones(3, event).tolist() == [[below] * 3]


def test_what_is_beyond_the_digits_is_another_geometric_variable(monkeypatch):
    """The first word of every event is 0: all digits are 1, and so are three steps more."""
    steps = iter([2**64 - 1, 0, 0, 2**64 - 1])
    events = []

    def ones(size, drawn):
        events.extend(drawn.odds)
        if all(drawn.odds):
            return np.ones((len(drawn.odds), size), dtype=bool)
        return np.array([[next(steps) == 0] * size])

    monkeypatch.setattr(geometric, "_ones", ones)
    next(steps)
    drawn = geometric.geometric(1, 1.0)

    assert geometric._digits(1.0) == 6
    assert drawn.tolist() == [63 + 2 * 64]
    assert events == [True] * 6 + [False] * 3


@pytest.mark.parametrize("scale", [0.4, 3.0])
def test_noise_follows_its_law(scale):
    """Unseeded: false alarm 1 in 10^6; a scale that is 2 % off is seen 99 times in 100."""
    draws = 100_000
    noise = discrete_laplace(np.full(draws, 7), scale) - 7
    reach = int(6 * scale) + 1
    z = np.arange(-reach, reach + 1)
    law = np.tanh(0.5 / scale) * np.exp(-np.abs(z) / scale)
    observed = [(noise == one).sum() for one in z]
    observed.append(draws - sum(observed))

    assert stats.chisquare(observed, draws * np.append(law, 1 - law.sum())).pvalue > 1e-6
    assert noise.dtype == np.int64


def test_noise_of_neighbouring_places_is_independent():
    noise = discrete_laplace(np.zeros(100_000, dtype=np.int64), 5.0)

    assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 5 / np.sqrt(100_000)
    assert noise.var() == pytest.approx(1 / (2 * np.sinh(0.1) ** 2), rel=0.05)


@pytest.mark.parametrize("scale", [0, -1.0, float("inf"), float("nan"), 2.0**51])
def test_a_scale_is_checked(scale):
    with pytest.raises(ParameterError, match="scale must be"):
        discrete_laplace(np.zeros(2, dtype=np.int64), scale)


def test_counts_are_integers():
    with pytest.raises(ParameterError, match="counts must be integers"):
        discrete_laplace(np.zeros(2), 1.0)


def test_a_scale_without_digits_adds_no_noise():
    """Noise of scale 1/1000 is not 0 once in e^1000."""
    assert discrete_laplace(np.arange(5), 1e-3).tolist() == [0, 1, 2, 3, 4]
