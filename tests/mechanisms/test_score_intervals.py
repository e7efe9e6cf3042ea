"""Intervals of noisy scores: their exact coverage over all noise."""

from itertools import product

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.draws.sequence import DiscreteGaussian, DiscreteLaplace
from dpselect.mechanisms.score_intervals import ScoreIntervals
from support.noise import laplace

REACH = 13
NOISES = [DiscreteLaplace(0.9), DiscreteGaussian(1.5)]
EVERY = np.array(list(product(range(-REACH, REACH + 1), repeat=3)))


def misses(scores, noise, k, reach, lead, above=None):
    """Return the probability that an interval misses, and that a sure one is not a best one.

    Over every noise of three scores up to a reach; the rest counts as a hit.
    """
    scores = np.array(scores)
    chance = noise.mass(EVERY.astype(float)).prod(axis=1)
    noisy = scores + EVERY
    order = np.argsort(-noisy, axis=1, kind="stable")
    ranked = np.take_along_axis(noisy, order, axis=1)
    true = scores[order]
    if above is None:
        released = np.arange(3) < k
        best = (scores[None] > scores[:, None]).sum(axis=1)[order] < k
        following = ranked[:, k, None] if k < 3 else -np.inf
    else:
        released, best, following = ranked >= above, true >= above, above
    misses = released & ((true < ranked - reach[0]) | (true > ranked + reach[1]))
    wrong = released & (ranked - following >= lead) & ~best
    return chance @ misses.any(axis=1), chance @ wrong.any(axis=1)


def worst(noise, k, *, probability=0.9, above=None, low=0, high=0, lead=0):
    """Return the largest of both probabilities over scores, with shifted bounds."""
    made = ScoreIntervals(probability, noise, 1.0, 0, 3, None if above is not None else k)
    below, over = made.reach
    reach = below + low, over + high
    ahead = (made.reach[0] if above is not None else made.lead) + lead
    every = [
        misses(one, noise, k, reach, ahead, above)
        for one in [*product((0, 1, 4), repeat=3), (0, 0, 40), (0, 40, 40), (40, 40, 40)]
    ]
    return np.max(every, axis=0)


@pytest.mark.parametrize("noise", NOISES, ids=["laplace", "gaussian"])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("probability", [0.5, 0.9, 0.95])
def test_what_is_said_is_right_with_its_probability(noise, k, probability):
    missed, wrong = worst(noise, k, probability=probability)

    assert missed <= 1 - probability
    assert wrong <= 1 - probability


@pytest.mark.parametrize("noise", NOISES, ids=["laplace", "gaussian"])
@pytest.mark.parametrize("above", [-1, 0, 3])
def test_what_is_said_from_a_threshold_on_is_right(noise, above):
    assert (worst(noise, None, above=above) <= 0.1).all()


def test_one_step_less_on_either_side_would_miss_too_often():
    """Below where all scores are equal, and above where those released are far ahead."""
    noise, missed = NOISES[0], 0.1
    made = ScoreIntervals(1 - missed, noise, 1.0, 0, 3, 1)
    far = 10**6

    assert misses((0, 0, 0), noise, 1, (made.reach[0], far), far)[0] <= missed / 2
    assert misses((0, 0, 0), noise, 1, (made.reach[0] - 1, far), far)[0] > missed / 2
    made = ScoreIntervals(1 - missed, noise, 1.0, 0, 3, 2)
    assert misses((40, 40, 0), noise, 2, (far, made.reach[1]), far)[0] <= missed / 2
    assert misses((40, 40, 0), noise, 2, (far, made.reach[1] - 1), far)[0] > missed / 2


@pytest.mark.parametrize("number", [1, 3])
def test_intervals_of_fresh_noise_hold_at_once_given_the_selection(number):
    """No shorter ones of whole numbers would, by the law of the noise."""
    rows = pl.DataFrame({"g": [*range(number)] * 9, "k": [0] * 9 * number})
    query = dp.TopKeys(
        column="k", k=2, candidates=[0, 1, 2, 3], by="g", groups=range(number), interval=0.9,
        epsilon=1.0, neighbours="add-remove", mechanism="permute-and-flip", counts_share=0.5,
    )  # fmt: skip
    release = query.release(rows)

    def holds(reach):
        return laplace(release.scale, reach).sum() ** (2 * number)

    [width] = {high - low for low, high in release.interval}
    assert release.certain is None
    assert holds(width // 2) >= 0.9 > holds(width // 2 - 1)
    assert [sum(ends) / 2 for ends in release.interval] == list(release.counts)


def test_under_a_cap_intervals_are_of_the_counted_rows_and_nothing_is_sure():
    """A hundred persons have a, b, c and d, of which one counts; forty have z."""
    held = [(i, key) for i in range(100) for key in "abcd"]
    rows = pl.DataFrame(held + [(i, "z") for i in range(100, 140)], ["u", "k"], orient="row")
    asked = {"column": "k", "candidates": [*"abcdz"], "k": 2, "interval": 0.95}
    price = {"epsilon": 200.0, "neighbours": "add-remove", "mechanism": "noisy-sequence"}
    one_each = dp.TopKeys(user="u", max_per_user=1, **asked, **price).release(rows)
    every_row = dp.TopKeys(**asked, **price).release(rows)

    assert one_each.certain is None
    assert "certain" not in {**one_each.table(), **one_each.to_dict()}
    assert "certain" not in str(one_each)
    said = "hold the numbers of the counted rows alone (at most 1 of each 'u'), all at once"
    assert said in str(one_each)
    assert said in one_each.to_dict()["meaning"]
    assert "of these records" in every_row.meaning
    assert len(every_row.certain) == 2
