"""Noise from bits as they are needed: bounds that hold, and bits that decide."""

from decimal import Context, Decimal, localcontext
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dpselect.draws.exact import lazy_noise, samplers
from dpselect.draws.exact.lazy_noise import Noise, Refined

every_noise = pytest.mark.parametrize("noise", Noise)
END = 2**64 - 1
WORDS = [0, 1, 2, 3, 2**40, 2**52 + 1, 2**62 - 1, 2**62, 2**63, END - 2**30, END - 1, END]


@given(st.floats(2.0**-200, 2.0**200))
def test_logarithms_are_right_relative_to_themselves_or_one(x):
    with localcontext(Context(prec=60)):
        true = Decimal(x).ln()
        for found in (lazy_noise._log(x), float(lazy_noise._log(np.array([x]))[0])):
            assert abs(Decimal(found) - true) <= Decimal(2) ** -48 * max(abs(true), 1)


@every_noise
@pytest.mark.parametrize("scale", [1e-3, 1.0, 2.0**21, 1e200])
def test_bounds_by_floats_hold_for_every_continuation_of_the_bits(noise, scale, monkeypatch):
    some = np.random.default_rng(3).integers(0, END, (noise.uniforms, 60), np.uint64)
    ends = np.array(list(product(WORDS, repeat=noise.uniforms)), dtype=np.uint64).T
    words = np.concatenate([ends, some], axis=1)
    numbers = np.resize([0, 7, -(2**50)], words.shape[1])
    monkeypatch.setattr(samplers, "words", lambda *_: words)

    known = lazy_noise.bounds(noise, numbers, scale)

    for at in range(words.shape[1]):
        exact = Refined(noise, int(numbers[at]), scale, words[:, at].tolist())
        exact.refine()
        assert known.low[at] <= exact.low <= exact.high <= known.high[at]
        # The same by numbers of Python, which few are drawn with.
        low, high = lazy_noise.bounds_of(noise, int(numbers[at]), scale, words[:, at].tolist())
        assert low <= exact.low <= exact.high <= high
        assert (low, high) == pytest.approx((known.low[at], known.high[at]), rel=1e-9)
        # The bits decide the most of it; only the ends of [0, 1] leave everything open.
        if words[:, at].min() > 2**52 and words[:, at].max() < END - 2**52:
            slack = (scale + abs(int(numbers[at]))) * 2.0**-38 + 2
            assert known.high[at] - known.low[at] <= slack


@every_noise
def test_equal_words_are_told_apart_by_further_bits(noise):
    words = [2**60] * noise.uniforms
    one, other = (Refined(noise, 0, 2.0**30, list(words)) for _ in range(2))

    # Integers may be equal.
    assert (one < other) + (other < one) == (noise is not Noise.LAPLACE)


def test_a_number_that_many_are_compared_with_is_refined_once(monkeypatch):
    """All have the same first word and differ in the next one."""
    rest = iter(range(1, 20))
    monkeypatch.setattr(samplers, "randbits", lambda size: next(rest) << (size - 6))
    pivot, *others = (Refined(Noise.EXPONENTIAL, 0, 1.0, [2**60]) for _ in range(9))

    for other in others:
        assert (pivot < other) != (other < pivot)

    assert {number.bits for number in (pivot, *others)} == {128}


def given(monkeypatch, octets, words):
    """Give the first bytes and the words that are drawn."""
    monkeypatch.setattr(
        samplers, "words", lambda size, *, bits=64: (octets if bits == 8 else words)[:size]
    )


@pytest.mark.parametrize("scale", [0.3, 1.0, 40.0])
def test_what_geometric_variables_reach_is_decided_by_all_their_bits(scale, monkeypatch):
    """Every first byte, before and after the gap from which first bytes are read alone."""
    rest = np.random.default_rng(1).integers(0, END, 256, np.uint64)
    octets = np.arange(256, dtype=np.uint8)
    firsts = octets.astype(np.uint64) << np.uint64(56)
    near = rest >> np.uint64(8) | firsts
    for gap in np.unique((scale * np.array([0, 0.5, 3, 5.5, 5.7, 9, 40])).astype(int)):
        far = gap > scale * lazy_noise.FIRST_BYTE
        given(monkeypatch, octets, rest if far else near)
        words = np.append(rest[0] >> np.uint64(8), np.full(255, END)) if far else near
        true = [-scale * np.log((float(w) + 0.5) / 2**64) >= gap for w in words.tolist()]

        found = lazy_noise.reaches(np.full(256, gap), scale)

        assert found.tolist() == true or (gap <= 0 and found.all())


@pytest.mark.parametrize("rest", [0, 1])
@pytest.mark.parametrize(("scale", "gap"), [(40.0, 100), (0.3, 3)])
def test_further_bits_decide_where_the_first_ones_do_not(rest, scale, gap, monkeypatch):
    """All words near the probability of a gap, continued by zeros or by ones."""
    with localcontext(Context(prec=60)):
        edge = int(2**64 * (-gap / Decimal(scale)).exp())
    far = gap > scale * lazy_noise.FIRST_BYTE
    near = [edge + one for one in (-(2**9), -2, -1, 0, 1, 2, 2**9)]
    words = np.array(near, dtype=np.uint64) << np.uint64(8 * far)
    given(monkeypatch, np.zeros(words.size, dtype=np.uint8), words)
    monkeypatch.setattr(samplers, "randbits", lambda size: rest * (2**size - 1))

    found = lazy_noise.reaches(np.full(words.size, gap), scale)

    assert found.tolist() == [one < edge or (one == edge and not rest) for one in near]
