"""The recursion over a range: the same law as over the listed values, drawn exactly."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect.percentiles.binary_tree import Recursive
from dpselect.percentiles.objectives import rank_bound
from dpselect.percentiles.range_halves import MOST_PARTS, RecursiveOfRange
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.reading import Records
from support.halves import Half

POINTS = Range(0, 3, 0.5)
LISTED = POINTS.at(range(len(POINTS)))
BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
PERCENTS, EPSILON = (25.0, 50.0, 75.0), 1.5


def of_range(relation):
    return RecursiveOfRange(PERCENTS, POINTS, Records(relation), EPSILON)


def by_places(by, node, half):
    """Return the law of every place and share."""
    shares = by.shares(node)
    places, decay = half.places(node, shares), by.decay(node, half.unit * shares)
    law, sizes = places.probabilities(decay), places.sizes
    each = [
        places.probabilities_of_shares(decay, run) * law[run] / sizes[run]
        for run in np.flatnonzero(sizes)
    ]
    return np.repeat(each, sizes[sizes > 0], axis=0)


def of_listed(node, half, relation, shares):
    """Return the law of every place and share by the definition, for the same price."""
    twice = 2 if relation is BOTH[1] and node.level > 1 else 1
    bound = rank_bound(node.fraction, relation if node.level == 1 else BOTH[0])
    scores = np.array(half.scores(node, shares), dtype=float)
    law = np.exp(node.epsilon / twice / (2 * bound) * (scores - scores.max()))
    return (law / law.sum()).reshape(-1, shares + 1)


@given(
    values=st.lists(st.sampled_from([-1, 0, 0.2, 0.5, 1, 1, 1.3, 2.9, 3, 4]), max_size=9),
    steps=st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, MOST_PARTS)), min_size=1, max_size=1
    ),
    relation=st.sampled_from(BOTH),
)
def test_every_draw_has_the_law_of_the_listed_values(values, steps, relation):
    """The first draw, and both that follow it after any outcome."""
    numbers = np.array(values, dtype=float)
    by = of_range(relation)
    listed, half, node = Half.of_all(values, LISTED), by.half(POINTS.places(numbers)), by.tree
    law = by_places(by, node, half)
    expected = of_listed(node, listed, relation, MOST_PARTS)
    np.testing.assert_allclose(law, expected, atol=1e-12)

    [(part, share)] = steps
    place = round(part * (len(POINTS) - 1))
    sides = zip(
        half.split(place, share, MOST_PARTS),
        listed.split(place, Fraction(share, MOST_PARTS)),
        (node.below, node.above),
        strict=True,
    )
    for side, alone, following in sides:
        law, expected = by_places(by, following, side), of_listed(following, alone, relation, 5)
        np.testing.assert_allclose(law, expected, atol=1e-12)
        assert (side.first, side.last) == (alone.first, alone.last)


@pytest.mark.parametrize("percentiles", [3, 127, 4095, 65535])
def test_ranks_are_exact_where_all_records_stay_in_one_half(percentiles):
    """As many levels as there are, each with the place after all records drawn."""
    percents = tuple(np.linspace(0, 100, percentiles + 2)[1:-1].tolist())
    by = RecursiveOfRange(percents, Range(0, 1e6, 1), Records(BOTH[0]), 1.0)
    node, half, records = by.tree, by.half(np.zeros(60_000, dtype=int)), 60_000
    while node.below is not None:
        half, node = half.split(half.last, 0, by.shares(node))[0], node.below
    places = half.places(node, by.shares(node))
    parts = half.unit * places.shares

    assert parts <= 2**30
    assert places.ranks[0][-1] == 2 * records * parts
    assert 0 < places.wanted <= (records + 1) * parts


@pytest.mark.slow
def test_a_range_is_as_good_as_the_list_of_its_values():
    """Deciles of 1,000 records; before, one by one, the error was three times as large."""
    values = np.random.default_rng(0).uniform(0, 1000, 1000)
    deciles = list(range(10, 100, 10))
    asked = {"p": deciles, "upper": 1000, "epsilon": 2.0, "neighbours": "add-remove"}
    true = np.quantile(values, np.array(deciles) / 100)

    def error(step):
        query = dp.Percentiles(**asked, step=step)
        errors = [np.abs(np.array(query.release(values).answer) - true) for _ in range(12)]
        return np.mean(errors)

    assert error(1e-3) < 1.6 * error(0.5)


def test_prices_and_the_plan_are_those_of_the_list():
    asked = {"p": list(PERCENTS), "upper": 3, "method": "recursive", "epsilon": EPSILON}
    fine = dp.Percentiles(**asked, step=1e-6, neighbours="substitute")
    listed = dp.Percentiles(**asked, step=0.5, neighbours="substitute")

    assert isinstance(fine.design().method, RecursiveOfRange)
    assert isinstance(listed.design().method, Recursive)
    assert [one.epsilon for one in fine.plan.spends] == [
        one.epsilon for one in listed.plan.spends
    ]
    assert fine.plan.composition == listed.plan.composition
