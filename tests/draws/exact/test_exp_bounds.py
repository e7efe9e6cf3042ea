"""Integer bounds of powers of e, against bounds with more bits."""

from fractions import Fraction
from math import exp

import pytest
from hypothesis import given, strategies as st

from dpselect.draws.exact.inversion import Powers, exp_minus, flip_chance


@given(x=st.fractions(0, 60, max_denominator=10**6), bits=st.integers(64, 400))
def test_exp_is_enclosed_tightly(x, bits):
    low, high = exp_minus(x, bits)
    finer_low, finer_high = exp_minus(x, bits + 100)

    assert low << 100 <= finer_high
    assert finer_low <= high << 100
    assert high - low <= 4 * bits * 64
    assert high / 2**bits == pytest.approx(exp(-x), abs=1e-14)


@given(
    epsilon=st.one_of(
        st.floats(2.0**-1000, 1000), st.floats(1e-20, 1e-6), st.sampled_from([1e4, 1e300])
    )
)
def test_a_flip_chance_is_a_fraction_just_above_its_bound(epsilon):
    """1/(1 + e^eps) itself is enclosed by finer bounds of e^-eps."""
    chance = flip_chance(epsilon)
    low, high = exp_minus(Fraction(min(epsilon, 1000.0)), 2500)
    least, most = (Fraction(z, (1 << 2500) + z) for z in (low, high))

    assert most <= chance or (epsilon < 1e-30 and chance == Fraction(1, 2))
    assert chance <= Fraction(1, 2)
    assert chance <= least * (1 + Fraction(1, 2**100))


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
