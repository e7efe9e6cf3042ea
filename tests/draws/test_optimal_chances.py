"""The largest probabilities of a revelation: both constraints exactly, and no slack."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest

from dpselect.draws.exact.bernoulli import BITS, OptimalChances, reveal, select
from dpselect.draws.exact.inversion import exp_minus

WHOLE = 1 << BITS
FAR = 2000
"""Bits of the power of e that the constraints are checked with."""

LAWS = [
    (0.1, 1e-5), (1.0, 1e-6), (3.0, 0.2), (50.0, 1e-20), (1e4, 1e-30), (1e-3, 0.5),
    (1e-4, 1e-12), (1e-9, 1e-12), (1e-13, 1e-6), (1e-25, 1e-30), (1e-300, 1e-9),
]  # fmt: skip


@pytest.mark.parametrize(("epsilon", "delta"), LAWS)
def test_both_constraints_hold_exactly_between_neighbours(epsilon, delta):
    """At all distances of a short law, else around the turn and the end, and at random ones."""
    law, rng = OptimalChances(epsilon, delta), np.random.default_rng(0)
    near = law.least(WHOLE // 2)
    drawn = [int(share * law.sure) for share in rng.random(40)]
    around = [at + i for at in (0, near, law.sure - 5) for i in range(-3, 5)]
    lower, upper = exp_minus(Fraction(epsilon), FAR)
    paid = int(Fraction(delta) * WHOLE)

    for n in sorted({n for n in [*drawn, *around] if n >= 0}):
        here, there = law[n], law[n + 1]
        assert 0 <= here <= there <= WHOLE
        # Released: there <= e^epsilon here + delta. Not released, the other way round.
        assert (there - paid) * upper <= here << FAR
        assert (WHOLE - here - paid) * lower <= (WHOLE - there) << FAR
    assert law[law.sure] == WHOLE > law[law.sure - 1]


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (2e-3, 1e-6), (2.0, 0.01)])
def test_it_is_the_largest_solution_of_the_constraints(epsilon, delta):
    """Equal to the recursion, one distance after the other, to 12 digits."""
    law, largest, grown = OptimalChances(epsilon, delta), [Fraction()], Fraction(exp(epsilon))
    while largest[-1] < 1:
        last = largest[-1]
        one = min(grown * last + Fraction(delta), 1 - (1 - last - Fraction(delta)) / grown, 1)
        largest.append(Fraction(int(one * 2**200), 2**200))

    assert law.sure in {len(largest) - 1, len(largest)}
    for n in range(0, len(largest), 1 + len(largest) // 97):
        assert law[n] <= largest[n] * WHOLE * (1 + Fraction(1, 10**12))
        assert law[n] >= largest[n] * WHOLE * (1 - Fraction(1, 10**12))


def test_a_larger_delta_by_one_part_in_ten_to_the_twelfth_is_caught():
    epsilon, delta = 0.1, 1e-5
    law = OptimalChances(epsilon, delta * (1 + 1e-12))

    assert law[1] > Fraction(delta) * WHOLE


def test_coins_of_a_law_that_is_too_long_for_a_table():
    """Unseeded: each side of a fair coin misses 60 draws once in 10^18."""
    law = OptimalChances(1e-12, 1e-15)
    half = law.least(WHOLE // 2)

    held = select(np.array([0] * 60 + [half] * 60 + [2**62] * 60), law)

    assert not held[:60].any()
    assert 0 < held[60:120].sum() < 60
    assert held[120:].all()
    assert reveal((7, 2**70), law) == 7
    assert reveal((7, 0), law) is None
