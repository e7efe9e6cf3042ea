"""Ranges of candidates: the exact law of the listed candidates, drawn by pieces."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dpselect as dp
from dpselect.draws import pieces as exact
from dpselect.errors import DataError, ParameterError
from dpselect.percentiles import Range, percentile_rank, plan_percentiles, release_percentiles
from dpselect.percentiles.reading import Source

HALVES = Range(0, 3, step=0.5)
POINTS = np.arange(7) / 2
BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
EPSILON = 1.5


def law(values, p, relation, candidates=HALVES):
    """Return the law of every candidate of a range."""
    known = Source(values, None, None, relation, "repair").values()
    pieces = candidates.pieces(known, p=p)
    share = Fraction(p) / 100
    bound = max(share, 1 - share) if relation is BOTH[0] else 1
    sizes = pieces.sizes
    return np.repeat(pieces.law(Fraction(EPSILON) / (2 * bound)) / sizes, sizes)


@given(
    values=st.lists(st.sampled_from([-1, 0, 0.2, 0.5, 1, 1.3, 2.9, 3, 4, np.nan]), max_size=8),
    p=st.integers(1, 100),
    relation=st.sampled_from(BOTH),
)
def test_the_law_is_that_of_the_listed_candidates(values, p, relation):
    if relation is BOTH[1] and not values:
        return
    known = Source(values, None, None, relation, "repair").values()
    wanted = p / 100 * (known.size + 1)
    below = (known[:, None] < POINTS).sum(axis=0)
    upto = (known[:, None] <= POINTS).sum(axis=0)
    bound = percentile_rank([1], p=p, candidates=[1], neighbours=relation).sensitivity
    listed = dp.Objective(np.minimum(upto - wanted, wanted - below), bound)
    expected = dp.ExponentialMechanism(epsilon=EPSILON).probabilities(listed)

    assert law(values, p, relation) == pytest.approx(expected)


@pytest.mark.parametrize("p", [25, 50, 90])
def test_it_is_private_on_every_small_database(p):
    values = [0, 0.25, 1, 3]
    universe = [x for n in range(5) for x in combinations_with_replacement(values, n)]
    report = dp.audit.check_private(lambda x: law(x, p, BOTH[0]), universe, BOTH[0], EPSILON)

    assert report.ok, str(report)


@pytest.mark.slow
@pytest.mark.parametrize("decay", [Fraction(1, 5), Fraction(3), Fraction(50)])
@pytest.mark.parametrize("values", [[1, 1, 2.2, 3], [0.1] * 9, [], [9.0] * 40], ids=str)
def test_bits_decide_with_the_probability_of_the_law(values, decay):
    """All numbers of 10 bits: what is undecided is all that a piece may lack."""
    pieces = HALVES.pieces(np.array(values, dtype=float), p=50)
    found = [exact.decided(pieces, decay, uniform, 10) for uniform in range(2**10)]
    undecided = found.count(None) / 2**10

    assert undecided <= 2 * pieces.sizes.size / 2**10
    for piece, chance in enumerate(pieces.law(decay)):
        decided = found.count(piece) / 2**10
        assert decided - 1e-12 <= chance <= decided + undecided + 1e-12


@pytest.mark.slow
def test_releases_follow_the_law():
    """Unseeded: false alarm 1 in 10^6."""
    values, draws = np.array([0.5, 1, 1, 2.7]), 3000
    pieces = HALVES.pieces(values, p=50)
    drawn = [exact.draw_position(pieces, Fraction(EPSILON)) for _ in range(draws)]
    expected = draws * law(values, 50, BOTH[0])

    assert stats.chisquare(np.bincount(drawn, minlength=7), expected).pvalue > 1e-6


def test_a_trillion_candidates():
    asked = {"candidates": Range(0, 1e6, step=1e-6), "epsilon": 50.0}
    answer = release_percentiles(
        np.arange(100.0), p=[10, 90], **asked, neighbours="add-remove"
    ).answer

    assert answer == sorted(answer) or answer[0] <= answer[1]
    assert abs(answer[0] - 9) < 5
    assert abs(answer[1] - 90) < 5


def test_candidates_are_exact_decimals():
    tenths = Range(0.1, 0.7, step=0.1)

    assert len(tenths) == 7
    assert [tenths[i] for i in range(7)] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    assert tenths.sides(np.array([0.3, 0.31, -9, 9, 0.1, 0.7])).tolist() == [5, 6, 0, 14, 1, 13]
    with pytest.raises(IndexError):
        tenths[7]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 1, 0.1), "high must be"),
        ((0, np.inf, 1), "high must be"),
        ((0, 1, 0), "step must be"),
        ((0, 1, 1e-16), "at most"),
    ],
)
def test_bad_ranges_are_named(arguments, message):
    with pytest.raises(ParameterError, match=message):
        Range(*arguments[:2], step=arguments[2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "recursive"}, "one by one"),
        ({"mechanism": "permute-and-flip"}, "'exponential', not 'permute-and-flip'"),
    ],
)
def test_a_range_is_drawn_one_by_one_by_the_exponential_mechanism(arguments, message):
    asked = {"p": [25, 50, 75], "candidates": HALVES, "epsilon": 1.0}

    with pytest.raises(ParameterError, match=message):
        plan_percentiles(**asked, **arguments, neighbours="add-remove")


def test_missing_values_and_no_records_are_as_for_listed_candidates():
    asked = {"p": 50, "candidates": HALVES, "epsilon": 1.0}

    with pytest.raises(DataError, match="at least one record"):
        release_percentiles([], **asked, neighbours="substitute")
    with pytest.raises(DataError, match="a value is missing"):
        release_percentiles([np.nan], **asked, neighbours="add-remove", on_invalid="raise")
