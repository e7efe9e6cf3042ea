"""The exact draw of a number of swaps, and the bounds of exp, against fractions."""

from fractions import Fraction
from math import comb, exp
from secrets import randbits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.draws import swaps
from dpselect.draws.exp_bounds import exp_minus, flip_chance
from dpselect.draws.swaps import DistanceLaw, Part


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


def by_inversion(n, d, first, last, ratio, uniform):
    """The distance whose cell of the running sums, in fractions, holds a number."""
    weights = [comb(d, a) * comb(n - d, a) * ratio**a for a in range(first, last + 1)]
    total, below = sum(weights), Fraction(0)
    for a, weight in enumerate(weights, start=first):
        below += weight
        if uniform * total < below:
            return a
    raise AssertionError


@given(data=st.data(), n=st.integers(2, 40))
def test_a_decided_draw_is_the_one_by_inversion(data, n):
    d = data.draw(st.integers(1, n - 1))
    last = data.draw(st.integers(0, min(d, n - d)))
    first = data.draw(st.integers(0, last))
    decay = data.draw(st.sampled_from([0.0, 0.5, 3.0, 40.0]))
    law = DistanceLaw(n, d, (Part(first, last, 1.0, decay),))
    bits = data.draw(st.sampled_from([1, 2, 3, 8, 64, 192]))
    uniform = data.draw(st.integers(0, 2**bits - 1))
    low, high = exp_minus(Fraction(decay), 600)
    ratio = Fraction(low + high, 2 << 600)

    found = swaps.decided(law, law.parts[0], uniform, bits)

    starts, ends = (
        by_inversion(n, d, first, last, ratio, Fraction(u, 2**bits))
        for u in (uniform, uniform + Fraction(2**40 - 1, 2**40))
    )
    if found is not None:
        assert found == starts == ends
    elif bits == 192:
        assert starts != ends or first == last


@pytest.mark.parametrize("decay", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("bits", [4, 9, 40])
def test_the_window_encloses_every_weight_and_what_is_outside(decay, bits):
    n, d = 60, 25
    window = swaps._Window.of(DistanceLaw(n, d, ()), Part(2, 20, 1.0, decay), bits)
    low, high = exp_minus(Fraction(decay), 600)
    mode = window.first + window.least.index(1 << bits)

    def weight(a, e):
        size = Fraction(comb(d, a) * comb(n - d, a), comb(d, mode) * comb(n - d, mode))
        return size * Fraction(e, 1 << 600) ** (a - mode) * 2**bits

    inside = range(window.first, window.first + len(window.least))
    for a, least, most in zip(inside, window.least, window.most, strict=True):
        assert least <= weight(a, high if a > mode else low)
        assert weight(a, low if a > mode else high) <= most
        assert most - least <= 2 + abs(a - mode) * 4
    left = sum(weight(a, low) for a in range(2, window.first))
    right = sum(weight(a, high) for a in range(inside.stop, 21))
    assert left <= window.left
    assert right <= window.right


def test_nearly_every_first_draw_is_decided():
    law = DistanceLaw(10**5, 5000, (Part(0, 5000, 1.0, 0.25),))

    for _ in range(20):
        assert swaps.decided(law, law.parts[0], randbits(192), 192) is not None


def test_one_bit_seldom_decides_and_more_are_drawn(monkeypatch):
    monkeypatch.setattr(swaps, "FIRST_BITS", 1)
    law = DistanceLaw(10, 4, (Part(0, 4, 1.0, 0.5),))

    assert {swaps.draw_distance(law) for _ in range(200)} <= set(range(5))


def test_a_part_of_the_stated_mass_is_drawn():
    parts = (Part(0, 1, 0.75, 0.0), Part(2, 3, 0.25, 0.0))
    law = DistanceLaw(10, 4, parts)
    beyond = sum(swaps.draw_distance(law) >= 2 for _ in range(2000))

    assert 380 < beyond < 620
