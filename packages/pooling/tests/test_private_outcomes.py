"""Noise after pooling and before it, with its price."""

from fractions import Fraction

import numpy as np
import pytest

import dpselect as dp
from dpselect_pooling import PooledOutcomes, ReplacedSamples, array_2d
from support.refusals import refused

DESIGN = array_2d(9, rows=3, columns=3)
OUTCOMES = np.arange(6) < 2


def test_flips_follow_their_law():
    """Unseeded: five standard deviations."""
    design = np.ones((4000, 2), dtype=bool)
    query = PooledOutcomes(matrix=design, flip=0.1, neighbours="substitute")
    released = query.release(np.zeros(4000, dtype=bool))

    assert abs(sum(released.answer) - 400) < 5 * (4000 * 0.09) ** 0.5
    assert released.exact


@pytest.mark.parametrize("flip", [0.3, 1e-17, 5e-324, Fraction(1, 3), np.float32(0.1)])
def test_a_flip_is_drawn_with_exactly_its_chance(monkeypatch, flip):
    """The chance that the sampler is given is the fraction that the number is."""
    chances = []

    def all_of_them(bits, chance):
        chances.append(chance)
        return [not bit for bit in bits]

    monkeypatch.setattr("dpselect.draws.exact.bernoulli.flipped", all_of_them)
    released = PooledOutcomes(matrix=DESIGN, flip=flip, neighbours="swap").release(OUTCOMES)

    exact = flip if isinstance(flip, Fraction) else Fraction(float(flip))
    assert chances == [exact]
    assert released.answer == tuple(~OUTCOMES)


def test_replaced_samples_are_drawn_from_all():
    assert ReplacedSamples(people=5, beta=5).draw().answer == (0, 1, 2, 3, 4)
    drawn = ReplacedSamples(people=100, beta=7).draw().answer
    assert len(drawn) == len(set(drawn)) == 7
    assert list(drawn) == sorted(drawn)


@pytest.mark.parametrize(("people", "beta"), [(10, 3), (7, 2), (3, 1), (49, 48), (8, 2)])
def test_the_delta_of_replaced_samples_is_rounded_up(people, beta):
    delta = ReplacedSamples(people=people, beta=beta).plan.delta

    assert Fraction(delta) >= Fraction(people - beta, people)
    assert delta == pytest.approx(1 - beta / people, rel=1e-15)


def test_replacing_nobody_is_not_charged_for():
    budget = dp.Budget(1.0, delta=0.8, neighbours=dp.Neighbours.SWAP, composition="sum")

    with refused("delta"):
        ReplacedSamples(people=10, beta=0).draw(budget=budget)
    assert budget.entries == ()
