"""Places with shares in many rows: their scores, and draws by the law of permute-and-flip."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from dpselect.draws import PermuteAndFlip, place_flip
from dpselect.draws.exact import bits
from dpselect.draws.place_flip import PlaceRows, draw_places
from support.halves import distance, ranks_of_shares

SHARES, BEYOND = 4, (0.5, 0.0)


def rows_of(weights, fraction=0.3, *, first=0, last=None, bound=0.7):
    weights = np.asarray(weights, dtype=float)
    number, places = weights.shape
    last = places - 1 if last is None else last
    first, last, fraction, bound = (np.full(number, x) for x in (first, last, fraction, bound))
    return PlaceRows(weights, first, last, fraction, BEYOND, bound, SHARES)


def by_definition(weights, fraction, bound):
    """Scores of all places with all shares, less the best, in fractions."""
    weights = [Fraction(one) for one in weights]
    before, after = map(Fraction, BEYOND)
    wanted = before + Fraction(fraction) * (sum(weights) - before - after)
    off = [
        distance(wanted, *ends)
        for at, held in enumerate(weights)
        for ends in ranks_of_shares(sum(weights[:at], Fraction(0)), held, SHARES)
    ]
    return [float((min(off) - one) / Fraction(bound)) for one in off]


@pytest.mark.parametrize(
    "weights", [[0, 3, 0, 5], [0.25, 2, 7, 0.5], [0, 0, 0], [2**45, 1, 0.1, 2**46, 0.7]]
)
@pytest.mark.parametrize("fraction", [0.1, 0.5, 1.0])
def test_scores_are_distances_from_the_wanted_rank(weights, fraction):
    middle = [float(int(one)) for one in weights[1:-1]]
    weights = [float(weights[0]), *middle, float(weights[-1])]
    # Other rows, and places that a row does not have, change nothing.
    padded = np.zeros((3, len(weights) + 2))
    padded[1, 1:-1], padded[0], padded[2] = weights, 11, 0
    held = rows_of(padded, fraction, first=1, last=len(weights))

    found = held.scores()[1]

    np.testing.assert_allclose(
        found, by_definition(weights, fraction, 0.7), rtol=1e-12, atol=1e-13
    )


def test_weights_need_not_be_integers():
    weights = [0.5, 0.25, 0, 1.5, 0.125]
    found = rows_of([weights], 0.3).scores()[0]

    np.testing.assert_allclose(found, by_definition(weights, 0.3, 0.7), rtol=1e-12, atol=1e-13)


def far_share(rows, epsilon):
    """Return the probability of the places of which first bytes are drawn alone."""
    [scores] = rows.scores()
    law = PermuteAndFlip().probabilities(scores, epsilon).reshape(-1, SHARES + 1)
    return law, place_flip._far(rows, rows.ahead().high, rows.valid, epsilon)[0]


@pytest.mark.parametrize("epsilon", [0.05, 0.7, 2.0, 30.0])
def test_draws_follow_the_law_near_and_far(epsilon):
    """Far places, of which most noise is not read, come as often as the law says."""
    number, weights = 20_000, np.where(np.arange(50) % 5 == 0, 3, 1)
    law, far = far_share(rows_of(weights[None]), epsilon)
    drawn = np.zeros_like(law)
    held = rows_of(np.tile(weights, (number, 1)))
    np.add.at(drawn, draw_places(held, epsilon), 1)
    if epsilon == 0.7:
        assert far.sum() > 20
        assert law[far].sum() * number > 20

    expected, seen = number * law.ravel(), drawn.ravel()
    often = expected > 20
    rest = [one[~often].sum() for one in (seen, expected)]
    assert abs(rest[0] - rest[1]) <= 5 * np.sqrt(rest[1]) + 1
    chances = expected[often] * seen[often].sum() / expected[often].sum()
    assert often.sum() == 1 or chisquare(seen[often], chances).pvalue > 1e-6
    if epsilon == 0.7:
        off = drawn[far].sum() - number * law[far].sum()
        assert abs(off) <= 5 * np.sqrt(number * law[far].sum())


def test_of_equal_scores_the_one_with_the_least_word_is_drawn(monkeypatch):
    """Every place with a share has a word of its own, and its last bits are read."""
    number, places, rng = 4, 5, np.random.default_rng(4)
    words = rng.integers(2**61, 2**63, (number, places * (SHARES + 1)), np.uint64)
    # The two least ones differ in their last 40 bits alone.
    for row in words:
        two = rng.choice(row.size, 2, replace=False)
        row[two] = 2**60 + rng.integers(0, 2**40, 2, np.uint64)
    monkeypatch.setattr(bits, "words", lambda size: words.ravel()[:size])

    place, share = draw_places(rows_of(np.zeros((number, places))), 1.0)

    assert (place * (SHARES + 1) + share).tolist() == words.argmin(axis=1).tolist()


def test_a_row_draws_only_places_that_it_has():
    weights = np.ones((500, 9))
    held = rows_of(weights, first=3, last=5)
    held.weights[:, :3] = held.weights[:, 6:] = 0

    places, shares = draw_places(held, 1e-12)

    assert set(places.tolist()) == {3, 4, 5}
    assert set(shares.tolist()) == set(range(SHARES + 1))
