"""Draws by inversion: an outcome is decided exactly when no further bit can change it."""

from fractions import Fraction
from itertools import pairwise
from math import exp

import pytest
from hypothesis import given, strategies as st

from dpselect.draws.exact import inversion, samplers
from dpselect.draws.exact.inversion import (
    Powers,
    Weights,
    draw,
    exp_minus,
    resolve,
)

some_weights = st.lists(st.integers(0, 40), min_size=1, max_size=8).filter(any)


@given(
    weights=some_weights,
    slack=st.lists(st.integers(0, 3), min_size=8, max_size=8),
    outside=st.tuples(st.integers(0, 5), st.integers(0, 5)),
    known=st.integers(1, 12),
    data=st.data(),
)
def test_what_is_decided_holds_for_all_weights_within_their_bounds(
    weights, slack, outside, known, data
):
    bounds = [(max(w - s, 0), w + s) for w, s in zip(weights, slack, strict=False)]
    before, beyond = outside
    uniform = data.draw(st.integers(0, 2**known - 1))
    found = resolve(Weights.of(bounds, before=before, beyond=beyond), uniform, known)
    if found is None:
        return
    for ends in range(2 ** (len(bounds) + 2)):
        real = [pair[ends >> i & 1] for i, pair in enumerate(bounds)]
        real = [before * (ends >> len(bounds) & 1), *real]
        real.append(beyond * (ends >> len(bounds) + 1))
        if any(real):
            start, end = Fraction(uniform, 2**known), Fraction(uniform + 1, 2**known)
            below = Fraction(sum(real[: found + 1]), sum(real))
            assert below <= start
            assert end <= below + Fraction(real[found + 1], sum(real))


def test_nothing_is_decided_beyond_the_weights_that_are_known():
    weights = Weights.of([(8, 8)], before=4, beyond=4)

    found = [resolve(weights, uniform, 3) for uniform in range(8)]
    assert [at for at, outcome in enumerate(found) if outcome == 0] == [3, 4]
    assert resolve(Weights.of([(0, 1), (0, 1)]), 0, 1) is None


def test_an_open_draw_goes_on_with_more_bits_and_closer_bounds(monkeypatch):
    """One third is between 0101 and 0110: 0101 is open, and decided by the next four bits."""
    asked, told = [], iter([0b0101, 0b0101, 0b01010110])
    monkeypatch.setattr(samplers, "randbits", lambda many: asked.append(many) or next(told))

    def third(many):
        return Weights.of([(2**many // 3, 2**many // 3 + 1), (2 * 2**many // 3,) * 2])

    assert draw(third, 4) == 1
    assert asked == [4, 4, 8]


def test_running_sums_begin_with_what_is_before():
    weights = Weights.of([(1, 2), (3, 4)], first=7, before=5, beyond=6)

    assert weights == Weights([0, 1, 4], [5, 7, 11], 7, 6)
    assert [b - a for a, b in pairwise(weights.most)] == [2, 4]
    assert inversion.resolve(Weights.of([(1, 1)]), 0, 1) == 0


@given(x=st.fractions(0, 60, max_denominator=10**6), bits=st.integers(64, 400))
def test_exp_is_enclosed_tightly(x, bits):
    low, high = exp_minus(x, bits)
    finer_low, finer_high = exp_minus(x, bits + 100)

    assert low << 100 <= finer_high
    assert finer_low <= high << 100
    assert high - low <= 4 * bits * 64
    assert high / 2**bits == pytest.approx(exp(-x), abs=1e-14)


DECAYS = [Fraction(1, 3), Fraction(40), Fraction(1, 10**6), Fraction(7, 10**30)]


@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("many", [80, 500])
def test_powers_are_enclosed_for_every_exponent(decay, many):
    """Of one digit and of several, up to the last one and beyond it."""
    powers = Powers(decay, many)
    exponents = [0, 1, 2, 4095, 4096, 4097, 2**24 - 1, 2**24 + 5, 2**40 + 2**13, 2**62]
    exponents += [min(powers.last + one, 2**62) for one in (-1, 0, 1)]
    for exponent in exponents:
        low, high = powers.at(exponent)
        finer_low, finer_high = exp_minus(decay * exponent, many + 200)
        assert low << 200 <= finer_high
        assert finer_low <= high << 200
        assert high - low <= 2**26


def test_the_bounds_of_a_power_are_rounded_away_from_it():
    """A factor of one half, exactly: nothing but the roundings of its bounds remains."""
    decay, many = Fraction(1, 2), 60
    for exponent in range(1, 3000, 7):
        low, high = Powers(decay, many).at(exponent)
        finer_low, finer_high = exp_minus(decay * exponent, many + 400)
        assert low << 400 <= finer_low
        assert finer_high <= high << 400
        assert high > low


def test_beyond_the_last_exponent_a_power_is_less_than_one_unit():
    for decay in DECAYS:
        powers = Powers(decay, 100)
        assert exp_minus(decay * powers.last, 300)[1] < 1 << 200
        assert exp_minus(decay * (powers.last * 4 // 5), 300)[0] > 1 << 200
