"""Bernoulli draws: their probabilities on the edges, by bits that are given."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import exp

import numpy as np
import pytest

from dpselect.draws.exact import samplers
from dpselect.draws.exact.bernoulli import BITS, TABLE, OptimalChances, flipped, reveal, select
from dpselect.draws.exact.inversion import exp_minus

LOW_BITS = BITS - 64


@dataclass(frozen=True)
class Listed:
    """Probabilities that are listed; the last one is 1."""

    chances: tuple[int, ...]

    @property
    def sure(self):
        return len(self.chances) - 1

    def __getitem__(self, count):
        return self.chances[count]


@dataclass(frozen=True)
class Long:
    """The same, with 1 so far away that no table has all of them."""

    few: Listed
    sure = TABLE + 1

    def __getitem__(self, count):
        return self.few[count] if count < self.few.sure else 1 << BITS


CHANCES = Listed((0, 1, 2**LOW_BITS, 2**255, 3 * 2**LOW_BITS + 2**191 + 7, 2**256 - 1, 2**256))


@pytest.mark.parametrize("chances", [CHANCES, Long(CHANCES)], ids=["table", "by value"])
@pytest.mark.parametrize("count", range(6))
def test_a_count_is_selected_below_its_probability_to_the_last_bit(monkeypatch, chances, count):
    """By every 256-bit number next to the edge, of which the upper 64 come first."""
    chance = CHANCES[count]
    for number in {chance - 2**LOW_BITS, chance - 1, chance, chance + 1, chance + 2**LOW_BITS}:
        if 0 <= number < 2**BITS:
            word, rest = number >> LOW_BITS, number % 2**LOW_BITS
            monkeypatch.setattr(samplers, "words", partial(np.full, fill_value=np.uint64(word)))
            monkeypatch.setattr(samplers, "randbits", {LOW_BITS: rest}.get)

            assert select(np.array([count, count]), chances).tolist() == [number < chance] * 2


@pytest.mark.parametrize("chances", [CHANCES, Long(CHANCES)], ids=["table", "by value"])
def test_every_count_has_a_word_of_its_own(monkeypatch, chances):
    counts = np.array([3, 0, 3, 6, 9, 3])
    words = np.array([0, 0, 2**63, 2**64 - 1, 2**64 - 1, 2**63 - 1], dtype=np.uint64)
    monkeypatch.setattr(samplers, "words", lambda n: words[:n])
    monkeypatch.setattr(samplers, "randbits", lambda _: 0)

    assert select(counts, chances).tolist() == [True, False, False, True, True, True]


def test_tables_hold_all_probabilities_whatever_the_counts():
    """A timer could tell which counts there are."""
    asked = []

    class Asked(OptimalChances):
        def __getitem__(self, count):
            asked.append(count)
            return super().__getitem__(count)

    chances = Asked(1.0, 1e-6)
    for counts in ([0], [3, 3], range(100)):
        asked.clear()
        select(np.array(counts), chances)
        assert asked[-chances.sure - 1 :] == list(range(chances.sure + 1))


@pytest.mark.parametrize("lead", range(7))
def test_a_leader_is_revealed_below_its_probability_to_the_last_bit(monkeypatch, lead):
    for number, revealed in ((CHANCES[lead] - 1, 5), (CHANCES[lead], None)):
        if 0 <= number < 2**BITS:
            monkeypatch.setattr(samplers, "randbits", {BITS: number}.get)

            assert reveal((5, lead), CHANCES) == revealed
    assert reveal((5, 100), CHANCES) == 5


def test_bits_are_flipped_with_the_chance_as_a_fraction(monkeypatch):
    drawn = iter([0, 2, 3, 6])
    below = []
    monkeypatch.setattr(samplers, "randbelow", lambda n: below.append(n) or next(drawn))

    assert flipped([True, False, True, False], Fraction(3, 7)) == [False, True, True, False]
    assert below == [7] * 4


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
