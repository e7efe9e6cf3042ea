"""Several draws: each among the candidates that are left, however far behind they are."""

import numpy as np
import pytest

import dpselect as dp
from dpselect.draws import grid
from dpselect.draws.exact.samplers import intercepted
from dpselect.scaling import dampened
from support.releases.core import mechanisms_at

ONE = dp.GlobalSensitivity(1, "add-remove", l1=1)
MECHANISMS = [
    dp.AnchoredLocalDampening(epsilon=200, anchor=1e12),
    *mechanisms_at(200, anchor=3e9),
]


def drawn(mechanism, objective, k):
    """Every candidate is ahead of the next by noise that occurs once in e^-30 draws."""
    return {mechanism.release(objective, k=k).answer for _ in range(20)}


def test_bounds_that_differ_are_compared_among_those_that_are_left():
    bounds = dp.GlobalSensitivity([1, 1, 10], "add-remove")
    objective = dp.Objective([100, 90, 80], bounds)

    assert drawn(dp.GeneralizedExponential(epsilon=2000, t=0), objective, 3) == {(0, 1, 2)}


@pytest.mark.parametrize("mechanism", MECHANISMS[:-1], ids=repr)
def test_every_round_is_given_scores_that_a_neighbour_moves_by_one(mechanism):
    """On both sides of the place where scores begin to be cut and rounds to be scaled.

    The numbers that two neighbours' rounds draw from differ, up to a common translation, by
    the sensitivity that the noise is made for.
    """

    def given(scores, first):
        calls = []

        def watch(_name, _draw, args, _kwargs):
            calls.append(args[0])
            # The first round of one pass draws both.
            return (
                [first, 1 - first][: args[2]]
                if args[2] > 1
                else [0 if len(calls) > 1 else first]
            )

        with intercepted(watch):
            mechanism.release(dp.Objective(scores, ONE), k=2)
        if len(calls) == 1:
            calls.append(np.delete(calls[0], first))
        return [grid.to_grid(one).astype(object) for one in calls]

    for base in (2.0**29, 2.0**30, 2.0**31):
        here = [0.0, base, base - 7, 3.0]
        for moves in ([1, 1, 1, 1], [0, 1, 0, 1], [1, 0, 1, 0], [-1, 1, -1, 1]):
            there = [one + move for one, move in zip(here, moves, strict=True)]
            for first in (0, 1):
                for one, other in zip(given(here, first), given(there, first), strict=True):
                    moved = one - other
                    assert max(moved) - min(moved) <= 2 * grid.SENSITIVITY


@pytest.mark.parametrize("size", [4, 1000])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_a_noisy_sequence_releases_large_scores_whole(size, noise):
    """Before: all scores above 2^37/n times l1 were one number."""
    scores = [2e9, 3e12, 2.0**80, 6e5, *[0.0] * (size - 4)]
    delta = {"delta": 1e-6} if noise == "gaussian" else {}
    mechanism = dp.NoisySequence(epsilon=200, noise=noise, **delta)
    found = mechanism.release(dp.Objective(scores, ONE), k=4)

    assert found.answer == (2, 1, 0, 3)
    for noisy, place in zip(found.noisy_scores, found.answer, strict=True):
        assert abs(noisy - scores[place]) <= 1 + 2.0**-52 * scores[place]


def test_dampened_scores_are_continuous_where_they_are_brought_near():
    """By one vote more they move by one at most, all together and up to a translation."""
    for sign in (1, -1):
        scores = [sign * (2.0**29 + step) for step in (0, 7, 300)]
        here = dampened(dp.Objective(scores, ONE))
        there = dampened(dp.Objective([one - 400 for one in scores], ONE))
        assert np.ptp(here - there) <= 2.0**-20
