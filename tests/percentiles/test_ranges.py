"""Ranges of candidates: the exact law of the listed candidates, drawn by pieces."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import dpselect as dp
from dpselect.draws import range_exponential as exact
from dpselect.percentiles import percentile_rank
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.reading import Records
from support.placing import placed

HALVES = Range(0, 3, step=0.5)
POINTS = np.arange(7) / 2
BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
EPSILON = 1.5


def law(values, p, relation, candidates=HALVES):
    """Return the law of every candidate of a range."""
    places = Records(relation).of(values).places(candidates)
    share = Fraction(p) / 100
    pieces = candidates.pieces(places, Fraction(1, 2) + share * (places.size - 1))
    bound = max(share, 1 - share) if relation is BOTH[0] else 1
    sizes = pieces.sizes
    return np.repeat(pieces.probabilities(Fraction(EPSILON) / (2 * bound)) / sizes, sizes)


@given(
    values=st.lists(st.sampled_from([-1, 0, 0.2, 0.5, 1, 1.3, 2.9, 3, 4, np.nan]), max_size=8),
    p=st.integers(1, 100),
    relation=st.sampled_from(BOTH),
)
def test_the_law_is_that_of_the_listed_candidates(values, p, relation):
    if relation is BOTH[1] and not values:
        return
    known = np.array(placed(Records(relation).of(values).values(), POINTS))
    wanted = 0.5 + p / 100 * (known.size - 1)
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
def test_releases_follow_the_law():
    """Unseeded: false alarm 1 in 10^6."""
    values, draws = np.array([0.5, 1, 1, 2.7]), 3000
    pieces = HALVES.pieces(HALVES.places(values), Fraction(2))
    drawn = [exact.draw_position(pieces, Fraction(EPSILON)) for _ in range(draws)]
    expected = draws * law(values, 50, BOTH[0])

    assert stats.chisquare(np.bincount(drawn, minlength=7), expected).pvalue > 1e-6


def test_few_values_of_a_range_are_listed():
    """Up to 100,001 of them; more are drawn by pieces, whatever their number."""
    asked = {"p": 50, "lower": -5, "epsilon": 1.0, "neighbours": "add-remove"}

    listed = dp.Percentiles(upper=4, step=9e-5, **asked)
    pieces = dp.Percentiles(upper=4.00009, step=9e-5, **asked)

    assert len(listed.design().points) == 100_001
    assert isinstance(listed.design().points, np.ndarray)
    assert isinstance(pieces.design().points, Range)
    few = dp.Percentiles(upper=-4, step=0.25, **asked)
    assert few.design().points.tolist() == [-5, -4.75, -4.5, -4.25, -4]
    assert few.probabilities([-4.5] * 9).sum() == pytest.approx(1)


@pytest.mark.parametrize("upper", [None, 7, np.inf])
@pytest.mark.parametrize("lower", [None, -np.inf])
def test_a_range_without_a_lower_end_can_be_written_down(lower, upper):
    query = dp.Percentiles(
        p=50, lower=lower, upper=upper, step=1, epsilon=1.0, neighbours="add-remove"
    )

    assert query.design().points.lower < -(10**14)
    assert dp.Query.from_json(query.to_json()) == query


def test_candidates_are_exact_decimals():
    tenths = Range(0.1, 0.7, step=0.1)

    assert len(tenths) == 7
    assert [tenths[i] for i in range(7)] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    with pytest.raises(IndexError):
        tenths[7]
