"""Draws of the largest noisy scores follow the laws, at the price that is stated."""

from collections import Counter
from fractions import Fraction
from itertools import permutations
from random import Random

import numpy as np
import pytest
from scipy import stats

from dpselect.draws import Exponential, LaplaceNoisyMax, PermuteAndFlip, grid
from dpselect.draws.exact import samplers, selection
from dpselect.draws.exact.lazy_noise import CHUNK, Noise
from support.opendp_samplers import opendp_samplers
from support.rows import Listed
from support.strategies import every_draw

SCORES = np.array([0.0, 1.0, 3.0, 3.0])


def pairs_by_rounds(draw, epsilon):
    """The law of two rounds without replacement at epsilon / 2 each."""
    law = {}
    for first, second in permutations(range(SCORES.size), 2):
        rest = np.delete(np.arange(SCORES.size), first)
        one = draw.probabilities(SCORES, epsilon / 2)[first]
        two = draw.probabilities(SCORES[rest], epsilon / 2)[list(rest).index(second)]
        law[first, second] = one * two
    return law


def chi_square(observed, law, draws):
    expected = {pair: draws * p for pair, p in law.items()}
    return stats.chisquare(
        [observed[pair] for pair in expected], list(expected.values())
    ).pvalue


DRAWS, EPSILON = 10_000, 2.0
FALSE_ALARM = 1e-6


@pytest.mark.slow
@every_draw
def test_draws_of_two_are_two_rounds_without_replacement(draw):
    """Unseeded. The first of the two follows the law of a draw of one at half the epsilon."""
    observed = Counter(tuple(draw.sample(SCORES, EPSILON, 2)) for _ in range(DRAWS))

    assert chi_square(observed, pairs_by_rounds(draw, EPSILON), DRAWS) > FALSE_ALARM


@pytest.mark.slow
@every_draw
def test_samplers_of_opendp_in_place_of_our_own_have_the_same_law(draw):
    with opendp_samplers():
        observed = Counter(draw.sample(SCORES, EPSILON, 1)[0] for _ in range(1000))

    law = dict(enumerate(draw.probabilities(SCORES, EPSILON)))
    assert chi_square(observed, law, 1000) > FALSE_ALARM


@pytest.mark.parametrize("few", [0, SCORES.size])
@pytest.mark.parametrize("epsilon", [1e-3, 0.7, 3.0])
def test_noise_is_made_for_what_a_step_moves_of_scores_on_the_grid(epsilon, few, monkeypatch):
    """Two scores move apart by twice that; each of k draws costs its part. Rounded up."""
    monkeypatch.setattr(selection, "SCALARS", few)
    made = []
    for name in ("bounds", "bounds_of"):
        known = getattr(selection, name)
        monkeypatch.setattr(
            selection, name, lambda noise, *of, by=known: made.append(of[1]) or by(noise, *of)
        )
    draws = {
        selection.top_k_exponential_noise: 4 + 3 + 2 if few else 3,
        selection.top_k_laplace_noise: 4 + 3 + 2 if few else 3,
        selection.top_k_gumbel_noise: 4 if few else 1,
    }

    for draw, times in draws.items():
        draw(SCORES, epsilon, 3)
        assert len(made) == times
        for scale in made:
            cost = 2 * grid.SENSITIVITY * 3 / Fraction(scale)
            assert cost <= Fraction(epsilon) < cost * (1 + Fraction(1, 2**50))
        made.clear()
    selection.largest_of_each(Listed(np.tile(SCORES, (2, 1))), epsilon)
    [scale] = made
    assert scale == selection.scale_for(epsilon, 1)


END = 2**64 - 1


@pytest.mark.parametrize("noise", Noise)
def test_few_are_drawn_as_many_are(noise, monkeypatch):
    """The same of the same bits, by numbers of Python and by arrays, also of equal words."""
    random = Random(1)  # noqa: S311 -- cases, no noise
    some = [0, 1, 2**60, 2**60 + 1, END - 1, END]
    for case in range(200):
        n, scale = random.randint(1, 6), random.choice([0.75, 7.3, 2.0**21])
        words = [random.choice([*some, random.getrandbits(64)]) for _ in range(2 * n)]
        given = np.array(words, dtype=np.uint64).reshape(2, n)[: noise.uniforms]
        numbers = np.array([int(scale * random.choice([0, 0, 1, 3])) for _ in range(n)])
        monkeypatch.setattr(samplers, "words", lambda *_, given=given: given)
        for k in range(1, n + 1):
            drawn = []
            for few in (0, n):
                # The same further bits for both.
                monkeypatch.setattr(samplers, "randbits", Random(case).getrandbits)  # noqa: S311
                monkeypatch.setattr(selection, "SCALARS", few)
                drawn.append(selection._largest(noise, numbers, scale, k))
            assert drawn[0] == drawn[1]


LARGE, USUAL = 2**20, 2**63


def give(monkeypatch, winners):
    """Let the noise of one number in each call be the largest; None for no number."""
    winners = iter(winners)
    asked = []

    def words(uniforms, size):
        asked.append(size)
        given, winner = np.full((uniforms, size), USUAL, np.uint64), next(winners)
        if winner is not None:
            given[0, winner] = LARGE
        return given

    monkeypatch.setattr(samplers, "words", words)
    return asked


@every_draw
@pytest.mark.parametrize("place", [5, CHUNK - 1, CHUNK, 2 * CHUNK + 7, 3 * CHUNK])
def test_every_block_of_scores_has_noise_of_its_own(monkeypatch, draw, place):
    winners = [place % CHUNK if block == place // CHUNK else None for block in range(4)]
    asked = give(monkeypatch, winners)

    assert draw.sample(np.zeros(3 * CHUNK + 1), 1.0, 1) == [place]
    assert asked == [CHUNK] * 3 + [1]


@pytest.mark.parametrize("draw", [PermuteAndFlip(), LaplaceNoisyMax()], ids=lambda d: d.name)
def test_every_round_has_noise_of_its_own(monkeypatch, draw):
    """The numbers count those that are left: 0 1 2 3, then 0 1 3, then 1 3."""
    asked = give(monkeypatch, [2, 0, 1])

    assert draw.sample(np.zeros(4), 1.0, 3) == [2, 0, 3]
    assert asked == [4, 3, 2]


@pytest.mark.parametrize(("noise", "drawn"), [((5.2, 5.9), 0), ((5.2, 6.1), 1), ((6, 5), 0)])
def test_equal_integers_go_to_the_earlier_one(monkeypatch, noise, drawn):
    """Laplace noise is rounded down to integers, which floats alone do not tell."""
    scale = 10.0
    words = np.exp(-np.array([[one + 0.01 for one in noise], [0.3, 0.3]]) / scale) * 2.0**64
    monkeypatch.setattr(samplers, "words", lambda *_: words.astype(np.uint64))

    assert LaplaceNoisyMax().sample(np.zeros(2), 2 * grid.SENSITIVITY / scale, 1) == [drawn]


def test_rounds_of_the_exponential_mechanism_share_their_noise(monkeypatch):
    asked = give(monkeypatch, [2])

    assert Exponential().sample(np.array([1.0, 9, 0, 5]), 100.0, 3) == [1, 3, 2]
    assert asked == [4]


@every_draw
def test_logarithms_of_a_law_do_not_underflow(draw):
    scores = np.array([0.0, -3.0, 1.0, 1.0])

    assert np.exp(draw.log_probabilities(scores, 1.0)) == pytest.approx(
        draw.probabilities(scores, 1.0)
    )
    far = draw.log_probabilities(np.array([0.0, -1e9, 0.0]), 2.0)
    assert far[1] == pytest.approx(-1e9, rel=1e-8)
