"""Words that begin with zeros, and stops that are drawn by them: their laws, enumerated."""

from collections import Counter
from itertools import product
from math import exp, prod

import numpy as np
import pytest

from dpselect.draws import above_threshold
from dpselect.draws.exact import leading_zeros
from dpselect.draws.exact.leading_zeros import MOST, TRIALS, rates_by_zeros, struck
from support.enumerated import law_of

FEW = 4
"""Trials of which one succeeds in the mean, so few that all outcomes are enumerated."""


def rates():
    return np.array([0, *(-(-FEW // (2**zeros - 1)) for zeros in range(1, MOST + 1))])


def kept_chance(zeros):
    return 2.0**-zeros / -np.expm1(-rates()[zeros] / FEW)


def test_a_word_is_kept_as_often_as_it_begins_with_zeros():
    low, high = (one.astype(float) for one in leading_zeros._ends())
    for zeros in range(1, MOST + 1):
        success = -np.expm1(-rates_by_zeros()[zeros] / TRIALS)
        for end in (low[zeros], high[zeros] + 1):
            assert success * end / 2.0**64 == pytest.approx(2.0**-zeros, rel=1e-9)
    assert low[0] == high[0] == 2.0**64


def test_words_begin_with_zeros_each_on_its_own(monkeypatch):
    """Every set of trials that succeed, and every one of words that are kept."""
    sizes, zeros = np.array([1, 2, 2]), np.array([1, 0, 2])
    units, fails = int((sizes * rates()[zeros]).sum()), exp(-1 / FEW)
    monkeypatch.setattr(leading_zeros, "TRIALS", FEW)
    monkeypatch.setattr(leading_zeros, "rates_by_zeros", rates)
    law = Counter()
    for succeed in product([False, True], repeat=units):
        gaps = np.diff([*np.flatnonzero(succeed), units + 9], prepend=-1) - 1

        def told(size, _, gaps=gaps):
            return np.append(gaps, np.full(max(0, size - gaps.size), 99))

        monkeypatch.setattr(leading_zeros, "geometric", told)
        chance = prod(1 - fails if one else fails for one in succeed)
        for are_kept in product([False, True], repeat=3):
            asked = []

            def kept(of, are_kept=are_kept, asked=asked):
                asked += [
                    kept_chance(z) if at else 1 - kept_chance(z)
                    for z, at in zip(of, are_kept, strict=False)
                ]
                return np.array(are_kept[: of.size])

            monkeypatch.setattr(leading_zeros, "kept", kept)
            drawn = frozenset(zip(*(one.tolist() for one in struck(sizes, zeros)), strict=True))
            # The choices that were not asked for are all there, with chances of a half.
            law[drawn] += chance * prod(asked) * 0.5 ** (3 - len(asked))

    words = [(0, 0, 0.5), (2, 0, 0.25), (2, 1, 0.25)]
    assert sum(law.values()) == pytest.approx(1)
    for begin in product([False, True], repeat=3):
        wanted = {(run, at) for (run, at, _), one in zip(words, begin, strict=True) if one}
        right = prod(p if one else 1 - p for (*_, p), one in zip(words, begin, strict=True))
        assert law[frozenset(wanted | {(1, 0), (1, 1)})] == pytest.approx(right)


class Told:
    """Draws of which the outcomes are asked for: of the row in the middle, others are sure."""

    def __init__(self, ask):
        self.ask, self.zeros = ask, 0

    def geometric(self, size, scale):
        found = np.zeros(size, dtype=int)
        if scale == FEW:
            # Nothing has more trials.
            law = {more: (1 - exp(-1 / FEW)) * exp(-more / FEW) for more in range(9)}
            found[size // 2] = self.ask(law | {9: exp(-9 / FEW)})
        return found

    def kept(self, zeros):
        found = np.ones(zeros.size, dtype=bool)
        if zeros.size:
            self.zeros = int(zeros[zeros.size // 2])
            chance = kept_chance(self.zeros) if self.zeros else 1.0
            found[zeros.size // 2] = self.ask({True: chance, False: 1 - chance})
        return found

    def reached(self, gaps, _, scale):
        found = gaps <= 0
        if gaps.size:
            chance = min(exp(-gaps[gaps.size // 2] / scale), 1.0) * 2.0**self.zeros
            assert chance <= 1 + 1e-12
            found[gaps.size // 2] = self.ask({True: chance, False: 1 - chance})
        return found


@pytest.mark.parametrize(
    ("values", "lowered", "steps"),
    [
        ([-5, -5, -5, -3], [0, 0, 1, 0], 64),
        ([-5, -5, -5, -3], [0, 0, 1, 0], 1),
        ([-6, -6, -3, -3], [1, 0, 4, 0], 1),
        ([-5, -4, -4, 3], [2, 0, 3, 1], 64),
        ([-9, -9, 5, 5], [0, 0, 0, 0], 64),
    ],
)
def test_stops_of_runs_have_the_law_of_the_first_query_above(
    values, lowered, steps, monkeypatch
):
    """The noise on the threshold is given; every other draw is enumerated.

    Before the first query and after the last one are others, which are not asked. The rows
    before and after this one stop at once.
    """
    scale, size = 2.0, len(values)
    values, lowered = np.array([9, *values, 9]), np.array([0, *lowered, 0])
    first, one = 1 + np.flatnonzero(np.diff(values[1:-1], prepend=99)), np.ones(3, dtype=int)
    runs = above_threshold.Runs(
        np.repeat([0, 1, 2], [1, first.size, 1]),
        np.array([1, *first, 1]),
        np.array([99, *values[first], 99]),
        one,
        one + size,
        lowered,
    )
    values, lowered = values[1:-1], lowered[1:-1]
    assert np.asarray(runs)[1, 1:-1].tolist() == (values - lowered).tolist()
    monkeypatch.setattr(above_threshold, "BLOCK", 0)
    monkeypatch.setattr(above_threshold, "STEPS", steps)
    monkeypatch.setattr(above_threshold, "TRIALS", FEW)
    monkeypatch.setattr(above_threshold, "rates_by_zeros", rates)

    def stop(ask):
        told = Told(ask)
        for name in ("geometric", "kept", "reached"):
            monkeypatch.setattr(above_threshold, name, getattr(told, name))
        found = above_threshold.first_above_of_each(runs, 0, 7.0, scale).tolist()
        assert found[::2] == [1, 1]
        return found[1]

    law = law_of(stop)
    above = np.exp(np.minimum(values - lowered, 0) / scale)
    right = above * np.cumprod([1, *(1 - above[:-1])])
    assert [law[1 + at] for at in range(size + 1)] == pytest.approx([*right, 1 - right.sum()])
