"""Ranges of positions: the exact law by pieces, and the draw bit by bit."""

from fractions import Fraction
from itertools import accumulate
from math import exp

import numpy as np
import pytest
from scipy import stats

from dpselect.draws import range_exponential
from dpselect.draws.exact import bits
from dpselect.draws.exact.inversion import resolve
from dpselect.draws.range_exponential import Pieces, draw_position

PIECES = [
    Pieces(np.array([1, 4, 5, 9]), np.array([0, 1, 3, 3]), np.array([1, 3, 3, 4]), wanted)
    for wanted in (Fraction(0), Fraction(5, 2), Fraction(7, 3), Fraction(9))
]
ALONE = Pieces(np.array([6]), np.array([0]), np.array([40]), Fraction(20))
DECAYS = [Fraction(1, 5), Fraction(3), Fraction(50), Fraction(10**12)]


def by_definition(pieces, decay):
    """Return the probability of every position, from its own distance."""
    far = [
        max(low - pieces.wanted, pieces.wanted - high)
        for low, high in zip(pieces.low.tolist(), pieces.high.tolist(), strict=True)
    ]
    each = [exp(-decay * (one - min(far))) for one in far]
    weights = np.repeat(each, pieces.sizes)
    return weights / weights.sum()


@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("pieces", [*PIECES, ALONE])
def test_the_law_is_that_of_every_position(pieces, decay):
    law = np.repeat(pieces.probabilities(decay) / pieces.sizes, pieces.sizes)

    assert law == pytest.approx(by_definition(pieces, decay))


@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("pieces", [*PIECES, ALONE])
def test_bits_decide_with_the_probability_of_the_law(pieces, decay):
    """All numbers of 10 bits: what is undecided is all that a piece may lack."""
    weights = range_exponential.weights(pieces, decay, 10)
    found = [resolve(weights, uniform, 10) for uniform in range(2**10)]
    undecided = found.count(None) / 2**10

    assert undecided <= 2 * pieces.sizes.size / 2**10
    ends = accumulate(pieces.sizes.tolist(), initial=0)
    for piece, (start, size) in enumerate(zip(ends, pieces.sizes.tolist(), strict=False)):
        chance = by_definition(pieces, decay)[start : start + size].sum()
        decided = found.count(piece) / 2**10
        assert decided - 1e-12 <= chance <= decided + undecided + 1e-12


def test_pieces_that_are_far_away_are_enclosed_together():
    """A million pieces, all but 200 of which have less than e^-200."""
    counts = np.arange(10**6)
    pieces = Pieces(counts + 1, counts, counts, Fraction(500_000))
    weights = range_exponential.weights(pieces, Fraction(2), 40)

    assert 100 < len(weights.least) < 200
    assert weights.first == 500_000 - (len(weights.least) - 1) // 2
    sides = 1 + 2 * exp(-2) / (1 - exp(-2))
    nearest = 500_000 - weights.first + 1
    true = weights.least[-1] * exp(-2 * nearest) / (1 - exp(-2)) / sides
    outside = [weights.most[0], weights.beyond]
    assert all(true < one < weights.least[-1] >> 40 for one in outside)


@pytest.mark.parametrize(("piece", "position"), [(0, 0), (1, 3), (2, 4), (3, 8)])
def test_positions_of_a_piece_are_drawn_uniformly(monkeypatch, piece, position):
    """With 0 the last one of the piece is drawn, and the number of all is given."""
    below = []
    monkeypatch.setattr(bits, "randbelow", lambda n: below.append(n) or 0)
    monkeypatch.setattr(range_exponential.inversion, "draw", lambda *_: piece)

    assert draw_position(PIECES[0], Fraction(1)) == position
    assert below == [PIECES[0].sizes[piece]]


def test_draws_follow_the_law():
    """Unseeded: false alarm 1 in 10^6; a scale that is half as large is seen always."""
    pieces, draws = PIECES[1], 1000
    drawn = [draw_position(pieces, Fraction(1)) for _ in range(draws)]
    expected = draws * by_definition(pieces, Fraction(1))

    assert stats.chisquare(np.bincount(drawn, minlength=9), expected).pvalue > 1e-6
    wrong = by_definition(pieces, Fraction(1, 2))
    moved = draws * ((wrong - expected / draws) ** 2 / (expected / draws)).sum()
    assert stats.ncx2.sf(stats.chi2.isf(1e-6, 8), 8, moved) > 0.99
