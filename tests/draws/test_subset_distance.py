"""The exact draw of a number of swaps, against fractions."""

from fractions import Fraction
from itertools import pairwise
from math import comb

import pytest
from hypothesis import given, strategies as st

from dpselect.draws import subset_distance
from dpselect.draws.exact.inversion import exp_minus, resolve
from dpselect.draws.subset_distance import DistanceDistribution, Part


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
    law = DistanceDistribution(n, d, (Part(first, last, 1.0, decay),))
    bits = data.draw(st.sampled_from([1, 2, 3, 8, 64, 192]))
    uniform = data.draw(st.integers(0, 2**bits - 1))
    low, high = exp_minus(Fraction(decay), 600)
    ratio = Fraction(low + high, 2 << 600)

    found = resolve(subset_distance.weights(law, law.parts[0], bits), uniform, bits)

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
    window = subset_distance.weights(
        DistanceDistribution(n, d, ()), Part(2, 20, 1.0, decay), bits
    )
    low, high = exp_minus(Fraction(decay), 600)
    ends = pairwise(zip(window.least, window.most, strict=True))
    bounds = [(there[0] - here[0], there[1] - here[1]) for here, there in ends]
    mode = window.first + bounds.index((1 << bits, 1 << bits))

    def weight(a, e):
        size = Fraction(comb(d, a) * comb(n - d, a), comb(d, mode) * comb(n - d, mode))
        return size * Fraction(e, 1 << 600) ** (a - mode) * 2**bits

    for a, (least, most) in enumerate(bounds, start=window.first):
        assert least <= weight(a, high if a > mode else low)
        assert weight(a, low if a > mode else high) <= most
        assert most - least <= 2 + abs(a - mode) * 4
    assert sum(weight(a, low) for a in range(2, window.first)) <= window.most[0]
    right = sum(weight(a, high) for a in range(window.first + len(bounds), 21))
    assert right <= window.beyond


def test_a_part_of_the_stated_mass_is_drawn():
    parts = (Part(0, 1, 0.75, 0.0), Part(2, 3, 0.25, 0.0))
    law = DistanceDistribution(10, 4, parts)
    beyond = sum(subset_distance.draw_distance(law) >= 2 for _ in range(2000))

    assert 380 < beyond < 620
